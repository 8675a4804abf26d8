"""The house's order: which way imports run, how long things may be, what is documented, what lies at the top."""

import ast
import inspect
import json
import re
import statistics
import subprocess
import sys
import tokenize

import pytest

from utils import counting, model, pretrained, sampling, toy_language, training
from utils.environment import ROOT
from utils.notebooks.code_rules import without_encoding

UTILS = ROOT / "utils"
FILES = sorted(UTILS.rglob("*.py"))
ALL_FILES = [*FILES, *sorted((ROOT / "tests").rglob("*.py"))]
TREES = {path.relative_to(UTILS).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# a room imports its own files and what stands on a lower level
ROOMS = [
    "files",
    "environment validate markup",
    "config",
    "cache tying",
    "model",
    "",
    "plots",
    "widgets",
    "check",
    "notebooks",
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms.split()}
MIDDLE = ROOMS.index("")  # counting, sampling, training and the like, which may use each other
# standard library only, but for what `build` calls
COMMANDS = {"__main__", "start", "environment", "files"}
TOP = {"README.md", "requirements.txt", "pyproject.toml", "LICENSE", "lessons", "solutions", "utils", "tests"}


def imported(tree):
    """Each module that a file imports, `utils.model` for `from utils import model`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [f"utils.{alias.name}" for alias in node.names] if node.module == "utils" else [node.module]


def wrong_imports(file, tree):
    """The imports of a file in utils/ that run the wrong way."""
    room = file.split("/")[0].removesuffix(".py")
    for other in [name.split(".")[1] for name in imported(tree) if name.startswith("utils.")]:
        mine, others = LEVEL.get(room, MIDDLE), LEVEL.get(other, MIDDLE)
        if room in COMMANDS:
            allowed = other in COMMANDS or (file, other) == ("start/launcher.py", "notebooks")
        else:
            below = others < mine or other == room or others == mine == MIDDLE
            allowed = below and other not in ("__main__", "start")
            # the README states how much space an installation takes
            allowed = allowed or (file.startswith("notebooks/values/") and other == "start")
        if not allowed:
            yield f"{file} imports utils.{other}"


def test_imports_run_one_way():
    assert [found for file, tree in TREES.items() for found in wrong_imports(file, tree)] == []
    assert (UTILS / "__init__.py").read_bytes() == b""


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("counting.py", "import utils.plots"),
        ("sampling.py", "from utils import check"),
        ("plots/new.py", "from utils.widgets.panel import Panel"),
        ("check/engine.py", "from utils.notebooks import main"),
        ("start/my_work.py", "from utils import model"),
    ],
)
def test_an_import_that_runs_the_other_way_is_found(file, line):
    assert len(list(wrong_imports(file, ast.parse(line)))) == 1


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("model.py", ["cache", "config", "tying", "validate"]),
        ("llama.py", ["config", "model"]),
        ("cache.py", ["config", "validate"]),
        ("config.py", ["validate"]),
        ("tying.py", []),
    ],
)
def test_the_model_imports_torch_alone(file, own):
    names = list(imported(TREES[file]))
    assert {name.split(".")[0] for name in names} - sys.stdlib_module_names <= {"utils", "torch"}
    assert sorted(name for name in names if name.startswith("utils")) == [f"utils.{name}" for name in own]


def test_functions_and_modules_are_short():
    functions = [(file, node) for file, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    lengths = {f"{file} {node.name}": node.end_lineno - node.lineno + 1 for file, node in functions}
    assert {name: length for name, length in lengths.items() if length > 40} == {}
    assert statistics.median(lengths.values()) <= 12
    modules = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path.name: length for path, length in modules.items() if length > 300} == {}


def undocumented(tree, where):
    """Public functions, classes and methods without a docstring, the module itself included."""
    if ast.get_docstring(tree) is None:
        yield where
    for node in tree.body if isinstance(tree, (ast.Module, ast.ClassDef)) else ():
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_"):
            yield from undocumented(node, f"{where} {node.name}")


def test_what_is_public_has_a_docstring():
    assert [name for file, tree in TREES.items() if tree.body for name in undocumented(tree, file)] == []


def test_comments_end_without_a_full_stop():
    for path in ALL_FILES:
        with path.open("rb") as file:
            comments = [token for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]
        assert [f"{path.name}:{c.start[0]}" for c in comments if re.search(r"(?<!\.)\.$", c.string)] == []


def code_of_the_project():
    """(where, code) of each Python file and of each notebook's cell."""
    for path in ALL_FILES:
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("solutions/*.ipynb"), *ROOT.glob("lessons/*.ipynb")]):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield f"{path.parent.name}/{path.name} {cell['id']}", "".join(cell["source"])


UNENCODED = [
    *("open(path)", "open(path, 'w')", "open(path, mode='a')", "open(path, mode)", "path.open()", "path.open('w')"),
    *("path.read_text()", "path.read_text(errors='replace')", "path.write_text('a')", "os.fdopen(1, 'w')"),
    "subprocess.run(command, text=True)",
]
ENCODED = [
    *("open(path, 'rb')", "open(path, encoding='utf-8')", "open(path, 'r', -1, 'utf-8')", "path.open('xb')"),
    *("path.open(mode='rb')", "path.open(encoding='ascii')", "path.read_text('utf-8')", "path.write_bytes(b'a')"),
    *("path.write_text('a', 'utf-8')", "webbrowser.open(address)", "archive.open('some.txt')"),
    *("subprocess.run(command, encoding='utf-8')", "subprocess.run(command, text=False)"),
]


def test_text_without_an_encoding_is_found():
    assert [code for code in UNENCODED if list(without_encoding(ast.parse(code))) != [1]] == []
    assert [code for code in ENCODED if list(without_encoding(ast.parse(code)))] == []


def test_text_is_read_and_written_in_one_encoding_everywhere():
    parsed = [(where, ast.parse(code)) for where, code in code_of_the_project()]
    assert [f"{where}:{line}" for where, tree in parsed for line in without_encoding(tree)] == []


SHAPE = re.compile(r"# .*\(([23], )?[BTSVdLHn.][^()]*\)")  # 3 for queries, keys and values, 2 without queries
# numbers of tokens and the like, not tensors
COUNTS = re.compile(
    r"(getattr|layer_caches)\(.*|[\w.]+\.length( \+ .*\.shape\[\d\])?|\w+\.shape(\[\d\])?|\(\w+\.shape\[2\], .*"
    r"|\(past, .*|.* != .*"
)
MAKERS = {"forward", "hidden", "attend", "queries_keys_values", "rotate", "rotation", "layers", "append"}


def without_shape(source):
    """Lines of `forward` and its helpers that make a tensor and do not end with its shape."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, FUNCTIONS)]
    makers = [node for node in functions if node.name in MAKERS]
    lines = [node for maker in makers for node in ast.walk(maker) if isinstance(node, (ast.Assign, ast.Return))]
    for line in lines:
        made = not isinstance(line.value, (ast.Name, ast.Dict)) and not COUNTS.fullmatch(ast.unparse(line.value))
        last = source.splitlines()[line.end_lineno - 1].strip()
        if made and not SHAPE.search(last):
            yield last


@pytest.mark.parametrize(("file", "least"), [("model.py", 14), ("llama.py", 14), ("cache.py", 4)])
def test_every_tensor_of_the_model_has_its_shape_beside_it(file, least):
    source = (UTILS / file).read_text(encoding="utf-8")
    assert list(without_shape(source)) == []
    assert len(list(without_shape(re.sub(r"  # .*", "", source)))) >= least


def test_the_top_level_holds_what_the_house_names():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if listed.returncode:
        pytest.skip("this copy is not a git repository, so what else lies here is the student's")
    top = {name.split("/")[0] for name in listed.stdout.split("\0")} - {""}
    assert {name for name in top if not name.startswith(".")} == TOP


# names that other people's scripts call
PUBLIC = {
    model.GPTConfig: "vocab_size n_ctx n_embd n_layer n_head tied=True n_inner=None activation='gelu_tanh'"
    " layer_norm_epsilon=1e-05",
    model.GPT: "config",
    model.GPT.forward: "self ids cache=None",
    model.KVCache: "config batch_size=1",
    counting.gpt_params: "vocab_size n_ctx n_embd n_layer tied=True",
    counting.ledger: "cfg_or_model",
    sampling.next_token_probs: "logits temperature=1.0 top_k=None top_p=None",
    sampling.generate: "model ids max_new_tokens temperature=1.0 top_k=None top_p=None generator=None stop_token=None"
    " use_cache=True",
    toy_language.ToyLanguage.stories: "self n seed",
    toy_language.ToyLanguage.entropy_floor: "self logprobs",
    toy_language.ToyLanguage.errors: "self ids",
    training.train: "model rows steps=300 batch_size=32 lr=0.003 seed=0 valid_rows=None",
    training.windows: "stream length",
    pretrained.load_toy_gpt: "stage='trained'",
    pretrained.load_names_gpt: "",
    pretrained.load_gpt2: "path_or_name",
    pretrained.load_smollm: "n_ctx=512",
    pretrained.smollm_tokenizer: "",
    pretrained.load_llama: "folder",
    pretrained.dequantize_q4_1: "block",
    pretrained.config_from_hf: "dict_or_path",
    pretrained.count_from_hf: "dict_or_path",
}


@pytest.mark.parametrize(("public", "wanted"), PUBLIC.items(), ids=[public.__qualname__ for public in PUBLIC])
def test_public_names_keep_their_arguments(public, wanted):
    arguments = inspect.signature(public).parameters.values()
    written = [str(argument.replace(annotation=argument.empty)) for argument in arguments]
    assert written[: len(wanted.split())] == wanted.split()
    assert all("=" in further for further in written[len(wanted.split()) :])

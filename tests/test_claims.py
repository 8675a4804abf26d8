"""What the lessons claim in words, measured; the functions that they show whole, compared with the library's.

The numbers in their prose are held by `test_numbers.py`.
"""

import json
import math
import random
import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from notebook_files import ROOT, cells, run, said, sections
from torch import nn

from utils import training
from utils.counting import ledger
from utils.experiments.facts import FactBook
from utils.model import GPT, GPTConfig
from utils.notebooks.values import lesson_02
from utils.pretrained import COURSE_MODEL, KNOWN_CONFIGS, load_gpt2, load_names_gpt, load_toy_gpt, save_gpt2
from utils.sampling import generate, next_token_probs
from utils.scaling import KNOWN_MODELS
from utils.text import gpt2_tokenizer
from utils.toy_language import ToyLanguage
from utils.training import train
from utils.widgets.table_explorer import random_rows

LANG, V, N, D, L, H = ToyLanguage(), 200, 32, 64, 2, 4


def lesson(number):
    """The student edition of a lesson, such as "02"."""
    (path,) = (ROOT / "lessons").glob(f"{number}_*.ipynb")
    return path


def shown(number, pattern):
    """What the groups of a pattern find in a lesson's outputs."""
    found = re.findall(pattern, said(lesson(number)), re.M)
    assert found, pattern
    return found


def defined(number, *definitions):
    """The namespace after the cells of a lesson that define these, and its first cell."""
    code = cells(lesson(number), "code")
    return run([code[0], *(cell for cell in code if any(re.search(d, cell.source, re.M) for d in definitions))])[0]


# --- 01 to 03


def test_cat_is_mistaken_at_width_4_and_at_768_nothing_comes_near():
    scores = {width: (rows := random_rows(width)) @ rows.T for width in (4, 768)}
    assert scores[4][0].argmax() != 0  # the first word is cat
    own = scores[768].diagonal().clone()
    assert (own / scores[768].fill_diagonal_(-math.inf).amax(1)).min() > 5


def test_bfloat16_has_the_range_of_float32():
    assert torch.finfo(torch.bfloat16).max == pytest.approx(torch.finfo(torch.float32).max, rel=0.01)


@pytest.fixture(scope="module")
def listing():
    """Makes lesson 02's PlainGPT of the course model's size."""
    space = defined("02", "^class Plain", "def gpt_forward")
    return lambda: space["PlainGPT"](V=V, n=N, d=D, L=L, H=H)


@pytest.mark.parametrize("stage", ["untrained", "trained"])
@torch.no_grad()
def test_the_listing_of_lesson_02_computes_what_the_library_computes(stage, listing):
    model, plain = load_toy_gpt(stage), listing()
    assert list(plain.state_dict()) == list(model.state_dict())
    plain.load_state_dict(model.state_dict())
    assert plain.lm_head.weight is plain.wte.weight
    ids = LANG.stories(20, seed=9)[0][:, :-1]
    assert (plain(ids) - model(ids)).abs().max() < 1e-5 * max(1, model(ids).abs().max().item())


@torch.no_grad()
def test_the_listing_falls_into_the_trap_as_stated(listing):
    rows, losses = torch.randint(V, (64, 33), generator=torch.Generator().manual_seed(5)), []
    for seed in range(4):
        torch.manual_seed(seed)
        losses.append(F.cross_entropy(listing()(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten()).item())
    assert np.mean(losses) == pytest.approx(lesson_02.plain_loss(), abs=1)


@torch.no_grad()
def test_a_loud_tables_own_score_is_about_the_width_and_the_others_about_0():
    ids = torch.randint(V, (8, N), generator=torch.Generator().manual_seed(6))
    torch.manual_seed(0)
    model = GPT(COURSE_MODEL)
    model.wte.reset_parameters()
    logits = model(ids)
    own = logits.gather(-1, ids[..., None])
    assert own.mean().item() == pytest.approx(D, abs=2)
    assert (logits.sum() - own.sum()).item() / (ids.numel() * (V - 1)) == pytest.approx(0, abs=0.5)
    assert model.wte(ids).norm(dim=-1).mean().item() == pytest.approx(D**0.5, rel=0.05)


def last_gradient(depth, norm_first):
    """The gradient of the last MLP's second matrix in PyTorch's own transformer, with Xavier's matrices."""
    torch.manual_seed(5)
    rows = torch.randint(V, (16, 33), generator=torch.Generator().manual_seed(1))
    stack = nn.ModuleList(
        nn.TransformerEncoderLayer(D, H, 4 * D, dropout=0.0, activation=F.gelu, batch_first=True, norm_first=norm_first)
        for _ in range(depth)
    )
    for parameter in stack.parameters():
        if parameter.ndim == 2:
            nn.init.xavier_uniform_(parameter)
    table, places = 0.02 * torch.randn(V, D), 0.02 * torch.randn(N, D)
    x = table[rows[:, :-1]] + places
    for layer in stack:
        x = layer(x, src_mask=nn.Transformer.generate_square_subsequent_mask(N), is_causal=True)
    x = F.layer_norm(x, (D,)) if norm_first else x
    F.cross_entropy((x @ table.T).flatten(0, 1), rows[:, 1:].flatten()).backward()
    return stack[-1].linear2.weight.grad.norm().item()


@pytest.mark.parametrize("name", ["Pre-norm", "Post-norm"])
def test_the_gradients_before_and_after_are_those_measured_elsewhere(name):
    ((sizes),) = shown("02", rf"Last gradient at 2, 8, 24 blocks.*{name}: ([\d. ]+\d)")
    stored = [float(size) for size in sizes.split()]
    assert [last_gradient(depth, name == "Pre-norm") for depth in (2, 8, 24)] == pytest.approx(stored, rel=0.15)
    assert stored[0] > 2 * stored[1] > 3 * stored[2] if name == "Pre-norm" else max(stored) < 1.1 * min(stored)


def test_the_mlp_is_two_thirds_and_twice_the_width_four_times_the_blocks():
    small, large = (ledger(GPTConfig(50_257, 1_024, d, 12, 12)) for d in (768, 1_536))
    blocks = [sum(rows[part] for part in ("attention", "mlp", "layer norms")) for rows in (small, large)]
    assert small["mlp"] / blocks[0] == pytest.approx(2 / 3, abs=0.001)
    assert blocks[1] / blocks[0] == pytest.approx(4, abs=0.01)
    whole = sum(small.values())
    assert (whole + small["token table"]) / whole == pytest.approx(4 / 3, abs=0.03)  # a file with the table twice


# --- 04


@pytest.mark.parametrize(("beginning", "count"), [("today Anna took", 1), ("today Anna took the", 18)])
def test_as_many_words_can_follow_as_stated(beginning, count):
    words, (rows, _) = beginning.split(), LANG.stories(20_000, seed=7)
    inside = (rows[:, 3] == LANG.encode("took")[0]) & (rows[:, len(words)] == LANG.encode(words[-1])[0])
    assert len(rows[inside][:, len(words) + 1].unique()) == count


def test_red_takes_more_than_half_at_half_the_temperature_and_is_half_again_as_likely_as_big_at_two():
    ids = torch.tensor([[LANG.start, *LANG.encode("today Anna took the")]])
    scores, (red, big) = load_toy_gpt()(ids)[0, -1].double().detach(), LANG.encode("red big")
    ((*falls,),) = shown("04", r"The probability of red falls from ([\d.]+) to ([\d.]+) to ([\d.]+\d)\.")
    found = [((scores / t).exp() / (scores / t).exp().sum())[red].item() for t in (0.5, 1, 2)]
    assert found == pytest.approx([float(size) for size in falls], abs=0.006)
    assert found[0] > 0.5
    assert math.exp((scores[red] - scores[big]) / 2) == pytest.approx(1.5, abs=0.1)


def test_no_nan_at_a_temperature_as_tiny_as_stated():
    four = torch.tensor([0.5, 0.3, 0.1, 0.1]).log()
    assert torch.equal(next_token_probs(four, temperature=1e-40), torch.tensor([1.0, 0, 0, 0]))


@pytest.fixture(scope="module")
def plain_generate():
    """The loop of lesson 04's section 6, from its cells."""
    code = dict(sections(lesson("04")))["6. The whole loop"]
    place = next(place for place, cell in enumerate(code) if "def plain_generate" in cell.source)
    shown = [cell for cell in code[: place + 1] if "exercise" not in cell.metadata.get("tags", [])]
    return run(shown)[0]["plain_generate"]


@pytest.mark.parametrize(
    "filters", [{}, {"temperature": 0}, {"temperature": 1.7, "top_k": 5}, {"top_p": 0.8}, {"top_k": 30, "top_p": 0.9}]
)
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("load", [load_toy_gpt, load_names_gpt])
def test_the_plain_loop_writes_what_the_library_writes(load, cached, filters, plain_generate):
    """Past the end of the context, which is 32 or 13."""
    model, prompt = load().train(), torch.tensor([[1, 4, 2], [3, 3, 5]])
    written = plain_generate(model, prompt, 40, torch.Generator().manual_seed(6), **filters)
    assert not model.training
    options = {"generator": torch.Generator().manual_seed(6), "use_cache": cached, **filters}
    assert torch.equal(written, generate(model, prompt, 40, **options))


# --- 05


def test_the_plain_loop_takes_the_steps_of_the_library(monkeypatch):
    """With its optimizer and its rates: up over ten steps, and no fall after them."""

    def plain_optimizer(model, lr):
        return torch.optim.AdamW([{"params": list(model.parameters()), "scale": 1}], lr=lr)

    monkeypatch.setattr(training, "make_optimizer", plain_optimizer)
    monkeypatch.setattr(training, "LAST_RATE", 1.0)
    rows, losses = LANG.stories(500, seed=0)[0], []
    plain_train = defined("05", "def plain_train")["plain_train"]
    for loop in (plain_train, lambda *args, **settings: train(*args, **settings, progress=False).train_loss):
        torch.manual_seed(0)
        losses.append(loop(GPT(COURSE_MODEL), rows, 15, batch_size=8, lr=5e-3, seed=3))
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)


def test_twenty_stories_are_learned_down_to_which_of_them_it_is():
    torch.manual_seed(0)
    history = train(GPT(COURSE_MODEL), LANG.stories(20_000, seed=0)[0][:20], 200, progress=False)
    assert np.mean(history.train_loss[-50:]) == pytest.approx(math.log(20) / 32, abs=0.02)


def test_the_story_that_goes_on_was_never_read():
    begun = "suddenly Anna took the big map to our park. a cat"
    start = torch.tensor([LANG.start, *LANG.encode(begun)])
    assert not (LANG.stories(20_000, seed=0)[0][:, : len(start)] == start).all(dim=1).any()
    assert f"{begun} ... wanted the big map. Anna gave the big map" in said(lesson("05"))


# --- 07


def merged(word, pair):
    """A word, as a text in which a bar ends each token, after one merge."""
    left, right = map(re.escape, pair)
    return re.sub(rf"(?<![^|]){left}\|{right}\|", lambda _: "".join(pair) + "|", word)


def merges_by_brute_force(words, n_merges):
    """((pair, count) for each merge, the words after them): every pair of strings that could occur is tried."""
    words, found = ["".join(f"{letter}|" for letter in word) for word in words], []
    for _ in range(n_merges):
        cut = [word.split("|")[:-1] for word in words]
        places = [(w, i) for w, word in enumerate(cut) for i in range(len(word) - 1)]
        tokens = {token for word in cut for token in word}
        tried = []
        for pair in ((left, right) for left in tokens for right in tokens):
            here = [place for place in places if tuple(cut[place[0]][place[1] : place[1] + 2]) == pair]
            tried += [(-len(here), here[0], pair)] if here else []
        count, _, pair = min(tried)  # the most frequent; of equals, the one that comes first in the text
        found.append((pair, -count))
        words = [merged(word, pair) for word in words]
    return found, [word.split("|")[:-1] for word in words]


def test_plain_bpe_finds_the_merges_of_brute_force_in_any_words(capsys):
    rng, bpe = random.Random(0), defined("07", "def plain_bpe")["plain_bpe"]
    drawn = [["".join(rng.choices("ab ", k=rng.randrange(1, 9))) for _ in range(5)] for _ in range(30)]
    for words in (["low", " lower", " lowest"], *([*words, "aaaaa", "abababa"] for words in drawn)):
        capsys.readouterr()
        found, after = merges_by_brute_force(words, 3)
        assert bpe(words, 3) == after
        assert capsys.readouterr().out.splitlines() == [f"{a!r} + {b!r}: {count} times" for (a, b), count in found]


def test_each_card_is_odd_as_stated():
    a, b, c, d = defined("07", "cards = {")["cards"].values()
    assert a["n_embd"] % a["n_head"]
    assert b["parameters"] == 124_439_808 + 50_257 * b["n_embd"]
    assert c["vocab_size"] < gpt2_tokenizer().vocab_size
    assert d["num_attention_heads"] % d["num_key_value_heads"]


def test_llama_2s_mlp_is_close_to_eight_thirds_of_its_width_which_llama_3_shares():
    two, three = (KNOWN_CONFIGS[name] for name in ("Llama-2-7B", "Llama-3-8B"))
    assert two["intermediate_size"] / two["hidden_size"] == pytest.approx(8 / 3, rel=0.01)
    assert [two[key] == three[key] for key in ("hidden_size", "num_hidden_layers")] == [True, True]


def test_with_gpt2_in_a_folder_it_is_gpt2_that_speaks(tmp_path, capsys):
    """A random checkpoint in GPT-2's layout stands for the real one; the lesson's cells leave it whole."""
    torch.manual_seed(1)
    model = GPT(GPTConfig(vocab_size=50_257, n_ctx=16, n_embd=32, n_layer=1, n_head=2)).eval()
    save_gpt2(model, tmp_path)
    code = dict(sections(lesson("07")))["7. Weights from a file"]
    place = next(place for place, cell in enumerate(code) if re.search(r"^folder = ", cell.source, re.M))
    line = f"folder = Path({str(tmp_path)!r})"
    code[place].source = re.sub(r"^folder = .*$", lambda _: line, code[place].source, flags=re.M)
    space, _ = run(code[:place])
    capsys.readouterr()
    run(code[place : place + 1], space)
    first, text = capsys.readouterr().out.splitlines()
    prompt = torch.tensor([gpt2_tokenizer().encode("The cat sat on the")])
    assert (first, text) == ("GPT-2", repr(gpt2_tokenizer().decode(generate(model, prompt, 8, temperature=0)[0])))
    run(code[place + 1 :], space)
    assert torch.equal(load_gpt2(tmp_path)(prompt), model(prompt))


# --- 08


def test_what_is_said_of_the_published_models():
    chinchilla, gopher, llama = (KNOWN_MODELS[name] for name in ("Chinchilla", "Gopher", "Llama-3-8B"))
    assert gopher[0] / chinchilla[0] == pytest.approx(4)
    assert math.prod(gopher) == pytest.approx(math.prod(chinchilla), rel=0.2)
    best = math.sqrt(100_000 / 2 * 3_600 * 150e12 / (6 * 20))  # for the budget of the open question
    assert (llama[0] / best, llama[1] / (20 * best)) == (pytest.approx(0.5, abs=0.05), pytest.approx(50, abs=1))


def test_the_law_is_that_of_numpy_and_bends_as_described():
    measured = json.loads((ROOT / "utils" / "data" / "scaling.json").read_text(encoding="utf-8"))["measurements"]
    d, gaps = (np.array(x) for x in zip(*((m["width"], np.mean(m["gaps"])) for m in measured), strict=True))
    sizes = (len(FactBook().vocab) + 2) * d + 12 * d**2 + 13 * d + 2 * d
    line = np.polyfit(np.log(sizes), np.log(gaps), 1)
    residuals = np.log(gaps) - np.polyval(line, np.log(sizes))
    text = f"with N to the power of {line[0]:.2f}; residuals stay within {max(abs(residuals)):.2f}."
    assert text in said(lesson("08"))
    assert 10 ** -line[0] == pytest.approx(5, abs=0.5)  # ten times the parameters
    assert 1.8 < math.log10(sizes[-1] / sizes[0]) < 2
    assert max(residuals[0], residuals[-1]) < 0 < residuals[2]
    for place in (0, -1):
        assert abs(residuals[place]) <= np.std(np.log(measured[place]["gaps"]), ddof=1)


def test_the_rarest_facts_are_asked_for_about_nine_times():
    assert 409_600 * FactBook().probs[-1].item() == pytest.approx(9, abs=0.5)

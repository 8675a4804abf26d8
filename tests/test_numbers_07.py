"""The numbers that lesson 07 states, compared with the published ones; its cards and its weights from a folder."""

import re

import pytest
import torch
from notebook_files import cells, prose, run, said, sections
from stated import assert_stated, lesson, number, quiz_text

from utils import check
from utils.check.lesson_07 import CARDS
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
LISTED = COUNTS["GPT-2 small"] + 50_257 * 768  # by its state_dict, the shared table twice
# the card in the open question: what it says, and what follows
BILLIONS, LAYERS, WIDTH, HEADS, KV_HEADS, VOCABULARY = 7, 32, 4_096, 32, 8, 32_000
HEAD = WIDTH // HEADS
CACHE = 2 * 2 * LAYERS * KV_HEADS * HEAD  # bytes a token, in 16 bits

STATED = [
    (r"with (\w+) exercises", [sum(name.startswith("7.") for name in check.EXERCISES)]),
    (r"(\w+) questions\. Pick", [len(quiz.load("07"))]),
    (r"(\w+) settings describe GPT-2 small completely", [9]),  # as many as the table has rows, below
    (r"(\w+) of them are sizes", [len(("V", "n", "d", "L", "H", "d_ff"))]),
    (r"are sizes\. (\w+) of these, and the tie, decide", [len(("V", "n", "d", "L", "d_ff"))]),
    (r"(\w+) settings describe GPT-2 completely; (\w+) are sizes", [9, 6]),
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
    (r"over a window of ([\d,]+) tokens", [KNOWN_CONFIGS["Mistral-7B"]["sliding_window"]]),
    (r"A tied GPT-2 small has ([\d,]+) parameters, and ([\d,]+) is the count", [COUNTS["GPT-2 small"], LISTED]),
    (r"GPT-2's tokenizer has ([\d,]+) tokens", [gpt2_tokenizer().vocab_size]),
    (r"A head is 4,096 / 32 = (\d+) wide", [HEAD]),
    (r"(\w+) heads share one set of keys and values, so the cache is a quarter", [HEADS // KV_HEADS]),
    (r"otherwise: 2 · (\d+) · (\d+) · (\d+) numbers, ([\d,]+) bytes a token", [LAYERS, KV_HEADS, HEAD, CACHE]),
    (r"token table has (\d+) million numbers", [round(VOCABULARY * WIDTH / 1e6)]),
    (r"Weights in 16 bits need (\d+) GB", [2 * BILLIONS]),
    (r"would need about (\d+) GB for weights", [16 * BILLIONS]),
    (r"each token: ([\d,]+) parameters for Llama-3-8B", [COUNTS["Llama-3-8B"]]),
]
IN_THE_QUIZ = [
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


def test_the_two_llamas_share_width_and_layers():
    assert "Llama-2-7B and Llama-3-8B have the same width and the same layers" in TEXT
    for key in ("hidden_size", "num_hidden_layers"):
        assert KNOWN_CONFIGS["Llama-2-7B"][key] == KNOWN_CONFIGS["Llama-3-8B"][key]


def test_the_untied_table_of_the_open_question_is_less_than_4_per_cent():
    assert "it comes twice, which is less than 4 % of the whole" in TEXT
    assert 0.03 < 2 * VOCABULARY * WIDTH / (BILLIONS * 1e9) < 0.04


# --- the odd cards


def test_the_cards_of_the_lesson_are_those_of_the_check():
    (cell,) = (cell for cell in cells(PATH, "code") if "cards = {" in cell.source)
    assert run([cell])[0]["cards"] == CARDS


def test_each_card_is_odd_as_stated():
    a, b, c, d = CARDS.values()
    for sentence, odd in (
        ("10 does not divide 768.", a["n_embd"] % a["n_head"]),
        ("in which the shared table stands twice", b["parameters"] == 124_439_808 + 50_257 * b["n_embd"]),
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
    code = dict(sections(PATH))["6. Weights from a file"]
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

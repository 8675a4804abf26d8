"""Exercise 7.4: the odd entry. answer() -> {"A": key, "B": key, "C": key, "D": key}."""

from utils.check.calling import Wrong
from utils.check.compare import a_kind, brief
from utils.check.engine import Exercise
from utils.check.lesson_05.ex_5_5 import given

CARDS = {  # as the lesson shows them
    "A": {"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 10, "n_positions": 1_024},
    "B": {"n_layer": 12, "n_embd": 768, "n_head": 12, "tied": True, "parameters": 163_037_184},
    "C": {"tokenizer": "GPT-2's", "vocab_size": 50_000, "n_embd": 1_024, "n_head": 16},
    "D": {"hidden_size": 4_096, "num_attention_heads": 32, "num_key_value_heads": 5},
}
_RIGHT = {"A": "n_head", "B": "parameters", "C": "vocab_size", "D": "num_key_value_heads"}
_LOOK_AT = {
    "A": "divide what is shared by those who share it.",
    "B": "count this model in the ways of lesson 03, and see which of the counts is stated.",
    "C": "print how many tokens the tokenizer knows, and compare.",
    "D": "how many of the heads that ask would share one set of keys and values?",
}


def _probe(function):
    answer = given(function, CARDS)
    for card, entries in CARDS.items():
        _require_key(card, answer[card], entries)
    for card, key in _RIGHT.items():
        name = str(answer[card])  # NumPy's strings show their type
        if name != key:
            raise Wrong(f"card {card}: {name!r} can be right; {_LOOK_AT[card]}")


def _require_key(card, name, entries):
    if any(type(name) is type(value) and name == value for value in entries.values()):
        raise Wrong(f"card {card}: {name!r} is the value of an entry; its key is wanted, in quotes.")
    if not isinstance(name, str):
        raise Wrong(f"card {card}: one key is wanted, in quotes, and yours is {a_kind(name)}.")
    if name not in entries:
        raise Wrong(f"card {card} has no entry {brief(name)}; it has {', '.join(map(repr, entries))}.")


EXERCISE = Exercise(
    target="The result is a dict: for each of the cards A to D one of its keys. An example: "
    '`{"n_embd": 100, "n_layer": 2, "n_positions": -1}` would have `"n_positions"`.',
    probe=_probe,
    meaning="a card is checked with a division, a count and a comparison, before anything is downloaded.",
    hints=(
        "Settings have to fit each other. Which numbers of a card have to divide one another, and do they?",
        "For a count, remember that sources count differently: which of the conventions fits this kind of head?",
        "For a tokenizer, `utils.text.gpt2_tokenizer()` says how many tokens it knows, as `vocab_size`.",
    ),
)

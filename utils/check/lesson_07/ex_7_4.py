"""Exercise 7.4: the odd entry. answer() -> {"A": key, "B": key, "C": key, "D": key}."""

from collections.abc import Mapping

from utils.check.calling import Unclear, Wrong, call
from utils.check.compare import a_kind, brief
from utils.check.engine import Exercise

CARDS = {  # as the lesson shows them
    "A": {"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 10, "n_positions": 1_024},
    "B": {"n_layer": 12, "n_embd": 768, "n_head": 12, "tied": True, "parameters": 163_037_184},
    "C": {"tokenizer": "GPT-2's", "vocab_size": 50_000, "n_embd": 1_024, "n_head": 16},
    "D": {"hidden_size": 4_096, "num_attention_heads": 32, "num_key_value_heads": 5},
}
_RIGHT = {"A": "n_head", "B": "parameters", "C": "vocab_size", "D": "num_key_value_heads"}
_WHY_NOT = {  # card and key: why this entry may well be right
    "A": {
        "model_type": "GPT-2 is the architecture that has these keys",
        "n_layer": "any number of blocks can follow each other, and GPT-2 small has this one",
        "n_embd": "GPT-2 small has this width, so look for an entry that has to go into it",
        "n_positions": "any context can be chosen, and GPT-2 small has this one",
    },
    "B": dict.fromkeys(("n_layer", "n_embd", "n_head"), "the sizes are those of GPT-2 small, which exists")
    | {"tied": "GPT-2 small is tied, and so are all four models here"},
    "C": dict.fromkeys(("n_embd", "n_head"), "16 heads share 1,024 evenly, 64 numbers each")
    | {"tokenizer": "many models use that of another; but then they must have room for what it gives"},
    "D": dict.fromkeys(("hidden_size", "num_attention_heads"), "32 heads share 4,096 evenly, 128 numbers each"),
}
_LOOK_AT = {
    "A": "divide what is shared by those who share it.",
    "B": "count this model in the ways of lesson 03, and see which of the counts is stated.",
    "C": "print how many tokens the tokenizer knows, and compare.",
    "D": "how many of the heads that ask would share one set of keys and values?",
}


def _probe(function):
    answer = call(function)
    if answer is None:
        raise Unclear("your function returns None; is there a return in it?")
    if not isinstance(answer, Mapping):
        raise Wrong(f"a dict from the four cards to a key of each is wanted, and yours is {a_kind(answer)}.")
    missing = [card for card in CARDS if card not in answer]
    if missing:
        raise Wrong(
            f'no entry is named for card {", ".join(missing)}; the cards are "A", "B", "C" and "D", in capitals.'
        )
    more = [card for card in answer if card not in CARDS]
    if more:
        raise Wrong(f"there is no card {brief(more[0])}; the cards are {', '.join(CARDS)}.")
    for card, entries in CARDS.items():
        _refuse_what_is_no_key(card, answer[card], entries)
    for card, key in _RIGHT.items():
        name = str(answer[card])  # NumPy's strings show their type
        if name != key:
            raise Wrong(f"card {card}: {name!r} can be right: {_WHY_NOT[card][name]}.\n  look    {_LOOK_AT[card]}")


def _refuse_what_is_no_key(card, name, entries):
    if isinstance(name, str) and name in entries:
        return
    if any(type(name) is type(value) and name == value for value in entries.values()):
        raise Wrong(f"card {card}: {name!r} is the value of an entry; its key is wanted, in quotes.")
    if isinstance(name, str):
        raise Wrong(f"card {card} has no entry {brief(name)}; it has {', '.join(map(repr, entries))}.")
    raise Wrong(f"card {card}: one key is wanted, in quotes, and yours is {a_kind(name)}.")


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

"""The toy language: its entropy from three sides, its rules, its words."""

import math
import subprocess
import sys
import time
from collections import Counter

import pytest
import torch

from utils.toy_language import KINDS, LENGTH, OPENING, PLOT_PLACE, PLOTS, WORDS, ToyLanguage


@pytest.fixture(scope="module")
def lang():
    return ToyLanguage()


@pytest.fixture(scope="module")
def corpus(lang):
    return lang.stories(20_000, seed=5)


def zipf(n):
    weights = [720_720 // rank for rank in range(1, n + 1)]
    return [weight / sum(weights) for weight in weights]


def entropy(probs):
    return -sum(p * math.log(p) for p in probs)


def test_it_has_200_tokens_and_stories_that_fill_the_context(lang, corpus):
    assert len(lang.vocab) == len(set(lang.vocab)) == 200
    assert lang.vocab[lang.start] == "<start>"
    ids, logprobs = corpus
    assert ids.shape == logprobs.shape == (20_000, LENGTH) == (20_000, 33)
    assert (ids.dtype, logprobs.dtype) == (torch.int64, torch.float64)
    assert (ids[:, 0] == lang.start).all()
    assert (ids[:, 1:] != lang.start).all()
    assert (logprobs[:, 0] == 0).all()
    assert {len(f"{OPENING} {plot}".split()) for plot in PLOTS.values()} == {32}
    assert set(ids.unique().tolist()) == set(range(200)), "every token occurs"
    assert all(word.isalpha() for text in WORDS.values() for word in text.split())


def test_the_floor_in_closed_form(lang, corpus):
    """Entropy of a story = entropy of the opening + of the plot + of each plot's own choices, by hand."""
    opening = sum(entropy(zipf(len(WORDS[key].split()))) for key in ("time", "name", "adjective", "object", "place"))
    names = zipf(24)
    friend = sum(p * entropy([q / (1 - p) for q in names[:i] + names[i + 1 :]]) for i, p in enumerate(names))
    own = {
        "loss": ["pit", "feeling", "friend"],
        "gift": ["animal", "calm"],
        "meeting": ["friend", "game", "end", "feeling"],
        "storm": ["weather", "shelter", "feeling"],
        "sale": ["friend", "number", "money", "feeling", "joy", "manner"],
    }
    plots = zipf(5)
    total = opening + entropy(plots)
    for p, plot in zip(plots, PLOTS, strict=True):
        total += p * sum(friend if key == "friend" else entropy(zipf(len(WORDS[key].split()))) for key in own[plot])
    floor = lang.entropy_floor(corpus[1])
    assert 0.55 < floor < 0.70
    standard_error = (corpus[1].sum(1) / 32).std().item() / math.sqrt(20_000)
    assert floor == pytest.approx(total / 32, abs=4 * standard_error)
    assert standard_error < 0.001


def test_the_probabilities_are_the_frequencies(lang):
    """Given what comes before, each token's stated probability is how often it follows: a count over many stories."""
    ids, logprobs = lang.stories(100_000, seed=9)
    for place in (1, 2, 5, PLOT_PLACE):
        stated = dict(zip(ids[:, place].tolist(), logprobs[:, place].exp().tolist(), strict=True))
        if place == PLOT_PLACE:  # a friend's probability depends on the name, so only the plots' own words
            names = set(lang.encode(WORDS["name"]))
            stated = {token: p for token, p in stated.items() if token not in names}
        counts = Counter(ids[:, place].tolist())
        for token, p in stated.items():
            assert counts[token] / 100_000 == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 100_000))


def test_probabilities_of_all_continuations_sum_to_one(lang):
    """Over many stories with one prefix, the different next tokens' stated probabilities add up to 1."""
    ids, logprobs = lang.stories(100_000, seed=2)
    for place, names in ((1, ids[:, 0]), (2, ids[:, 0]), (PLOT_PLACE, ids[:, 2])):
        rows = names == names.mode().values
        seen = dict(zip(ids[rows, place].tolist(), logprobs[rows, place].exp().tolist(), strict=True))
        assert sum(seen.values()) == pytest.approx(1, abs=0.002)


def test_a_friend_is_never_the_hero(lang, corpus):
    names = set(lang.encode(WORDS["name"]))
    pairs = [(story[2], story[PLOT_PLACE]) for story in corpus[0].tolist() if story[PLOT_PLACE] in names]
    assert len(pairs) > 1000
    assert all(hero != friend for hero, friend in pairs)


@pytest.mark.parametrize("order", [1, 2])
def test_counting_pairs_or_triples_comes_nowhere_near(lang, corpus, order):
    """A bigram or trigram model, with its test stories' counts added in its favour, stays far above the floor."""
    ids = corpus[0]
    counts, contexts = Counter(), Counter()
    for story in ids.tolist():
        for place in range(order, LENGTH):
            context = tuple(story[place - order : place])
            counts[context, story[place]] += 1
            contexts[context] += 1
    total = -sum(n * math.log(n / contexts[context]) for (context, _), n in counts.items())
    assert total / sum(contexts.values()) > 1.5 * lang.entropy_floor(corpus[1])


def test_same_seed_same_stories_and_more_only_add(lang, corpus):
    few, few_logprobs = ToyLanguage().stories(50, seed=5)
    assert torch.equal(few, corpus[0][:50])
    assert torch.equal(few_logprobs, corpus[1][:50])
    assert not torch.equal(lang.stories(50, seed=6)[0], few)
    code = "from utils.toy_language import ToyLanguage; print(ToyLanguage().stories(3, seed=5)[0].tolist())"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", env={"PYTHONHASHSEED": "7"}
    )
    assert other.stdout.strip() == str(few[:3].tolist()), other.stderr


def test_the_first_story_is_written_down(lang):
    """The same on every platform: these very words."""
    assert lang.decode(lang.stories(1, seed=1)[0][0]) == (
        "suddenly Anna took the big map to our park. a cat wanted the big map. "
        "Anna gave the big map to that cat. now our park was quiet."
    )


def test_a_hundred_thousand_stories_come_fast(lang):
    start = time.process_time()
    lang.stories(100_000, seed=0)
    assert time.process_time() - start < 5


def test_right_stories_have_no_errors(lang, corpus):
    assert [story for story in corpus[0][:2000] if lang.errors(story)] == []


@pytest.mark.parametrize("key", ["name", "adjective", "object", "place", "animal", "friend"])
def test_a_repetition_that_does_not_agree_is_found(lang, key):
    found = 0
    for story in lang.stories(300, seed=3)[0]:
        for place, slot in enumerate(lang._plots[lang._plot_of(story.tolist())], 1):
            if slot.kind == "copied" and slot.key == key:
                wrong = story.clone()
                wrong[place] = next(int(i) for i in slot.ids if i != story[place])
                assert lang.errors(wrong) == [(key, place)]
                found += 1
    assert found > 20


def test_malformed_stories_are_told_by_kind_and_place(lang):
    story = lang.stories(1, seed=1)[0][0].tolist()
    park, the, anna = lang.encode("park the Anna")

    def errors(place, token):
        return lang.errors([*story[:place], token, *story[place + 1 :]])

    assert errors(3, park) == [("word", 3)]
    assert ("choice", 5) in errors(5, park)
    assert errors(PLOT_PLACE, park) == [("plot", PLOT_PLACE)]
    assert errors(PLOT_PLACE, anna)[0] == ("choice", PLOT_PLACE), "a friend is not the hero"
    assert errors(0, the) == [("start", 0)]
    assert lang.errors(story[:20]) == [("length", 20)]
    assert lang.errors([*story, the]) == [("length", 33)]


def test_kinds_cover_every_target_once(lang, corpus):
    ids, logprobs = corpus
    kinds = lang.kinds(ids[:500])
    assert set(kinds) == set(KINDS)
    assert (sum(mask.int() for mask in kinds.values()) == 1).all()
    free = logprobs[:500, 1:] < 0
    assert torch.equal(kinds["choice"], free), "a token has entropy exactly where it is drawn"
    assert kinds["copied"].sum(1).min() >= 4


def test_encode_and_decode_are_inverse(lang, corpus):
    for story in corpus[0][:200]:
        text = lang.decode(story)
        assert lang.encode(text) == story[1:].tolist()
        assert lang.decode(story[1:].tolist()) == text
    assert lang.encode("Today ANNA took the\nred ball .") == lang.encode("today anna took the red ball.")
    assert lang.encode("") == []
    assert lang.decode([]) == ""


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda lang: lang.encode("Ana"), ValueError, ["'Ana'", "Anna"]),
        (lambda lang: lang.encode("today zzzzz"), ValueError, ["'zzzzz'", "such as"]),
        (lambda lang: lang.encode("<start>"), ValueError, ["<start>"]),
        (lambda lang: lang.encode(7), TypeError, ["text=7"]),
        (lambda lang: lang.decode([200]), ValueError, ["200", "0 to 199"]),
        (lambda lang: lang.decode([-1]), ValueError, ["-1", "0 to 199"]),
        (lambda lang: lang.decode([1.5]), TypeError, ["1.5"]),
        (lambda lang: lang.stories(0, seed=0), ValueError, ["n=0"]),
        (lambda lang: lang.stories(3, seed=-1), ValueError, ["seed=-1"]),
        (lambda lang: lang.stories("3", seed=0), TypeError, ["n='3'"]),
    ],
)
def test_bad_input_is_told_in_a_sentence(lang, refused, call, kind, words):
    with refused(kind, *words):
        call(lang)

"""A small language whose entropy is known: stories of 33 tokens, made by a random process that is written down here.

A story draws a name, an adjective, an object and a place, then a plot, and later repeats what it has drawn. Every
choice has a known probability, so every token has one, given the tokens before it. The mean of -log p over stories
is the lowest loss that any model can reach.
"""

import difflib
import re
from dataclasses import dataclass

import numpy as np
import torch

from utils import validate

START = "<start>"
WORDS = {
    "time": "today yesterday once recently tonight finally suddenly again",
    "name": "Anna Tom Mia Ben Lucy Max Ella Sam Nora Leo Ruby Jack Lily Finn Rosa Paul Ida Hugo Eva Otto Clara Emil "
    "Vera Noah",
    "adjective": "red big old little blue green new round soft yellow shiny white heavy wooden golden broken strange "
    "pink",
    "object": "ball book kite hat doll boat drum bell lamp cup box key map coat rope cake basket bottle blanket ladder "
    "mirror pencil whistle umbrella",
    "place": "park garden beach school forest market farm barn castle village station kitchen harbor meadow library "
    "museum bakery island mountain theater",
    "animal": "dog cat duck rabbit goat fox mouse pony turtle squirrel hedgehog hen",
    "pit": "river mud lake hole snow pond ditch well",
    "feeling": "happy sad tired scared angry proud lonely surprised",
    "calm": "quiet empty sunny dark busy calm",
    "game": "played danced walked worked waited raced",
    "end": "evening noon dinner sunset midnight",
    "weather": "rain storm thunder hail",
    "shelter": "tree bridge bench roof rock",
    "number": "two three five ten four seven",
    "money": "coins apples shells stamps",
    "joy": "smiled laughed sang jumped clapped",
    "manner": "happily loudly softly twice slowly",
}
# {name} is drawn where it first stands and repeated afterwards; {friend} is another name than the story's {name}
OPENING = "{time} {name} took the {adjective} {object} to our {place} ."
PLOTS = {
    "loss": "the {adjective} {object} fell into a {pit} . {name} was {feeling} . "
    "soon {friend} found the {adjective} {object} near our {place} .",
    "gift": "a {animal} wanted the {adjective} {object} . {name} gave the {adjective} {object} to that {animal} . "
    "now our {place} was {calm} .",
    "meeting": "{friend} was at our {place} too . {name} and {friend} {game} with the {adjective} {object} "
    "until {end} . both were {feeling} .",
    "storm": "it began to {weather} . {name} hid under a {shelter} with the {adjective} {object} . "
    "later {name} left our {place} {feeling} .",
    "sale": "at our {place} {name} sold the {adjective} {object} to {friend} for {number} {money} . "
    "now {friend} was {feeling} and {joy} {manner} .",
}
PLOT_PLACE = 1 + len(OPENING.split())  # where a story's plot shows for the first time
LENGTH = 1 + len(f"{OPENING} {PLOTS['loss']}".split())
KINDS = ("forced", "choice", "copied")


@dataclass(frozen=True)
class _Slot:
    """One place of a story: a fixed word (key None), or a word of a category that is drawn or repeated."""

    kind: str
    key: str | None
    ids: np.ndarray  # the words that may stand here


def _weights(n):
    """Zipf's law in whole numbers: the word of rank r weighs 1 / r. Whole, so that no rounding differs by platform."""
    return np.array([720_720 // rank for rank in range(1, n + 1)])


def _pick(u, weights):
    """Uniform numbers from 0 up to below 1 -> ranks from 0, by weight."""
    return np.searchsorted(weights.cumsum(), np.floor(u * weights.sum()), side="right")


class ToyLanguage:
    """Stories of one length over 200 tokens. `vocab`: the 200 strings; `start`: the id of the start mark."""

    def __init__(self):
        self.categories = {key: tuple(words.split()) for key, words in WORDS.items()}
        templates = [f"{OPENING} {plot}".split() for plot in PLOTS.values()]
        fixed = dict.fromkeys(word for template in templates for word in template if not word.startswith("{"))
        self.vocab = [START, *fixed, *(word for words in self.categories.values() for word in words)]
        self.start = 0
        self._ids = {word: number for number, word in enumerate(self.vocab)}
        self._plots = [self._slots(template) for template in templates]

    def _slots(self, template):
        seen, slots = set(), []
        for word in template:
            key = word[1:-1] if word.startswith("{") else None
            kind = "forced" if key is None else "copied" if key in seen else "choice"
            words = (word,) if key is None else self.categories["name" if key == "friend" else key]
            slots.append(_Slot(kind, key, np.array([self._ids[w] for w in words])))
            seen.add(key)
        return slots

    def encode(self, text: str) -> list[int]:
        """Text -> ids, without the start mark. Capitals do not matter; a full stop may touch its word.

        Raises ValueError for a word that is not in the language, with the nearest ones that are.
        """
        validate.instance("text", text, str)
        return [self._id(word) for word in re.findall(r"[^\s.]+|\.", text)]

    def _id(self, word):
        for form in (word, word.lower(), word.capitalize()):
            if self._ids.get(form, self.start) != self.start:
                return self._ids[form]
        known = {form.lower(): form for form in self.vocab[1:]}
        near = [known[form] for form in difflib.get_close_matches(word.lower(), known, n=3, cutoff=0.5)]
        hint = f"near it are {', '.join(near)}" if near else f"its words are such as {', '.join(self.vocab[40:44])}"
        raise ValueError(f"{word!r} is not a word of the toy language; {hint}.")

    def decode(self, ids) -> str:
        """Ids (a list or a tensor with one dimension) -> text, without a start mark in front."""
        ids = self._checked(ids)
        words = [self.vocab[number] for number in ids[int(ids[:1] == [self.start]) :]]
        return " ".join(words).replace(" .", ".")

    def _checked(self, ids):
        ids = ids.tolist() if isinstance(ids, (torch.Tensor, np.ndarray)) else list(ids)
        for number in ids:
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise TypeError(f"ids holds {number!r}; give whole numbers, in a list or a tensor with one dimension.")
            if not 0 <= number < len(self.vocab):
                raise ValueError(f"ids holds {number}; the toy language's ids go from 0 to {len(self.vocab) - 1}.")
        return ids

    def stories(self, n: int, seed: int):
        """n stories -> ids (n, 33), int64, start mark first, and logprobs (n, 33), float64, column 0 being 0.

        logprobs holds the natural logarithm of each token's probability, given the tokens before it. The same seed
        gives the same stories on every platform, and a larger n only adds to them.
        """
        validate.whole_number("n", n)
        validate.whole_number("seed", seed, low=0)
        u = np.random.default_rng(seed).random((n, LENGTH))
        weights = _weights(len(self._plots))
        plots = _pick(u[:, 0], weights)
        ids = np.full((n, LENGTH), self.start)
        logprobs = np.zeros((n, LENGTH))
        for number, slots in enumerate(self._plots):
            rows = np.flatnonzero(plots == number)
            ids[rows], logprobs[rows] = self._tell(u[rows], slots)
        logprobs[:, PLOT_PLACE] += np.log(weights / weights.sum())[plots]
        return torch.from_numpy(ids), torch.from_numpy(logprobs)

    def _tell(self, u, slots):
        """Stories of one plot from uniform numbers u (m, 33) -> ids (m, 33), logprobs (m, 33) without the plot's."""
        ids, logprobs = np.full(u.shape, self.start), np.zeros(u.shape)
        ranks = {}
        for place, slot in enumerate(slots, 1):
            weights = _weights(len(slot.ids))
            if slot.kind == "choice":
                taken = ranks["name"] if slot.key == "friend" else None
                ranks[slot.key], logprobs[:, place] = self._draw(u[:, place], weights, taken)
            ids[:, place] = slot.ids[ranks[slot.key] if slot.key else np.zeros(len(u), dtype=int)]
        return ids, logprobs

    @staticmethod
    def _draw(u, weights, taken):
        """Ranks and their log-probabilities; `taken` ranks are not drawn, and the others share their weight."""
        if taken is None:
            ranks = _pick(u, weights)
            return ranks, np.log(weights[ranks] / weights.sum())
        left = weights.sum() - weights[taken]
        drawn = np.floor(u * left)
        before = weights.cumsum()[taken] - weights[taken]
        drawn += np.where(drawn >= before, weights[taken], 0)  # step over the taken rank
        ranks = np.searchsorted(weights.cumsum(), drawn, side="right")
        return ranks, np.log(weights[ranks] / left)

    def entropy_floor(self, logprobs) -> float:
        """Nats per predicted token: -sum / (n * (length - 1)). No model's loss on these stories is expected below."""
        n, length = logprobs.shape
        return -float(logprobs.sum()) / (n * (length - 1))

    def kinds(self, ids) -> dict[str, torch.Tensor]:
        """What each token after the first is, in right stories (n, 33): kind -> bool (n, 32), one True a place.

        "forced": the only word possible; "choice": drawn, the plot's first word included; "copied": a repetition.
        """
        table = np.array([[slot.kind for slot in slots] for slots in self._plots])
        table[:, PLOT_PLACE - 1] = "choice"
        rows = table[[self._plot_of(row) for row in np.asarray(ids)]]
        return {kind: torch.from_numpy(rows == kind) for kind in KINDS}

    def _plot_of(self, story):
        """The number of a story's plot, by the word that shows it; None if no plot goes on so."""
        for number, slots in enumerate(self._plots):
            if story[PLOT_PLACE] in slots[PLOT_PLACE - 1].ids:
                return number
        return None

    def errors(self, ids) -> list[tuple[str, int]]:
        """What is wrong with one story (33,): (kind, position) pairs, in order; empty if it is right.

        Kinds: "length" and "start" for its outside, "plot" if no plot goes on so, "word" for a wrong fixed word,
        "choice" for a word that cannot be drawn there, and, for a repetition that does not agree, the name of what
        should have been repeated: "name", "friend", "adjective", "object", "place", "animal".
        """
        story = self._checked(ids)
        if len(story) != LENGTH:
            return [("length", min(len(story), LENGTH))]
        found = [] if story[0] == self.start else [("start", 0)]
        plot = self._plot_of(story)
        slots = self._plots[0][: PLOT_PLACE - 1] if plot is None else self._plots[plot]
        said = {}
        for place, slot in enumerate(slots, 1):
            problem = _problem(slot, story[place], said)
            found += [(problem, place)] if problem else []
        return found if plot is not None else [*found, ("plot", PLOT_PLACE)]


def _problem(slot, word, said):
    """What is wrong with a word in a slot, after what was said before; remembers what is said now."""
    if slot.kind == "copied":
        return None if word == said[slot.key] else slot.key
    said[slot.key] = word
    if slot.kind == "forced":
        return None if word == slot.ids[0] else "word"
    possible = word in slot.ids and not (slot.key == "friend" and word == said["name"])
    return None if possible else "choice"

"""Counts that are made of named terms: which of them is missing, counted twice, or taken for another.

An exercise that asks for a count states what it is made of, `{"token table": V * d, ...}`; each slip is then a small
change to these terms that gives the student's number in every case.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from utils.check.compare import as_array, same

# a number times this is what the student gave: what it then is
SCALES = {
    "the result is in per cent; give a fraction from 0 to 1.": 100,
    "this is a hundredth of what it should be.": 1 / 100,
    "these are thousands; the plain number is wanted.": 1e-3,
    "these are millions; the plain number is wanted.": 1e-6,
    "these are billions; the plain number is wanted.": 1e-9,
    "these are trillions; the plain number is wanted.": 1e-12,
    "this is in units of 1,024; the plain number is wanted.": 1 / 2**10,
    "this is in units of 1,024 times 1,024; the plain number is wanted.": 1 / 2**20,
    "this is in units of 1,024 to the third; the plain number is wanted.": 1 / 2**30,
    "1,000 is taken for 1,024.": 1000 / 1024,
    "1,024 is taken for 1,000.": 1024 / 1000,
    "these are bits; a byte has 8 of them.": 8,
    "this is divided by 8, as if bits were given; bytes are.": 1 / 8,
    "this is twice as much as it should be.": 2,
    "this is half of what it should be.": 1 / 2,
    "this is four times as much as it should be; are these bytes, four for each number?": 4,
    "the fraction stands on its head: the part is divided by the whole.": None,
    "the sign is turned.": -1,
}
ALTERNATIVES = 2  # more slips that give one number say nothing; of one kind, one more is told


@dataclass(frozen=True)
class Terms:
    """What a count is made of.

    parts: the exercise's arguments -> {name: number}; a term that comes several times is a pair (times, size).
    combine: {name: number} -> the count, by default the sum of the terms; `math.prod` of the values for factors.
    """

    parts: Callable[..., dict]
    combine: Callable[[dict], object] = lambda terms: sum(terms.values())

    def count(self, *args, **settings):
        """The count itself, of what `parts` makes of its arguments."""
        return self._total(self._pairs(args, settings))

    def explain(self, arguments: list[tuple], results: list) -> str | None:
        """The simplest slip that gives these results in all cases; None if none does.

        Where several slips of one kind give the same number, all are named.
        """
        given = [as_array(result) for result in results]
        if any(result is None or result.shape for result in given):
            return None
        tables = [self._pairs(args) for args in arguments]
        for kinds in self._kinds(list(tables[0])):
            fits = [
                (kind, dict.fromkeys(names for names, slip in slips if self._gives(slip, tables, given)))
                for kind, slips in kinds
            ]
            told = [kind.format(", or ".join(names)) for kind, names in fits if names]
            if told and sum(len(names) for _, names in fits) > ALTERNATIVES + (len(kinds) == 1):
                return None
            if told:
                return told[0] if len(told) == 1 else f"{told[0][:-1]}; or {told[1]}"
        return None

    def _pairs(self, args, settings=None):
        parts = self.parts(*args, **settings or {})
        return {name: part if isinstance(part, tuple) else (1, part) for name, part in parts.items()}

    def _gives(self, slip, tables, given):
        try:
            made = [slip(table) for table in tables]
        except (ArithmeticError, KeyError, ValueError):
            return False
        return None not in made and all(map(same, made, given))

    def _total(self, table):
        return self.combine({name: times * size for name, (times, size) in table.items()})

    def _kinds(self, names) -> Iterator[list[tuple[str, list[tuple[str, Callable]]]]]:
        """[(sentence, [(names, table of terms -> what the slip makes of them)])], those equally simple together."""

        def twice(table, *names):
            return _times(table, 2, *names)

        def slips(change, some, named=_listed):
            return [(named(each), lambda table, each=each: self._total(change(table, *each))) for each in some]

        one, two, three = (list(itertools.combinations(names, count)) for count in (1, 2, 3))
        swaps = list(itertools.permutations(names, 2))
        yield [("missing here: {}.", slips(_without, one))]
        replaced = slips(lambda t, name, other: t | {name: t[other]}, swaps, lambda pair: " for ".join(pair[::-1]))
        yield [("counted once, and it comes several times: {}.", slips(_once, one))]
        yield [("counted twice: {}.", slips(twice, one)), ("one thing stands in place of another: {}.", replaced)]
        yield [("this is one part of it: {}.", [(n, lambda table, n=n: math.prod(table[n])) for n in names])]
        for sentence, factor in SCALES.items():
            yield [(sentence, [("", lambda table, factor=factor: _scaled(self._total(table), factor))])]
        all_once = slips(_once, [names], lambda _: "what a layer holds")
        yield [("counted once, and all of it comes several times: {}.", all_once)]
        yield [("missing here: {}.", slips(_without, _akin(names)))]
        yield [("missing here: {}.", slips(_without, two))]
        too_often = slips(lambda t, name, other: _times(t, t[other][0], name), swaps, lambda pair: pair[0])
        yield [("counted too often: {}.", too_often)]
        yield [("only these two are counted: {}.", slips(lambda t, *names: {name: t[name] for name in names}, two))]
        yield [("counted twice: {}.", slips(twice, two))]
        yield [("missing here: {}.", slips(_without, three))]


def _akin(names):
    """The names that share a word, such as all with "bias" in them."""
    words = dict.fromkeys(word for name in names for word in name.split() if len(word) > 3)
    groups = (tuple(name for name in names if word in name.split()) for word in words)
    return [group for group in dict.fromkeys(groups) if 1 < len(group) < len(names)]


def _listed(names):
    return " and ".join([", ".join(names[:-1]), names[-1]][-len(names) :])


def _without(table, *names):
    return {name: pair for name, pair in table.items() if name not in names}


def _times(table, factor, *names):
    return table | {name: (table[name][0] * factor, table[name][1]) for name in names}


def _once(table, *names):
    return table | {name: (1, table[name][1]) for name in names}


def _scaled(total, factor):
    return 1 / total if factor is None else total * factor

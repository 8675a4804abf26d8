"""Probes that compare a student's function with the right one, case by case, and find out what went wrong.

A wrong answer is explained by the first that fits: a mistake from the exercise's own table, which is a function that
makes it and so gives the same wrong results; a sign in the result; and then what can be found out of any function
(mechanisms.py): a slip in a count (terms.py), an input that is not used, what relates the results to the wanted ones
(relations.py), where they are wrong (places.py). Whatever has no sure cause is looked for in the source as well.
"""

import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from utils.check import mechanisms
from utils.check.calling import Unclear, Wrong, call, shown_inputs
from utils.check.compare import OF_SHAPE, brief, differs, first_difference, same
from utils.check.slips import slip
from utils.check.terms import Terms


@dataclass(frozen=True)
class Cases:
    """A probe: the function must give what `right` gives on every case.

    cases: () -> argument tuples, the smallest first. right: the same function, done correctly.
    mistakes: diagnosis -> a function that makes the mistake, or several, the most particular first; one that raises
    matches an answer that raises. signs: diagnosis -> predicate of result and wanted result, for what no such function
    shows. terms: what a count is made of, named (terms.py). results: what the several results of a tuple are called.
    view: the function that is compared, made of an answer (with the right and the wrong alike), such as one that also
    gives what the answer changes in place.
    """

    cases: Callable[[], list[tuple]]
    right: Callable
    mistakes: Mapping[str, Callable | tuple[Callable, ...]] = field(default_factory=dict)
    signs: Mapping[str, Callable] = field(default_factory=dict)
    terms: Terms | None = None
    results: tuple[str, ...] = ()
    view: Callable = lambda function: function

    def __call__(self, function) -> None:
        """Raise Wrong for a wrong answer."""
        run = Run(self.view(function), self.cases(), self.view(self.right), self.results)
        wrong = run.first_wrong(self.signs)
        if wrong is None:
            return
        case, seen, is_sign = wrong
        example = run.example(case)
        if slip([function], seen):  # what the language does otherwise than it looks explains the rest
            raise Unclear(seen, example)
        if named := self._named(run):
            raise Wrong(named + example)
        if named := None if is_sign else mechanisms.cause(run, self.terms):
            raise Wrong(named + example)
        if is_sign or (named := mechanisms.not_read(run)):
            raise Unclear(named or seen, example, is_told=True)
        outcome = run.results[case]
        if isinstance(outcome, Unclear):  # an error, which tells its line and its input itself
            seen, example = outcome.seen, outcome.example
        elif isinstance(outcome, Wrong):
            raise outcome
        raise Unclear(mechanisms.pattern(run, seen) or seen, example)

    def agrees(self, function) -> bool:
        """Whether a function is right in every case; it stops at the first that is wrong."""
        seen = self.view(function)
        return all(differs(_outcome(call, seen, *args), want) is None for args, want in self._solved)

    @functools.cached_property
    def _solved(self):
        """Each case with its right result, made once: a search asks for them a thousand times."""
        right = self.view(self.right)
        return [(args, right(*copy.deepcopy(args))) for args in self.cases()]

    def rows(self) -> Iterator[tuple[str, Callable]]:
        """Each diagnosis with a function that must get it."""
        for diagnosis, made in self.mistakes.items():
            for mistake in made if isinstance(made, tuple) else (made,):
                yield diagnosis, mistake

    def _named(self, run):
        """The diagnosis of the first mistake that has the student's outcome in every case."""
        for diagnosis, mistake in self.rows():
            made = [_outcome(self.view(mistake), *copy.deepcopy(args)) for args in run.arguments]
            raised = [isinstance(outcome, Exception) for outcome in made]
            if all(map(same_outcome, made, run.results)) and not all(raised):
                return diagnosis
        return None


class InTurn:
    """A probe made of several: each judges what those before it let pass."""

    def __init__(self, *probes):
        self.probes = probes

    def __call__(self, *answers) -> None:
        for probe in self.probes:
            probe(*answers)

    def agrees(self, *answers) -> bool:
        """Whether the answers are right in every case of those probes that compare cases."""
        return all(probe.agrees(*answers) for probe in self.probes if hasattr(probe, "agrees"))

    def rows(self) -> Iterator[tuple[str, Callable]]:
        """Each diagnosis of these probes with a function that must get it."""
        for probe in self.probes:
            yield from probe.rows() if hasattr(probe, "rows") else ()


class Run:
    """What a student's function gave in each case, beside what was wanted."""

    def __init__(self, function, arguments, right, names=()):
        self.function, self.arguments, self.right, self.names = function, arguments, right, names
        self.results = [_outcome(call, function, *args) for args in arguments]
        self.wanted = [right(*copy.deepcopy(args)) for args in arguments]

    def seen(self, case) -> str | None:
        """What is wrong with a result, as far as one can see; None if nothing is."""
        result = self.results[case]
        if isinstance(result, Exception):
            return str(result).splitlines()[0]
        text = differs(result, self.wanted[case])
        for number, name in enumerate(self.names, 1):
            text = text and text.replace(f"result {number} of {len(self.names)}:", f"{name}:")
        return text

    def first_wrong(self, signs) -> tuple[int, str, bool] | None:
        """(case, what is seen, whether that is a sign) of the first wrong result; None if all are right."""
        for case, (result, want) in enumerate(zip(self.results, self.wanted, strict=True)):
            if isinstance(result, Exception):
                return case, str(result), False
            sign = next((text for text, is_so in signs.items() if is_so(result, want)), None)
            seen = sign or self.seen(case)
            if seen:
                return case, seen, sign is not None
        return None

    def example(self, case) -> str:
        """The lines that show a case: what was given, what came, what is wanted."""
        result, want = self.results[case], self.wanted[case]
        if isinstance(result, Exception):
            yours, wanted = str(result).splitlines()[0].removeprefix("your function "), brief(want)
        else:
            yours, wanted = _apart(result, want)
        return f"\n  input   {shown_inputs(self.arguments[case])}\n  yours   {yours}\n  wanted  {wanted}"


def _apart(result, want):
    """A result and the wanted one as a student reads them, so that the two can be told apart."""
    yours, wanted = brief(result), brief(want)
    alike = OF_SHAPE in yours and yours.partition(OF_SHAPE)[2] == wanted.partition(OF_SHAPE)[2]  # but for the type
    if yours != wanted and not alike:
        return yours, wanted
    if place := first_difference(result, want):  # large ones: where they part
        where, ours, theirs = place
        return f"{brief(ours, 8)} at {where}, the first that differs", f"{brief(theirs, 8)} there"
    return brief(result, 8), brief(want, 8)


def _outcome(function, *args):
    """What a function returns, or the error that it raises."""
    try:
        return function(*args)
    except Exception as error:
        return error


def same_outcome(a, b) -> bool:
    """Whether two outcomes are equal: two results, or two errors of whatever kind."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return isinstance(a, Exception) and isinstance(b, Exception)
    return same(a, b)

"""Slips of Python itself, seen in a wrong answer's source: what the language does otherwise than it looks."""

import ast
import difflib
import inspect
import re
import textwrap
from collections.abc import Iterator

from utils.check.source import plain

NO_FUNCTION = re.compile(r"'(Tensor|list|tuple|dict|int|float|ndarray)' object is not callable")
NULLS = ("null", "None", "nil")


def slip(answers, seen: str) -> str:
    """A line of a verdict on the first slip in the answers' source; "" if there is none, or no source.

    seen: what the verdict says so far, for the slips that belong to one kind of failure.
    """
    for answer in answers:
        try:
            source = textwrap.dedent(inspect.getsource(plain(answer)))
            tree = ast.parse(source).body[0]
        except Exception:  # no source to be had
            continue
        bound = _bound(tree)
        for node in ast.walk(tree):
            for text in _slips(node, tree, seen, bound):
                line = source.splitlines()[node.lineno - 1].strip()
                return f"\n  look    line {node.lineno}, `{line}`: {text}"
    return ""


def _slips(node, tree, seen, bound) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        yield "`^` compares bits in Python and is no power; a power is written `**`"
    if _is_halved_power(node):
        yield "a power comes before a division: `** 1 / 2` is `(** 1) / 2`, and `** 0.5` is the root"
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "shape" and "not callable" in seen:
        yield "`shape` is no function, but a tuple; its entries are read with square brackets"
    if _is_get_of_get(node) and "KeyError" in seen:
        yield "the second input of `.get` is computed first, whether it is needed or not"
    if isinstance(node, ast.Compare) and any(_is_null(part) for part in (node.left, *node.comparators)):
        yield "what JSON writes as null is Python's None, and not a word in quotes"
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.BinOp, ast.Compare, ast.Subscript)):
        missing = "is `=` meant" if isinstance(node.value, ast.Compare) else "is a `return`, or an `=`, missing"
        yield f"its value is computed and dropped; {missing}"
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Attribute, ast.Name)):
        yield "this names a function and does not call it; are its brackets missing"
    if isinstance(node, ast.With) and "context manager" in seen:
        yield "what stands behind `with` has to be called; are its brackets missing"
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in bound and (kind := NO_FUNCTION.search(seen)):
        yield f"round brackets call, and this is a {kind[1]}; its entries are read with square ones, or in a loop"
    if isinstance(node, ast.Name) and f"'{node.id}'" in seen and ("NameError" in seen or "UnboundLocal" in seen):
        near = difflib.get_close_matches(node.id, bound - {node.id}, 1)
        yield f"`{node.id}` has no value here" + (f"; is `{near[0]}` meant" if near else "; assign it first")
    if "returns None" in seen:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print" and not _returns(tree):
            yield "a print shows the result and gives it to nobody; a function gives it with `return`"
        if isinstance(node, ast.If) and _returns(node) and not _always_returns(tree.body):
            yield "one way through this condition comes to no `return`"


def _bound(tree):
    """The names that a function binds: its inputs, and what it assigns."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _is_halved_power(node):
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return False
    powers = [part for part in (node.left, getattr(node.left, "right", None)) if isinstance(part, ast.BinOp)]
    exponents = [part.right for part in powers if isinstance(part.op, ast.Pow)]
    return any(isinstance(part, ast.Constant) and part.value == 1 for part in exponents)


def _is_get_of_get(node):
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", "") != "get" or len(node.args) != 2:
        return False
    return any(isinstance(part, ast.Subscript) for part in ast.walk(node.args[1]))


def _is_null(node):
    return isinstance(node, ast.Constant) and node.value in NULLS and isinstance(node.value, str)


def _returns(node):
    return any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node))


def _always_returns(body):
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_returns(last.body) and _always_returns(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))

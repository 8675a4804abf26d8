"""Small changes to a function's source, one at a time: what a slip of a student may have turned round.

The rules state kinds of slip, the error model of this search.
"""

import ast
import copy
from collections.abc import Iterator

from utils.check.repair import uses, values
from utils.check.repair.nodes import called, exchanged, with_fields


def changes(tree: ast.FunctionDef) -> Iterator[tuple[int, int, str, ast.FunctionDef]]:
    """Every small change to a function, the likeliest first -> (how far it goes, line, what it concerns, changed copy).

    How far: 0 for a change to what stands there, 1 for an addition, which can make a result right by chance.
    """
    yield from _ends(tree)
    nodes = list(ast.walk(tree))
    outer = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    names, heads = _names(tree), _of_heads(nodes)
    for rule in (*SWAPPING, *ADDING):
        for node in nodes:
            skipped = node is tree or id(node) in heads
            for what, new in () if skipped else rule(node, outer.get(id(node)), names):
                yield rule in ADDING, _line(node, outer), what, _replaced(tree, node, new, outer)
        if rule is SWAPPING[-1]:
            yield from _orders(tree, nodes, outer)


def _line(node, outer):
    while node is not None and not hasattr(node, "lineno"):
        node = outer.get(id(node))
    return getattr(node, "lineno", 1)


def _of_heads(nodes):
    """The ids of what belongs to the head of a function or to an annotation."""
    heads = [node for node in nodes if isinstance(node, ast.arguments)]
    heads += [getattr(node, field, None) for node in nodes for field in ("annotation", "returns")]
    heads += [each for node in nodes for each in getattr(node, "decorator_list", ())]
    return {id(part) for head in heads if head for part in ast.walk(head)}


def _names(tree):
    """What a function can name: its arguments and what it binds."""
    arguments = [arg.arg for arg in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(arguments + bound))


def _replaced(tree, node, new, outer):
    """A copy of the tree with another node, several or none, in place of one; it shares what is not changed."""
    while node is not tree:
        parent = outer[id(node)]
        twin = copy.copy(parent)
        for field, value in ast.iter_fields(parent):
            if value is node:
                setattr(twin, field, new)
            elif isinstance(value, list) and any(part is node for part in value):
                made = new if isinstance(new, list) else [new]
                parts = [other for part in value for other in (made if part is node else [part]) if other is not None]
                setattr(twin, field, parts or [ast.Pass()])
        node, new = parent, twin
    return ast.fix_missing_locations(new)


def _statements(node, parent, names):
    """A result that is dropped, a line too many, a return too deep."""
    if not isinstance(node, ast.stmt) or isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        targets = [part.id for part in ast.walk(call) if isinstance(part, ast.Name) and part.id in names]
        if called(call) == "print":
            yield "a print shows a value and gives it to nobody", ast.Return(call.args[0]) if call.args else ast.Pass()
        for name in dict.fromkeys(targets):
            yield "its result is computed and dropped", ast.Assign([ast.Name(name, ast.Store())], call)
        yield "its result is computed and dropped", ast.Return(call)
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        yield "its value is computed and dropped", ast.Return(node.value)
    if isinstance(node, (ast.For, ast.While)) and isinstance(node.body[-1], ast.Return):
        yield "how far in the `return` stands", [with_fields(node, body=node.body[:-1] or [ast.Pass()]), node.body[-1]]
    if isinstance(node, ast.If) and not node.orelse:
        yield "whether this condition belongs there", node.body
    if not isinstance(node, ast.Return):
        yield "whether this line belongs there", None


def _orders(tree, nodes, outer):
    """Two lines in the other order."""
    for node in nodes:
        body = getattr(node, "body", None)
        for at in range(len(body) - 1) if isinstance(body, list) else ():
            changed = _replaced(tree, node, with_fields(node, body=exchanged(body, at, at + 1)), outer)
            yield 0, body[at].lineno, f"its order with line {body[at + 1].lineno}", changed


def _ends(tree):
    """A return that is missing at the end."""
    last = tree.body[-1]
    for name in reversed(_names(tree)) if not isinstance(last, ast.Return) else ():
        longer = with_fields(tree, body=[*tree.body, ast.Return(ast.Name(name, ast.Load()))])
        yield 0, last.lineno, "what is returned after it", ast.fix_missing_locations(longer)


# the likeliest first
SWAPPING = (
    *(values.numbers, values.operators, values.comparisons, values.signs, _statements, values.brackets),
    *(uses.calls, uses.slices, uses.other_names, uses.keywords, uses.bounds),
)
ADDING = (uses.missing, values.factors)

"""Small changes to a function's source, one at a time: what a slip of a student may have turned round.

The rules state kinds of slip, the error model of this search.
"""

import ast
import copy
import itertools
from collections.abc import Iterator

from utils.check.repair import uses, values
from utils.check.repair.nodes import called, exchanged, with_fields


def changes(tree: ast.FunctionDef) -> Iterator[tuple[int, int, str, ast.FunctionDef]]:
    """Every small change to a function, the likeliest first -> (how far, line, what it concerns, changed copy).

    How far: 0 for a change to what stands there, 1 for an addition, 2 for two changes of one kind. What goes far makes
    a result right by chance more easily.
    """
    yield from _ends(tree)
    nodes = list(ast.walk(tree))
    outer = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    names, heads = _names(tree), _of_heads(nodes)
    singles = {rule: [] for rule in (*SWAPPING, *ADDING)}
    for rule, made in singles.items():
        for node in nodes:
            skipped = node is tree or id(node) in heads
            for place, (what, new) in enumerate(() if skipped else rule(node, outer.get(id(node)), names)):
                made.append((node, new, what, place))
                yield rule in ADDING, _line(node, outer), what, _replaced(tree, [(node, new)], outer)
        if rule in SWAPPING:
            yield from _everywhere(tree, made, outer)
        if rule is SWAPPING[-1]:
            yield from _orders(tree, nodes, outer)
    for rule in SWAPPING[1:]:  # two numbers make much right by chance
        yield from _twice(tree, singles[rule], outer)


def _everywhere(tree, made, outer):
    """The same change in all places where the same thing stands, or in all of one line."""
    alike = {}
    for node, new, what, place in made:
        for where in (0, _line(node, outer)):
            alike.setdefault((ast.dump(node).replace("Store()", "Load()"), place, where), []).append((node, new, what))
    for group in alike.values():
        if len(group) > 1 and not any(_is_inside(one, other, outer) for (one, *_), (other, *_) in pairs(group)):
            what = f"{group[0][2]}, here and where it stands again"
            yield 0, _line(group[0][0], outer), what, _replaced(tree, [each[:2] for each in group], outer)


def _twice(tree, made, outer):
    """Two changes of one kind, so many of them at most that a search in vain is soon over."""
    for (one, first, what, _), (two, second, more, _) in itertools.islice(pairs(made), PAIRS):
        lines = _line(one, outer), _line(two, outer)
        if not _is_inside(one, two, outer):
            place = f"line {lines[1]}: " * (lines[0] != lines[1])
            both = f"{what}; and {place}{more}"
            yield 2, lines[0], both, _replaced(tree, [(one, first), (two, second)], outer)


PAIRS = 300  # of one kind


def pairs(items):
    """Each two of some items."""
    return itertools.combinations(items, 2)


def _is_inside(one, other, outer):
    """Whether one of two nodes is the other, or a part of it."""
    return bool({id(one)} & _around(other, outer) or {id(other)} & _around(one, outer))


def _around(node, outer):
    """The ids of a node and of all that it is a part of."""
    around = set()
    while node is not None:
        around.add(id(node))
        node = outer.get(id(node))
    return around


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


def _replaced(tree, replacements, outer):
    """A copy of the tree with another node, several or none, in place of some; it shares what is not changed."""
    new = {id(node): made for node, made in replacements}
    for made in new.values():
        for part in made if isinstance(made, list) else [made] if made is not None else []:
            ast.fix_missing_locations(part)
    changed = set().union(*(_around(node, outer) for node, _ in replacements))

    def rebuilt(node):
        if id(node) in new or id(node) not in changed:
            return new.get(id(node), node)
        twin = copy.copy(node)
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(twin, field, rebuilt(value))
            elif isinstance(value, list) and any(id(part) in changed for part in value):
                made = (rebuilt(part) for part in value)
                parts = [other for part in made for other in (part if isinstance(part, list) else [part])]
                setattr(twin, field, [part for part in parts if part is not None] or [ast.Pass(lineno=1, col_offset=0)])
        return twin

    return rebuilt(tree)


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
    """Two lines in the other order; a line that belongs into a loop or a branch, or out of it."""
    for node in nodes:
        body = getattr(node, "body", None)
        for at, line in enumerate(body) if isinstance(body, list) else ():
            changed = [exchanged(body, at, at + 1)] if at + 1 < len(body) else []
            what = f"its order with line {body[at + 1].lineno}" if changed else ""
            yield from ((0, line.lineno, what, _with_body(tree, node, lines, outer)) for lines in changed)
            what = "how far in it stands"
            for lines in _deeper(body, at):
                yield 0, line.lineno, what, _with_body(tree, node, lines, outer)
            if not isinstance(line, (ast.For, ast.While, ast.If, ast.With)) or len(line.body) < 2:
                continue
            first, *rest = line.body
            *others, last = line.body
            if isinstance(last, ast.Return):  # its own rule looks at it
                continue
            for lines in ([first, with_fields(line, body=rest)], [with_fields(line, body=others), last]):
                moved = body[:at] + lines + body[at + 1 :]
                yield 0, (lines[0] if lines[0] is first else last).lineno, what, _with_body(tree, node, moved, outer)


def _deeper(body, at):
    """The lines of a body with one of them moved into a loop or branch behind it, or right before it."""
    rest = body[:at] + body[at + 1 :]
    for place, line in enumerate(rest):
        if isinstance(line, (ast.For, ast.While, ast.If, ast.With)) and place >= at - 1:
            inside = [*line.body, body[at]] if place == at - 1 else [body[at], *line.body]
            yield [*rest[:place], with_fields(line, body=inside), *rest[place + 1 :]]


def _with_body(tree, node, body, outer):
    new = with_fields(node, body=body)
    return ast.fix_missing_locations(new) if node is tree else _replaced(tree, [(node, new)], outer)


def _ends(tree):
    """A return that is missing at the end."""
    last = tree.body[-1]
    for name in reversed(_names(tree)) if not isinstance(last, ast.Return) else ():
        longer = with_fields(tree, body=[*tree.body, ast.Return(ast.Name(name, ast.Load()))])
        yield 0, last.lineno, "what is returned after it", ast.fix_missing_locations(longer)


# the likeliest first
SWAPPING = (
    *(values.numbers, values.operators, values.comparisons, values.signs, _statements, values.brackets),
    *(uses.calls, uses.wrappers, uses.slices, uses.other_names, uses.keywords, uses.bounds),
)
ADDING = (uses.missing, values.factors)

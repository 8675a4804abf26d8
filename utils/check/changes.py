"""Small changes to a function's source, one at a time: what a slip of a student may have turned round.

Each change is (line, what it concerns, the changed tree). The rules state kinds of slip, as the error models of
Singh, Gulwani and Solar-Lezama do ("Automated feedback generation for introductory programming assignments", 2013).
No change calls a function that the source does not call, but for the harmless methods of tensors in MORE and ALIKE.
"""

import ast
import copy
from collections.abc import Iterator

SWAPS = {  # an operator and what stands in its place by mistake
    ast.BitXor: (ast.Pow,),
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add, ast.MatMult),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
# methods of tensors that change nothing: what may be missing behind a value
MORE = [
    ".T",
    ".mT",
    ".log()",
    ".exp()",
    ".softmax(-1)",
    ".sum(-1)",
    ".sum()",
    ".mean()",
    ".float()",
    ".long()",
    ".item()",
    ".clone()",
    ".abs()",
    ".sqrt()",
    ".cumsum(-1)",
    ".flatten()",
    ".bool()",
    ".detach()",
    "[-1]",
    "[:,-1]",
    "[0]",
    "[...,None]",
    "[None]",
]
ALIKE = [  # methods that are taken for one another
    *({"sum", "mean"}, {"max", "min"}, {"amax", "amin"}, {"argmax", "argmin"}, {"tril", "triu"}, {"exp", "log"}),
    *({"softmax", "log_softmax", "sigmoid"}, {"cumsum", "cumprod"}, {"floor", "ceil", "round"}, {"gt", "ge"}),
    *({"lt", "le"}, {"view", "reshape"}, {"zeros", "ones"}, {"zeros_like", "ones_like"}, {"log", "log2", "log10"}),
    *({"sqrt", "square"}, {"repeat", "repeat_interleave"}, {"stack", "cat"}),
]
BUILT_IN = {"max": "min", "min": "max", "any": "all", "all": "any"}
AXES = ("dim", "axis")
KEEPS = ("sum", "mean", "max", "min", "amax", "amin", "prod", "argmax", "argmin", "norm", "var", "std")


def changes(tree: ast.FunctionDef) -> Iterator[tuple[int, str, ast.FunctionDef]]:
    """Every small change to a function, the likeliest kinds first -> (line, what it concerns, changed copy)."""
    yield from _ends(tree)
    nodes = list(ast.walk(tree))
    outer = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    names = _names(tree)
    for rule in (_numbers, _operators, _comparisons, _signs, _statements, _brackets, _calls, _slices, _other_names,
                 _keywords, _bounds, _missing, _factors):  # fmt: skip
        for place, node in enumerate(nodes):
            if node is tree or _is_annotation(node, outer):
                continue
            for what, new in rule(node, outer.get(id(node)), names):
                yield getattr(node, "lineno", 0) or _line(node, outer), what, _replaced(tree, place, new)
    yield from _orders(tree)


def _line(node, outer):
    while node is not None and not hasattr(node, "lineno"):
        node = outer.get(id(node))
    return getattr(node, "lineno", 1)


def _is_annotation(node, outer):
    """Whether a node belongs to the head of the function or to an annotation."""
    while node is not None:
        parent = outer.get(id(node))
        if isinstance(node, (ast.arguments, ast.arg)) or getattr(parent, "annotation", None) is node:
            return True
        if isinstance(parent, ast.FunctionDef) and (parent.returns is node or node in parent.decorator_list):
            return True
        node = parent
    return False


def _names(tree):
    """What a function can name: its arguments and what it binds."""
    arguments = [arg.arg for arg in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)]
    bound = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(arguments + bound))


class _Replace(ast.NodeTransformer):
    def __init__(self, target, new):
        self.target, self.new = target, new

    def visit(self, node):
        return self.new if node is self.target else self.generic_visit(node)


def _replaced(tree, place, new):
    """A copy of the tree with another node, several or none, at a place of the walk."""
    twin = copy.deepcopy(tree)
    target = list(ast.walk(twin))[place]
    made = _Replace(target, copy.deepcopy(new)).visit(twin)
    for node in ast.walk(made):
        if isinstance(getattr(node, "body", None), list) and not node.body:
            node.body = [ast.Pass()]
    return ast.fix_missing_locations(made)


def _expression(text, node):
    """An expression from its text, with the node in place of X; the node reads a value there."""
    made = ast.parse(text, mode="eval").body
    for part in ast.walk(made):
        for name, value in ast.iter_fields(part):
            if isinstance(value, ast.Name) and value.id == "X":
                setattr(part, name, node)
    return made


def _says(node):
    text = ast.unparse(node)
    return f"`{text if len(text) <= 40 else text[:39] + '…'}`"


def _called(node):
    """The name of what a call calls."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _numbers(node, parent, names):
    """A whole number by one, an axis, a factor; True for False."""
    if not isinstance(node, ast.Constant) or isinstance(node.value, (str, bytes)) or node.value is None:
        return
    value = node.value
    if value is Ellipsis:
        return
    axis = isinstance(parent, ast.keyword) and parent.arg in AXES
    what = f"the number {value}"
    if axis or (isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and value in (-2, -1, 0, 1, 2)):
        what = "the axis" if axis else f"the axis, or the number, of `{_called(parent)}`"
    if isinstance(parent, ast.UnaryOp) and value in (1, 2):
        what = f"the number -{value}, an axis or a place"
    if isinstance(value, bool):
        yield f"{value} or {not value}", ast.Constant(not value)
        return
    near = [value + 1, value - 1, -value, 0, 1, -1, -2, 2 * value, value / 2, 2, 3, 4, value * 10, value / 10]
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and value:
        near.append(1 / value)
    if isinstance(value, float):
        near = [1 - value, -value, value * 2, value / 2, value * 10, value / 10, 1.0, 0.0, value**0.5, value**2]
    for other in dict.fromkeys(near):
        if other != value and (isinstance(other, int) or other != int(other) or isinstance(value, float)):
            yield what, ast.Constant(other)


def _operators(node, parent, names):
    """An operator, and which side comes first."""
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        sign = ast.unparse(ast.BinOp(ast.Name("a"), node.op, ast.Name("b")))[2:-2] if not isinstance(
            node, ast.BoolOp) else ("and" if isinstance(node.op, ast.And) else "or")  # fmt: skip
        for swap in SWAPS.get(type(node.op), ()):
            yield f"the operator `{sign}`", _with(node, op=swap())
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.BitXor):  # it binds less than `+`, and `**` more than `*`
            yield (
                "the operator `^`, which is no power",
                ast.parse(ast.unparse(node).replace("^", "**"), mode="eval").body,
            )
        if not isinstance(node.op, (ast.Add, ast.Mult)):
            yield f"the two sides of the `{sign}`", _with(node, left=node.right, right=node.left)
        yield f"{_says(node.right)}, and whether it belongs there", node.left
        yield f"{_says(node.left)}, and whether it belongs there", node.right
    if isinstance(node, ast.AugAssign):
        yield f"the `{sign}=`", ast.Assign([node.target], node.value)


def _with(node, **fields):
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def _comparisons(node, parent, names):
    """A comparison, and a condition turned round."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for swap in SWAPS.get(type(node.ops[0]), ()):
            yield f"the comparison in {_says(node)}", _with(node, ops=[swap()])
        if isinstance(parent, ast.Call):
            yield f"{_says(node)}, and which of its values count", ast.UnaryOp(ast.Invert(), node)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "the condition", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.IfExp):
        yield "the condition: is it needed?", node.body
        yield "the condition: is it needed?", node.orelse


def _signs(node, parent, names):
    """A sign, a `not`, a `~` too many or too few."""
    if isinstance(node, ast.UnaryOp):
        what = {ast.USub: "the sign", ast.Not: "the `not`", ast.Invert: "the `~`"}.get(type(node.op))
        if what and not isinstance(node.operand, ast.Constant):
            yield what, node.operand
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            yield what, node.operand
    elif _is_read(node, parent) and isinstance(parent, (ast.Return, ast.Assign, ast.Call)):
        yield f"the sign of {_says(node)}", ast.UnaryOp(ast.USub(), node)
        if isinstance(parent, ast.Call):
            yield f"{_says(node)}, and which of its values count", ast.UnaryOp(ast.Invert(), node)


def _is_read(node, parent):
    """Whether a node is a value that is used, not what is called nor what is bound."""
    kinds = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)
    loaded = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return isinstance(node, kinds) and loaded and getattr(parent, "func", None) is not node


def _statements(node, parent, names):
    """A result that is dropped, a line too many, a return too deep."""
    if not isinstance(node, ast.stmt) or isinstance(node, (ast.FunctionDef, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        targets = [part.id for part in ast.walk(call) if isinstance(part, ast.Name) and part.id in names]
        if _called(call) == "print":
            yield "a print shows a value and gives it to nobody", ast.Return(call.args[0]) if call.args else ast.Pass()
        for name in dict.fromkeys(targets):
            yield "its result is computed and dropped", ast.Assign([ast.Name(name, ast.Store())], call)
        yield "its result is computed and dropped", ast.Return(call)
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        yield "its value is computed and dropped", ast.Return(node.value)
    if isinstance(node, (ast.For, ast.While)) and isinstance(node.body[-1], ast.Return):
        yield "how far in the `return` stands", [_with(node, body=node.body[:-1]), node.body[-1]]
    if isinstance(node, ast.If) and not node.orelse:
        yield "whether this condition belongs there", node.body
    if not isinstance(node, ast.Return):
        yield "whether this line belongs there", None


def _brackets(node, parent, names):
    """Brackets moved: around the operators, or into and out of a call."""
    if isinstance(node, ast.BinOp):
        what = f"which parts of {_says(node)} belong together"
        left, right = node.left, node.right
        if isinstance(left, ast.BinOp):
            yield what, _with(left, right=_with(node, left=left.right))
        if isinstance(right, ast.BinOp):
            yield what, _with(right, left=_with(node, right=right.left))
        if isinstance(node.op, (ast.Add, ast.Sub)):
            for factored in _factored(node):
                yield what, factored
        if isinstance(left, ast.UnaryOp) and isinstance(node.op, ast.Pow):
            yield what, _with(left, operand=_with(node, left=left.operand))
        for inner, field in ((left, "left"), (right, "right")):
            if isinstance(inner, ast.Call) and inner.args and not isinstance(inner.args[0], ast.Starred):
                first = _with(node, **{field: inner.args[0]})
                yield f"the brackets of `{_called(inner)}`", _with(inner, args=[first, *inner.args[1:]])
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                func = _with(inner.func, value=_with(node, **{field: inner.func.value}))
                yield f"whether `{_called(inner)}` comes before or after", _with(inner, func=func)
    if isinstance(node, ast.Call):
        if node.args and isinstance(node.args[0], ast.BinOp):
            inner = node.args[0]
            for field in ("left", "right"):
                call = _with(node, args=[getattr(inner, field), *node.args[1:]])
                yield f"the brackets of `{_called(node)}`", _with(inner, **{field: call})
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.BinOp):
            inner = node.func.value
            for field in ("left", "right"):
                call = _with(node, func=_with(node.func, value=getattr(inner, field)))
                yield f"whether `{_called(node)}` comes before or after", _with(inner, **{field: call})


def _factored(node):
    """`a * b + c` as `a * (b + c)`, also with more terms before `c`, and with one before `a * b`."""
    chain, first = [node], node.left
    while isinstance(first, ast.BinOp) and isinstance(first.op, (ast.Add, ast.Sub)):
        for outside, inside in _splits(first.right) if len(chain) == 1 else ():
            yield _with(first, right=ast.BinOp(outside, ast.Mult(), _with(node, left=inside)))
        chain, first = [*chain, first], first.left
    for outside, inside in _splits(first):
        for part in reversed(chain):
            inside = _with(part, left=inside)
        yield ast.BinOp(outside, ast.Mult(), inside)


def _splits(product):
    """A product `a * b * c` in two, at each place: what multiplies, and what it multiplies."""
    inside = None
    while isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        inside = product.right if inside is None else ast.BinOp(product.right, ast.Mult(), inside)
        product = product.left
        yield product, inside


def _calls(node, parent, names):
    """A call too many, its inputs in another order, a method taken for another."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
        yield f"the `.{node.attr}`", node.value
        yield f"the `.{node.attr}`", _with(node, attr="mT" if node.attr == "T" else "T")
    if not isinstance(node, ast.Call):
        return
    name = _called(node)
    method = isinstance(node.func, ast.Attribute)
    if name in ("range", "print") or (isinstance(parent, ast.Expr) and parent.value is node):
        inner = None
    else:
        inner = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
    for alike in ALIKE if method else ():
        for other in sorted(alike - {name}) if name in alike else ():
            yield f"the `{name}`", _with(node, func=_with(node.func, attr=other))
    if name in BUILT_IN and not method:
        yield f"the `{name}`", _with(node, func=ast.Name(BUILT_IN[name], ast.Load()))
    if method:
        yield f"the call of `{name}`", node.func.value
    if inner is not None:
        yield f"the call of `{name}`", inner
    plain = [place for place, arg in enumerate(node.args) if not isinstance(arg, ast.Starred)]
    for first in plain:
        for second in plain[first + 1 :]:
            args = list(node.args)
            args[first], args[second] = args[second], args[first]
            yield f"the order of the inputs of `{name}`", _with(node, args=args)
    if method and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Constant):
        turned = _with(node, func=_with(node.func, value=node.args[0]), args=[node.func.value])
        yield f"which of the two `{name}` is asked of", turned


def _slices(node, parent, names):
    """A slice's bounds, a subscript too many, the order of two."""
    if isinstance(node, ast.Slice):
        what = f"the slice `{ast.unparse(node)}`"
        yield what, _with(node, lower=node.upper, upper=node.lower)
        if node.lower is not None:
            yield what, _with(node, lower=None)
            yield what, _with(node, lower=ast.UnaryOp(ast.USub(), node.lower))
        if node.upper is not None:
            yield what, _with(node, upper=None)
            yield what, _with(node, upper=ast.UnaryOp(ast.USub(), node.upper))
            yield what, _with(node, lower=ast.UnaryOp(ast.USub(), node.upper), upper=None)
        if node.lower is None and node.upper is None:
            yield what, _with(node, lower=ast.Constant(1))
            yield what, _with(node, upper=ast.Constant(-1))
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield f"the brackets behind {_says(node.value)}", node.value
        inner = node.slice
        if isinstance(inner, ast.Tuple):
            for place in range(len(inner.elts)):
                rest = [part for at, part in enumerate(inner.elts) if at != place]
                slice_ = rest[0] if len(rest) == 1 else _with(inner, elts=rest)
                yield f"the places between the brackets of {_says(node)}", _with(node, slice=slice_)
            yield (
                f"the places between the brackets of {_says(node)}",
                _with(node, slice=_with(inner, elts=inner.elts[::-1])),
            )
        else:
            for more in (ast.Slice(), ast.Constant(...)):
                elts = ast.Tuple([more, inner], ast.Load())
                yield f"the places between the brackets of {_says(node)}", _with(node, slice=elts)


def _other_names(node, parent, names):
    """Another name that is in scope."""
    is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    if is_read and node.id in names and getattr(parent, "func", None) is not node:
        for other in names:
            if other != node.id:
                yield f"the name `{node.id}`", _with(node, id=other)


def _keywords(node, parent, names):
    """A keyword too many or too few: `keepdim`, `dim`."""
    if not isinstance(node, ast.Call):
        return
    name = _called(node)
    for place, keyword in enumerate(node.keywords):
        rest = node.keywords[:place] + node.keywords[place + 1 :]
        yield f"the `{keyword.arg}` of `{name}`", _with(node, keywords=rest)
    have = {keyword.arg for keyword in node.keywords}
    if name in KEEPS and not have & {"keepdim", "keepdims"}:
        keep = ast.keyword("keepdim", ast.Constant(True))
        yield f"the axes that `{name}` leaves", _with(node, keywords=[*node.keywords, keep])
        for dim in (-1, 0) if not have & set(AXES) else ():
            axis = ast.keyword("dim", ast.Constant(dim))
            yield f"the axis of `{name}`", _with(node, keywords=[*node.keywords, axis])
            yield f"the axis of `{name}`", _with(node, keywords=[*node.keywords, axis, keep])


def _bounds(node, parent, names):
    """A bound by one: of a range, of a slice, of a comparison, of an index."""
    if not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Slice, ast.Tuple)):
        return
    bounds = isinstance(parent, (ast.Slice, ast.Compare)) or (
        isinstance(parent, ast.Subscript) and parent.slice is node
    )
    of_range = isinstance(parent, ast.Call) and _called(parent) in ("range", "arange") and node in parent.args
    if bounds or of_range:
        for op in (ast.Add(), ast.Sub()):
            yield f"the bound {_says(node)}", ast.BinOp(node, op, ast.Constant(1))
    if of_range and len(parent.args) == 1:
        yield f"where the `{_called(parent)}` begins", [ast.Constant(1), node]


def _missing(node, parent, names):
    """Something that is still to be done with a value."""
    if not _is_read(node, parent) or isinstance(parent, (ast.Attribute, ast.Expr, ast.keyword)):
        return
    for more in MORE:
        yield f"{_says(node)}, with which something is still to be done", _expression(f"X{more}", node)


def _factors(node, parent, names):
    """A factor or a term that is missing."""
    if not isinstance(node, (ast.Name, ast.BinOp)) or not isinstance(parent, (ast.BinOp, ast.Return)):
        return
    if _is_read(node, parent):
        beside = [ast.Name(name, ast.Load()) for name in names]
        for more in (*beside, *map(ast.Constant, (1, 2, 3, 4, 6, 8))):
            for op in (ast.Mult(), ast.Add(), ast.Div(), ast.Sub()):
                yield f"{_says(node)}, and what is missing beside it", ast.BinOp(node, op, more)


def _orders(tree):
    """Two lines in the other order."""
    for place, node in enumerate(ast.walk(tree)):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for first in range(len(body) - 1):
            twin = copy.deepcopy(tree)
            lines = list(ast.walk(twin))[place].body
            lines[first], lines[first + 1] = lines[first + 1], lines[first]
            yield body[first].lineno, f"its order with line {body[first + 1].lineno}", ast.fix_missing_locations(twin)


def _ends(tree):
    """A return that is missing at the end."""
    last = tree.body[-1]
    if not isinstance(last, ast.Return):
        for name in reversed(_names(tree)):
            twin = copy.deepcopy(tree)
            twin.body.append(ast.Return(ast.Name(name, ast.Load())))
            yield last.lineno, "what is returned after it", ast.fix_missing_locations(twin)

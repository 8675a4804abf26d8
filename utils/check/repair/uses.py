"""Slips in what is done with values: a call, its inputs, a slice, a name, a bound, something left out.

Rules as in values.py. None calls a function that the source does not call, but for harmless methods of tensors.
"""

import ast
import copy
import itertools

from utils.check.repair.nodes import called, exchanged, expression, is_read, says, with_fields
from utils.check.repair.values import DIMENSIONS

# methods of tensors that change nothing: what may be missing behind a value
MORE = (
    *(".T", ".mT", ".log()", ".exp()", ".softmax(-1)", ".sum(-1)", ".sum()", ".mean()", ".cumsum(-1)", ".sqrt()"),
    *(".abs()", ".float()", ".long()", ".bool()", ".item()", ".clone()", ".detach()", ".flatten()"),
    *("[-1]", "[0]", "[:, -1]", "[:, 0]", "[..., None]", "[None]", "[..., -1]", ".transpose(0, 1)", ".transpose(1, 2)"),
)
ALIKE = [  # methods that are taken for one another
    *(
        {"sum", "mean", "median"},
        {"max", "min"},
        {"amax", "amin"},
        {"argmax", "argmin"},
        {"tril", "triu"},
        {"exp", "log"},
    ),
    *({"softmax", "log_softmax", "sigmoid"}, {"cumsum", "cumprod"}, {"floor", "ceil", "round"}, {"gt", "ge"}),
    *({"lt", "le"}, {"view", "reshape"}, {"zeros", "ones"}, {"zeros_like", "ones_like"}, {"log", "log2", "log10"}),
    *({"sqrt", "square"}, {"repeat", "repeat_interleave"}, {"stack", "cat"}),
]
MODULES = ("torch", "np", "numpy", "math", "F", "nn")
FLAGS = {"descending": ("sort", "argsort"), "stable": ("sort", "argsort"), "largest": ("topk",)}
BUILT_IN = {"max": "min", "min": "max", "any": "all", "all": "any"}
ALONG = {
    *("cat", "stack", "softmax", "log_softmax", "flip", "sort", "argsort", "topk", "diff", "unbind", "chunk", "split")
}
KEEPS = {*("sum", "mean", "prod", "norm", "var", "std"), *("max", "min", "amax", "amin", "argmax", "argmin")}


def calls(node, parent, names):
    """A call too many, its inputs in another order, a method taken for another."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "H"):
        yield f"the `.{node.attr}`", node.value
        yield f"the `.{node.attr}`", with_fields(node, attr="mT" if node.attr == "T" else "T")
    if not isinstance(node, ast.Call):
        return
    name = called(node)
    method = isinstance(node.func, ast.Attribute)
    inner = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred) else None
    if name in ("range", "print") or isinstance(parent, ast.Expr):
        inner = None
    if isinstance(inner, ast.Subscript):
        whole = with_fields(node, args=[inner.value, *node.args[1:]])
        yield f"whether the brackets belong inside `{name}` or behind it", with_fields(inner, value=whole)
    for alike in ALIKE if method else ():
        for other in sorted(alike - {name}) if name in alike else ():
            yield f"the `{name}`", with_fields(node, func=with_fields(node.func, attr=other))
    if name in BUILT_IN and not method:
        yield f"the `{name}`", with_fields(node, func=ast.Name(BUILT_IN[name], ast.Load()))
    if method:
        yield f"the call of `{name}`", node.func.value
    if inner is not None:
        yield f"the call of `{name}`", inner
    plain = [place for place, arg in enumerate(node.args) if not isinstance(arg, ast.Starred)]
    for pair in itertools.combinations(plain, 2):
        yield f"the order of the inputs of `{name}`", with_fields(node, args=exchanged(node.args, *pair))
    if method and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Constant):
        turned = with_fields(node, func=with_fields(node.func, value=node.args[0]), args=[node.func.value])
        yield f"which of the two `{name}` is asked of", turned


def wrappers(node, parent, names):
    """A function of one input that is applied too early or too late: around a part of its input, or around more."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or called(node) in ("range", "print"):
        return
    if isinstance(node.func, ast.Name) and called(node) in names:
        what = f"what `{called(node)}` is applied to"
        for part in ast.walk(node.args[0]):
            if part is not node.args[0] and is_read(part, None) and isinstance(part, (ast.Name, ast.Call)):
                yield what, _with_part(node.args[0], part, with_fields(node, args=[part]))
        for part in ast.walk(node.args[0]):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and len(part.args) == 1:
                inner = with_fields(node, args=part.args)
                yield what, _with_part(node.args[0], part, with_fields(part, args=[inner]))


def _with_part(node, part, new):
    """A copy of an expression with another part."""
    if node is part:
        return new
    twin = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(twin, name, _with_part(value, part, new))
        elif isinstance(value, list):
            setattr(twin, name, [_with_part(each, part, new) if isinstance(each, ast.AST) else each for each in value])
    return twin


def slices(node, parent, names):
    """A slice's bounds, a subscript too many, the order of two."""
    if isinstance(node, ast.Slice):
        lower, upper = node.lower, node.upper
        others = [(upper, lower)]
        if lower is not None:
            others += [(None, upper), (ast.UnaryOp(ast.USub(), lower), upper)]
        if upper is not None:
            below = ast.UnaryOp(ast.USub(), upper)
            others += [(lower, None), (lower, below), (below, None)]
        if lower is upper is None:
            others += [(ast.Constant(1), None), (None, ast.Constant(-1))]
        for lower, upper in others:
            yield f"the slice `{ast.unparse(node)}`", with_fields(node, lower=lower, upper=upper)
    if isinstance(node, ast.Subscript):
        inner = node.slice
        if isinstance(node.ctx, ast.Load):
            yield f"the brackets behind {says(node.value)}", node.value
        if isinstance(node.value, ast.Subscript):
            first = with_fields(node.value, slice=inner)
            yield f"the order of the brackets in {says(node)}", with_fields(node, value=first, slice=node.value.slice)
        others = [ast.Tuple([more, inner], ast.Load()) for more in (ast.Slice(), ast.Constant(...))]
        others += [] if isinstance(inner, (ast.Slice, ast.Tuple)) else [ast.Slice(None, inner), ast.Slice(inner, None)]
        if isinstance(inner, ast.Tuple):
            lists = *(inner.elts[:at] + inner.elts[at + 1 :] for at in range(len(inner.elts))), inner.elts[::-1]
            others = [each[0] if len(each) == 1 else with_fields(inner, elts=each) for each in lists]
        for other in others:
            yield f"what stands between the brackets of {says(node)}", with_fields(node, slice=other)


def other_names(node, parent, names):
    """Another name that is in scope, also in place of a number, or two of them in another order."""
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Load):
        for pair in itertools.combinations(range(len(node.elts)), 2):
            yield f"the order in {says(node)}", with_fields(node, elts=exchanged(node.elts, *pair))
    if (
        isinstance(node, ast.Constant)
        and type(node.value) in (int, float)
        and isinstance(parent, (ast.BinOp, ast.Call))
    ):
        yield from ((f"the number {node.value}", ast.Name(name, ast.Load())) for name in names)
    if isinstance(node, ast.Call) and called(node) == "len":
        yield from ((f"the {says(node)}", ast.Name(name, ast.Load())) for name in names)
    if isinstance(node, ast.Name) and is_read(node, parent) and node.id not in MODULES:
        for other in names:
            if other != node.id:
                yield f"the name `{node.id}`", with_fields(node, id=other)


def keywords(node, parent, names):
    """A keyword too many or too few: `keepdim`, `dim`, the diagonal where a triangle begins."""
    if not isinstance(node, ast.Call):
        return
    name = called(node)
    for diagonal in (1, -1) if name in ("triu", "tril") and not node.keywords else ():
        number = ast.keyword("diagonal", ast.Constant(diagonal))
        yield f"where the triangle of `{name}` begins", with_fields(node, keywords=[number])
    for place, keyword in enumerate(node.keywords):
        rest = node.keywords[:place] + node.keywords[place + 1 :]
        yield f"the `{keyword.arg}` of `{name}`", with_fields(node, keywords=rest)
    have = {keyword.arg for keyword in node.keywords}
    for flag in (flag for flag, of in FLAGS.items() if name in of and flag not in have):
        more = ast.keyword(flag, ast.Constant(flag != "largest"))
        yield f"which way, and by which rule, `{name}` sorts", with_fields(node, keywords=[*node.keywords, more])
    for dim in (-1, 0, 1) if name in ALONG and not have & set(DIMENSIONS) else ():
        axis = ast.keyword("dim", ast.Constant(dim))
        yield f"the dimension of `{name}`", with_fields(node, keywords=[*node.keywords, axis])
    if name in KEEPS and not have & {"keepdim", "keepdims"}:
        keep = ast.keyword("keepdim", ast.Constant(True))
        yield f"the dimensions that `{name}` leaves", with_fields(node, keywords=[*node.keywords, keep])
        for dim in (-1, 0) if not have & set(DIMENSIONS) else ():
            axis = ast.keyword("dim", ast.Constant(dim))
            yield f"the dimension of `{name}`", with_fields(node, keywords=[*node.keywords, axis])
            yield f"the dimension of `{name}`", with_fields(node, keywords=[*node.keywords, axis, keep])


def bounds(node, parent, names):
    """A bound by one: of a range, of a slice, of a comparison, of an index."""
    if not isinstance(node, ast.expr) or isinstance(node, (ast.Constant, ast.Slice, ast.Tuple)):
        return
    index = isinstance(parent, ast.Subscript) and parent.slice is node
    of_range = isinstance(parent, ast.Call) and called(parent) in ("range", "arange") and node in parent.args
    if index or of_range or isinstance(parent, (ast.Slice, ast.Compare)):
        for op in (ast.Add(), ast.Sub()):
            yield f"the bound {says(node)}", ast.BinOp(node, op, ast.Constant(1))
    if of_range and len(parent.args) == 1:
        yield f"where the `{called(parent)}` begins", [ast.Constant(1), node]


def missing(node, parent, names):
    """Something that is still to be done with a value."""
    if not is_read(node, parent) or isinstance(parent, (ast.Attribute, ast.Expr, ast.keyword)):
        return
    for more in MORE:
        yield f"{says(node)}, with which something is still to be done", expression(f"X{more}", node)

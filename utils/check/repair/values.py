"""Slips in values: a number, an operator, a comparison, a sign, brackets, a factor that is missing.

Each rule takes a node, the node around it and the names in scope, and yields (what it concerns, node in its place).
"""

import ast

from utils.check.repair.nodes import called, is_read, says, with_fields

SWAPS = {  # an operator and what stands in its place by mistake
    ast.BitXor: (ast.Pow,),
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add, ast.Pow, ast.MatMult),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.FloorDiv: (ast.Div,),
    ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.Eq),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt, ast.Eq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq,),
}
for one, other in ((ast.BitAnd, ast.BitOr), (ast.And, ast.Or), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)):
    SWAPS |= {one: (other,), other: (one,)}
DIMENSIONS = ("dim", "axis")


def numbers(node, parent, names):
    """A whole number by one, a dimension, a factor; True for False."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (int, float)):
        return
    value = node.value
    axis = isinstance(parent, ast.keyword) and parent.arg in DIMENSIONS
    what = f"the number {value}"
    if axis or (isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and value in (-2, -1, 0, 1, 2)):
        what = "the dimension" if axis else f"the number in the brackets of `{called(parent)}`"
    if isinstance(parent, ast.UnaryOp) and value in (1, 2):
        what = f"the number -{value}, a dimension or a count"
    near = [
        value + 1,
        value - 1,
        -value,
        0,
        1,
        -1,
        -2,
        2 * value,
        value // 2,
        value / 2,
        2,
        3,
        4,
        value * 10,
        value / 10,
    ]
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and value:
        near.append(1 / value)
    if isinstance(value, float):
        near = [1 - value, -value, value * 2, value / 2, value * 10, value / 10, 1.0, 0.0, value**0.5, value**2]
    if isinstance(value, bool):
        what, near = f"{value} or {not value}", [not value]
    for other in dict.fromkeys(near):
        if other != value and (isinstance(other, int) or other != int(other) or isinstance(value, float)):
            yield what, ast.Constant(other)


def operators(node, parent, names):
    """An operator, and which side comes first."""
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        a, b = ast.Name("a"), ast.Name("b")
        both = ast.BoolOp(node.op, [a, b]) if isinstance(node, ast.BoolOp) else ast.BinOp(a, node.op, b)
        sign = ast.unparse(both).split()[1]
        for swap in SWAPS.get(type(node.op), ()):
            yield f"the operator `{sign}`", with_fields(node, op=swap())
    if isinstance(node, ast.BinOp):
        if not isinstance(node.op, (ast.Add, ast.Mult)):
            yield f"the two sides of the `{sign}`", with_fields(node, left=node.right, right=node.left)
        yield f"{says(node.right)}, and whether it belongs there", node.left
        yield f"{says(node.left)}, and whether it belongs there", node.right
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names:
        what = f"the `=`, and what becomes of the `{node.targets[0].id}` before it"
        yield what, ast.AugAssign(node.targets[0], ast.Add(), node.value)
    if isinstance(node, ast.AugAssign):
        yield f"the `{sign}=`", ast.Assign([node.target], node.value)


def comparisons(node, parent, names):
    """A comparison, and a condition turned round."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for swap in SWAPS.get(type(node.ops[0]), ()):
            yield f"the comparison in {says(node)}", with_fields(node, ops=[swap()])
        if isinstance(parent, ast.Call):
            yield f"{says(node)}, and which of its values count", ast.UnaryOp(ast.Invert(), node)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "the condition", with_fields(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.IfExp):
        yield "the condition: is it needed?", node.body
        yield "the condition: is it needed?", node.orelse


def signs(node, parent, names):
    """A sign, a `not`, a `~` too many or too few."""
    if isinstance(node, ast.UnaryOp):
        what = {ast.USub: "the sign", ast.Not: "the `not`", ast.Invert: "the `~`"}.get(type(node.op))
        if what and (isinstance(node.op, ast.USub) or not isinstance(node.operand, ast.Constant)):
            yield what, node.operand
    elif is_read(node, parent) and isinstance(parent, (ast.Return, ast.Assign, ast.Call)):
        yield f"the sign of {says(node)}", ast.UnaryOp(ast.USub(), node)
        if isinstance(parent, ast.Call):
            yield f"{says(node)}, and which of its values count", ast.UnaryOp(ast.Invert(), node)


def _factored(node):
    """`a * b + c` as `a * (b + c)`, also with more terms before `c`, and with one before `a * b`."""
    chain, first = [node], node.left
    while isinstance(first, ast.BinOp) and isinstance(first.op, (ast.Add, ast.Sub)):
        for outside, inside in _splits(first.right) if len(chain) == 1 else ():
            yield with_fields(first, right=ast.BinOp(outside, ast.Mult(), with_fields(node, left=inside)))
        chain, first = [*chain, first], first.left
    for outside, inside in _splits(first):
        for part in reversed(chain):
            inside = with_fields(part, left=inside)
        yield ast.BinOp(outside, ast.Mult(), inside)


def brackets(node, parent, names):
    """Brackets moved: around the operators, or into and out of a call."""
    if isinstance(node, ast.BinOp):
        what = f"which parts of {says(node)} belong together"
        left, right = node.left, node.right
        if isinstance(left, ast.BinOp):
            yield what, with_fields(left, right=with_fields(node, left=left.right))
        if isinstance(right, ast.BinOp):
            yield what, with_fields(right, left=with_fields(node, right=right.left))
        if isinstance(node.op, (ast.Add, ast.Sub)):
            yield from ((what, factored) for factored in _factored(node))
        if isinstance(left, ast.BinOp) and isinstance(left.right, ast.BinOp):  # `a / d ** 1 / 2`
            deep = left.right
            yield what, with_fields(left, right=with_fields(deep, right=with_fields(node, left=deep.right)))
        if isinstance(left, ast.UnaryOp) and isinstance(node.op, ast.Pow):
            yield what, with_fields(left, operand=with_fields(node, left=left.operand))
        for inner, field in ((left, "left"), (right, "right")):
            for what, value, around in _called_on(inner):
                yield what, around(with_fields(node, **{field: value}))
    for what, value, around in _called_on(node):
        for field in ("left", "right") if isinstance(value, ast.BinOp) else ():
            yield what, with_fields(value, **{field: around(getattr(value, field))})


def _called_on(node):
    """A call's first input and its object: (what a change there concerns, the value, another value -> its call)."""
    if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
        what = f"the brackets of `{called(node)}`"
        yield what, node.args[0], lambda value: with_fields(node, args=[value, *node.args[1:]])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        what = f"whether `{called(node)}` comes before or after"
        yield what, node.func.value, lambda value: with_fields(node, func=with_fields(node.func, value=value))


def _splits(product):
    """A product `a * b * c` in two, at each place: what multiplies, and what it multiplies."""
    inside = None
    while isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
        inside = product.right if inside is None else ast.BinOp(product.right, ast.Mult(), inside)
        product = product.left
        yield product, inside


def factors(node, parent, names):
    """A factor or a term that is missing."""
    if not isinstance(node, (ast.Name, ast.BinOp, ast.Call)) or not isinstance(
        parent, (ast.BinOp, ast.Return, ast.Assign)
    ):
        return
    if is_read(node, parent):
        beside = [ast.Name(name, ast.Load()) for name in names]
        for more in (*beside, *map(ast.Constant, (1, 2, 3, 4, 6, 8))):
            for op in (ast.Mult(), ast.Add(), ast.Div(), ast.Sub()):
                yield f"{says(node)}, and what is missing beside it", ast.BinOp(node, op, more)

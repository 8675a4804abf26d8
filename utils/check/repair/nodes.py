"""Pieces of a syntax tree, as the rules of repair take them apart and put them together."""

import ast
import copy


def with_fields(node, **fields):
    """A copy of a node with other fields."""
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def exchanged(items, first, second):
    """A list of the same items, two of them in each other's place."""
    twin = list(items)
    twin[first], twin[second] = twin[second], twin[first]
    return twin


def is_read(node, parent):
    """Whether a node is a value that is used, not what is called nor what is bound."""
    kinds = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)
    loaded = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return isinstance(node, kinds) and loaded and getattr(parent, "func", None) is not node


def expression(text, node):
    """An expression from its text, with the node in place of X; the node reads a value there."""
    made = ast.parse(text, mode="eval").body
    for part in ast.walk(made):
        for name, value in ast.iter_fields(part):
            if isinstance(value, ast.Name) and value.id == "X":
                setattr(part, name, node)
    return made


def says(node):
    """An expression as a verdict names it."""
    text = ast.unparse(node)
    return f"`{text if len(text) <= 40 else text[:39] + '…'}`"


def called(node):
    """The name of what a call calls."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")

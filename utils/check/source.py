"""What a student's function tells about itself without being run: is it still empty, what does it read?"""

import ast
import dis
import functools
import inspect
import textwrap
import types

import numpy as np
import torch

VALUES = (torch.Tensor, np.ndarray, torch.nn.Module)


def is_stub(answer) -> bool:
    """Whether a function's body is still empty, in any of the forms in which people leave it so."""
    try:
        function = ast.parse(textwrap.dedent(inspect.getsource(plain(answer)))).body[0]
    except Exception:  # no source, or an object with odd attributes: not a stub that we know
        return False
    return isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and all(map(_says_nothing, function.body))


def note(*answers) -> str:
    """A line on data that functions take from the notebook where they should take their inputs; "" if none."""
    found = {name for answer in answers for name in data_read(answer)}
    named = ", ".join(f"`{name}`" for name in sorted(found)[:3])
    return f"\n  note    not from your function's inputs, but from the notebook: {named}" if found else ""


def names_used(answer) -> set[str]:
    """The names that a function reads: of the notebook, of modules, of objects; empty where there is no bytecode."""
    return _found_in(answer, lambda function: function.__code__.co_names)


def inputs_read(answer) -> set[str]:
    """The names of its own inputs that a function reads anywhere; empty where there is no bytecode."""
    loaded = _found_in(answer, lambda function: _loaded(function, "LOAD_"))
    return {name for value in loaded for name in (value if isinstance(value, tuple) else (value,)) if type(name) is str}


def data_read(answer) -> set[str]:
    """The names of the notebook's data that a function reads: no functions, classes or modules."""
    return _found_in(answer, _read_as_data)


def _read_as_data(function):
    values = {name: function.__globals__.get(name) for name in _loaded(function, "LOAD_GLOBAL")}
    no_data = (type(None), types.ModuleType)
    models = {name for name, value in values.items() if isinstance(value, torch.nn.Module)}
    return models | {name for name, value in values.items() if not (callable(value) or isinstance(value, no_data))}


def _loaded(function, kind):
    return [step.argval for step in dis.get_instructions(function) if step.opname.startswith(kind)]


def _found_in(answer, read):
    try:
        return set(read(plain(answer)))
    except Exception:  # no bytecode to read, such as a built-in function's
        return set()


def plain(answer):
    """The function inside a partial, a decorator, or an object that can be called."""
    while isinstance(answer, functools.partial):
        answer = answer.func
    answer = inspect.unwrap(answer)
    return answer if inspect.isroutine(answer) else getattr(answer, "forward", type(answer).__call__)


def _says_nothing(statement):
    if isinstance(statement, ast.Raise):
        return "NotImplementedError" in ast.unparse(statement)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or _only_looks(statement.value)
    if isinstance(statement, ast.Assign) and not all(isinstance(target, ast.Name) for target in statement.targets):
        return False  # `model.bias = None` does something
    if isinstance(statement, (ast.Return, ast.Assign, ast.AnnAssign)):
        return _is_blank(statement.value)
    return isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom))


def _only_looks(node):
    """A print that makes nothing, such as `print(x.shape)`; `print(x @ y)` is an attempt without a return."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"):
        return False
    made = ast.Call, ast.BinOp, ast.Dict, ast.List, ast.Set
    return not any(isinstance(part, made) for shown in node.args for part in ast.walk(shown))


def _is_blank(node):
    if isinstance(node, ast.Tuple):
        return all(map(_is_blank, node.elts))
    return node is None or (isinstance(node, ast.Constant) and node.value in (None, ...))

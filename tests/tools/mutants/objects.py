"""Sites of what objects hold: memory that is not filled any more by what filled it, or made as it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.tools.mutants.edits import Edit, Site, dropped
from tests.tools.mutants.units import File, Function, Unit, last

_EMPTY = re.compile(r"torch\.(empty|Tensor|FloatTensor)")
_ZEROS = {"torch.zeros": "empty", "torch.ones": "empty", "numpy.zeros": "empty"}
_FILLING = re.compile(r"\w+_|copy_from|load_state_dict")
_REGISTERS = ("register_buffer", "register_parameter")


def initialised(file: File) -> Iterator[Site]:
    """M14: a statement of a class that fills what the class makes of memory as it is, or calls a method that does."""
    for unit, klass in file.walk(ast.ClassDef):
        empty = {name for name, value in _kept(klass) if _makes(file, value, _EMPTY)}
        methods = [each for each in klass.body if isinstance(each, Function)]
        filling = {each.name for each in methods if each.name != "__init__" and _fills(each, empty)}
        for method in methods if empty else ():
            for node in ast.walk(method):
                call = node.value if isinstance(node, ast.Expr) else None
                if isinstance(call, ast.Call) and isinstance(node, ast.Expr):
                    named = method.name == "__init__" and _own(call.func) in filling
                    if named or _filled(call) & empty:
                        tags = ("method" if named else "call",)
                        yield Site(unit, call, f"drop `{unit.text(call)}`", tags, dropped(unit, node))


def kept_zeros(file: File) -> Iterator[Site]:
    """M15: zeros or ones that an object keeps and that its class nowhere writes as a whole, made empty."""
    for unit, klass in file.walk(ast.ClassDef):
        written = _written(klass)
        for name, value in _kept(klass):
            for call in ast.walk(value):
                new = _ZEROS.get(file.qualified(call.func)) if isinstance(call, ast.Call) else None
                if new and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and name not in written:
                    end = unit.span(call.func)[1]
                    edit = Edit(unit.cell, end - len(call.func.attr), end, new)
                    yield Site(unit, call, f"`{unit.text(call)}` -> `{new}`, {name}", _tags(unit, call), (edit,))


def _tags(unit: Unit, call: ast.Call) -> tuple[str, ...]:
    calls = [each for each in unit.around(call) if isinstance(each, ast.Call)]
    return tuple(sorted({last(ast.unparse(each.func)) for each in calls}))


def _kept(klass: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The attributes that methods of a class give their object, with the values."""
    for node in ast.walk(klass):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and (name := _own(node.targets[0])):
            yield name, node.value
        elif isinstance(node, ast.Call) and _own(node.func) in _REGISTERS and len(node.args) > 1:
            yield str(getattr(node.args[0], "value", "")), node.args[1]


def _makes(file: File, value: ast.expr, pattern: re.Pattern[str]) -> bool:
    calls = (each for each in ast.walk(value) if isinstance(each, ast.Call))
    return any(pattern.fullmatch(file.qualified(each.func)) and each.args for each in calls)


def _own(node: ast.expr) -> str:
    """The attribute of `self` that an expression is."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if isinstance(node, ast.Attribute) and own else ""


def _filled(call: ast.Call) -> set[str]:
    """The attributes that a call may fill: by its arguments, or as a method of one."""
    if not _FILLING.fullmatch(last(ast.unparse(call.func))):
        return set()
    parts = [*call.args[:1], call.func]
    return {_own(each) for part in parts for each in ast.walk(part) if isinstance(each, ast.Attribute)} - {""}


def _fills(method: ast.AST, names: set[str]) -> bool:
    return any(isinstance(node, ast.Call) and _filled(node) & names for node in ast.walk(method))


def _written(klass: ast.ClassDef) -> set[str]:
    """The attributes that a class writes, or binds more than once."""
    kept = [name for name, _ in _kept(klass)]
    found = {name for name in kept if kept.count(name) > 1}
    for node in ast.walk(klass):
        if isinstance(node, ast.Call):
            found |= _filled(node)
        elif isinstance(node, ast.Assign):
            subscripts = (target.value for target in node.targets if isinstance(target, ast.Subscript))
            found |= {_own(value) for value in subscripts}
    return found

"""Indices that repeat: what many values are rounded to, such as cells of a grid, and the classes of a batch."""

from __future__ import annotations

from detlint.analysis.values.tensors import listed, makers, method_of
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import returned

_DEPTH = 12  # steps back
_SCALING = frozenset(("*", "/"))
_COMBINING = frozenset(("+", "-", "*", "%"))


def counts(module: Module, index: s.Expression) -> bool:
    """Return whether the file counts how often each value of an index comes, or takes it for the classes of a batch."""
    scope = index.scope.find(index.id) if isinstance(index, s.Name) else None
    if not isinstance(index, s.Name) or scope is None or scope.kind != "function":
        return False
    return any(_is_counted(module, read) for read in module.reads(scope, index.id))


def _is_counted(module: Module, read: s.Name) -> bool:
    argument = read.parent
    call = argument.parent if isinstance(argument, s.Argument) else None
    if not isinstance(call, s.Call) or not module.callee(call) or not isinstance(argument, s.Argument):
        return False
    if module.callee(call) <= listed(module, "counts-first"):
        return call.arguments[0] is argument
    return module.callee(call) <= listed(module, "classes-second") and call.arguments[1:2] == [argument]


def is_rounded(module: Module, value: s.Expression, path: tuple[int, ...] = (), depth: int = _DEPTH) -> bool:
    """Return whether a value is computed so that different data become equal whole numbers, as points of one cell do.

    `path` is the place in a tuple that a call returns.
    """
    if not depth:
        return False
    if isinstance(value, (s.Name, s.Attribute)):
        made = makers(module, value)
        return bool(made) and all(each is not value and is_rounded(module, each, at, depth - 1) for each, at in made)
    if isinstance(value, s.Subscript):  # columns, or those that a mask or an order takes; not one number
        one = all(isinstance(literal(index), int) for index in value.indices)
        return not one and is_rounded(module, value.value, depth=depth - 1)
    if isinstance(value, s.Operation):
        return _is_combined(module, value, depth)
    if not isinstance(value, s.Call):
        return False
    own = [module.functions[name] for name in module.callee(value) if name in module.functions]
    if own:
        results = [_at(each, path) for function in own for each in returned(function)]
        return bool(results) and all(each is not None and is_rounded(module, each, depth=depth - 1) for each in results)
    method, receiver, _ = method_of(module, value)
    if not method and isinstance(value.function, s.Attribute) and not module.callee(value):
        method, receiver = value.function.attribute, value.function.value
    if receiver is None or path:
        return False
    if method in listed(module, "rounding"):
        return _is_scaled(module, receiver, depth - 1)
    if method in listed(module, "truncating") and _is_scaled(module, receiver, depth - 1):
        return True
    kept = listed(module, "same-values") | listed(module, "coarser")
    return method in kept and is_rounded(module, receiver, depth=depth - 1)


def _at(value: s.Expression, path: tuple[int, ...]) -> s.Expression | None:
    """Return what is at a place of a tuple; None if that is not known."""
    for index in path:
        if not isinstance(value, s.Collection) or index >= len(value.elements):
            return None
        value = value.elements[index]
    return value


def _is_combined(module: Module, value: s.Operation, depth: int) -> bool:
    """Return whether rounded coordinates are combined into one index, perhaps with numbers."""
    if value.operator not in _COMBINING:
        return False
    parts = [each for each in value.operands if literal(each) is UNKNOWN]
    rounded = [each for each in parts if is_rounded(module, each, depth=depth - 1)]
    return bool(rounded) and not any(module.is_tensor(each) for each in parts if each not in rounded)


def _is_scaled(module: Module, value: s.Expression, depth: int) -> bool:
    """Return whether a value comes from data that is divided or multiplied, and not from a row of numbers."""
    apart = listed(module, "index-unique")
    for part in s.walk(value):
        if isinstance(part, s.Call) and module.callee(part) & apart:
            return False
    if isinstance(value, s.Name) and depth:
        made = makers(module, value)
        return bool(made) and all(not at and _is_scaled(module, each, depth - 1) for each, at in made)
    if isinstance(value, s.Call):
        receiver = method_of(module, value)[1]
        inner = receiver or (value.function.value if isinstance(value.function, s.Attribute) else None)
        return inner is not None and depth > 0 and _is_scaled(module, inner, depth - 1)
    return any(isinstance(part, s.Operation) and part.operator in _SCALING for part in s.walk(value))

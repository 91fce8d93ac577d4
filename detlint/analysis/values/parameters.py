"""What the calls in a file pass for the parameters of its functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching

_CONSTRUCTOR = "__init__"
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "is": operator.is_, "is not": operator.is_not,
    "in": lambda one, many: one in many, "not in": lambda one, many: one not in many,
}  # fmt: skip


def parameter_of(name: s.Name) -> tuple[s.Function, s.Parameter] | None:
    """Return the parameter that a name certainly is, with its function, or None."""
    bindings = reaching(name) or ()
    nodes = [binding.node for binding in bindings]
    parameter = nodes[0] if len(nodes) == 1 else None
    if not isinstance(parameter, s.Parameter) or not isinstance(parameter.parent, s.Function):
        return None
    return parameter.parent, parameter


def calls_of(module: Module, function: s.Function) -> list[s.Call]:
    """Return the calls of a function in its file: for a method those by its name, for a constructor its class's."""
    klass = class_of(function)
    if klass is None or function.name == _CONSTRUCTOR:
        return list(module.calls_to((module.qualified(klass or function),)))
    named_so = (each.parent for each in module.attributes(function.name) if not each.stored)
    return [call for call in named_so if isinstance(call, s.Call)]


def calls_leading_to(module: Module, function: s.Function, node: s.Node) -> list[s.Call]:
    """Return the calls of a function in its file that may get to a node in it, by the constants that they pass."""
    tests = list(_tests(node, function))
    return [call for call in calls_of(module, function) if all(_told(t, call, function) is not no for t, no in tests)]


def _tests(node: s.Node, function: s.Function) -> Iterator[tuple[s.Expression, bool]]:
    """Yield the tests on the way to a node in a function, each with the outcome that leads elsewhere."""
    below = node
    for around in node.ancestors():
        if around is function:
            return
        if isinstance(around, s.If) and below is not around.test:
            yield around.test, below is not around.body
        if isinstance(around, s.Block) and isinstance(below, s.Statement):
            for before in around.statements[: around.statements.index(below)]:
                last = before.body.statements[-1:] if isinstance(before, s.If) else ()
                if isinstance(before, s.If) and last and isinstance(last[0], s.Leave):
                    yield before.test, True
        below = around


def _told(test: s.Expression, call: s.Call, function: s.Function) -> bool | None:
    """Return the outcome of a test in a function by the constants that a call of it passes, or None."""
    if isinstance(test, s.Operation) and test.operator == "not":
        told = _told(test.operands[0], call, function)
        return None if told is None else not told
    if isinstance(test, s.Operation) and test.operator in ("and", "or"):
        parts = [_told(each, call, function) for each in test.operands]
        decides = test.operator == "or"
        return decides if decides in parts else None if None in parts else not decides
    if isinstance(test, s.Operation) and test.operator in _COMPARED and len(test.operands) == 2:
        first, second = (_passed(each, call, function) for each in test.operands)
        known = UNKNOWN not in (first, second) and _can_be_compared(test.operator, first, second)
        return _COMPARED[test.operator](first, second) if known else None
    value = _passed(test, call, function)
    return None if value is UNKNOWN else bool(value)


def _passed(node: s.Expression, call: s.Call, function: s.Function) -> object:
    """Return the constant that an expression is, or that a call passes for the parameter that it is."""
    found = parameter_of(node) if isinstance(node, s.Name) else None
    if found is None or found[0] is not function:
        return literal(node)
    value = given(call, function, found[1])
    return UNKNOWN if value is None else literal(value)


def _can_be_compared(compared: str, first: object, second: object) -> bool:
    """Return whether constants can be compared: `in` needs a tuple, or two texts."""
    if compared in ("in", "not in"):
        return isinstance(second, tuple) or (isinstance(first, str) and isinstance(second, str))
    return True


def given(call: s.Call, function: s.Function, parameter: s.Parameter) -> s.Expression | None:
    """Return what a call of a function passes for a parameter, or its default; None where that is not plain."""
    if any(argument.star for argument in call.arguments):
        return None
    for argument in call.arguments:
        if argument.keyword == parameter.name:
            return argument.value
    bound = class_of(function) is not None and function.parameters[:1] != [parameter]
    at = function.parameters.index(parameter) - bound
    placed = [argument.value for argument in call.arguments if argument.keyword is None]
    return placed[at] if 0 <= at < len(placed) else parameter.default


def _is_none(node: s.Expression | None) -> bool:
    return node is not None and literal(node) is None


def usual_values(module: Module, node: s.Expression, depth: int = 4) -> list[s.Expression] | None:
    """Return the values of an expression, by what calls in the file pass, or without calls defaults; None: unknown."""
    known = module.values(node)
    if known is not None or depth == 0:
        return known
    steps: list[s.Expression | None] = []
    if isinstance(node, s.Attribute):
        owner = module.owner(node.value)
        steps = [] if owner is None else [*module.attribute_values(owner, node.attribute)]
    elif isinstance(node, s.Name):
        found = parameter_of(node)
        if found is not None and not found[1].star:
            function, parameter = found
            calls = calls_of(module, function)
            default = None if _is_none(parameter.default) else parameter.default  # None stands for what is made of it
            steps = [given(call, function, parameter) for call in calls] or [default]
    values = [None if step is None else usual_values(module, step, depth - 1) for step in steps]
    if not values or None in values:
        return None
    return [value for each in values for value in each or ()]

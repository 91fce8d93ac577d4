"""What the calls in a file pass for the parameters of its functions."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching

_CONSTRUCTOR = "__init__"


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

"""Which tensors carry no gradient: made from numbers, detached, or computed where autograd records nothing."""

from __future__ import annotations

from detlint.analysis.contexts import around
from detlint.analysis.tensors import every, listed, method_of, tensors
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s

_DEPTH = 12  # a notebook computes one feature from another over many cells


@asked_once
def is_constant(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Whether a tensor is known to carry no gradient."""
    if isinstance(node, s.Name) and _is_written(module, node):
        return False
    if isinstance(node, s.Attribute) and node.attribute in listed(module, "detached"):
        return True
    return depth > 0 and every(module, node, lambda value, _: _constant_value(module, value, depth))


def _constant_value(module: Module, value: s.Expression, depth: int) -> bool:
    if literal(value) is not UNKNOWN:
        return True
    if isinstance(value, s.Operation):
        operands = value.operands
        return _is_unrecorded(module, value) or all(is_constant(module, each, depth - 1) for each in operands)
    if isinstance(value, s.Attribute):
        return is_constant(module, value, depth - 1)
    if isinstance(value, s.Subscript):
        return is_constant(module, value.value, depth - 1)
    if not isinstance(value, s.Call):
        return False
    if any(a.keyword == "requires_grad" and literal(a.value) is not False for a in value.arguments):
        return False
    if module.callee(value) & listed(module, "parameter"):
        return module.possible(module.argument(value, "requires_grad")) == [False]
    method, receiver, positional = method_of(module, value)
    if method in listed(module, "asks-gradient"):
        return bool(positional) and literal(positional[0]) is False
    if method in listed(module, "detached") or (value.arguments and _is_unrecorded(module, value)):
        return True
    fresh = listed(module, "factory") | listed(module, "like")
    if method in listed(module, "new") or module.callee(value) & fresh:
        return True
    if method in listed(module, "same-gradient") and receiver is not None:
        return is_constant(module, receiver, depth - 1)
    found = list(tensors(receiver, positional))
    return bool(method and found) and all(is_constant(module, node, depth - 1) for node in found)


def _is_unrecorded(module: Module, value: s.Expression) -> bool:
    """Whether autograd records nothing where a value is computed; what is only handed out there may be a weight."""
    return around(module, value, "no-gradient")


def _is_written(module: Module, name: s.Name) -> bool:
    """Whether something is stored into the object of a name: by a method like `add_`, or at an index."""
    scope = name.scope.find(name.id)
    for use in module.reads(scope, name.id) if scope is not None else ():
        parent = use.parent
        if isinstance(parent, s.Subscript) and parent.stored:
            return True
        if isinstance(parent, s.Attribute) and (parent.stored or parent.attribute.endswith("_")):
            return True
    return False

"""Tensors that carry no gradient: made from numbers, detached, or computed where autograd records nothing."""

from __future__ import annotations

from detlint.analysis.training.contexts import around, named
from detlint.analysis.training.layers import given_to_layer
from detlint.analysis.values.parameters import calls_leading_to, given, parameter_of
from detlint.analysis.values.tensors import every, is_integer, listed, method_of, registered_buffer, tensors
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s

_DEPTH = 12  # a notebook computes one feature from another over many cells


@asked_once
def is_constant(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a tensor is known to carry no gradient."""
    if isinstance(node, s.Name) and _is_written(module, node):
        return False
    if isinstance(node, s.Attribute) and (node.attribute in listed(module, "detached") or _is_frozen(module, node)):
        return True
    if is_integer(module, node):
        return True
    if isinstance(node, s.Name) and depth and _is_given_constants(module, node, depth - 1):
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
    layered = given_to_layer(module, value)
    if layered is not None:
        return is_constant(module, layered, depth - 1)
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


def _is_frozen(module: Module, node: s.Attribute) -> bool:
    """Return whether an attribute of an object is a buffer, or its class sets its `requires_grad` to False."""
    klass = module.class_of(node)
    if klass is None or not isinstance(node.value, s.Name):
        return False
    if registered_buffer(module, node) is not None:
        return True
    for each in module.attributes("requires_grad"):
        if module.class_of(each) is not klass:
            continue
        told = each.parent.value if each.stored and isinstance(each.parent, s.Assign) else None
        if told is not None and literal(told) is False and _is_same(each.value, node) and _is_always(each):
            return True
    asked = (x.parent for x in module.attributes("requires_grad_") if _is_same(x.value, node) and _is_always(x))
    return any(isinstance(x, s.Call) and x.arguments and literal(x.arguments[0].value) is False for x in asked)


def _is_same(one: s.Expression, other: s.Attribute) -> bool:
    """Return whether an expression is the same attribute of an object as another one."""
    return isinstance(one, s.Attribute) and one.attribute == other.attribute and isinstance(one.value, s.Name)


def _is_always(node: s.Node) -> bool:
    """Return whether a node is under no `if`."""
    return not any(isinstance(ancestor, s.If) for ancestor in node.ancestors())


def _is_given_constants(module: Module, name: s.Name, depth: int) -> bool:
    """Return whether a name is that of a parameter for which all calls in the file pass values without gradient.

    With no call in the file, it must be named as samples and labels are.
    """
    found = parameter_of(name)
    if found is None:
        return False
    function, parameter = found
    own = function.name in named(module, "module-methods")
    calls = [] if own else calls_leading_to(module, function, name)
    if not calls:
        return parameter.name in named(module, "data")
    values = [given(call, function, parameter) for call in calls]
    return all(each is not None and is_constant(module, each, depth) for each in values)


def _is_unrecorded(module: Module, value: s.Expression) -> bool:
    """Return whether autograd records nothing where a value is computed; one that is only passed on may be a weight."""
    return around(module, value, "no-gradient")


def _is_written(module: Module, name: s.Name) -> bool:
    """Return whether something is stored into the object of a name: by a method like `add_`, or at an index."""
    scope = name.scope.find(name.id)
    for use in module.reads(scope, name.id) if scope is not None else ():
        parent = use.parent
        if isinstance(parent, s.Subscript) and parent.stored:
            return True
        if isinstance(parent, s.Attribute) and (parent.stored or parent.attribute.endswith("_")):
            return True
    return False

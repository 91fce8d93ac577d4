"""Code that takes gradients: the methods of modules and trainers, and what goes to a call of `backward()`."""

from __future__ import annotations

from detlint.analysis.training.contexts import around, function_around, is_module, named
from detlint.analysis.training.destinations import goes_back
from detlint.analysis.training.evaluations import is_named_so
from detlint.analysis.training.gradients import may_have_gradient
from detlint.analysis.values.conditions import subject
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_DEPTH = 4


def is_learning(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether `node` is plainly in code that takes gradients, and its value may go there.

    Such code is a method of a module or a trainer, a program, function or method of a file that calls `backward()`, and
    what these call.
    """
    function = function_around(node)
    if depth == 0 or around(module, node, "no-gradient"):
        return False
    if function is not None and function.name in named(module, "no-gradient-functions"):
        return False
    klass = None if function is None else module.class_of(function)
    goes = goes_back(module, node)
    if goes is False:
        return False
    if klass is not None and (is_module(module, klass) or not _trainers(module).isdisjoint(module.ancestry(klass))):
        return True
    if _is_data(module, node):
        return False
    calls = list(module.calls_to((module.qualified(function),))) if function is not None and klass is None else []
    if not calls:
        return (klass is None or goes is True) and takes_gradients(module)
    return any(may_have_gradient(module, call) and is_learning(module, call, depth - 1) for call in calls)


def is_lent(module: Module, node: s.Expression) -> bool:
    """Return whether `node` is in a function that only other files call, which may take gradients through it."""
    function = function_around(node)
    if function is None or module.class_of(function) is not None or is_named_so(function) or _is_data(module, node):
        return False
    return goes_back(module, node) is None and next(module.calls_to((module.qualified(function),)), None) is None


def _trainers(module: Module) -> frozenset[str]:
    return named(module, "trainers")


@asked_once
def takes_gradients(module: Module) -> bool:
    """Return whether the file takes gradients itself: something in it calls `backward()`."""
    names = named(module, "backward")
    if next(module.calls_to(names), None) is not None:
        return True
    calls = module.calls_like(words=names)
    return any(isinstance(call.function, s.Attribute) and call.function.attribute in names for call in calls)


def may_learn(module: Module) -> bool:
    """Return whether the file takes gradients, or defines, makes or starts what takes them."""
    if takes_gradients(module) or any(function.name == "training_step" for function in module.every(s.Function)):
        return True
    if any(True for _ in module.calls_to(_trainers(module))):
        return True
    words = named(module, "training-words")
    owners = (
        module.source(x.value).lower() for start in named(module, "starts-training") for x in module.attributes(start)
    )
    return any(word in owner for owner in owners for word in words)


def _is_data(module: Module, node: s.Node) -> bool:
    """Return whether the tensor that a call is about is a sample of the data, from a loop or by its name."""
    tensor = subject(module, node) if isinstance(node, s.Call) else None
    return tensor is not None and _is_sample(module, tensor)


def _is_sample(module: Module, node: s.Expression, depth: int = 6) -> bool:
    if depth == 0:
        return False
    if isinstance(node, s.Operation):
        return any(_is_sample(module, operand, depth - 1) for operand in node.operands)
    if isinstance(node, s.Call):
        of = node.function.value if isinstance(node.function, s.Attribute) else None
        tensor = subject(module, node) if module.callee(node) else of
        return tensor is not None and _is_sample(module, tensor, depth - 1)
    if isinstance(node, (s.Attribute, s.Subscript)):
        return _is_sample(module, node.value, depth - 1)
    if not isinstance(node, s.Name):
        return False
    if node.id in named(module, "data"):
        return True
    bindings = reaching(node) or ()
    values = [binding.value for binding in bindings if binding.kind == "assign" and binding.value is not None]
    looped = any(binding.kind == "for" for binding in bindings)
    return looped or any(_is_sample(module, value, depth - 1) for value in values)

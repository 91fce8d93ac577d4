"""Code that a model runs in evaluation as in training, and the probability with which it drops there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint.analysis.training.contexts import function_around, is_module, named
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import bound, class_of, reaching

_DEPTH = 5
_ASKS = re.compile(
    r"(?i)(?<!s)train|(?<!i)eval|infer|predict|(?<![ae])test|sampl|generat|(?<![a-z])mc(?![a-z])|monte|bayes|uncertain"
    r"|mode(?!l)"
)
_ARITHMETIC = ("+", "-", "*", "/")


def runs_in_evaluation(module: Module, node: s.Node, depth: int = _DEPTH) -> bool:
    """Return whether the forward pass of a module reaches `node` without a test for training or evaluation."""
    function = function_around(node)
    if function is None or depth == 0 or _is_asked(module, node, function):
        return False
    klass = class_of(function)
    if klass is not None:
        if module.is_a(klass, "autograd-function") or not is_module(module, klass):
            return False
        if any(module.method(klass, name) for name in named(module, "modes")):
            return False  # they may do anything
        if function.name in named(module, "forward"):
            return True
    calls = module.calls_to({module.qualified(function)})
    return any(runs_in_evaluation(module, call, depth - 1) for call in calls if function_around(call) is not function)


def _is_asked(module: Module, node: s.Node, function: s.Function) -> bool:
    """Return whether a choice inside `function` may keep evaluation from `node`."""
    below: s.Node = node
    for around in node.ancestors():
        if around is function:
            return False
        test = around.test if isinstance(around, (s.If, s.While, s.Conditional)) else None
        if test is not None and below is not test and asks(module, test):
            return True
        if isinstance(around, s.Operation) and around.operator in ("and", "or"):
            ahead = around.operands[: around.operands.index(below)] if below in around.operands else []
            if any(asks(module, operand) for operand in ahead):
                return True
        if isinstance(around, s.Block) and below in around.statements:
            before = around.statements[: around.statements.index(below)]
            if any(isinstance(one, s.If) and _leaves(one) and asks(module, one.test) for one in before):
                return True
        below = around
    return False


def _leaves(choice: s.If) -> bool:
    return any(isinstance(one, s.Leave) for one in choice.body.statements)


def asks(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a value may tell training from evaluation: by its words, or because a caller passes it."""
    for part in s.walk(node):
        word = part.id if isinstance(part, s.Name) else part.attribute if isinstance(part, s.Attribute) else ""
        if _ASKS.search(word):
            return True
        if isinstance(part, s.Name) and not part.stored and depth:
            for binding in reaching(part) or ():
                if isinstance(binding.node, s.Parameter):
                    if not _is_receiver(binding.node) and isinstance(part.parent, (s.If, s.Conditional, s.Operation)):
                        return True
                elif binding.value is not None and asks(module, binding.value, depth - 1):
                    return True
    return False


def _is_receiver(parameter: s.Parameter) -> bool:
    function = parameter.parent
    return isinstance(function, s.Function) and class_of(function) is not None and parameter is function.parameters[0]


def chance(module: Module, call: s.Call, parameter: str) -> float | None:
    """Return the probability with which `call` always drops: 1.0 for some chance, None where it is not known.

    0.0 stands for a probability that is 0 unless the user of a class passes another.
    """
    passed = module.argument(call, parameter)
    if passed.given is False:
        return 1.0 if isinstance(passed.default, (int, float)) and passed.default > 0 else None
    if passed.given is None or len(passed.values) != 1 or asks(module, passed.values[0]):
        return None
    found = list(_chances(module, passed.values[0]))
    if not found or None in found:
        return None
    return min(value for value in found if value is not None)


def _chances(module: Module, node: s.Expression, depth: int = _DEPTH) -> Iterator[float | None]:
    """Yield the values that a probability may have, as `chance` returns them."""
    constant = literal(node)
    if depth == 0 or asks(module, node):
        yield None
    elif constant is not UNKNOWN:
        yield 1.0 if isinstance(constant, (int, float)) and constant > 0 else None
    elif isinstance(node, s.Conditional):
        for arm in (node.body, node.orelse):
            yield from _chances(module, arm, depth - 1)
    elif isinstance(node, s.Operation):
        known = node.operator in _ARITHMETIC
        for operand in node.operands if known else ():
            yield from (found for found in _chances(module, operand, depth - 1) if found is not None)
        if not known:
            yield None
    elif isinstance(node, s.Name):
        for binding in reaching(node) or ():
            value = bound(binding)
            if isinstance(binding.node, s.Parameter):
                yield _given(module, binding.node)
            elif value is None:
                yield None
            else:
                yield from _chances(module, value, depth - 1)
    elif isinstance(node, s.Attribute):
        yield from _held(module, node, depth)
    else:
        yield None


def _given(module: Module, parameter: s.Parameter) -> float | None:
    """Return the chance that a parameter is: known only for a constructor's, which holds for all calls of the object.

    A chance of 0 that the file's own calls leave at the default counts as unknown.
    """
    function = parameter.parent
    if not isinstance(function, s.Function) or function.name != "__init__" or parameter.star:
        return None
    constant = UNKNOWN if parameter.default is None else literal(parameter.default)
    if constant is None:
        return None
    if not isinstance(constant, (int, float)) or constant > 0:
        return 1.0
    klass = class_of(function)
    calls = module.calls_to({module.qualified(klass)}) if klass is not None else []
    left = [module.argument(call, parameter.name).given is False for call in calls]
    return None if left and all(left) and not any(_derives(module, other, klass) for other in module.classes) else 0.0


def _derives(module: Module, name: str, base: s.Class | None) -> bool:
    return base is not None and module.qualified(base) in module.ancestry(module.classes[name])


def _held(module: Module, node: s.Attribute, depth: int) -> Iterator[float | None]:
    """Yield the chances of an attribute: those that its class sets, else some chance where nothing here sets it."""
    owner = module.owner(node.value)
    constructed = [] if owner is None else module.attribute_values(owner, node.attribute)
    for other in module.attributes(node.attribute):
        if other.stored:
            function = function_around(other)
            if function is None or function.name != "__init__":
                yield None
                return
    if constructed:
        for value in constructed:
            yield from _chances(module, value, depth - 1)
    else:
        yield 1.0 if not _is_parameter(node) else None


def _is_parameter(node: s.Attribute) -> bool:
    """Return whether an attribute belongs to an object that a caller passes to a method other than a constructor."""
    value = node.value
    while isinstance(value, s.Attribute):
        value = value.value
    bindings = reaching(value) or () if isinstance(value, s.Name) else ()
    parameters = [b.node for b in bindings if isinstance(b.node, s.Parameter)]
    return any(not _is_receiver(p) and getattr(p.parent, "name", "") != "__init__" for p in parameters)

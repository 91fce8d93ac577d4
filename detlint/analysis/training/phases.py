"""Branches that training never takes, or takes only for other sizes, and those that follow the deterministic mode."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.training.contexts import named
from detlint.analysis.values.conditions import subject
from detlint.analysis.values.parameters import calls_of, given
from detlint.analysis.values.tensors import listed
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, bound, class_of, reaching

_NONE = ("is", "==")
_LEAVING = ("return", "raise")
_SIZES = ("size", "scale_factor")  # parameters of a function that resizes
_ASKED = ("size", "shape")


def only_evaluates(module: Module, node: s.Node) -> bool:
    """Return whether `node` is in a branch that training does not take, or after a statement that ends training."""
    below: s.Node = node
    for ancestor in node.ancestors():
        if isinstance(ancestor, (s.If, s.Conditional)):
            holds = _in_training(module, ancestor.test)
            if holds is not None and below is (ancestor.orelse if holds else ancestor.body):
                return True
        if isinstance(ancestor, s.Block) and any(_ends_training(module, one) for one in _before(ancestor, below)):
            return True
        below = ancestor
    return False


def follows_mode(module: Module, node: s.Node) -> bool:
    """Return whether the program chooses between `node` and something else by the deterministic mode."""
    return any(_asks_mode(module, test) for test in _tests(node))


def hangs_on_size(module: Module, call: s.Call) -> bool:
    """Return whether a call runs only where sizes of tensors differ, which by default they do not.

    Models pad what does not fit another tensor, and resize what they keep or are passed, such as their tables of
    positions, for images of other sizes than those they were made for. What they compute they resize for good reason.
    """
    tensor, parameters = subject(module, call), {name for name, _, _ in module.signature(module.callee(call))}
    resizes = parameters.issuperset(_SIZES)
    if resizes and (tensor is None or not _is_kept(module, tensor)):
        return False
    compared = (part for test in _tests(call, ("return",)) for part in s.walk(test) if _compares(part))
    return any(resizes or any(_is_size(each) for each in s.walk(part)) for part in compared)


def _tests(node: s.Node, kinds: tuple[str, ...] = _LEAVING) -> Iterator[s.Expression]:
    """Yield the tests in its function that decide whether a node runs, by the ways to leave before it in `kinds`."""
    below: s.Node = node
    for ancestor in node.ancestors():
        if isinstance(ancestor, (s.If, s.Conditional)) and below is not ancestor.test:
            yield ancestor.test
        elif isinstance(ancestor, s.Block):
            choices = (one for one in _before(ancestor, below) if isinstance(one, s.If))
            yield from (one.test for one in choices if _leaves(one.body, kinds))
        elif isinstance(ancestor, s.Function):
            return
        below = ancestor


def _is_kept(module: Module, node: s.Expression, depth: int = 8) -> bool:
    """Return whether a tensor is an attribute of an object, or a parameter of a function, perhaps reshaped."""
    if isinstance(node, s.Subscript):
        return _is_kept(module, node.value, depth)
    if isinstance(node, s.Operation):
        operands = [each for each in node.operands if literal(each) is UNKNOWN]
        return bool(operands) and all(_is_kept(module, each, depth) for each in operands)
    if isinstance(node, s.Call):
        method = node.function.attribute if isinstance(node.function, s.Attribute) else ""
        if isinstance(node.function, s.Attribute) and method in listed(module, "same-gradient"):
            return _is_kept(module, node.function.value, depth)
        first = node.arguments[0].value if module.callee(node) and node.arguments else None
        parts = first.elements if isinstance(first, s.Collection) else [] if first is None else [first]
        return bool(parts) and all(_is_kept(module, each, depth) for each in parts)
    if isinstance(node, s.Attribute):
        return isinstance(node.value, (s.Name, s.Attribute))
    bindings = (reaching(node) or ()) if isinstance(node, s.Name) and depth else ()
    return bool(bindings) and all(_binds_kept(module, binding, depth - 1) for binding in bindings)


def _binds_kept(module: Module, binding: Binding, depth: int) -> bool:
    parameter = binding.node
    if isinstance(parameter, s.Parameter) and isinstance(parameter.parent, s.Function):
        function = parameter.parent
        values = [given(call, function, parameter) for call in calls_of(module, function)]
        free = class_of(function) is None
        return free or (bool(values) and all(v is not None and _is_kept(module, v, depth) for v in values))
    value = bound(binding)
    return value is not None and _is_kept(module, value, depth)


def _compares(node: s.Node) -> bool:
    """Return whether a node compares two values of which neither is a literal."""
    if not isinstance(node, s.Operation) or node.operator not in ("==", "!="):
        return False
    return all(literal(operand) is UNKNOWN for operand in node.operands)


def _is_size(node: s.Node) -> bool:
    """Return whether a node asks a tensor for its size."""
    return isinstance(node, s.Attribute) and node.attribute in _ASKED


def _before(block: s.Block, node: s.Node) -> Iterator[s.Statement]:
    """Yield the statements of a block before one of them."""
    for statement in block.statements:
        if statement is node:
            return
        yield statement


def _in_training(module: Module, test: s.Expression) -> bool | None:
    """Return whether a test holds in training (True) or fails (False); None where it tests something else."""
    if isinstance(test, s.Operation) and (test.operator == "not" or test.operator in ("and", "or")):
        answers = [_in_training(module, operand) for operand in test.operands]
        if test.operator == "not":
            return None if answers[0] is None else not answers[0]
        decides = test.operator == "or"
        return decides if decides in answers else None if None in answers else not decides
    if isinstance(test, s.Operation) and test.operator in (*_NONE, "is not", "!=") and len(test.operands) == 2:
        cached = last_word(test.operands[0]) in named(module, "inference-cache")
        return test.operator in _NONE if cached and literal(test.operands[1]) is None else None
    if isinstance(test, s.Call):
        return True if module.callee(test) and module.callee(test) <= named(module, "recording") else None
    if not isinstance(test, (s.Name, s.Attribute)):
        return None
    if last_word(test) in named(module, "training"):
        return True
    return False if last_word(test) in named(module, "inference-cache") else None


def _ends_training(module: Module, statement: s.Statement) -> bool:
    """Return whether training never gets past a statement."""
    if isinstance(statement, s.Other):
        return statement.kind == "assert" and _in_training(module, statement.values[0]) is False
    return isinstance(statement, s.If) and _leaves(statement.body) and _in_training(module, statement.test) is True


def _leaves(block: s.Block, kinds: tuple[str, ...] = _LEAVING) -> bool:
    return any(isinstance(one, s.Leave) and one.kind in kinds for one in block.statements)


def _asks_mode(module: Module, test: s.Expression) -> bool:
    """Return whether a test asks for the deterministic mode."""
    asked = named(module, "deterministic-asked")
    parts = [value for part in s.walk(test) if isinstance(part, s.Name) for value in module.values(part) or ()]
    return any(isinstance(part, s.Call) and bool(module.callee(part) & asked) for part in (*s.walk(test), *parts))

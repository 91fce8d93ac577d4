"""What a file counts up or down: variables in loops, and attributes."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from detlint.semantics.model import Module
from detlint.tree import syntax as s

_STEPS = ("+=", "-=")


class Counted(NamedTuple):
    """The counted `attributes`, by name on any object, and the counted `variables`, by the loops that count them."""

    attributes: frozenset[str]
    variables: dict[s.Node, dict[str, s.Name]]


def counted(module: Module) -> Counted:
    """Return what a file counts: after the first step, such a number is not what it was set to."""
    attributes: set[str] = set()
    variables = defaultdict[s.Node, dict[str, s.Name]](dict)
    for node in module.every(s.Assign):
        target = node.targets[0]
        if node.operator not in _STEPS and not _is_sum_of(module, node, target):
            continue
        if isinstance(target, s.Attribute):
            attributes.add(target.attribute)
        elif isinstance(target, s.Name):
            for outer in node.ancestors():
                if isinstance(outer, (s.Function, s.Class)):
                    break
                if isinstance(outer, (s.For, s.While)):
                    variables[outer][target.id] = target
    return Counted(frozenset(attributes), variables)


def _is_sum_of(module: Module, node: s.Assign, target: s.Expression) -> bool:
    """Return whether something is set to itself plus or minus something."""
    if not isinstance(node.value, s.Operation) or node.value.operator not in ("+", "-"):
        return False
    if not isinstance(target, (s.Name, s.Attribute)):
        return False
    return any(
        type(each) is type(target) and module.source(each) == module.source(target) for each in node.value.operands
    )

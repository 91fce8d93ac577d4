"""DET601: the order of a set gets into something ordered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from detlint import syntax as s
from detlint.analysis.elements import Elements, Kind
from detlint.analysis.order import Leak, Order, elsewhere
from detlint.analysis.ordered_calls import EXPOSING
from detlint.analysis.sets import Sets
from detlint.analysis.sorting import in_first_order, sorted_where_taken
from detlint.catalogue import Rule
from detlint.finding import Finding, Fix, Operation, Safety
from detlint.model import Module

_VARIES = (Kind.TEXT, Kind.IDENTITY)


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Uses of sets that take their items one by one, where the order that this gives matters."""
    sets = Sets(module)
    if not sets.may_be_any():
        return
    elements, order = Elements(module), Order(module)
    certain, likely = frozenset(rule.data["uses"]), frozenset(rule.data["likely"])
    for node in module.nodes:
        if type(node.parent) not in EXPOSING or not isinstance(node, s.Expression):
            continue
        if not order.calls.exposes(node) or not sets.is_set(node):
            continue
        kind = elements.of(node)
        if kind is Kind.STABLE or _stays_set(sets, node) or sets.has_no_order(node):
            continue
        leaks = [leak for leak in order.leaks(node) if leak.kind in (certain if kind in _VARIES else likely)]
        if leaks:
            leak = min(leaks, key=lambda leak: _rank(rule, leak))
            row = elements.row(kind)
            yield _finding(module, rule, node, kind, leak, None if row is None else Operation(row.id))


def _stays_set(sets: Sets, node: s.Expression) -> bool:
    """Whether a set is only copied to another one."""
    call = node.parent.parent if isinstance(node.parent, s.Argument) else None
    return isinstance(call, s.Call) and sets.is_set(call)


def _rank(rule: Rule, leak: Leak) -> tuple[int, int]:
    return list(rule.data["uses"]).index(leak.kind), leak.node.order


def _finding(
    module: Module, rule: Rule, node: s.Expression, kind: Kind, leak: Leak, operation: Operation | None
) -> Finding:
    uses: dict[str, str] = rule.data["uses"]
    related = elsewhere(module, node, leak.node, f"the order {uses[leak.kind]} here")
    return module.finding(
        rule,
        node,
        related=related,
        lowered=kind not in _VARIES or leak.kind in rule.data["leaving"],
        set=module.short(node),
        use=uses[leak.kind],
        fix=_fix(module, rule, node, kind),
        operation=operation,
        remedy=rule.data[kind.value][0],
    )


def _fix(module: Module, rule: Rule, node: s.Expression, kind: Kind) -> Fix | None:
    """Text is sorted; objects keep the order in which they come; what may be something else may not be sortable."""
    if kind is Kind.IDENTITY:
        return in_first_order(module, node)
    fix = sorted_where_taken(module, node)
    words = re.split(r"[\W_]+", module.source(node))
    likely = kind is Kind.TEXT or not set(words).isdisjoint(rule.data["texts"])
    return fix if fix is None or likely else replace(fix, safety=Safety.UNSAFE)

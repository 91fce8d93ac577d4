"""DET604: the value of `hash()` or `id()` gets into a result."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.sets.elements import Elements
from detlint.analysis.sets.kinds import Kind
from detlint.catalogue import Row, Rule
from detlint.finding import Finding, Operation
from detlint.orders.hashes import Hashes, Use, checksum
from detlint.orders.leaks import elsewhere
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each `id`, and each `hash` of what may be text or an object, that gets into a result."""
    hashes = Hashes(module)
    found = list(hashes.found())
    if not found:
        return
    elements = Elements(module)
    for node, value in found:
        kind = Kind.IDENTITY if value is None else elements.one(value)
        if kind is Kind.STABLE or (kind is Kind.UNKNOWN and isinstance(value, (s.Call, s.Collection))):
            continue
        if isinstance(value, s.Constant) and not value.value:
            continue  # the hash of an empty text is not salted
        uses = [use for use in hashes.uses(node) if kind is not Kind.UNKNOWN or use.kind in rule.data["likely"]]
        if uses:
            use = min(uses, key=lambda use: use.node.order)
            yield _finding(module, rule, node, use, kind, elements.row(kind))


def _finding(module: Module, rule: Rule, node: s.Expression, use: Use, kind: Kind, row: Row | None) -> Finding:
    words = rule.data["uses"][use.kind]
    called = module.name(node.function if isinstance(node, s.Call) else node) or ""
    return module.finding(
        rule,
        node,
        related=elsewhere(module, node, use.node, f"{words} here"),
        lowered=kind is Kind.UNKNOWN,
        fix=checksum(module, node) if isinstance(node, s.Call) else None,
        operation=None if row is None else Operation(row.id, called),
        call=module.short(node),
        use=words,
    )

"""DET401, DET402: memory that is read before anything is written to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from detlint.analysis.emptied import emptied
from detlint.analysis.empty import allocations
from detlint.analysis.fields import unfilled
from detlint.analysis.locals import Local
from detlint.analysis.operations import operation
from detlint.analysis.uses import Effect, Uses
from detlint.analysis.zeros import zeroed
from detlint.catalogue import Row, Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Allocations whose first use on some path is a read; of the page's `libraries`, `exits` end a program."""
    found = dict(allocations(module, rule.data["libraries"]))
    if not found:
        return
    uses = Uses(module, rule.data["libraries"])
    joined = Uses(module, rule.data["libraries"], joins=True)
    bound: dict[tuple[Scope, str], dict[s.Node, s.Call]] = defaultdict(dict)
    for call, row in found.items():
        kind = row.text("kind")
        use = uses.of(call, kind == "module")
        if use.effect is Effect.READS:
            yield _finding(module, rule, call, row, use.node, "read here")
        elif use.effect is Effect.BINDS and isinstance(use.node, s.Name):
            statement = next(a for a in use.node.ancestors() if isinstance(a, s.Assign))
            _bind(bound, use.node, statement, call)
        elif kind == "resize" and isinstance(call.function, s.Attribute) and isinstance(call.function.value, s.Name):
            _bind(bound, call.function.value, call, call)
        elif kind == "module" and (model := emptied(module, uses, call, rule.data["libraries"])) is not None:
            _bind(bound, model, call, call)
        elif use.effect is Effect.ESCAPES:
            read = unfilled(module, joined, call, use, rule.data["libraries"], found)
            if read is not None:
                message = "read here, and nothing in this file fills it"
                yield _finding(module, rule, call, row, read, message, lowered=True)
    ending = frozenset(rule.data["exits"])

    def exits(call: s.Call) -> bool:
        return not ending.isdisjoint(module.callee(call))

    for (scope, name), events in bound.items():
        runs = any(found[call].text("kind") == "module" for call in events.values())
        local = Local(module, uses, scope, name, events, runs, ends=exits)
        for call, (node, certain) in local.reads().items():
            message = "read here" if certain else "read here; not every path has filled it"
            yield _finding(module, rule, call, found[call], node, message, lowered=not certain)


def _finding(
    module: Module, rule: Rule, call: s.Call, row: Row, read: s.Node, message: str, *, lowered: bool = False
) -> Finding:
    return module.finding(
        rule,
        call,
        related=[(read, message)],
        lowered=lowered,
        fix=zeroed(module, call, row),
        operation=operation(module, call, row),
        call=module.short(call.function),
    )


def _bind(bound: dict[tuple[Scope, str], dict[s.Node, s.Call]], name: s.Name, event: s.Node, call: s.Call) -> None:
    scope = name.scope.find(name.id)
    if scope is not None and scope.kind in ("module", "function"):
        bound[scope, name.id][event] = call

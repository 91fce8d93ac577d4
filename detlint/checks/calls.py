"""Rules that are tables: calls of listed names whose arguments meet conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.analysis.seeds.seeding import generator_of_its_own
from detlint.analysis.values.conditions import holds, verdict
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix
from detlint.questions import Meets
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Find calls of the page's own `names`, or of those in the rows of its `table` that name the rule.

    A call that is known to meet one of the `never` conditions is left out. If the page names a `generator`, the
    severity is the lower one unless that is unseeded at the call (with `later`: and stays so, since what is made there
    draws later), and the fix passes a generator. Otherwise the fix puts in the literals of `fixed`. If a test with one
    of its `workers` shows that the code runs in a worker of a loader, which has seeded torch, there is no finding.
    """
    generator = rule.data.get("generator", "")
    rows: Sequence[Row] = [Row(rule.code, rule.data)]
    if "table" in rule.data:
        file, _, table = rule.data["table"].partition(".")
        rows = module.catalogue.rows_of(file, table, rule.code)
    for row in rows:
        if not row.holds_for(module.torch):
            continue
        for call in module.calls_to(row.list("calls") or row.list("names")):
            if any(holds(module, call, condition) for condition in row.list("never")):
                continue
            if _in_worker(module, call, frozenset(rule.data.get("workers", ()))):
                continue
            known = verdict(module, call, row.list("when"), row.list("unless"))
            if known or (known is None and "table" in rule.data):
                full = module.unseeded(generator, call, lasting="later" in rule.data) if generator else None
                fix = generator_of_its_own(module, call) if generator else _fix(module, rule, call)
                only = None if known else Meets(module.place(call), row.id)
                yield module.finding(rule, call, only_if=only, full_if=full, fix=fix, call=module.short(call.function))


def _in_worker(module: Module, node: s.Node, asking: frozenset[str]) -> bool:
    """Return whether a test around a node has found that there is a worker: `if get_worker_info() is not None:`."""
    below = node
    for around in node.ancestors() if asking else ():
        if isinstance(around, s.Function):
            return False
        if isinstance(around, s.If) and below is around.body:
            test = around.test
            compared = isinstance(test, s.Operation) and test.operator == "is not" and literal(test.operands[1]) is None
            values = module.values(test.operands[0] if isinstance(test, s.Operation) and compared else test) or []
            if values and all(isinstance(value, s.Call) and module.callee(value) & asking for value in values):
                return True
        below = around
    return False


def _fix(module: Module, rule: Rule, call: s.Call) -> Fix | None:
    made = edits.literals(module, call, rule.data.get("fixed", ()))
    return edits.fix(f"Pass `{', '.join(made)}`", *made.values(), safety=rule.fix) if rule.fix else None

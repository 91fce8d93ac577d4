"""Rules that are a table: calls of listed names whose arguments meet conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint import edits
from detlint import syntax as s
from detlint.analysis.conditions import applies, holds
from detlint.analysis.seeding import generator_of_its_own
from detlint.catalogue import Row, Rule
from detlint.finding import Finding, Fix
from detlint.model import Module


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Calls of the page's own `names`, or of the rows of its `table` that name the rule.

    A call that is known to meet one of the `never` conditions is left out. Where the page names a `generator`,
    the severity is the lower one unless that is unseeded at the call (with `later`: and stays so, since what is made
    there draws later), and the fix passes a generator; else it puts the literals of `fixed` in their place.
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
            if applies(module, call, row.list("when"), row.list("unless")):
                full = module.unseeded(generator, call, lasting="later" in rule.data) if generator else None
                fix = generator_of_its_own(module, call) if generator else _fix(module, rule, call)
                yield module.finding(rule, call, full_if=full, fix=fix, call=module.short(call.function))


def _fix(module: Module, rule: Rule, call: s.Call) -> Fix | None:
    made = edits.literals(module, call, rule.data.get("fixed", ()))
    return edits.fix(f"Pass `{', '.join(made)}`", *made.values(), safety=rule.fix) if rule.fix else None

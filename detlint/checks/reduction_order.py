"""DET507: process groups that sum in no fixed order in programs that ask for deterministic algorithms."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.seeds.environment import mentions
from detlint.analysis.values.conditions import applies
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.programs.events import UNSURE
from detlint.questions import InForce
from detlint.semantics.model import Module

_ON = ("on", "warn")


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each call that joins processes in deterministic programs that never fix the order.

    Some releases of torch set the variable along with deterministic algorithms; there it matters which comes first.
    """
    for row in module.rows_like("switches", "group"):
        variable = row.text("variable")
        for call in module.calls_to(row.list("names")):
            if mentions(module, variable) or not applies(module, call, row.list("when"), row.list("unless")):
                continue
            point = module.point(call)
            unless = [InForce("reduction", ("set", UNSURE), *point, ever=True)]
            case = "unset"
            if row.holds_for(module.torch, "sets"):
                unless.append(InForce("algorithms", (*_ON, UNSURE), *point))
                case = "late"
            yield module.finding(
                rule,
                call,
                only_if=InForce("algorithms", _ON, *point, ever=True),
                unless=unless,
                variable=variable,
                problem=rule.data["problems"][case].format(variable=variable),
                help=rule.data["helps"][case].format(variable=variable),
            )

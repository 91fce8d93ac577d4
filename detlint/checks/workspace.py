"""DET504: deterministic algorithms without the workspace setting that cuBLAS needs to repeat."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.environment import deterministic, mentions, writes
from detlint.catalogue import Rule
from detlint.finding import Ends, Finding, InForce
from detlint.link.state import UNSURE
from detlint.model import Module

_SET = ("set", UNSURE)


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Values that cuBLAS does not repeat with, and files that ask for determinism without naming the variable.

    These are none of a program that sets it, perhaps, in another file.
    """
    for row in module.catalogue.rows("switches", "environment"):
        if row.text("rule") != rule.code or not row.holds_for(module.torch):
            continue
        variable = row.text("variable")
        for write in writes(module):
            values = module.constants(write.value) if write.variable == variable else None
            if values and not any(value in row.list("good") for value in values):
                problem = f"`{variable}` is set to {module.short(write.value)}"
                yield module.finding(rule, write.node, variable=variable, problem=problem)
        if mentions(module, variable):
            continue
        for asker, call in deterministic(module):
            if asker.text("workspace") != "set":
                problem = f"nothing here sets `{variable}`"
                unless = (
                    Ends("workspace", _SET, module.place(call)),
                    InForce("workspace", _SET, *module.point(call), ever=True),
                )
                yield module.finding(rule, call, unless=unless, variable=variable, problem=problem)

"""DET504: deterministic algorithms without the workspace setting that cuBLAS needs to repeat."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.environment import deterministic, mentions, writes
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.model import Module


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Values that cuBLAS does not repeat with, and files that ask for determinism without naming the variable."""
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
                problem = f"this file does not set `{variable}`"
                yield module.finding(rule, call, variable=variable, problem=problem)

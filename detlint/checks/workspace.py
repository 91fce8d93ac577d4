"""DET504: deterministic algorithms without the workspace setting that cuBLAS needs to repeat."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.seeds.environment import deterministic, mentions, writes
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.programs.events import UNSURE
from detlint.questions import Ends, InForce
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_SET = ("set", UNSURE)


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for values that cuBLAS does not repeat with, and for determinism without the variable.

    A program that sets the variable in another file, or may do so, gets no finding.
    """
    for row in module.catalogue.rows("switches", "environment"):
        if row.text("rule") != rule.code or not row.holds_for(module.torch):
            continue
        variable = row.text("variable")
        for write in writes(module):
            values = module.constants(write.value) if write.variable == variable else None
            if values and not any(value in row.list("good") for value in values):
                problem = f"`{variable}` is set to {module.short(write.value)}"
                good = edits.replaced(module, write.value, f'"{row.list("good")[0]}"')
                literal = isinstance(write.value, s.Constant)
                fix = edits.fix("Set a value that repeats", good, safety=Safety.UNSAFE) if literal else None
                yield module.finding(rule, write.node, fix=fix, variable=variable, problem=problem)
        if mentions(module, variable):
            continue
        for asker, call in deterministic(module):
            if asker.text("workspace") != "set":
                problem = f"nothing here sets `{variable}`"
                unless = (
                    Ends("workspace", _SET, module.place(call)),
                    InForce("workspace", _SET, *module.point(call), ever=True),
                )
                fix = _fix(module, call)
                yield module.finding(rule, call, unless=unless, fix=fix, variable=variable, problem=problem)


def _fix(module: Module, call: s.Call) -> Fix | None:
    """Return a fix that calls the runtime's function, which also sets the variable, and passes `warn_only` on."""
    passed = {argument.keyword or "mode": argument.value for argument in call.arguments if not argument.star}
    mode = passed.pop("mode", None)
    known = len(call.arguments) == len(passed) + 1 and passed.keys() <= {"warn_only"}
    if module.callee(call) != {"torch.use_deterministic_algorithms"} or not known or not _is_true(mode):
        return None
    given = ", ".join(f"{name}={{{name}}}" for name in passed)
    return edits.fix(
        "Have the runtime switch it on",
        edits.replaced(module, call, edits.new(f"enable_determinism({given})", **passed)),
        *edits.unused(module, [call.function]),
        safety=Safety.UNSAFE,
        imports=edits.runtime(module, "enable_determinism"),
    )


def _is_true(node: s.Expression | None) -> bool:
    return isinstance(node, s.Constant) and node.value is True

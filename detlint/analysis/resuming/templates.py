"""DET701 for loads that fill only what they are given, as the empty state of an optimizer that has not stepped yet."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.checkpoints import Checkpoints
from detlint.analysis.resuming.resumption import last
from detlint.analysis.training.contexts import function_around
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def templates(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each load into a dict with the state of an optimizer that nothing has filled before."""
    for row in module.rows_like("checkpoints", "template"):
        if module.words & row.set("unless"):
            continue
        checkpoints = Checkpoints(module)
        for call in module.calls_to(row.list("names")):
            given = next((argument.value for argument in call.arguments if not argument.star), None)
            for _, value in (None if given is None else checkpoints.entries(given)) or ():
                owner = _owner(value)
                if owner is not None and checkpoints.is_optimizer(owner) and not _has_stepped(module, call):
                    yield module.finding(
                        rule,
                        call,
                        related=[(owner, "its state is empty here")],
                        problem=rule.data["template"].format(name=module.short(owner)),
                        because=rule.data["steps"],
                        remedy=row.text("remedy"),
                    )


def _owner(value: s.Expression | None) -> s.Expression | None:
    """Return the object whose `state_dict()` a value is; None for anything else."""
    method = value.function if isinstance(value, s.Call) else None
    return method.value if isinstance(method, s.Attribute) and method.attribute == "state_dict" else None


def _has_stepped(module: Module, load: s.Call) -> bool:
    """Return whether something steps in a function before it loads."""
    around = function_around(load)
    steps = (call for call in module.calls_like(words=("step",)) if function_around(call) is around)
    return any(last(call.function) == "step" and call.order < load.order for call in steps)

"""DET701 for what steps in training, such as a learning rate's schedule, and is not restored with the optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.resuming.resumption import last
from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.questions import Forgotten
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def left_out(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings on objects that step in training: not restored, or made only after the optimizer's state is."""
    for row in module.rows_like("checkpoints", "stepped"):
        steps = (c for c in module.calls_like(words=row.list("methods")) if last(c.function) in row.list("methods"))
        caught_up = any(map(_is_caught_up, steps))
        for call in module.calls_to(row.list("names")):
            path, _, order = module.point(call)
            words = {"name": module.short(call.function), "does": row.text("does")}
            if not caught_up:
                yield module.finding(
                    rule,
                    call,
                    lowered=any(argument.keyword == row.text("switch") for argument in call.arguments),
                    only_if=Forgotten(path, order, row.id),
                    problem=rule.data["stepped"].format(**words),
                    because=rule.data["steps"],
                    remedy=rule.data["stepped_remedy"].format(**words),
                )
            if not module.callee(call).isdisjoint(row.list("resets")):
                yield module.finding(
                    rule,
                    call,
                    only_if=Forgotten(path, order, row.id, late=True),
                    problem=rule.data["late"].format(**words),
                    because=rule.data["steps"],
                    remedy=rule.data["late_remedy"],
                )


def _is_caught_up(call: s.Call) -> bool:
    """Return whether a loop does nothing but step an object, as often as the training has before."""
    loop = next((around for around in call.ancestors() if isinstance(around, s.For)), None)
    return isinstance(loop, s.For) and loop.body.statements == [call.parent]

"""Draws from global generators, as the tables of facts say."""

from __future__ import annotations

from detlint.catalogue import Row
from detlint.domain import taints as t
from detlint.domain.effects import Draw
from detlint.domain.step import Step
from detlint.domain.taints import Taint
from detlint.domain.values import SOMETHING, Value
from detlint.models import devices
from detlint.models.arguments import Arguments
from detlint.models.asides import Aside


def draw(step: Step, row: Row, name: str, aside: Aside = "") -> Value:
    """A draw from the generators of a row."""
    if aside != "inert":
        for generator in row.list("generator"):
            weights = row.text("weights")
            step.emit(
                Draw(
                    generator,
                    step.code,
                    name,
                    bool(weights),
                    aside=aside,
                    where=row.text("where"),
                    missing=weights == "missing",
                )
            )
    return SOMETHING


def consume(step: Step, row: Row, name: str, args: Arguments, aside: Aside) -> Value:
    """A call that draws where the conditions of its row hold: a number or a tensor."""
    outcome = args.applies(row.list("when"), row.list("unless"))

    def perhaps() -> Value:
        return step.arm(outcome, lambda: draw(step, row, name, aside), lambda: SOMETHING)

    step.arm(devices.is_meta(step, args.get("device")), lambda: SOMETHING, perhaps)
    if not row.text("numbers"):
        return SOMETHING
    taints = frozenset((Taint("drawn", step.code, "number"),))  # whether it is drawn, more arguments may still tell
    return SOMETHING.with_taints(taints, t.NONE if outcome.may_fail else taints)

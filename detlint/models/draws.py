"""Draws from global generators, as the tables of facts say."""

from __future__ import annotations

from detlint.catalogue import Row
from detlint.domain.effects import Draw
from detlint.domain.step import Step
from detlint.domain.taints import Taint
from detlint.domain.values import SOMETHING, Value
from detlint.models.arguments import Arguments
from detlint.models.asides import Aside


def draw(step: Step, row: Row, name: str, aside: Aside = "") -> Value:
    """A draw from the generator of a row: a number or a tensor."""
    if aside != "inert":
        step.emit(Draw(row.text("generator"), step.code, name, bool(row.text("weights")), aside=aside))
    if row.text("numbers"):
        taints = frozenset((Taint("drawn", step.code, "number"),))
        return SOMETHING.with_taints(taints, taints)
    return SOMETHING


def consume(step: Step, row: Row, name: str, args: Arguments, aside: Aside = "") -> Value:
    """A call that draws where the conditions of its row hold; it may only be for something `aside`."""
    outcome = args.applies(row.list("when"), row.list("unless"))
    return step.arm(outcome, lambda: draw(step, row, name, aside), lambda: SOMETHING)

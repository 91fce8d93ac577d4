"""Draws from global generators, as the tables of facts say."""

from __future__ import annotations

from detlint.catalogue import Row
from detlint.domain.effects import Draw
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, Value
from detlint.models.arguments import Arguments


def draw(step: Step, row: Row, name: str) -> Value:
    """A draw from the generator of a row: a number or a tensor."""
    step.emit(Draw(row.text("generator"), step.code, name, bool(row.text("weights"))))
    return SOMETHING


def consume(step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A call that draws where the conditions of its row hold."""
    outcome = args.applies(row.list("when"), row.list("unless"))
    return step.arm(outcome, lambda: draw(step, row, name), lambda: SOMETHING)

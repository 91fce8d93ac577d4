"""Switches of the whole program, which calls and assignments set."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.catalogue import Row
from detlint.domain.effects import SetSwitch
from detlint.domain.outcomes import truth
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, Value
from detlint.models.arguments import Arguments


def by_call(step: Step, rows: Sequence[Row], args: Arguments) -> None:
    """The switches that a call sets, as its arguments say; an option may decide."""
    for row in rows:
        outcome = args.applies(row.list("when"), row.list("unless"))
        step.arm(outcome, lambda row=row: _set(step, row.text("switch"), row.text("word")), lambda: NOTHING)  # type: ignore[misc]


def by_value(step: Step, rows: Sequence[Row], value: Value) -> None:
    """The switches that an attribute of a library is, which is given something true or false."""
    outcome = truth(step.resolve(value))
    for row in rows:
        name = row.text("switch")
        if outcome.may_hold and outcome.may_fail and outcome.option is None:
            _set(step, name, "unsure")
        else:
            step.arm(outcome, lambda name=name: _set(step, name, "on"), lambda name=name: _set(step, name, "off"))  # type: ignore[misc]


def _set(step: Step, name: str, word: str) -> Value:
    step.emit(SetSwitch(name, word, step.code))
    return NOTHING

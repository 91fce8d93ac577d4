"""Switches of the whole program, which calls and assignments set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import UNKNOWN_ATOM, Constant
from detlint.domain.effects import SetSwitch
from detlint.domain.given import Given
from detlint.domain.outcomes import answer, truth
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, NULL, SOMETHING, Value, constants
from detlint.models.arguments import Arguments
from detlint.models.devices import is_meta

if TYPE_CHECKING:
    from detlint.models.known import Known, Role


def by_call(step: Step, rows: Sequence[Row], args: Arguments) -> None:
    """The switches that a call sets, as its arguments say; one that is not known tells nothing."""
    outcomes = [(row, args.applies(row.list("when"), row.list("unless"))) for row in rows]
    if all(outcome.may_fail for _, outcome in outcomes) and any(map(_is_unknown, map(args.get, args.defaults))):
        for name in dict.fromkeys(row.text("switch") for row in rows if row.list("when")):
            _set(step, name, "unsure")
    for row, outcome in outcomes:
        step.arm(outcome, lambda row=row: _set(step, row.text("switch"), row.text("word")), lambda: NOTHING)  # type: ignore[misc]


def _is_unknown(value: Value) -> bool:
    return UNKNOWN_ATOM in value.atoms


def by_value(step: Step, rows: Sequence[Row], value: Value) -> None:
    """The switches that an attribute of a library is, which is given something true or false.

    Where only an unknown `**` could give it, it is the default of the parameter.
    """
    outcome = truth(step.resolve(value))
    if outcome.option is not None and outcome.option.is_parameter and outcome.by_default is not None:
        outcome = answer(outcome.by_default)
    for row in rows:
        name = row.text("switch")
        if outcome.may_hold and outcome.may_fail and outcome.option is None:
            _set(step, name, "unsure")
        else:
            step.arm(outcome, lambda name=name: _set(step, name, "on"), lambda name=name: _set(step, name, "off"))  # type: ignore[misc]


def set_variable(known: Known, step: Step, key: Value) -> None:
    """A variable of the environment is set, perhaps one that is a switch; of several each, as a loop does."""
    keys = constants(step.resolve(key)) or ()
    for variable, switch in known.variables.items():
        if _text(variable) in keys:
            _set(step, switch, "set")


def set_variables(known: Known, step: Step, given: Given) -> None:
    """Several variables at once, by keyword or by a mapping."""
    held = [step.mapping(value, place) for place, value in enumerate(given.positional)]
    names = {key for each in held if each is not None for key, _ in each.entries}
    for variable, switch in known.variables.items():
        if _text(variable) in names or variable in given.keywords:
            _set(step, switch, "set")


def _text(word: str) -> Constant:
    return Constant("str", word)


def _environment(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    set_variable(known, step, args.first())
    return SOMETHING


def _environment_updated(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    set_variables(known, step, args.given)
    return NULL


def _default_device(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The device on which tensors are made from here on."""
    outcome = is_meta(step, args.first())
    step.arm(outcome, lambda: _set(step, "device", "meta"), lambda: _set(step, "device", "default"))
    return NULL


ROLES: Mapping[str, Role] = {
    "environment": _environment, "environment-updated": _environment_updated, "default-device": _default_device,
}  # fmt: skip


def _set(step: Step, name: str, word: str) -> Value:
    step.emit(SetSwitch(name, word, step.code))
    return NOTHING

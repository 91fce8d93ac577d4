"""Tests that the state of a program decides where it gets there, as its user decides options: a mode, a replacement."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.domain.atoms import FALSE, TRUE, Choice, Option
from detlint.domain.codes import Code
from detlint.domain.outcomes import Outcome
from detlint.domain.values import Value, value_of

_NOWHERE = Code("", "", -1)
_EVALUATES = Option("layers=eval", _NOWHERE)
TRAINS = Outcome(True, True, _EVALUATES, False)
"""Whether the models of the program train where it gets."""


def trains() -> Value:
    """Whether the models of the program train, as a value."""
    return value_of(Choice(_EVALUATES, value_of(TRUE), value_of(FALSE)))


def lists(switch: str, names: Iterable[str]) -> Outcome:
    """Whether a switch lists all of some names."""
    return Outcome(True, True, Option(f"{switch}={' '.join(sorted(names))}", _NOWHERE), True)


def asked(option: Option) -> tuple[str, frozenset[str]] | None:
    """The switch that decides a test and the words that it must have for it to hold; None for a user's option."""
    if option.code != _NOWHERE:
        return None
    switch, _, words = option.name.partition("=")
    return switch, frozenset(words.split())

"""How a test may come out, given the possible values of its operands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from operator import ge, gt, le, lt

from detlint.link.state.values import (
    UNKNOWN,
    Constant,
    Entropy,
    Keywords,
    Library,
    Object,
    Option,
    Saved,
    Some,
    Tuple,
    Unknown,
    Value,
    settled,
)
from detlint.support.records import record


@record(frozen=True, slots=True)
class Truth:
    """How a test may come out. `default` is the outcome unless the user sets an option, whose name is `option`, or
    unless unseen code gives a parameter, in which case the test is `hidden`.
    """

    may_hold: bool
    may_fail: bool
    default: bool | None = None
    option: str = ""
    hidden: bool = False

    @property
    def usual(self) -> bool | None:
        """The outcome if it is certain, else the default."""
        return self.default if self.may_hold and self.may_fail else self.may_hold

    @property
    def expected(self) -> bool | None:
        """The outcome if it is certain, else the default of an option; None if the test is hidden."""
        return None if self.hidden else self.usual

    def __invert__(self) -> Truth:
        default = None if self.default is None else not self.default
        return Truth(self.may_fail, self.may_hold, default, self.option, self.hidden)


EITHER = Truth(True, True)
_HOLDS, _FAILS = Truth(True, False), Truth(False, True)


@cache
def truth(value: Value) -> Truth:
    """Return how a test of a value's truth may come out."""
    return judged(value, bool, None, True)


@cache
def is_none(value: Value) -> Truth:
    """Return how a test whether a value is None may come out."""
    if any(isinstance(atom, Option) and atom.given and atom.default is not None for atom in value):
        value = frozenset(Some() if isinstance(a, Option) and a.given and a.default is not None else a for a in value)
    return judged(value, lambda held: held is None, False, False)


def is_text_or_number(value: Value) -> bool:
    """Return whether a value is a string or a number, with options at their defaults."""
    return all(isinstance(a, (Constant, Option)) and isinstance(settled(a), (int, float, str)) for a in value)


def equals(value: Value, other: object) -> Truth:
    """Return how a test whether a value equals a constant may come out."""
    return judged(value, lambda held: held == other, None, False)


def compared(value: Value, operator: str, other: float) -> Truth:
    """Return how a comparison of a value with a number may come out."""
    compare = {"<": lt, "<=": le, ">": gt, ">=": ge}[operator]
    return judged(value, lambda held: isinstance(held, (int, float)) and compare(held, other), None, None)


def among(value: Value, others: Collection[object]) -> Truth:
    """Return how a test whether a value is one of some constants may come out."""
    return judged(value, lambda held: held in others, None, False)


def within(value: Value, text: str, option: str) -> Truth:
    """Return how a test whether a value is part of `text` may come out; a named `option` has `text` as its default."""
    answer = judged(value, lambda held: isinstance(held, str) and held in text, None, None)
    return answer if not option else Truth(True, True, answer.usual, answer.option or option, answer.hidden)


def judged(value: Value, test: Callable[[object], bool], some: bool | None, object_: bool | None) -> Truth:
    """Return how `test` may come out on a value; `some` is the outcome for a non-None value, `object_` for objects."""
    outcomes: set[bool] = set()
    defaults: set[bool | None] = set()
    option = ""
    for atom in value:
        if isinstance(atom, Option):
            defaults.add(test(atom.default))
            option = min(option, atom.name) if option else atom.name
            outcomes |= {True, False}
            continue
        if isinstance(atom, Constant):
            answer: bool | None = test(atom.value)
        elif object_ and isinstance(atom, (Tuple, Keywords)):
            answer = (
                None if isinstance(atom, Keywords) and any(name == "**" for name, _ in atom.items) else bool(atom.items)
            )
        elif isinstance(atom, (Unknown, Saved)) or (isinstance(atom, Library) and _is_part(atom)):
            answer = None
        else:
            answer = some if isinstance(atom, (Some, Entropy)) else object_
        if len(value) == 1:
            return EITHER if answer is None else _HOLDS if answer else _FAILS
        outcomes |= {True, False} if answer is None else {answer}
        if answer is not None or not isinstance(atom, (Some, Unknown)):
            defaults.add(answer)  # a computed alternative to an option is taken to be like it
    default = next(iter(defaults)) if len(defaults) == 1 and option else None
    hidden = default is not None and not UNKNOWN.isdisjoint(value)
    return Truth(True in outcomes, False in outcomes, default, option, hidden)


@cache
def _is_part(atom: Library) -> bool:
    """Return whether something was taken from an object of a library, as a method or anything else."""
    owners = atom.name.split(".")[:-1]
    return isinstance(atom.receiver, Object) or any(owner[:1].isupper() for owner in owners)


def both(left: Truth, right: Truth) -> Truth:
    """Return how `left and right` may come out."""
    may_hold, may_fail = left.may_hold and right.may_hold, left.may_fail or right.may_fail
    usual = {left.usual, right.usual}
    default = False if False in usual else None if None in usual else True
    hidden = default is not None and may_hold and may_fail and (left.hidden or right.hidden)
    deciding = (side for side in (left, right) if side.option and side.usual is default)
    option = next((side.option for side in deciding), left.option or right.option)
    return Truth(may_hold, may_fail, default, option, hidden)

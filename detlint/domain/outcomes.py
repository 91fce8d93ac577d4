"""How a test may end."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from detlint.domain.atoms import (
    FALSE,
    TRUE,
    Atom,
    Choice,
    Constant,
    Cut,
    FunctionRef,
    LibraryRef,
    ModuleRef,
    NotNone,
    Option,
    TupleOf,
    Unknown,
)  # fmt: skip
from detlint.domain.choices import leaves
from detlint.domain.values import Value, value_of


class Outcome(Struct, frozen=True):
    """Whether a test may hold and may fail.

    An `option` decides it: the user has `set` it where it holds, or where it fails. `others` may do so as well. One
    that is not `sure` comes out either way once one of these is set.
    """

    may_hold: bool
    may_fail: bool
    option: Option | None = None
    set: bool = True
    sure: bool = True
    others: tuple[Option, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("an outcome is no truth value: ask may_hold and may_fail")

    @property
    def by_default(self) -> bool | None:
        """How the test ends where the user sets nothing; None where that is not known."""
        if self.may_hold and self.may_fail:
            return None if self.option is None else not self.set
        return self.may_hold if self.may_hold or self.may_fail else None

    @property
    def options(self) -> tuple[Option, ...]:
        """What decides."""
        return () if self.option is None else (self.option, *self.others)

    def inverted(self) -> Outcome:
        """The outcome of `not` this test."""
        set_ = not self.set if self.option is not None else True
        return Outcome(self.may_fail, self.may_hold, self.option, set_, self.sure, self.others)


NEVER = Outcome(False, False)
EITHER = Outcome(True, True)
HOLDS = Outcome(True, False)
FAILS = Outcome(False, True)


def answer(holds: bool) -> Outcome:
    """The outcome of a test whose end is known."""
    return HOLDS if holds else FAILS


def decided(options: Iterable[Option], default: bool, sure: bool = False) -> Outcome:
    """The outcome of a test that ends in one way by default, and where an option is set perhaps in the other."""
    option, *others = dict.fromkeys(options)
    return Outcome(True, True, option, not default, sure and not others, tuple(others))


def either(outcomes: Iterable[Outcome]) -> Outcome:
    """One of several outcomes."""
    found = list(outcomes)
    if len(found) == 1:
        return found[0]
    may_hold, may_fail = any(o.may_hold for o in found), any(o.may_fail for o in found)
    defaults = {outcome.by_default for outcome in found}
    options = [option for outcome in found for option in outcome.options]
    if may_hold and may_fail and options and len(defaults) == 1 and (default := defaults.pop()) is not None:
        return decided(options, default, all(outcome.option and outcome.sure for outcome in found))
    return Outcome(may_hold, may_fail)


def both(outcomes: Iterable[Outcome]) -> Outcome:
    """All of several outcomes: of `and`, where one that is nothing yet keeps none before it from failing."""
    found = list(outcomes)
    if NEVER in found:
        known = found[: found.index(NEVER)]
        return FAILS if any(outcome.may_fail for outcome in known) else NEVER
    if any(not outcome.may_hold for outcome in found):
        return FAILS
    opened = [outcome for outcome in found if outcome.may_fail]
    if len(opened) < 2:
        return opened[0] if opened else HOLDS
    defaults = {outcome.by_default for outcome in opened}
    if False in defaults:  # of which one has to be set at least
        failing = next(outcome for outcome in opened if outcome.by_default is False)
        return decided(failing.options, False)
    if None in defaults:
        return EITHER
    return decided((option for outcome in opened for option in outcome.options), True)


def truth(value: Value) -> Outcome:
    """Whether a value is true."""
    return either([_truth(atom) for atom in value.atoms]) if value.atoms else NEVER


def is_none(value: Value) -> Outcome:
    """Whether a value is None."""
    return either([_is_none(atom) for atom in value.atoms]) if value.atoms else NEVER


def is_unset(atom: Atom) -> bool:
    """Whether an atom is None unless an option is set."""
    if isinstance(atom, Choice):
        return any(map(is_unset, atom.default.atoms))
    return not is_none(value_of(atom)).may_fail


def chosen(atom: Choice, default: Outcome, other: Outcome) -> Outcome:
    """The outcome for a choice, by those for its parts: first by an option that the user gives a value."""
    if default == NEVER:
        return NEVER  # nothing yet
    may_hold, may_fail = default.may_hold or other.may_hold, default.may_fail or other.may_fail
    usual = default.by_default
    if not (may_hold and may_fail) or usual is None:
        return Outcome(may_hold, may_fail)
    given = any(isinstance(each, NotNone) for leaf in leaves(atom.other) for each in leaf.atoms)
    options = (atom.option, *default.options) if given else (*default.options, atom.option)
    return decided(options, usual, default.option is None and other == answer(not usual))


def _truth(atom: Atom) -> Outcome:
    if isinstance(atom, Constant):
        if atom.kind in ("None", "False"):
            return FAILS
        if atom.kind in ("str", "bytes"):
            return HOLDS if atom.value else FAILS
        if atom.kind in ("int", "float"):
            return FAILS if atom.value.strip("-") in ("0", "0.0") else HOLDS
        return HOLDS
    if isinstance(atom, Choice):
        return chosen(atom, truth(atom.default), truth(atom.other))
    if isinstance(atom, TupleOf):
        return HOLDS if atom.items else FAILS
    return HOLDS if isinstance(atom, (FunctionRef, ModuleRef)) else EITHER


def _is_none(atom: Atom) -> Outcome:
    if isinstance(atom, Constant):
        return HOLDS if atom.kind == "None" else FAILS
    if isinstance(atom, Choice):
        return chosen(atom, is_none(atom.default), is_none(atom.other))
    if isinstance(atom, (Unknown, Cut)):
        return EITHER
    if isinstance(atom, LibraryRef):
        return EITHER  # a name of a library may be bound to None
    return FAILS


def told(outcome: Outcome) -> Value:
    """What a test gives: True, False, or by default one of these."""
    if not outcome.options:
        return value_of(*([TRUE] * outcome.may_hold), *([FALSE] * outcome.may_fail))
    default, other = (FALSE, TRUE) if outcome.set else (TRUE, FALSE)
    found = value_of(default)
    for option in reversed(outcome.options):
        found = value_of(Choice(option, found, value_of(other) if outcome.sure else value_of(TRUE, FALSE)))
    return found

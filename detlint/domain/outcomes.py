"""How a test may end."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from detlint.domain.atoms import Atom, Choice, Constant, Cut, LibraryRef, Option, TupleOf, Unknown
from detlint.domain.values import Value


class Outcome(Struct, frozen=True):
    """Whether a test may hold and may fail; `option` decides it, which the user `set` for it to hold."""

    may_hold: bool
    may_fail: bool
    option: Option | None = None
    set: bool = True

    def __bool__(self) -> bool:
        raise TypeError("an outcome is no truth value: ask may_hold and may_fail")

    def inverted(self) -> Outcome:
        """The outcome of `not` this test."""
        return Outcome(self.may_fail, self.may_hold, self.option, not self.set)


NEVER = Outcome(False, False)
EITHER = Outcome(True, True)
HOLDS = Outcome(True, False)
FAILS = Outcome(False, True)


def either(outcomes: Iterable[Outcome]) -> Outcome:
    """One of several outcomes."""
    found = list(outcomes)
    if len(found) == 1:
        return found[0]
    return Outcome(any(o.may_hold for o in found), any(o.may_fail for o in found))


def truth(value: Value) -> Outcome:
    """Whether a value is true."""
    return either([_truth(atom) for atom in value.atoms]) if value.atoms else NEVER


def is_none(value: Value) -> Outcome:
    """Whether a value is None."""
    return either([_is_none(atom) for atom in value.atoms]) if value.atoms else NEVER


def chosen(atom: Choice, default: Outcome, other: Outcome) -> Outcome:
    """The outcome for a choice, by those for its parts."""
    if default == FAILS and other == HOLDS:
        return Outcome(True, True, atom.option, True)
    if default == HOLDS and other == FAILS:
        return Outcome(True, True, atom.option, False)
    return Outcome(default.may_hold or other.may_hold, default.may_fail or other.may_fail)


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
    return EITHER


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

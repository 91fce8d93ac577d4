"""What a function returns: a choice, where an option decides whether it returns early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from detlint.domain import taints as t
from detlint.domain.atoms import IteratorOver
from detlint.domain.outcomes import Outcome
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter.frames import Environment, Frame
from detlint.interpreter.solver import Entry, Solver
from detlint.interpreter.tables import Tables
from detlint.ir import nodes as ir

_NONE = value_of(ir.Constant("None"))


@dataclass(frozen=True)
class Returned:
    """What some statements return on the ways that do; of what `waits` something is not known yet."""

    value: Value = NOTHING
    waits: bool = False

    @property
    def any(self) -> bool:
        """Whether any way returns."""
        return bool(self.value.atoms) or self.waits


@dataclass(frozen=True)
class _Early:
    """What an arm of a test returns, if it `holds` or if it fails, and what was returned before that test."""

    outcome: Outcome
    holds: bool
    returned: Returned
    before: Returned


class Returning(Frame):
    """A frame that tells apart what the arms of tests return and what is returned after these."""

    def __init__(self, solver: Solver, entry: Entry, tables: Tables) -> None:
        super().__init__(solver, entry, tables)
        self.waits = False
        self._early: list[_Early] = []

    def execute(self, statements: ir.Statements) -> None:
        """Run statements until one surely leaves."""
        first = len(self._early)
        super().execute(statements)
        self._settle(first)

    def go_on(self, statements: ir.Statements) -> None:
        """Run statements that others of the same block follow: what these return comes after what is returned here."""
        super().execute(statements)

    def run(self, body: ir.Statements) -> None:
        """Run the body of the function; where that has no end of its own it returns None."""
        super().execute(body)
        if self.env is not None:
            self.give(_NONE)
            self.leave()
        self._settle(0)

    def give(self, value: Value) -> None:
        """Return a value on one way."""
        self.returns = self.join(self.returns, value)
        self.waits = self.waits or not value.atoms

    def take(self) -> Returned:
        """What was returned so far, which begins anew."""
        found = Returned(self.returns, self.waits)
        self.returns, self.waits = NOTHING, False
        return found

    def put_back(self, before: Returned) -> None:
        """Return what was returned before as well."""
        self.returns = self.join(before.value, self.returns)
        self.waits = before.waits or self.waits

    def tested(self, outcome: Outcome, before: Returned, arms: Sequence[tuple[Returned, Environment | None]]) -> None:
        """Return what the arms of a test do: that which holds, and that which fails."""
        (one, after_one), (two, after_two) = arms
        decided = outcome.option is not None and outcome.may_hold and outcome.may_fail
        if decided and one.any and two.any and after_one is None and after_two is None:
            self._choose(outcome, one, two)
        elif decided and one.any and not two.any and after_one is None and after_two is not None:
            self._early.append(_Early(outcome, True, one, before))
            return
        elif decided and two.any and not one.any and after_two is None and after_one is not None:
            self._early.append(_Early(outcome, False, two, before))
            return
        else:
            self.put_back(one)
            self.put_back(two)
        self.put_back(before)

    def _choose(self, outcome: Outcome, one: Returned, two: Returned) -> None:
        self.returns = self.chosen(outcome, one.value, two.value)
        self.waits = one.waits or two.waits

    def _settle(self, first: int) -> None:
        """What was returned early, and what is returned after it: a choice of these."""
        while len(self._early) > first:
            early = self._early.pop()
            rest = self.take()
            if rest.any:
                arms = (early.returned, rest) if early.holds else (rest, early.returned)
                self._choose(early.outcome, *arms)
            else:
                self.put_back(early.returned)
            self.put_back(early.before)


def generated(frame: Frame, items: Value) -> Value:
    """What a generator function gives: an iterator over what it yields."""
    if not items.atoms:
        return NOTHING
    return Value(frozenset((IteratorOver(items),)), t.gathered(items.taints), t.gathered(items.certain))

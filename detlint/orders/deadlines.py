"""Loops that train or draw until a time is over: the load of the machine decides how often."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.orders.counts import COMPARES
from detlint.orders.loops import Loops
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

_LEAVING = frozenset(("break", "return"))


@record(frozen=True, slots=True)
class Deadline:
    """A test of a clock that ends a loop. It is `asked_for` where something else must hold as well, as an option."""

    test: s.Expression
    clock: s.Call
    asked_for: bool


def deadlines(module: Module, loops: Loops) -> Iterator[Deadline]:
    """Yield the tests of clocks that end loops in which a model learns, or random numbers are drawn."""
    clocks = module.catalogue.names("randomness", "entropy", kind="value", of="clock")
    if not module.speaks_of(clocks):
        return
    tests: list[tuple[s.Expression, s.For | s.While]] = [(loop.test, loop) for loop in module.every(s.While)]
    tests += [(each.test, loop) for each in module.every(s.If) if (loop := _left(each)) is not None]
    for test, loop in tests:
        clock = _clock(module, test, clocks)
        if clock is not None and _matters(loops, loop):
            yield Deadline(test, clock, isinstance(test, s.Operation) and test.operator == "and")


def _left(node: s.If) -> s.For | s.While | None:
    """Return the loop that an arm of a test leaves; None if it leaves none."""
    leaves = any(isinstance(each, s.Leave) and each.kind in _LEAVING for each in node.body.statements)
    for around in node.ancestors() if leaves else ():
        if isinstance(around, (s.For, s.While)):
            return around
        if isinstance(around, s.Function):
            return None
    return None


def _matters(loops: Loops, loop: s.For | s.While) -> bool:
    """Return whether a model learns in a loop, or something is drawn."""
    return loops.trains(loop) is not None or loops.draw(loop.body, loop) is not None


def _clock(module: Module, test: s.Expression, clocks: frozenset[str]) -> s.Call | None:
    """Return the call that reads a clock where a test compares the time with something that is no clock's alone."""
    for part in s.walk(test):
        if isinstance(part, s.Operation) and part.operator in COMPARES:
            found = [_read(module, operand, clocks) for operand in part.operands]
            read = next((each for each in found if each is not None), None)
            if read is not None:
                return read
    return None


def _read(module: Module, node: s.Expression, clocks: frozenset[str], depth: int = 3) -> s.Call | None:
    for part in s.walk(node):
        if isinstance(part, s.Call) and module.callee(part) and module.callee(part) <= clocks:
            return part
        if isinstance(part, s.Name) and not part.stored and depth:
            for value in module.values(part) or ():
                found = None if value is part else _read(module, value, clocks, depth - 1)
                if found is not None:
                    return found
    return None

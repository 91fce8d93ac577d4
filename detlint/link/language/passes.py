"""Loops in which samplers begin: where they and their rounds start and end in a trace, and what a round does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.state.truth import EITHER, Truth
from detlint.link.state.values import Constant, Option, settled
from detlint.programs.events import (
    BEGUN,
    GATHERS,
    LEFT,
    MADE,
    ROUND,
    TAKES,
    Called,
    Event,
    Guarded,
    Looped,
    Marked,
    Sampling,
    Scope,
    is_parameter,
)

if TYPE_CHECKING:
    from detlint.link.language.evaluate import Evaluator as Run
else:
    Run = Any

_PLAIN = (f.Local, f.Global, f.Member)


def bound(run: Run, node: f.Loop, first: int, body: int) -> None:
    """Mark in the trace that a loop begins at `first` and its rounds at `body`, if a sampler begins in it."""
    if not any(map(_begins, run.trace[first:])):
        return
    steps = any(map(trains, run.trace[body:]))
    yields = any(isinstance(getattr(each, "value", None), f.Yield) for each in f.walk(node.body))
    again = _is_again(run, node)
    run.trace.insert(body, Looped(ROUND, node.place))
    run.trace.insert(first, Looped(GATHERS, node.place, again, steps, yields))
    run.note(Looped(LEFT, node.place))


def taken(run: Run, first: int, place: Place) -> None:
    """Mark in the trace that an iterator begins at `first`, to be advanced item by item, if a sampler begins in it."""
    if any(map(_begins, run.trace[first:])):
        run.trace.insert(first, Looped(TAKES, place))
        run.note(Looped(LEFT, place))


def forget_taken(run: Run) -> None:
    """Remove the iterator that was taken last from the trace: it yields its first item and nothing more."""
    if run.trace and isinstance(run.trace[-1], Looped) and run.trace[-1].part == LEFT:
        starts = (
            index
            for index in range(len(run.trace) - 1, -1, -1)
            if run.trace[index] == Looped(TAKES, run.trace[-1].place)
        )
        del run.trace[next(starts, len(run.trace)) :]


def _is_again(run: Run, node: f.Loop) -> bool:
    """Return whether a loop is a `while`, or runs over a range that may have more than one number."""
    if node.iterator is None or node.counts is None:
        return node.iterator is None
    numbers = [_number(run, each) for each in node.counts]
    known = [number for number in numbers if number is not None]
    return len(known) < len(numbers) or not 1 <= len(known) <= 2 or len(range(*known)) > 1


def _number(run: Run, node: f.Expression) -> int | None:
    """Return a number that is written down, or an option's default; None for anything else."""
    if isinstance(node, f.Literal):
        held = node.value
    else:
        atoms = run.value(node) if isinstance(node, _PLAIN) else frozenset()
        known = [settled(atom) for atom in atoms if isinstance(atom, (Constant, Option))]
        held = known[0] if len(known) == len(atoms) == 1 else None
    return held if isinstance(held, int) and not isinstance(held, bool) else None


def undecided(run: Run, answer: Truth) -> Truth:
    """Return the outcome of a test, undecided if its option need not be at its default.

    Record whether a program asks if it is one of several processes.
    """
    if answer.option in run.launching and not run.launched:
        _launch(run)
        run.effect(_launch)
    return EITHER if answer.option and answer.option in run.undecided else answer


def _launch(run: Run) -> None:
    run.launched = True


def choosing(trace: Iterable[Event]) -> Iterator[str]:
    """Yield the options that must be set for a sampler to be made."""
    for event in trace:
        if isinstance(event, (Called, Guarded, Scope)) and _makes(event):
            if isinstance(event, Guarded) and event.option and not is_parameter(event.option):
                yield event.option
            yield from choosing(event.trace)


@lru_cache(maxsize=100_000)
def _makes(event: Event) -> bool:
    """Return whether an event makes a sampler."""
    if isinstance(event, Sampling):
        return event.kind == MADE
    return isinstance(event, (Called, Guarded, Scope)) and any(map(_makes, event.trace))


@lru_cache(maxsize=100_000)
def _begins(event: Event) -> bool:
    """Return whether a sampler begins in an event."""
    if isinstance(event, Sampling):
        return event.kind == BEGUN
    return isinstance(event, (Called, Guarded, Scope)) and any(map(_begins, event.trace))


@lru_cache(maxsize=100_000)
def trains(event: Event) -> bool:
    """Return whether an event takes a training step."""
    if isinstance(event, Marked):
        return event.kind == "trains"
    return isinstance(event, (Called, Guarded, Scope)) and any(map(trains, event.trace))

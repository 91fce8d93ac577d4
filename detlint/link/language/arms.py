"""The arms of tests in a trace: which run instead of others, and which leave, so that only the others go on."""

from __future__ import annotations

from collections.abc import Collection, MutableSequence
from dataclasses import replace

from detlint.facts.facts import CAUGHT, PROGRAM
from detlint.programs.events import Event, Guarded, Loaded, Scope


def pair(trace: MutableSequence[Event], start: int) -> None:
    """Mark the second of two arms traced from `start` on as running instead of the first; do nothing for one arm."""
    arms = trace[start:]
    if len(arms) == 2 and isinstance(arms[1], Guarded):
        trace[-1] = replace(arms[1], instead=True)


def leave(trace: MutableSequence[Event], start: int, end: int, reach: int, usual: bool) -> None:
    """Mark the events from `start` to `end` as an arm that ends what `reach` says: nothing there follows it.

    An arm that is `usual` surely runs if options have their defaults.
    """
    if reach == CAUGHT or start == end:
        return
    if usual:
        trace[start:end] = [Guarded("", tuple(trace[start:end]), reach=reach, sure=True)]
    elif isinstance(arm := trace[start], Guarded):
        trace[start] = replace(arm, reach=reach)


def stand_in(trace: list[Event], start: int) -> None:
    """Drop loaders traced from `start` on if the event before makes one: they stand in for it only where it fails."""
    before = trace[start - 1] if start else None
    inner = before.trace if isinstance(before, Guarded) else (before,)
    if any(isinstance(event, Loaded) for event in inner):
        for index, event in enumerate(trace[start:], start):
            if isinstance(event, Guarded):
                trace[index] = replace(event, trace=tuple(e for e in event.trace if not isinstance(e, Loaded)))


def scope(trace: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the trace of a context manager, in a `Scope` if it leaves its function but not what follows the `with`."""
    return (Scope(trace),) if _leaves(trace) else trace


def _leaves(trace: Collection[Event]) -> bool:
    """Return whether an arm leaves the function whose trace this is."""
    return any(isinstance(event, Guarded) and (0 < event.reach < PROGRAM or _leaves(event.trace)) for event in trace)

"""The arms of tests in a trace: which of them run instead of others, and which leave what follows to the others."""

from __future__ import annotations

from collections.abc import Collection, MutableSequence
from dataclasses import replace

from detlint.facts.facts import CAUGHT, PROGRAM
from detlint.programs.events import Event, Guarded, Loaded, Scope


def pair(trace: MutableSequence[Event], start: int) -> None:
    """What is traced from `start` on are arms of which one runs: say so, where there are two."""
    arms = trace[start:]
    if len(arms) == 2 and isinstance(arms[1], Guarded):
        trace[-1] = replace(arms[1], instead=True)


def leave(trace: MutableSequence[Event], start: int, end: int, reach: int, usual: bool) -> None:
    """What is traced from `start` to `end` is an arm that ends what `reach` says: nothing of that follows on it.

    An arm that is `usual` surely happens, options at their defaults.
    """
    if reach == CAUGHT or start == end:
        return
    if usual:
        trace[start:end] = [Guarded("", tuple(trace[start:end]), reach=reach, sure=True)]
    elif isinstance(arm := trace[start], Guarded):
        trace[start] = replace(arm, reach=reach)


def stand_in(trace: list[Event], start: int) -> None:
    """What is traced from `start` on only happens where the event before it fails: a loader stands in for that one."""
    before = trace[start - 1] if start else None
    inner = before.trace if isinstance(before, Guarded) else (before,)
    if any(isinstance(event, Loaded) for event in inner):
        for index, event in enumerate(trace[start:], start):
            if isinstance(event, Guarded):
                trace[index] = replace(event, trace=tuple(e for e in event.trace if not isinstance(e, Loaded)))


def scope(trace: tuple[Event, ...]) -> tuple[Event, ...]:
    """What a context manager does: a function that ends there, but not what comes after the `with`."""
    return (Scope(trace),) if _leaves(trace) else trace


def _leaves(trace: Collection[Event]) -> bool:
    """Whether an arm leaves the function whose trace this is."""
    return any(isinstance(event, Guarded) and (0 < event.reach < PROGRAM or _leaves(event.trace)) for event in trace)

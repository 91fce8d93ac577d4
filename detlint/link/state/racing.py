"""Threads that draw from generators which they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.state.values import Library, Object
from detlint.programs.events import SEEDED, Apart, Called, Drawn, Event, Guarded, Raced, Scope, Seeded

if TYPE_CHECKING:
    from detlint.link.language.calls import Caller as Run
else:
    Run = Any


def race(run: Run, row: Row, receiver: object, events: Sequence[Event], place: Place) -> None:
    """Record what threads draw from seeded generators, of what happens in the threads that a call starts."""
    if _is_alone(run, row, receiver):
        return
    flat = [*_flat(events, set())]
    own = {generator for event in flat if isinstance(event, Seeded) for generator in event.generators}
    drawn: dict[str, Place] = {}
    for event in flat:
        if isinstance(event, Drawn) and event.word == SEEDED and event.generator not in own:
            drawn.setdefault(event.generator, event.place)
    for generator, first in drawn.items():
        run.note(Raced(generator, place, first, row.text("threads") == "several"))


def _is_alone(run: Run, row: Row, pool: object) -> bool:
    """Return whether a pool surely has a single thread."""
    if not isinstance(pool, Object) or not isinstance(pool.kind, Library):
        return False
    made = run.kept(pool, pool.kind.name)
    return any(made.holds(condition) is True for condition in row.list("alone"))


def _flat(events: Sequence[Event], seen: set[int]) -> Iterator[Event]:
    """Yield what happens in some events, but not in other processes; each trace once."""
    for event in events:
        if isinstance(event, (Called, Guarded, Scope)):
            if id(event.trace) not in seen:
                seen.add(id(event.trace))
                yield from _flat(event.trace, seen)
        elif not isinstance(event, Apart):
            yield event

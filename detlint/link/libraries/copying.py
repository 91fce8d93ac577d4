"""Generator objects that the workers of loaders copy: made before the workers start, and drawn from in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from detlint.finding import Place
from detlint.link.state.values import FAR, Atom, Library, Object, Value, single
from detlint.programs.events import (
    ANY,
    BEGINS,
    COPIED,
    DRAWS,
    REPLACED,
    SEEDED_ONCE,
    Apart,
    Called,
    Drawing,
    Guarded,
    Sampler,
    Scope,
    Trace,
)

if TYPE_CHECKING:
    from detlint.link.libraries.samplers import Samplers as Run
else:
    Run = Any


def make(run: Run, name: str, place: Place) -> Value:
    """Return a generator object that a library's function or class makes, and watch for such objects from then on."""
    made = Object(Library(name), *run.site(place))
    run.note(Drawing(BEGINS, _stream(made), place))
    _watch(run)
    run.effect(_watch)
    return single(made)


def _watch(run: Run) -> None:
    run.copying = True


def call(run: Run, function: Library, place: Place) -> None:
    """Record that a method of a generator draws from it or seeds it."""
    owner, method = function.receiver, function.name.rpartition(".")[2]
    if isinstance(owner, Object) and _makes(run, owner):
        kind = SEEDED_ONCE if method in run.tables.seeding else DRAWS
        run.note(Drawing(kind, _stream(owner), place))


def information(run: Run, function: Library) -> Value | None:
    """Return what tells a worker about itself, whose attributes are its data set and its seed; None for other calls."""
    return single(Library(f"{function.name}()")) if function.name in run.tables.worker_information else None


def reached(run: Run, atoms: Iterable[Atom], place: Place) -> None:
    """Record that a worker may change what its data set holds: it calls or sets something of what it was told."""
    for atom in atoms:
        if isinstance(atom, Library) and atom.name.startswith(run.tables.worker_attributes):
            run.note(Drawing(REPLACED, ANY, place))


def kept(run: Run, value: Value, place: Place) -> None:
    """Record that a generator is put where another one may have been."""
    if any(isinstance(atom, Object) and _makes(run, atom) for atom in value):
        run.note(Drawing(REPLACED, ANY, place))


def copies(trace: Trace) -> Iterator[Drawing]:
    """Yield what workers with this trace draw from copies; nothing where they may replace generators."""
    events = [*_flat(trace)]
    own = {event.stream for event in events if event.kind != DRAWS}
    if not any(event.kind == REPLACED for event in events):
        for event in dict.fromkeys(events):
            if event.stream not in own:
                yield Drawing(COPIED, event.stream, event.place)


def _flat(trace: Trace) -> Iterator[Drawing]:
    for event in trace:
        if isinstance(event, (Called, Guarded, Apart, Scope)):
            yield from _flat(event.trace)
        elif isinstance(event, Drawing) and event.kind != COPIED:
            yield event


def _makes(run: Run, made: Object) -> bool:
    return isinstance(made.kind, Library) and made.kind.name in run.tables.generator_makers


def _stream(made: Object) -> Sampler:
    return Sampler(made.path, made.order % FAR)

"""The bodies of `with` statements: what their contexts do before and after them."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain.atoms import ClassRef, Instance, IteratorOver, LibraryRef
from detlint.domain.effects import Around, Effects, Invoke, Restoring, Stream
from detlint.domain.given import Given
from detlint.domain.values import UNKNOWN, Value
from detlint.interpreter import assignments, protocols
from detlint.interpreter.frames import Frame
from detlint.interpreter.steps import CallStep
from detlint.ir import nodes as ir


def execute(frame: Frame, statement: ir.With) -> None:
    """Run a `with`."""
    _within(frame, statement.items, statement.body)


def _within(frame: Frame, items: Sequence[ir.WithItem], body: ir.Statements) -> None:
    """Enter the first of some contexts, then the others, run the body, and leave it."""
    if not items:
        frame.execute(body)
        return
    item = items[0]
    before, value = frame.apart(item.value)
    managed = isinstance(before[-1] if before else None, Invoke) and _has_generator(frame, value)
    frame.effects.extend(before[:-1] if managed else before)
    entered = _entered(frame, value, item.node)
    if item.target is not None:
        assignments.assign(frame, item.target, entered)
    inner, _ = frame.within(lambda: _within(frame, items[1:], body))
    if managed:
        call = before[-1]
        assert isinstance(call, Invoke)
        frame.emit(Around(call, inner))
    else:
        _put_back(frame, value, inner)
    if frame.env is not None:
        _each(frame, value, ("__exit__", "__aexit__"), item.node)


def _has_generator(frame: Frame, value: Value) -> bool:
    """Whether a value is what a generator function gives, which manages a context."""
    return any(isinstance(atom, IteratorOver) for atom in frame.each(value))


def _entered(frame: Frame, value: Value, node: int) -> Value:
    """What is bound where a context is entered."""
    found = _each(frame, value, ("__enter__", "__aenter__"), node)
    for atom in frame.each(value):
        if isinstance(atom, IteratorOver):
            found = frame.join(found, atom.items)
        elif isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = frame.join(found, value.of((atom,)))
        elif not isinstance(atom, Instance):
            found = frame.join(found, UNKNOWN)
    return found


def _each(frame: Frame, value: Value, names: tuple[str, str], node: int) -> Value:
    """What a method of the objects of the project gives that a value may be; those without it give themselves."""
    own = [a for a in frame.each(value) if isinstance(a, Instance) and isinstance(a.site.kind, ClassRef)]
    given = Given(open=names[0] == "__exit__")
    found, rest = protocols.asked(frame, value.of(own), names, given, node)
    return frame.join(found, value.of(rest))


def _put_back(frame: Frame, value: Value, inner: Effects) -> None:
    """A body in a context of a library, which may put generators back, or have nothing drawn."""
    streams: tuple[Stream, ...] = ()
    within: tuple[tuple[str, str], ...] = ()
    for atom in frame.each(value):
        if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            more, words = frame.solver.libraries.context(CallStep(frame, -1), atom, atom.site.kind.name)
            streams, within = (*streams, *more), (*within, *words)
    if inner and (streams or within):
        frame.emit(Restoring(streams, inner, within))
    else:
        frame.effects.extend(inner)

"""The bodies of `with` statements: what their contexts do before and after them."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain.atoms import ClassRef, Instance, IteratorOver, LibraryRef, Node
from detlint.domain.effects import Around, Branch, Effects, Invoke, Restoring, Stream
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
    entering, given = frame.within(lambda: entered(frame, value, item.node))
    if item.target is not None:
        assignments.assign(frame, item.target, given)
    inner, _ = frame.within(lambda: _within(frame, items[1:], body))
    managed = _managed(frame, before, (*entering, *inner)) if _has_generator(frame, value) else None
    if managed is not None:
        frame.effects.extend(managed)
    else:
        frame.effects.extend((*before, *entering))
        _put_back(frame, value, inner)
    if frame.env is not None:
        _each(frame, value, ("__exit__", "__aexit__"), item.node)
        for atom in frame.each(value):
            if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
                frame.solver.libraries.leave(CallStep(frame, item.node), atom, atom.site.kind.name)


def _managed(frame: Frame, before: Effects, body: Effects) -> Effects | None:
    """The effects of entering a context, with the body where a generator function yields that manages it, in whichever
    arm it is called; None where none is.
    """
    last = before[-1] if before else None
    if isinstance(last, Invoke) and any(_generates(frame, node) for node in last.nodes):
        return (*before[:-1], Around(last, body))
    if not isinstance(last, Branch):
        return None
    arms = _managed(frame, last.body, body), _managed(frame, last.orelse, body)
    if arms == (None, None):
        return None
    then = arms[0] if arms[0] is not None else (*last.body, *body)
    other = arms[1] if arms[1] is not None else (*last.orelse, *body)
    return (*before[:-1], Branch(last.option, last.set, then, other))


def _generates(frame: Frame, node: Node) -> bool:
    """Whether what a call enters is a generator function."""
    return frame.solver.files[node.function.file].functions[node.function.name].yields


def _has_generator(frame: Frame, value: Value) -> bool:
    """Whether a value is what a generator function gives, which manages a context."""
    return any(isinstance(atom, IteratorOver) for atom in frame.each(value))


def entered(frame: Frame, value: Value, node: int) -> Value:
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
    common: set[tuple[str, str]] | None = None  # what is set within holds whichever of several contexts it is
    for atom in frame.each(value):
        words: tuple[tuple[str, str], ...] = ()
        if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            more, words = frame.solver.libraries.context(CallStep(frame, -1), atom, atom.site.kind.name)
            streams = (*streams, *more)
        common = set(words) if common is None else common.intersection(words)
    within = tuple(sorted(common or ()))
    if inner and (streams or within):
        frame.emit(Restoring(streams, inner, within))
    else:
        frame.effects.extend(inner)

"""The bodies of `with` statements: what their contexts do before and after them."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain.atoms import ClassRef, GeneratorCall, Instance, IteratorOver, LibraryRef
from detlint.domain.effects import Around, Branch, Effects, Enter, Invoke, Restoring, Stream
from detlint.domain.given import Given
from detlint.domain.values import NOTHING, UNKNOWN, Value
from detlint.interpreter import assignments, calls, classes
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
    managed = [atom for atom in frame.each(value) if isinstance(atom, GeneratorCall)]
    frame.effects.extend(before)
    entered = _entered(frame, value, item.node)
    if item.target is not None:
        assignments.assign(frame, item.target, entered)
    inner, _ = frame.within(lambda: _within(frame, items[1:], body))
    if managed:
        around = Around(Invoke(tuple(atom.node for atom in managed), managed[0].code), inner)
        others = any(not isinstance(atom, (GeneratorCall, IteratorOver)) for atom in frame.each(value))
        frame.emit(Branch(None, True, (around,), inner) if others else around)
    else:
        _put_back(frame, value, inner)
    if frame.env is not None:
        _each(frame, value, "__exit__", item.node)


def enter(frame: Frame, value: Value, node: int) -> Value:
    """Enter a context that something else leaves, later."""
    managed = [atom for atom in frame.each(value) if isinstance(atom, GeneratorCall)]
    if managed:
        frame.emit(Enter(Invoke(tuple(atom.node for atom in managed), managed[0].code)))
    return _entered(frame, value, node)


def _entered(frame: Frame, value: Value, node: int) -> Value:
    """What is bound where a context is entered."""
    found = _each(frame, value, "__enter__", node)
    for atom in frame.each(value):
        if isinstance(atom, IteratorOver):
            found = frame.join(found, atom.items)
        elif isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = frame.join(found, value.of((atom,)))
        elif not isinstance(atom, (GeneratorCall, Instance)):
            found = frame.join(found, UNKNOWN)
    return found


def _each(frame: Frame, value: Value, name: str, node: int) -> Value:
    """What a method of the objects of the project gives that a value may be; those without it give themselves."""
    found = NOTHING
    for atom in frame.each(value):
        if isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef):
            around = classes.order(frame, atom.site.kind)
            method, owner = classes.lookup(frame, around, name)
            if isinstance(owner, ClassRef):
                given = calls.call_value(frame, classes.bound(method, atom)[0], Given(open=name == "__exit__"), node)
            else:
                given = NOTHING if owner == classes.PENDING else value.of((atom,))
            found = frame.join(found, given)
    return found


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

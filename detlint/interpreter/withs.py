"""The bodies of `with` statements: what their contexts do before and after them."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain.atoms import Choice, ClassRef, GeneratorCall, Instance, IteratorOver, LibraryRef
from detlint.domain.effects import Around, Branch, Effects, Enter, Invoke, Restoring, Stream
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
    value = frame.evaluate(item.value)
    entering, given = frame.within(lambda: _entered(frame, value, item.node))
    if item.target is not None:
        assignments.assign(frame, item.target, given)
    inner, _ = frame.within(lambda: _within(frame, items[1:], body))
    managed = _managed(frame, value, (*entering, *inner))
    if managed is not None:
        frame.effects.extend(managed)
    else:
        frame.effects.extend(entering)
        _put_back(frame, value, inner)
    if frame.env is not None:
        _each(frame, value, ("__exit__", "__aexit__"), item.node)
        for atom in frame.each(value):
            if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
                frame.solver.libraries.leave(CallStep(frame, item.node), atom, atom.site.kind.name)


def _managed(frame: Frame, value: Value, body: Effects) -> Effects | None:
    """A body where the generator function yields that manages a context, whichever an option chooses; None for none."""
    atoms = frame.each(value)
    calls = [atom for atom in atoms if isinstance(atom, GeneratorCall)]
    ways: list[Effects] = [(Around(_call(calls), body),)] if calls else []
    others = any(not isinstance(atom, (Choice, GeneratorCall, IteratorOver)) for atom in atoms)
    for atom in atoms:
        if isinstance(atom, Choice):
            other, default = _managed(frame, atom.other, body), _managed(frame, atom.default, body)
            if other is not None or default is not None:
                others = others and None not in (other, default)  # they are what an arm without one stands for
                arms = (body if other is None else other, body if default is None else default)
                ways.append((Branch(atom.option, True, *arms),))
            else:
                others = True
    if not ways:
        return None
    found = body if others else ways.pop()
    for way in reversed(ways):
        found = (Branch(None, True, way, found),)
    return found


def _call(calls: Sequence[GeneratorCall]) -> Invoke:
    """What runs generator functions that were called."""
    return Invoke(tuple(call.node for call in calls), calls[0].code)


def enter(frame: Frame, value: Value, node: int) -> Value:
    """Enter a context that something else leaves, later."""
    frame.effects.extend(_entering(frame, value))
    return _entered(frame, value, node)


def _entering(frame: Frame, value: Value) -> Effects:
    """The generator functions that manage a context, up to where they yield."""
    calls = [atom for atom in frame.each(value) if isinstance(atom, GeneratorCall)]
    found: Effects = (Enter(_call(calls)),) if calls else ()
    for atom in frame.each(value):
        if isinstance(atom, Choice):
            arms = _entering(frame, atom.other), _entering(frame, atom.default)
            found = (*found, Branch(atom.option, True, *arms)) if any(arms) else found
    return found


def _entered(frame: Frame, value: Value, node: int) -> Value:
    """What is bound where a context is entered."""
    found = _each(frame, value, ("__enter__", "__aenter__"), node)
    for atom in frame.each(value):
        if isinstance(atom, IteratorOver):
            found = frame.join(found, atom.items)
        elif isinstance(atom, Choice):
            parts = (_entered(frame, part, node) for part in (atom.default, atom.other) if part.atoms)
            found = frame.join(found, frame.solver.lattice.all(parts))
        elif isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = frame.join(found, value.of((atom,)))
        elif not isinstance(atom, (GeneratorCall, Instance)):
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

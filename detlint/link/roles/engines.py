"""Engines that run a function for each batch, and the handlers that programs attach to their events."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.roles.role import Role
from detlint.link.state.arguments import Arguments
from detlint.link.state.enumerations import member_of
from detlint.link.state.values import UNKNOWN, Atom, Library, Object, Partial, Value, only, single
from detlint.programs.events import Marked

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any

_SLOT = re.compile(r"\((\S+) \d+\)")
_STEP = "(function)"
_OTHER = "?"  # stands for events that are unknown, or do not always happen


def _engine(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return an engine, with what it calls for each batch."""
    own = function.receiver  # of a derived class of the project
    made = own if isinstance(own, Object) else Object(Library(row.text("gives")), *run.site(place))
    if row.text("marks"):
        run.note(Marked(row.text("marks"), place))
    if row.text("function"):
        run.program.objects.store(made, _STEP, given.first(row.text("function")))
    return single(made)


def _attaches(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Return a decorator that attaches a function to an event."""
    method: Value = single(Library(row.text("calls"), function.receiver))
    return single(Partial(method, given.positional, ()))


def _attached(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Attach a function to an event of the receiver; return the function, as a decorator does."""
    event, handler = (*given.positional, UNKNOWN, UNKNOWN)[:2]
    engine, objects = function.receiver, run.program.objects
    if not isinstance(engine, Object):
        run.perhaps_call([handler], {}, place)
        return handler
    name = _name(only(event)) if run.is_certain() else _OTHER
    slots = (f"({name} {number})" for number in count())  # one for each handler: values in one slot are alternatives
    objects.store(engine, next(s for s in slots if objects.stored(engine, s) in (None, handler)), handler)
    return handler


def _name(event: Atom | None) -> str:
    """Return the name of an event of the library, or of a member of an enumeration; `_OTHER` if it is unknown."""
    member = member_of(event)
    if member is not None:
        return member.name
    return event.name.rpartition(".")[2] if isinstance(event, Library) else _OTHER


def _runs(run: Run, row: Row, function: Library, given: Arguments, place: Place) -> Value:
    """Run an engine: its handlers by event, the iteration over its data, and the function for each batch."""
    engine = function.receiver
    if not isinstance(engine, Object):
        return run.iterate(given.first())
    items, whole, slots = UNKNOWN, single(engine), run.program.objects.slots(engine)
    attached = [(found[1], handler) for slot, handler in slots.items() if (found := _SLOT.fullmatch(slot))]
    events = row.list("events")
    for event in events:
        if event == row.text("data"):
            items = run.iterate(given.first())
        called = [handler for name, handler in attached if name == event]
        for handler in called:
            if run.state is not None:
                run.call_value(handler, [whole], {}, place)
        if event == row.text("function") and _STEP in slots and run.state is not None:
            run.call_value(slots[_STEP], [whole, items], {}, place)
    run.perhaps_call([handler for name, handler in attached if name not in events], {}, place)
    return items


ENGINE_ROLES: dict[str, Role] = {"engine": _engine, "attaches": _attaches, "attached": _attached, "engine-runs": _runs}

"""Engines that run a function for each batch, and the handlers that programs attach to their events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, Bound, Instance, LibraryRef, PartialCall
from detlint.domain.effects import Mark
from detlint.domain.given import Given
from detlint.domain.slots import Argument
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments
from detlint.models.launchers import perhaps_call

if TYPE_CHECKING:
    from detlint.models.known import Known

_FUNCTION = Argument("function")
_OTHER = "?"  # the event that stands for all that are not known


def made(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An engine, with what it calls for each batch; of a class of the project where that derives from it."""
    own = step.receiver
    engine = own if isinstance(own, Instance) else step.make(row.text("gives"))
    if row.text("marks"):
        step.emit(Mark(row.text("marks"), step.code))
    if row.text("function"):
        step.fill(engine, _FUNCTION, args.first(row.text("function")))
    return value_of(engine)


def attaches(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A decorator that attaches a function to an event."""
    if not isinstance(step.receiver, Instance):
        return UNKNOWN
    return step.partial(value_of(Bound(LibraryRef(row.text("calls")), step.receiver)), args.given)


def attached(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Attach a function to an event of the receiver; itself, as a decorator has it."""
    event, handler = (*args.given.positional, UNKNOWN, UNKNOWN)[:2]
    if not isinstance(step.receiver, Instance):
        perhaps_call(step, Given((handler,)))
        return handler
    events = [_named(atom) for atom in step.each(event)]
    for each in events:
        slot = Argument(f"at {each if len(events) == 1 else _OTHER}")
        step.fill(step.receiver, slot, step.partial(handler, Given()))
    return handler


def _named(event: Atom) -> str:
    """The name of an event that happens each time."""
    return event.name.rpartition(".")[2] if isinstance(event, LibraryRef) else _OTHER


def runs(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Run an engine: its handlers by their events, what is iterated over, and the function for each batch."""
    engine, items = step.receiver, UNKNOWN
    if not isinstance(engine, Instance):
        return step.iterate(args.given.first)
    whole = value_of(engine)
    for event in row.list("events"):
        if event == row.text("data"):
            items = step.iterate(args.given.first)
        for handler in _attached(step, engine, event):
            step.call(handler, whole)
        if event == row.text("function"):
            step.call(step.read(engine, _FUNCTION), whole, items)
    for handler in _attached(step, engine, _OTHER):
        step.perhaps(lambda handler=handler: step.call(handler, whole))  # type: ignore[misc]
    return items


def _attached(step: Step, engine: Instance, event: str) -> list[Value]:
    """The handlers of an event, in the order in which they stand in the text of the function that attaches them."""
    handlers = [each for each in step.each(step.read(engine, Argument(f"at {event}"))) if isinstance(each, PartialCall)]
    return [value_of(each) for each in sorted(handlers, key=_place)]


def _place(handler: PartialCall) -> tuple[str, str, int]:
    code = handler.site.code
    return (code.file, code.function, code.node) if code is not None else ("", "", 0)

"""Processes and what happens at the end: of the program, or of a stack of contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import NONE, ClassRef, Constant, Instance
from detlint.domain.effects import SetSwitch
from detlint.domain.given import Given
from detlint.domain.slots import Argument
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, Value, value_of
from detlint.models.arguments import Arguments
from detlint.models.launchers import perhaps_call

if TYPE_CHECKING:
    from detlint.models.known import Known

_METHODS = {"fork": "fork", "spawn": "spawn", "forkserver": "spawn", "threading": "threads"}
_CALLED, _ENTERED = Argument("called"), Argument("entered")


def start_method(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """How processes start from here on."""
    for atom in step.each(args.first(row.text("parameter"))):
        if isinstance(atom, Constant) and atom.value in _METHODS:
            step.emit(SetSwitch("start", _METHODS[atom.value], step.code))
    return value_of(NONE)


def context(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What starts processes in one way."""
    found = NOTHING
    for atom in step.each(args.first(row.text("parameter"))):
        spawns = isinstance(atom, Constant) and _METHODS.get(atom.value) == "spawn"
        made = step.make(f"multiprocessing.context.{'SpawnContext' if spawns else 'ForkContext'}")
        found = step.join(found, value_of(made))
    return found


def starts(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A process or thread of a class of the project runs its `run`."""
    if isinstance(step.receiver, Instance) and isinstance(step.receiver.site.kind, ClassRef):
        run = step.attribute(value_of(step.receiver), "run")
        step.fork(run, Given(), lambda: NOTHING, "forks" if ".Process." in name else "asks")
    return value_of(NONE)


def acts(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An actor of a class of the project, whose process begins with its constructor."""
    found = NOTHING
    for atom in step.each(args.given.first):
        if isinstance(atom, ClassRef):
            actor = step.allocate(atom, acts=True)
            step.spawn(step.attribute(value_of(actor), "__init__"), args.given.after(1), pickled=True)
            found = step.join(found, value_of(actor))
    return found


def leaves(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What is called at the end, itself, since it may be decorated so."""
    given, first = args.given, 1 if row.text("after") else 0
    if len(given.positional) > first:
        step.at_end(given.positional[first], given.after(first + 1))
    return given.first


def left_with(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What is called when the receiver, a stack of contexts, is left."""
    given = args.given
    if isinstance(step.receiver, Instance) and given.positional:
        called = step.partial(given.first, given.after(1))
        step.fill(step.receiver, _CALLED, called)
    else:
        perhaps_call(step, Given(given.positional[:1]))
    return given.first


def enters(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a context gives that is left when the receiver is."""
    if isinstance(step.receiver, Instance):
        step.fill(step.receiver, _ENTERED, args.given.first)
    return step.enter(args.given.first)


def leave(step: Step, stack: Instance) -> None:
    """Leave a stack of contexts."""
    for called in step.each(step.read(stack, _CALLED)):
        step.call(value_of(called))
    for entered in step.each(step.read(stack, _ENTERED)):
        if isinstance(entered, Instance):
            step.method(entered, "__exit__", SOMETHING, SOMETHING, SOMETHING)

"""Initialisers of torch that a program puts its own functions in the place of, which then draw or do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from detlint.domain.atoms import AllocationSite, Bound, FunctionRef, Instance, LibraryRef, PartialCall
from detlint.domain.effects import Listed
from detlint.domain.given import Given
from detlint.domain.modes import lists
from detlint.domain.slots import ITEMS
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, Value

if TYPE_CHECKING:
    from detlint.models.known import Known

_OWN = (FunctionRef, Bound, PartialCall)
_SWITCH = "replaced"  # lists what is replaced


def put(known: Known, step: Step, name: str, value: Value) -> None:
    """Put something in the place of an initialiser, or the initialiser itself again."""
    if name not in known.replaceable:
        return
    own = [atom for atom in step.each(value) if isinstance(atom, _OWN)]
    if own:
        step.fill(_place(name), ITEMS, step.resolve(value).of(own))
    if value.atoms:
        step.emit(Listed(_SWITCH, name, bool(own)))


def instead(known: Known, step: Step, name: str, given: Given, draw: Callable[[], Value]) -> Value:
    """A draw, unless all that is drawn by is replaced: then the program's functions are called."""

    def either(ways: list[tuple[str, ...]]) -> Value:
        if not ways:
            return draw()
        found = NOTHING
        for place in ways[0]:
            found = step.join(found, step.read(_place(place), ITEMS))
        if not all(step.read(_place(place), ITEMS).atoms for place in ways[0]):
            return either(ways[1:])
        call = Given(given.positional, open=True)
        return step.arm(lists(_SWITCH, ways[0]), lambda: step.call_with(found, call), lambda: either(ways[1:]))

    calls = known.initialised.get(name, (name,) if name in known.replaceable else ())
    return either([(f"{name}.reset_parameters",), calls] if calls else [])


def _place(name: str) -> Instance:
    """What stands for a function of a library."""
    return Instance(AllocationSite(LibraryRef(name), None))

"""Events as a program meets them in its trace: by which calls, and under which tests and options."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from detlint.finding import Place
from detlint.programs.events import (
    CAUGHT,
    FUNCTION,
    PROGRAM,
    Apart,
    Called,
    Event,
    Guarded,
    Marked,
    Scope,
    Seeded,
    Trace,
    is_parameter,
)

Path = tuple[Called, ...]
Test = tuple[Path, int, int]  # the calls that lead to its trace, the trace's `id`, and its index there
Arm = tuple[Test, bool]  # a test, and whether it is the second of its arms
Left = tuple[Arm, int]  # an arm that leaves, and what it ends
E = TypeVar("E", bound=Event, covariant=True)


@dataclass(frozen=True)
class Met(Generic[E]):
    """An event of a trace, with the calls that lead there and the option that guards it, if any."""

    event: E
    path: Path
    guarded: bool = False  # it may happen or not
    option: str = ""  # it happens only if this option is not at its default
    apart: tuple[object, ...] = ()  # what contains it for a while or in another process, outermost first
    dispatch: Place | None = None  # the outermost call that leads here or elsewhere
    arms: tuple[Arm, ...] = ()  # the arms it happens in
    sides: tuple[Arm, ...] = ()  # the arms it happens in by default, or since the other arm has left


def every(trace: Trace, modes: Collection[str] = ()) -> Iterator[Met[Event]]:
    """Yield all events of a trace, in program order, each once for what guards it.

    What needs one of the options `modes` happens as if it were given.
    """
    yield from _Flat(modes).of(trace, Met(Marked("", Place("", 0, 0, 0, 0)), ()))


class _Flat:
    """A trace made flat. `seen` are the events and traces of calls that have been met, with what was around them."""

    def __init__(self, modes: Collection[str]) -> None:
        self.modes = modes
        self.seen: set[object] = set()

    def of(self, trace: Trace, around: Met[Event], outer: int = 0) -> Generator[Met[Event], None, tuple[Left, ...]]:
        """Yield the events of a trace, given what is known around it; return the arms that leave it.

        The first `outer` sides are those of the call. A trace is followed again where other arms have left its
        function: a seed there may come after a draw that it does not come after here.
        """
        left: tuple[Left, ...] = ()
        own = _beside(around.sides[outer:])
        for index, event in enumerate(trace):
            known = (around.guarded, around.option, bool(around.apart))
            gone: tuple[Left, ...] = ()
            if isinstance(event, Called):
                if (id(event.trace), known, own) not in self.seen:
                    self.seen.add((id(event.trace), known, own))
                    inner = replace(around, path=(*around.path, event))
                    gone = yield from self.of(event.trace, inner, len(inner.sides))
                    gone = _ending(gone, PROGRAM)
            elif isinstance(event, Guarded):
                arm = ((around.path, id(trace), index - event.instead), event.instead)
                gone = yield from self.of(event.trace, self._within(event, around, arm), outer)
                gone = (*gone, (arm, event.reach)) if event.reach != CAUGHT else gone
            elif isinstance(event, Apart):
                held = (*around.apart, (around.path, id(trace), index))
                gone = yield from self.of(event.trace, replace(around, apart=held), outer)
                gone = _ending(gone, FUNCTION)
            elif isinstance(event, Scope):
                gone = yield from self.of(event.trace, around, outer)
                gone = _ending(gone, PROGRAM)
            else:
                told = event, known, _beside(around.sides) if isinstance(event, Seeded) else ()
                if told not in self.seen:
                    self.seen.add(told)
                    yield replace(around, event=event)
            if gone:
                left += gone
                around = replace(around, sides=(*around.sides, *((test, not second) for (test, second), _ in gone)))
                own = _beside(around.sides[outer:])
        return left

    def _within(self, event: Guarded, around: Met[Event], arm: Arm) -> Met[Event]:
        """Return what is known of everything in an arm."""
        if event.sure or event.option in self.modes:
            return replace(around, sides=(*around.sides, arm))
        return replace(
            around,
            guarded=True,
            option=event.option if is_parameter(event.option) else around.option or event.option,
            dispatch=around.dispatch or event.dispatch,
            arms=(*around.arms, arm),
        )


def _beside(sides: tuple[Arm, ...]) -> tuple[object, ...]:
    """Return the sides without the calls that lead to them, so that they are equal for calls with the same trace."""
    return tuple([(*test[1:], second) for test, second in sides]) if sides else sides


def _ending(gone: tuple[Left, ...], reach: int) -> tuple[Left, ...]:
    """Return those of the leaving arms that end this."""
    return tuple(one for one in gone if one[1] == reach) if gone else gone

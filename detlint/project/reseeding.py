"""Generators whose state a program puts back, and that it seeds again before it draws from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from detlint.finding import Place
from detlint.programs.events import CAUGHT, Called, Drawn, Guarded, Scope, Seeded, Trace

_State = tuple[tuple[str, Place], ...]  # the generators whose state was put back last, and where
_Key = tuple[int, _State, Place | None, bool]


def reseeded(traces: Iterable[Trace]) -> Mapping[Place, Place]:
    """Return the calls that put back what programs seed then, each with the call that leads to the seed."""
    walk = _Walk()
    for trace in traces:
        walk.go(trace, (), None, sure=True)
    return walk.found


class _Walk:
    """A walk through traces; equal parts of them are walked through once for each state."""

    def __init__(self) -> None:
        self.found: dict[Place, Place] = {}
        self._ends: dict[_Key, _State] = {}
        self._calls: list[Place] = []
        self._seeds: set[tuple[Place, ...]] = set()  # with the calls that lead there

    def go(self, trace: Trace, state: _State, through: Place | None, *, sure: bool) -> _State:
        """Walk through a trace, and return the state after it.

        `through` is the first call on the way here after a state was put back. If it is not `sure` that the trace
        happens, or that what it seeds stays so, nothing is said of its seeds.
        """
        key = id(trace), state, through, sure
        if key not in self._ends:
            self._ends[key] = state
            self._ends[key] = self._walked(trace, state, through, sure)
        return self._ends[key]

    def _walked(self, trace: Trace, state: _State, through: Place | None, sure: bool) -> _State:
        before = state
        for event in trace:
            if isinstance(event, Called):
                self._calls.append(event.place)
                state = self.go(event.trace, state, through or (event.place if state else None), sure=sure)
                self._calls.pop()
            elif isinstance(event, Guarded):
                start = before if event.instead else state
                before = state
                after = self.go(event.trace, start, through, sure=sure and event.sure)
                state = tuple(dict((*state, *after)).items()) if event.reach == CAUGHT else state
            elif isinstance(event, Scope):
                state = self.go(event.trace, state, through, sure=False)
            elif isinstance(event, Drawn):
                state = _without(state, (event.generator,))
            elif isinstance(event, Seeded) and event.restores:
                state = (*_without(state, event.generators), *((each, event.place) for each in event.generators))
            elif isinstance(event, Seeded) and event.starts and sure:
                seed = (*self._calls, event.place)
                for generator, place in state:
                    if generator in event.generators and seed not in self._seeds:  # not of a loop's next round
                        self.found.setdefault(place, through or event.place)
                self._seeds.add(seed)
                state = _without(state, event.generators)
        return state


def _without(state: _State, generators: Iterable[str]) -> _State:
    return tuple(each for each in state if each[0] not in generators)

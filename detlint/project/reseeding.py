"""Generators whose state a program puts back, and that it seeds again before it draws from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from detlint.finding import Place
from detlint.programs.events import CAUGHT, Called, Drawn, Guarded, Scope, Seeded, Trace

_State = tuple[tuple[str, Place], ...]  # the generators whose state was put back last, and where
_Key = tuple[int, _State, Place | None, bool]


def reseeded(traces: Iterable[Trace]) -> Mapping[Place, Place]:
    """Return the calls that put back what programs seed then, each with the call that leads to the seed."""
    found: dict[Place, Place] = {}
    for trace in traces:
        walk = _Walk()
        walk.go(trace, (), None, sure=True)
        found = {**walk.found, **found}
    return found


class _Walk:
    """A walk through a trace; equal parts of it are walked through once for each state."""

    def __init__(self) -> None:
        self.found: dict[Place, Place] = {}
        self._ends: dict[_Key, _State] = {}
        self._calls: list[Place] = []
        self._done: set[tuple[Place, ...]] = set()  # the calls and seeds that have ended, each with the calls around it

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
                self._done.add(tuple(self._calls))
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
                    if generator in event.generators and not self._has_run(seed):
                        self.found.setdefault(place, through or event.place)
                self._done.add(seed)
                state = _without(state, event.generators)
        return state

    def _has_run(self, seed: tuple[Place, ...]) -> bool:
        """Return whether a seed, or a call that leads to it, has run before, as in the next round of a loop."""
        return any(seed[:end] in self._done for end in range(1, len(seed) + 1))


def _without(state: _State, generators: Iterable[str]) -> _State:
    return tuple(each for each in state if each[0] not in generators)

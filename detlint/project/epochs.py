"""Samplers that programs iterate over in each epoch without telling them the epoch: their order stays the same."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import cache, lru_cache

from detlint.facts import facts as f
from detlint.facts.packed import head
from detlint.finding import Place
from detlint.link.language.passes import trains
from detlint.link.state.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import (
    ANY,
    GATHERS,
    LEFT,
    MADE,
    TAKES,
    TOLD,
    Called,
    Event,
    Guarded,
    Looped,
    Opened,
    Sampler,
    Sampling,
    Scope,
    Trace,
)
from detlint.project.modes import parts
from detlint.questions import SameOrder

_MOST_EVENTS = 100_000  # events for which it is cached whether they concern samplers
_Loops = tuple[tuple[Looped, bool], ...]  # the open loops, outermost first, each with whether it is in a round


class Epochs:
    """The places where programs train with samplers that are never told the epoch."""

    def __init__(self, program: Program, entries: Iterable[Entry], reached: Callable[[str], Iterable[str]]) -> None:
        """Walk the traces of `entries`. `reached` returns the files that a program starting in a file imports."""
        self._program = program
        self._setters = program.catalogue.names("program", "sampler", "methods")
        self._spoken_of = cache(self._names)
        self._found: list[tuple[Sampling, Place]] = []
        for entry in entries:
            if not entry.self_check and not program.facts[entry.path].tests:
                walk = _Walk()
                walk.go(next((event.trace for event in entry.trace if isinstance(event, Opened)), entry.trace), ())
                found = [] if ANY in walk.told else [each for each in walk.passes if each[0].sampler not in walk.told]
                files = sorted(reached(entry.path)) if found else ()
                if not any(self._may_tell(path, walk.telling, files) for path in files):
                    self._found += found

    def _may_tell(self, path: str, known: Container[Place], reached: Iterable[str]) -> bool:
        """Return whether something in a file may tell samplers the epoch without the trace of the program showing it.

        A setter method that passes the epoch on does not count: its caller tells the sampler. Methods count only if a
        walk enters their class, functions only if they are walked or if their name occurs in code that runs.
        """
        functions = self._program.facts[path].functions
        for function, place in self._program.facts[path].telling:
            owner, _, name = function.rpartition(".")
            if place in known or name in self._setters or not function:
                continue
            if function in functions and head(functions, function).kind != "function":
                if any(file == path and walked.startswith(f"{owner}.") for file, walked in self._program.walks):
                    return True
            elif (path, function) in self._program.walks or any(name in self._spoken_of(file) for file in reached):
                return True
        return False

    def _names(self, path: str) -> frozenset[str]:
        """Return the names that occur in those functions of a file that programs run."""
        facts = self._program.facts[path]
        run = (function for file, function in self._program.walks if file == path)
        bodies = [facts.functions[function].body if function else tuple(facts.top) for function in run]
        return frozenset(part.name for part in parts(tuple(bodies)) if isinstance(part, (f.Local, f.Global, f.Member)))

    def passes(self, question: SameOrder) -> tuple[Place, ...]:
        """Return the places where programs iterate over a sampler anew in each epoch and never tell it which one."""
        found = (place for begun, place in self._found if _is_asked(question, begun))
        return tuple(dict.fromkeys(found))


def _is_asked(question: SameOrder, begun: Sampling) -> bool:
    """Return whether a sampler whose iterator begins is one that a question asks about."""
    sampler = begun.sampler
    if question.qualified or sampler.owner:
        of_class = (sampler.home, sampler.owner) == (question.path, question.qualified)
        return of_class and set(question.flags) <= set(begun.flags)
    return (sampler.path, sampler.order) == (question.path, question.order)


class _Walk:
    """A walk, in order, over what one program does with samplers."""

    def __init__(self) -> None:
        self.passes: list[tuple[Sampling, Place]] = []
        self.told: set[Sampler] = set()
        self.telling: set[Place] = set()
        self._made: dict[Sampler, int] = {}  # the number of open loops around it
        self._seen: set[object] = set()

    def go(self, trace: Trace, outer: _Loops, after: bool = False) -> None:
        """Walk over a trace within some loops; `after` says whether the calling function trains after this trace."""
        key = id(trace), outer, after, frozenset(self._made.items())
        if key in self._seen:
            return
        self._seen.add(key)
        loops = outer
        for index, event in enumerate(trace):
            if isinstance(event, Looped):
                if event.part == TAKES:
                    loops = (*loops, (replace(event, trains=after or any(map(trains, trace[index:]))), False))
                elif event.part == GATHERS:
                    loops = (*loops, (event, False))
                else:
                    loops = loops[:-1] if event.part == LEFT else (*loops[:-1], (loops[-1][0], True))
            elif isinstance(event, Sampling):
                self._step(event, loops)
            elif isinstance(event, (Called, Guarded, Scope)) and _speaks(event):
                inner = not isinstance(event, Called) and (after or any(map(trains, trace[index + 1 :])))
                self.go(event.trace, loops, inner)

    def _step(self, event: Sampling, loops: _Loops) -> None:
        sampler = event.sampler
        if event.kind == TOLD:
            self.told.add(sampler)
            self.telling.add(event.place)
        elif event.kind == MADE:
            self._made[sampler] = max(len(loops), self._made.get(sampler, 0))
        elif sampler in self._made:
            again = any(inside and loop.again for loop, inside in loops[self._made[sampler] :])
            place = _training(loops)
            if again and place is not None:
                self.passes.append((event, place))


def _training(loops: _Loops) -> Place | None:
    """Return the place of the loop that trains on what a sampler yields when it begins within `loops`, or None."""
    around = False
    for loop, inside in loops:
        if not inside and (loop.trains or (around and loop.yields)):
            return loop.place
        around = around or (inside and loop.trains)
    return None


@lru_cache(_MOST_EVENTS)
def _speaks(event: Event) -> bool:
    if isinstance(event, (Sampling, Looped)):
        return True
    return isinstance(event, (Called, Guarded, Scope)) and any(map(_speaks, event.trace))

"""Samplers that programs go through again and again while nothing tells them the epoch: their order stays the same."""

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

_MOST_EVENTS = 100_000  # of which it is known whether they speak of samplers
_Loops = tuple[tuple[Looped, bool], ...]  # those that are open, outermost first, and whether each is in a round


class Epochs:
    """The places where programs train by samplers that none of them tells the epoch."""

    def __init__(self, program: Program, entries: Iterable[Entry], reached: Callable[[str], Iterable[str]]) -> None:
        """`reached` gives the files that a program with a file imports."""
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
        """Whether something in a file may tell samplers the epoch that is not among what a program is seen to do.

        What a method of that name hands on is told by who calls it. Objects that are not made do nothing, nor do
        functions of which nothing speaks that is run.
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
        """The names of which the functions of a file speak that programs run."""
        facts = self._program.facts[path]
        run = (function for file, function in self._program.walks if file == path)
        bodies = [facts.functions[function].body if function else tuple(facts.top) for function in run]
        return frozenset(part.name for part in parts(tuple(bodies)) if isinstance(part, (f.Local, f.Global, f.Member)))

    def passes(self, question: SameOrder) -> tuple[Place, ...]:
        """The places where programs go through a sampler anew in each epoch, and never tell it which one."""
        found = (place for begun, place in self._found if _is_asked(question, begun))
        return tuple(dict.fromkeys(found))


def _is_asked(question: SameOrder, begun: Sampling) -> bool:
    """Whether a sampler that begins is one that a question asks about."""
    sampler = begun.sampler
    if question.qualified or sampler.owner:
        of_class = (sampler.home, sampler.owner) == (question.path, question.qualified)
        return of_class and set(question.flags) <= set(begun.flags)
    return (sampler.path, sampler.order) == (question.path, question.order)


class _Walk:
    """What one program does to samplers, gone through in order."""

    def __init__(self) -> None:
        self.passes: list[tuple[Sampling, Place]] = []
        self.told: set[Sampler] = set()
        self.telling: set[Place] = set()
        self._made: dict[Sampler, int] = {}  # in how many open loops
        self._seen: set[object] = set()

    def go(self, trace: Trace, outer: _Loops, after: bool = False) -> None:
        """Go through what is traced within some loops; `after` says whether the function trains when that is done."""
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
    """Where the loop stands that trains on what a sampler gives, which begins within these loops."""
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

"""The modes in which programs run their models: where models draw random numbers as they do only in training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.state.program import Program
from detlint.programs.entries import Entry
from detlint.programs.events import EVALUATES, Apart, Called, Drawn, Guarded, Marked, Scope, Switched, Trace
from detlint.questions import InTraining

_UNKNOWN = "?"  # the name for an unknown object, which nothing puts back into training mode
_NAMED = (f.Local, f.Global, f.Member)
_RUNS = frozenset(("forward", "__call__"))
_NOTHING = frozenset[str]()
_ORDERED = ("<", "<=", ">", ">=", "==", "!=")
_PLAIN = frozenset((str, int, float, complex, bytes, bool, type(None), type(...), Place))
_Found = set[tuple[Place, str, bool]]


class Modes:
    """The calls by which programs run models that draw as in training, before anything is put into evaluation mode."""

    def __init__(self, program: Program, entries: Sequence[Entry]) -> None:
        self._program = program
        self._layers = program.catalogue.names("randomness", "consumer", mode="train")
        self._words = program.catalogue.names("contexts", "code", id="training")
        self._modes = program.catalogue.names("contexts", "code", id="modes")
        self._draws = partial(program.of_file, self._draws_of)
        self._counted = partial(program.of_file, self._counted_of)
        self._owners = partial(program.of_file, self._owners_of)
        self._found: _Found = set()
        for entry in entries:
            trains, restores = entry.marked("trains"), entry.marked("restores")
            if (trains or restores) and not entry.self_check and not program.facts[entry.path].tests:
                _Walk(self, self._found, restores and not trains).go(entry.trace, _NOTHING)

    def trains(self, question: InTraining) -> bool:
        """Return whether some program runs a model in training mode through a call."""
        names = {question.method} if question.method else _RUNS
        ways = (True,) if question.idle else (True, False)
        return any((question.place, name, idle) in self._found for name in names for idle in ways)

    def draws(self, event: Drawn) -> bool:
        """Return whether a draw is one that is made only in training."""
        if event.generator != "torch":
            return False
        return event.what in self._layers or event.place in self._draws(event.place.path)

    def in_some_round(self, trace: Trace) -> bool:
        """Return whether what may happen draws in some iterations of a loop, as only their count is tested."""
        drawn = (event for event in trace if isinstance(event, Drawn) and self.draws(event))
        return any(event.place in self._counted(event.place.path) for event in drawn)

    def owner(self, event: Switched) -> str:
        """Return the name of what is put into a mode: its last component, "" if it has none."""
        return self._owners(event.place.path).get(event.place, "")

    def _draws_of(self, path: str) -> frozenset[Place]:
        """Return the calls of a file that a test of the mode, or an argument that carries it, limits to training."""
        return frozenset(place for body in self._bodies(path) for place in self._told(body))

    def _counted_of(self, path: str) -> frozenset[Place]:
        """Return the calls of a file that run in some iterations of a loop."""
        return frozenset(place for body in self._bodies(path) for place in _some_rounds(body, frozenset(), False))

    def _owners_of(self, path: str) -> dict[Place, str]:
        """Return the calls of a file that set a mode, with the names of the objects whose methods they call."""
        found: dict[Place, str] = {}
        for call in (part for body in self._bodies(path) for part in parts(body) if isinstance(part, f.Call)):
            method = call.function
            if isinstance(method, f.Member) and method.name in self._modes:
                found[call.place] = method.value.name if isinstance(method.value, _NAMED) else ""
        return found

    def _bodies(self, path: str) -> Iterator[f.Statements]:
        facts = self._program.facts.get(path)
        if facts is not None:
            yield tuple(facts.top)
            yield from (function.body for function in facts.functions.values())

    def _told(self, part: Any, told: bool = False) -> Iterator[Place]:
        """Yield the places of calls within a part of a function that depend on the mode."""
        if isinstance(part, tuple):
            for each in part:
                yield from self._told(each, told)
                told = told or (isinstance(each, f.Branch) and _leaves(each) and self._asks(each.test))
            return
        if isinstance(part, f.Call) and (told or any(self._asks(argument.value) for argument in part.arguments)):
            yield part.place
        if isinstance(part, (f.Branch, f.Conditional)):
            told = told or self._asks(part.test)
        elif isinstance(part, f.Junction):
            told = told or any(map(self._asks, part.operands))
        for each in _within(part):
            yield from self._told(each, told)

    def _asks(self, value: object) -> bool:
        """Return whether an expression is, or tests, something that distinguishes training from evaluation."""
        if isinstance(value, (f.Local, f.Member)) and value.name in self._words:
            return True
        parts: tuple[object, ...] = ()
        if isinstance(value, (f.Junction, f.Computed)):
            parts = value.operands
        elif isinstance(value, f.Compare):
            parts = (value.left, value.right)
        return any(map(self._asks, parts))


def parts(part: Any) -> Iterator[object]:
    """Yield a part of a function and everything within it."""
    yield part
    for each in part if isinstance(part, tuple) else _within(part):
        yield from parts(each)


def _within(part: Any) -> list[Any]:
    """Return the values of the fields of a statement or an expression; empty for anything else."""
    names: tuple[str, ...] = () if type(part) in _PLAIN else part.__match_args__
    return [getattr(part, name) for name in names]


def _leaves(branch: f.Branch) -> bool:
    return any(isinstance(one, f.Leave) for one in (*branch.body, *branch.orelse))


def _some_rounds(part: Any, counts: frozenset[str], told: bool) -> Iterator[Place]:
    """Yield the calls that run in some iterations of a loop, by tests of nothing but the loop variables."""
    if isinstance(part, tuple):
        for each in part:
            yield from _some_rounds(each, counts, told)
        return
    if isinstance(part, f.Call) and told:
        yield part.place
    if isinstance(part, f.Loop):
        counts |= {each.name for each in parts(part.target) if isinstance(each, f.Local)}
    elif isinstance(part, (f.Branch, f.Conditional)):
        told = _counts(part.test, counts)
    for each in _within(part):
        yield from _some_rounds(each, counts, told)


def _counts(test: object, counts: frozenset[str]) -> bool:
    """Return whether a test compares only loop variables, on one side, with values that involve none."""
    if not isinstance(test, f.Compare):
        return False
    one, other = (any(isinstance(x, f.Local) and x.name in counts for x in parts(y)) for y in (test.left, test.right))
    return one is not other and test.operator in _ORDERED


class _Walk:
    """A walk, in order, over what one program does."""

    def __init__(self, modes: Modes, found: _Found, idle: bool) -> None:
        self._modes, self._found, self._idle = modes, found, idle
        self._seen: dict[tuple[int, frozenset[str]], tuple[bool, frozenset[str]]] = {}

    def go(self, trace: Trace, evaluated: frozenset[str]) -> tuple[bool, frozenset[str]]:
        """Return whether a trace surely draws as in training, and the names of what is in evaluation mode after it."""
        key = id(trace), evaluated
        if key not in self._seen:
            self._seen[key] = self._go(trace, evaluated)
        return self._seen[key]

    def _go(self, trace: Trace, evaluated: frozenset[str]) -> tuple[bool, frozenset[str]]:
        draws = False
        chosen: set[Place] = set()  # calls in guarded alternatives that draw
        for event in trace:
            if isinstance(event, Drawn):
                if not evaluated and self._modes.draws(event):
                    draws = True
                    self._found.add((event.place, "forward", self._idle))
            elif isinstance(event, Switched):
                if event.name == "layers":
                    owner = self._modes.owner(event)
                    evaluated = evaluated | {owner or _UNKNOWN} if event.word == "eval" else evaluated - {owner}
            elif isinstance(event, Marked):
                evaluated = evaluated | {_UNKNOWN} if event.kind == EVALUATES else evaluated
            elif isinstance(event, (Called, Scope, Guarded, Apart)):
                inner, after = self.go(event.trace, evaluated)
                if inner and isinstance(event, Called) and not event.imports:
                    self._found.add((event.place, event.name, self._idle))
                if not isinstance(event, Apart):
                    evaluated = after
                    if inner and isinstance(event, Guarded) and not event.sure:
                        called = {each.place for each in event.trace if isinstance(each, Called)}
                        again = not called.isdisjoint(chosen)
                        chosen |= called
                        inner = not event.option and (again or self._modes.in_some_round(event.trace))
                    draws = draws or inner
        return draws, evaluated

"""Entry points of a solved project: what each of its programs does, walked, and the processes that it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from detlint.domain.atoms import FunctionRef, Node
from detlint.domain.codes import Code
from detlint.domain.limits import Limits
from detlint.finding import Place
from detlint.interpreter.solver import Solver
from detlint.programs.commands import Command
from detlint.programs.entries import Entry
from detlint.programs.events import RESEEDED, START, UNSEEDED, State
from detlint.programs.views import View, callees, view
from detlint.programs.walk import Walk, Walked

_BAD = (UNSEEDED, "late", RESEEDED)


@dataclass
class Programs:
    """The entry points of programs, those of processes right after what starts these, and where they come to.

    `ends` are the files that programs start with, and the states in which they end; `visits` the states in which they
    enter each function.
    """

    entries: list[Entry] = field(default_factory=list)
    ends: list[tuple[str, State]] = field(default_factory=list)
    visits: dict[Node, dict[State, None]] = field(default_factory=dict)


class _Follower:
    def __init__(self, solver: Solver, place: Callable[[Code], Place], initialisers: frozenset[str]) -> None:
        self.solver = solver
        self.place = place
        self.initialisers = initialisers
        self.called = callees(solver)
        self.started: set[FunctionRef] = set()
        self.found = Programs()

    def follow(self, entry: Entry) -> None:
        """Walk a program, and then the processes that it starts."""
        command = Command(entry.path, entry.target).start if entry.kind == "command" else None
        seen = view(self.solver, self.called, entry.path, command)
        walked = self._walked(entry, seen, command=command)
        script = entry.kind == "script" and not (entry.acts or walked.spawned)
        if not script:  # one that does nothing of interest is a configuration, as likely as not
            self.found.entries.append(entry)
        self.found.ends.append((entry.path, entry.end))
        functions: dict[FunctionRef, list[Node]] = {}
        for spawn in walked.spawned:
            for node in spawn.nodes:
                functions.setdefault(FunctionRef(node.function.file, node.function.name), []).append(node)
        for function, nodes in functions.items():
            if function in self.started:
                continue
            self.started.add(function)
            name = function.name.rpartition(".")[2]
            each = []
            for node in dict.fromkeys(nodes):
                place = self.place(Code(function.file, function.name, -1))
                inner = Entry(function.file, "process", name, place, target=name, starter=entry.start)
                self._walked(inner, seen, entry.path, node)
                each.append(inner)
            worst = max(each, key=lambda inner: sum(stream.state in _BAD for stream in inner.streams))
            self.found.entries.append(worst)
            self.found.ends.append((worst.path, worst.end))

    def _walked(
        self, entry: Entry, seen: View, main: str = "", node: Node | None = None, command: Node | None = None
    ) -> Walked:
        main = main or ("" if command is not None else entry.path)  # whose `__main__` block is run
        walk = Walk(self.solver, main, seen, Limits(), self.place)
        walked = walk.run(() if node is None else (node,), command)
        entry.trace, entry.initialisers = walked.trace, self.initialisers
        entry.end = walked.end or START
        for visited, states in walked.visits.items():
            self.found.visits.setdefault(visited, {}).update(states)
        return walked


def followed(
    solver: Solver, entries: Iterable[Entry], place: Callable[[Code], Place], initialisers: frozenset[str]
) -> Programs:
    """Walk programs, one after the other.

    `entries` are where they start, `initialisers` the names of functions in which what torch draws is weights.
    """
    follower = _Follower(solver, place, initialisers)
    for entry in entries:
        follower.follow(entry)
    return follower.found

"""Entry points of a solved project: what each of its programs does, walked, and the processes that it starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from detlint.domain.atoms import ClassRef, FunctionRef, Instance, Node
from detlint.domain.codes import Code
from detlint.domain.effects import Spawn
from detlint.domain.limits import Limits
from detlint.finding import Place
from detlint.interpreter.solver import Solver
from detlint.programs.commands import Command
from detlint.programs.entries import Entry
from detlint.programs.events import RESEEDED, START, UNSEEDED, Marked, State
from detlint.programs.views import View, Views
from detlint.programs.walk import Visit, Walked
from detlint.programs.walking import walk_of

_BAD = (UNSEEDED, "late", RESEEDED)
_Kind = FunctionRef | ClassRef


@dataclass
class Programs:
    """The entry points of programs, those of processes right after what starts these, and where they come to.

    `ends` are the files that programs start with and the states in which they end, `visits` the ways through functions.
    """

    entries: list[Entry] = field(default_factory=list)
    ends: list[tuple[str, State]] = field(default_factory=list)
    visits: dict[Node, dict[Visit, None]] = field(default_factory=dict)


class _Follower:
    def __init__(
        self, solver: Solver, place: Callable[[Code], Place], initialisers: frozenset[str], loaded: Collection[str]
    ) -> None:
        self.solver = solver
        self.loaded = loaded
        self.place = place
        self.initialisers = initialisers
        self.views = Views(solver)
        self.started: set[object] = set()
        self.found = Programs()

    def follow(self, entry: Entry) -> None:
        """Walk a program, and then the processes that it starts."""
        command = Command(entry.path, entry.target).start if entry.kind == "command" else None
        seen = self.views.of(entry.path, command)
        walked = self._walked(entry, seen, command=command)
        entry.self_check = entry.self_check and not _trains_by_others(entry)
        script = entry.kind == "script" and not (entry.acts or walked.spawned)
        if not script:  # one that does nothing of interest is a configuration, as likely as not
            self.found.entries.append(entry)
        if entry.kind != "script" or entry.path not in self.loaded:
            self.found.ends.append((entry.path, entry.end))
        whole = {kind for spawn in walked.spawned if spawn.pickled for kind in _kinds(spawn)}
        for kind, ways in _started(walked.spawned).items():
            given = kind, tuple(self._given(node, seen) for node in next(iter(ways)))
            if given in self.started:  # another program starts the same
                continue
            self.started.add(given)
            name = kind.name.rpartition(".")[2]
            pickled = kind in whole
            each = []
            for nodes in ways:
                place = self.place(Code(nodes[0].function.file, nodes[0].function.name, -1))
                inner = Entry(kind.file, "process", name, place, target=name, starter=entry.start, pickled=pickled)
                self._walked(inner, seen, entry.path, nodes)
                each.append(inner)
            worst = max(each, key=lambda inner: sum(stream.state in _BAD for stream in inner.streams))
            self.found.entries.append(worst)
            self.found.ends.append((worst.path, worst.end))

    def _given(self, node: Node, seen: View) -> tuple[tuple[str, frozenset[object]], ...]:
        """What a program gives a process that runs a node, by the names of parameters: of objects what they are."""
        given = self.views.inputs(self.solver.table[node], seen)
        return tuple(
            (name, frozenset(atom.site.kind if isinstance(atom, Instance) else atom for atom in value.atoms))
            for name, value in sorted(given.items())
        )

    def _walked(
        self, entry: Entry, seen: View, main: str = "", nodes: Sequence[Node] = (), command: Node | None = None
    ) -> Walked:
        walk = walk_of(self.solver, main or entry.path, seen, Limits(), self.place)
        walked = walk.run(nodes, command, pickled=entry.pickled)
        entry.trace, entry.initialisers = walked.trace, self.initialisers
        entry.end = walked.end or START
        for visited, states in walked.visits.items():
            self.found.visits.setdefault(visited, {}).update(states)
        return walked


def _trains_by_others(entry: Entry) -> bool:
    """Whether a program trains by functions of other files, which its own file does not show."""
    return any(met.event.kind == "trains" and met.event.place.path != entry.path for met in entry.of(Marked))


def _started(spawned: Iterable[Spawn]) -> dict[_Kind, dict[tuple[Node, ...], None]]:
    """What processes run, one after the other, by the function or the class of an actor that tells them apart."""
    found: dict[_Kind, dict[tuple[Node, ...], None]] = {}
    actors: dict[Instance, dict[Node, None]] = {}
    for spawn in spawned:
        if spawn.actor is not None:
            actors.setdefault(spawn.actor, {}).update(dict.fromkeys(spawn.nodes))
            continue
        for kind, node in zip(_kinds(spawn), spawn.nodes, strict=True):
            found.setdefault(kind, {})[(node,)] = None
    for actor, nodes in actors.items():
        if isinstance(actor.site.kind, ClassRef):
            found.setdefault(actor.site.kind, {})[tuple(nodes)] = None
    return found


def _kinds(spawn: Spawn) -> list[_Kind]:
    """What tells processes apart: the functions that one runs, or the class of an actor."""
    if spawn.actor is not None:
        return [spawn.actor.site.kind] if isinstance(spawn.actor.site.kind, ClassRef) else []
    return [FunctionRef(node.function.file, node.function.name) for node in spawn.nodes]


def followed(
    solver: Solver,
    entries: Iterable[Entry],
    place: Callable[[Code], Place],
    initialisers: frozenset[str],
    loaded: Collection[str] = (),
) -> Programs:
    """Walk programs, one after the other.

    `entries` are where they start, `initialisers` the names of functions in which what torch draws is weights. Scripts
    that another program may have `loaded`, such as configurations, tell not where they end.
    """
    follower = _Follower(solver, place, initialisers, loaded)
    for entry in entries:
        follower.follow(entry)
    return follower.found

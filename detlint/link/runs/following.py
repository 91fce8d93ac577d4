"""Following programs from their starts, one after another, each with what was learned from those before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.passes import choosing
from detlint.link.libraries.library import Interpreter
from detlint.link.roles.actors import Call, actors_among
from detlint.link.runs.starts import Start, runs_only
from detlint.link.state.frames import roomy
from detlint.link.state.objects import Objects
from detlint.link.state.program import Program
from detlint.link.state.run import Frame
from detlint.link.state.spans import Walked
from detlint.link.state.tables import Tables
from detlint.link.state.values import Class, Function, Library, Value, single
from detlint.link.state.watch import Watch
from detlint.programs.entries import Entry
from detlint.programs.events import UNSEEDED, Marked, Opened, State


@dataclass(slots=True)
class Outcome:
    """The outcome of a start: its entry point, if it is one, and those of the processes that it starts.

    Each process comes with what distinguishes it from other processes. `end` is the file that the program starts with
    and the state that it ends in, None if that says nothing about others; `errors` says what could not be followed.
    """

    entry: Entry | None
    end: tuple[str, State] | None = None
    processes: list[tuple[object, Entry]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Course:
    """The outcome of a start, independent of which other programs are followed, and what it rests on.

    `walks` are those of its functions, some perhaps more than once; `asked` is what its program and the processes that
    it starts looked up. `spared` are processes that are not followed, as an earlier start has the same.
    """

    outcome: Outcome
    walks: tuple[Walked, ...]
    asked: frozenset[tuple[str, str]]
    spared: frozenset[object]

    def paths(self) -> frozenset[str]:
        """Return the files that it runs."""
        return frozenset(path for (path, _), _ in self.walks)


@dataclass(slots=True)
class Followed:
    """The courses of some starts, in order, and the documents that were `looked` for."""

    courses: Sequence[Course]
    looked: Mapping[str, str]


_NONE: Mapping[Start, Course] = {}


@roomy
def follow(
    program: Program, tables: Tables, starts: Iterable[Start], known: Mapping[Start, Course] = _NONE
) -> Followed:
    """Follow the programs that begin at some starts; what is learned from them is forgotten at the end.

    `known` are courses that would have the same result, unless other processes are spared.
    """
    follower = _Follower(program, tables)
    courses = [follower.course(start, known.get(start)) for start in starts]
    program.finish()
    return Followed(courses, program.documents.looked)


_MOST_AGAIN = 45  # files of a program that is followed again with its options undecided, which doubles the time
_WAYS = 4  # argument lists of one function that are distinguished if processes start with it


class _Follower:
    def __init__(self, program: Program, tables: Tables, opened: frozenset[str] = frozenset()) -> None:
        self.program = program
        self.tables = tables
        self._opened = opened
        self._files: dict[str, Entry] = {}  # the entry points of files that were run
        self._started: set[object] = set()  # the processes that have been followed, by what they are given
        self._spared: set[object] = set()

    def course(self, start: Start, known: Course | None) -> Course:
        """Return the course of a start; `known`, if it spares the same processes now."""
        if known is not None and known.spared <= self._started:
            begun = {given for given, _ in known.outcome.processes}
            if begun.isdisjoint(self._started):
                self._started |= begun
                return known
        self._spared.clear()
        return Course(self.outcome(start), *self.program.take(), frozenset(self._spared))

    def outcome(self, start: Start) -> Outcome:
        """Return the outcome of a start, and of the processes that it starts."""
        facts = self.program.facts[start.path]
        entry = Entry(start.path, start.kind, start.name, start.place, start.self_check, start.target)
        if not start.function:
            self._files[start.path] = entry
            return self._run(entry, start.script, None)
        known = self._files.get(start.path)
        if known is not None and runs_only(facts, start.target):
            return Outcome(replace(entry, trace=known.trace, end=known.end, initialisers=known.initialisers))
        return self._run(entry, start.script, Function(start.path, start.function))

    def _run(self, entry: Entry, script: str, function: Function | None) -> Outcome:
        """Run an entry point, and then what it starts in new processes."""
        found = Outcome(entry)
        run = self._follow(entry, script, function, (), found.errors)
        entry.self_check = entry.self_check and not _trains_by_others(entry)
        objects = self.program.objects
        if entry.kind != "script" or self.program.facts[script].lasting:
            found.end = script, entry.end  # not of a file that another may load, such as a configuration
        if entry.kind == "script" and not (entry.acts or run.spawned):
            found.entry = None  # a script that does nothing of interest is probably a configuration
        actors = actors_among(objects, run.spawned)
        pickled = {started for started, _, whole in run.spawned if whole}
        starts: dict[Function | Class | Library, dict[tuple[Call, ...], None]] = {}
        for started, positional, _ in reversed(run.spawned):
            if started.receiver not in actors:
                starts.setdefault(started, {})[((started, positional),)] = None
        for actor, calls in actors.items():
            starts.setdefault(actor.kind, {})[tuple(calls)] = None
        for key, ways in starts.items():
            last = next(reversed(ways))[0][1]
            given = (key, *(frozenset(getattr(a, "kind", a) for a in value) for value in last))
            if given in self._started:  # another script starts the same process
                self._spared.add(given)
                continue
            self._started.add(given)
            of_each = []
            for (started, positional), *more in list(reversed(ways))[:_WAYS]:
                target = self.program.function(started)
                name = key.qualified.rpartition(".")[2] if isinstance(key, Class) else target.name
                whole = started in pickled
                inner = Entry(
                    started.path, "process", name, target.place, target=name, starter=entry.start, pickled=whole
                )
                main = "" if whole else entry.path
                self._follow(inner, script, started, positional, found.errors, objects, main, more)
                of_each.append(inner)
            found.processes.append((given, max(of_each, key=_chance)))
        return found

    def _follow(
        self,
        entry: Entry,
        script: str,
        function: Function | None,
        positional: Sequence[Value],
        errors: list[str],
        starter: Objects | None = None,
        main: str = "",
        more: Sequence[Call] = (),
    ) -> Interpreter:
        """Run a script as the main program, or a function of a module that is imported first.

        `starter` has the objects of the process that starts this one with `positional`. A new process begins by
        importing `main`, the file that the program started with, unless its function is pickled as a whole. It may make
        `more` calls.
        """
        shared = self.program.objects.shared or self.program.objects
        shared.watch = Watch()
        self.program.objects, self.program.memo = Objects(self.program.catalogue, shared), {}
        if starter is not None:
            own = () if function is None or function.receiver is None else (single(function.receiver),)
            others = (value for _, values in more for value in values)
            self.program.objects.carry((*positional, *own, *others), starter)
        run = Interpreter(self.program, script, self.tables)
        run.undecided = self._opened
        try:
            if function is None:
                environment = self.program.reset(script)
                walk = self.program.begin(script, f.TOP)
                walk.append((0, entry.end))
                run.frame = Frame(script, f.TOP, environment.variables, walk, main=True, top=True)
                run.block(tuple(self.program.facts[script].top))
            else:
                paths: Iterable[str] = filter(None, (main, function.path))
                if not main and function.path == script and starter is not None:
                    environment = self.program.environments[script]
                    paths = sorted(environment.loads)
                    self.program.objects.carry(environment.variables.values(), starter)
                    run.imported.add(script)
                for path in paths:
                    run.load(path)
                for called, values in ((function, positional), *more):
                    if run.state is not None:
                        run.call(called, values, {}, entry.place or Place(script, 1, 1, 1, 1))
            run.leave()
        except RecursionError:
            errors.append(f"{entry.path}: the program that starts here is nested too deeply to be followed")
            return run
        finally:
            self.program.end()
        entry.trace, entry.initialisers = tuple(run.trace), self.tables.initialisers
        entry.end = run.state if run.state and not run.frame.left else run.frame.end or run.state or entry.end
        opened = frozenset(choosing(run.trace))
        files = self.program.facts.keys() & {script, *run.imported}  # a console command has no script
        if run.launched and any(self.program.facts[path].samples for path in files):
            opened |= run.launching
        if opened and not self._opened and len(files) <= _MOST_AGAIN:
            other, again = _Follower(self.program.afresh(), self.tables, opened), replace(entry)
            other._follow(again, script, function, positional, [], starter, main, more)
            entry.trace = (*entry.trace, Opened(again.trace))
            self.program.take_over(other.program)
        return run


def _chance(entry: Entry) -> int:
    """Return how many generators begin anew in each run, by which processes of one function are ranked."""
    return sum(stream.state in (UNSEEDED, "late") for stream in entry.streams)


def _trains_by_others(entry: Entry) -> bool:
    """Return whether a program trains by functions of other files, which its own file does not show."""
    return any(met.event.kind == "trains" and met.event.place.path != entry.path for met in entry.of(Marked))

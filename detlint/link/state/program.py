"""A whole program: its files, how they import each other, and what their modules hold after they have run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from detlint.catalogue import Catalogue
from detlint.documents.documents import Documents, none
from detlint.facts.facts import TOP, Bind, Branch, Define, Do, Facts, Leave, Local, Statement, Statements, walk
from detlint.facts.facts import Function as FunctionFacts
from detlint.facts.packed import Head, head
from detlint.link.state.objects import Objects
from detlint.link.state.records import Name, Records
from detlint.link.state.registered import registered
from detlint.link.state.spans import Span, Walk, Walked, spans
from detlint.link.state.values import Class, Function, Object, Value
from detlint.link.state.watch import Memory
from detlint.programs.events import State
from detlint.semantics.libraries import STANDARD
from detlint.sources.imports import Imports

T = TypeVar("T")
METHODS = "*"  # stands in for the path of a file
_SHORT = 4  # statements
_METHODS = 2  # of one name, considered for an unknown object
_MOST_UNPACKED = 2_000  # unpacked functions kept for the next program: about 10 MB
_KINDS = (list, dict, set, str, bytes, int, tuple, object, Path)
_BUILT_IN = frozenset(name for kind in _KINDS for name in dir(kind))


def _go_on() -> None:
    """Do nothing: the default of `halt`."""


@dataclass
class Environment:
    """The variables of a module. `done` says whether its top level has run; `quiet` that it neither draws nor seeds.

    `partial` says that an import found a module that was not done and lacked something. `loads` are the files that the
    module imports, `stars` the libraries that it imports with `*`. `span` is what was noted while it ran.
    """

    variables: dict[str, Value] = field(default_factory=dict)
    done: bool = False
    quiet: bool = True
    partial: bool = False
    loads: set[str] = field(default_factory=set)
    stars: list[str] = field(default_factory=list)
    span: Span = field(default_factory=Span)

    @property
    def ran_quietly(self) -> bool:
        """Whether the top level need not run again in another program."""
        return self.done and self.quiet and not self.partial


@dataclass
class Program:
    """The files of a project and what the interpreter learns about them, shared by all entry points.

    `walks` holds, for each function of a file, the states that it ran in, each walk once; `noted` are the walks of all
    programs since it was last emptied; `tried` are functions that run only as files are tried out. `options` are the
    options that decorators give a function's parameters. `asked` are the module variables that programs look up, by
    path and name: `ALL` stands for all names of a file, `METHODS` replaces the path for methods that are looked up in
    all files. `root` is the span of the program that is being followed, `span` the part of it that runs now. `halt`
    raises if nobody waits for the program any more.
    """

    facts: dict[str, Facts]
    imports: Imports
    catalogue: Catalogue
    documents: Documents
    objects: Objects = field(init=False)
    environments: dict[str, Environment] = field(default_factory=lambda: defaultdict(Environment))
    memo: dict[object, Memory] = field(default_factory=dict)
    records: Records = field(default_factory=Records)
    walks: dict[Name, dict[Walk, None]] = field(default_factory=lambda: defaultdict(dict))
    noted: dict[int, Walked] = field(default_factory=dict)
    tried: frozenset[Name] = frozenset()
    closures: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    _packages: dict[str, str | None] = field(default_factory=dict)
    pending_options: dict[str, list[tuple[str, Value]]] = field(default_factory=lambda: defaultdict(list))
    options: dict[tuple[str, str], dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))
    asked: set[tuple[str, str]] = field(default_factory=set)
    root: Span = field(default_factory=Span)
    span: Span = field(init=False)
    halt: Callable[[], None] = field(default=_go_on)
    _entered: set[str] = field(default_factory=set)  # the files whose functions have run
    _unpacked: dict[Name, FunctionFacts] = field(default_factory=dict)
    _short: dict[Name, bool] = field(default_factory=dict)
    derived: dict[str, dict[str, Any]] = field(default_factory=dict)  # what was computed from single files, by path
    overwritten: dict[tuple[str, str], Value | None] = field(default_factory=dict)  # module variables, as they were

    def __post_init__(self) -> None:
        self.objects = Objects(self.catalogue)
        self.span = self.root

    def set_options(self, function: Function, options: Mapping[str, Value]) -> None:
        """Record the options that a decorator gives parameters of a function."""
        known = self.options[function.path, function.qualified]
        if known | dict(options) != known:
            self.forget(function.path)
            known.update(options)

    def forget(self, path: str) -> None:
        """Note a change for the functions of a file that no record looks at: drop all records if one has run."""
        if path in self._entered:
            self.records.clear()
        self.objects.record = None

    def end(self) -> None:
        """End the program that was followed, and undo what its functions set so that the next one does not find it."""
        for (path, name), value in self.overwritten.items():
            variables = self.environments[path].variables
            if value is not None:
                variables[name] = value
            else:
                variables.pop(name, None)
        self.overwritten.clear()
        self.imports.forget_programs()
        if len(self._unpacked) > _MOST_UNPACKED:
            self._unpacked.clear()
        for span in spans(self.root):
            span.end()
            self.asked |= span.asked
            self.noted.update((id(walked), walked) for walked in span.walks)
        self.root = self.span = Span()
        if self.objects.forget_versions():
            self.records.clear()  # the versions that they found would not be recognized

    def afresh(self) -> Program:
        """Return a program of the same files, without anything learned but what is written in them."""
        return Program(self.facts, self.imports, self.catalogue, self.documents, halt=self.halt)

    def of_file(self, work: Callable[[str], T], path: str) -> T:
        """Return what `work` computes for the path of a file, cached; `work` may look at that file's facts only."""
        known = self.derived.setdefault(path, {})
        if work.__qualname__ not in known:
            known[work.__qualname__] = work(path)
        found: T = known[work.__qualname__]
        return found

    def take_over(self, other: Program) -> None:
        """Add the notes of `other`, a program of the same files: a change of what it looked at matters here too."""
        self.asked |= other.asked
        entered = {name: (name, None) for name, _ in other.noted.values()}
        self.noted.update((id(walked), walked) for walked in entered.values())

    def take(self) -> tuple[tuple[Walked, ...], frozenset[tuple[str, str]]]:
        """Return what was noted since the last call: walks, and what was asked for."""
        found = tuple(self.noted.values()), frozenset(self.asked)
        self.noted, self.asked = {}, set()
        return found

    def finish(self) -> None:
        """Forget what was learned from the programs that have been followed."""
        self.objects, self.memo = Objects(self.catalogue), {}
        learned = (self.environments, self.records, self.closures, self.options, self.pending_options)
        for each in (*learned, self._unpacked, self._entered):
            each.clear()

    def reset(self, path: str) -> Environment:
        """Return a new, empty environment for a file that a program starts with."""
        self._reopen(path)
        self.environments[path] = Environment()
        return self.environments[path]

    def add_load(self, loader: str, path: str) -> None:
        """Record that a file imports another."""
        self._reopen(loader)
        self.environments[loader].loads.add(path)

    def _reopen(self, path: str) -> None:
        """Forget the closures of files that import this one, since it may import more now."""
        self.closures = {root: found for root, found in self.closures.items() if path not in found[0]}

    def closure(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return what importing a file loads: files whose top level need not run again, and files where it may."""
        found = self.closures.get(path)
        if found is None:
            again, others, waiting = set[str](), set[str](), {path}
            while waiting:
                each = waiting.pop()
                environment = self.environments[each]
                if each in self.closures:
                    again |= self.closures[each][0]
                    others |= self.closures[each][1]
                elif environment.ran_quietly:
                    package = self.package(each)
                    again.add(each)
                    waiting |= environment.loads if package is None else {package, *environment.loads}
                elif each in self.facts:
                    others.add(each)
                waiting -= again
            found = self.closures[path] = frozenset(again), frozenset(others)
        return found

    def begin(self, path: str, function: str) -> list[tuple[int, State]]:
        """Begin to record the states in which a function runs."""
        self.halt()
        walk: list[tuple[int, State]] = []
        self.span.begun.append(((path, function), walk))
        if function != TOP:
            self._entered.add(path)
        return walk

    def enter(self) -> Span:
        """Begin a span within the current one, and return the latter."""
        outer, self.span = self.span, Span()
        outer.inner[self.span] = None
        return outer

    def load(self, path: str) -> Span:
        """Begin a span for the top level of a file, and return the span that was current before."""
        outer, self.span = self.span, Span()
        self.environments[path].span = self.span
        self.root.inner[self.span] = None
        return outer

    def has_loaded(self, paths: Iterable[str]) -> None:
        """Note that files are imported whose top level need not run again."""
        self.root.inner.update((self.environments[path].span, None) for path in paths)

    def package(self, path: str) -> str | None:
        """Return the `__init__.py` of the package that a file belongs to, which runs before it, or None."""
        if path not in self._packages:
            around = folder(folder(path) if path.endswith("/__init__.py") else path)
            found = f"{around}/__init__.py" if around != "." else "__init__.py"
            self._packages[path] = found if found in self.facts and found != path else None
        return self._packages[path]

    @cached_property
    def shadows(self) -> frozenset[str]:
        """The names of standard library modules that a file of the project has too."""
        return frozenset(PurePosixPath(path).stem for path in self.facts) & STANDARD

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The names of the packages that the tables cover."""
        return frozenset({name.partition(".")[0] for name in self.catalogue.known_names if "." in name})

    def is_own(self, script: str, name: str) -> bool:
        """Return whether a script that imports `name` gets itself: it has that name, and no library has it."""
        return script.rpartition("/")[2] == f"{name}.py" and name not in self.libraries

    @cached_property
    def own(self) -> dict[tuple[str, str], str]:
        """What the project defines that the tables know as a whole, as it is that library: names by path and name."""
        classes = (row for row in self.catalogue.rows("program", "role") if row.text("derived"))
        rows = (*self.catalogue.rows("randomness", "undrawn"), *classes)
        names = frozenset(name for row in rows for name in row.list("names"))
        found: dict[tuple[str, str], str] = {}
        for path, each in self.facts.items():
            for last in {name.rpartition(".")[2] for name in names}:
                own = f"{each.module}.{last}"
                if not each.functions.keys().isdisjoint((own, f"{own}.__init__")):
                    name = self.catalogue.canonical(own)
                    found |= {(path, own): name} if name in names else {}
        return found

    @cached_property
    def registered(self) -> dict[Name, str]:
        """The project's functions and classes whose effect on generators the settings state: names by path and name."""
        return registered(self.facts, self.catalogue.followed)

    @cached_property
    def folders(self) -> dict[str, list[str]]:
        """The files of each folder, and the packages in it."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.facts):
            found[folder(path)].append(path)
            if path.endswith("/__init__.py"):
                found[folder(folder(path))].append(path)
        return found

    @cached_property
    def _methods(self) -> dict[str, list[Name]]:
        found: dict[str, list[Name]] = defaultdict(list)
        for path, each in self.facts.items():
            for qualified in each.functions:
                known = found[qualified.rpartition(".")[2].partition(":")[0]]
                if len(known) < _METHODS and head(each.functions, qualified).kind == "method":
                    known.append((path, qualified))
        return found

    def methods_named(self, name: str) -> list[Function]:
        """Return the methods of the project's classes that a call of this name on an unknown object may run."""
        common = self.catalogue.names("program", "common")
        if name in _BUILT_IN or name in common or len(name) < 5:
            return []
        self.span.asked.add((METHODS, name))
        return [self.on_some_object(Function(*each)) for each in self._methods.get(name, ())]

    def on_some_object(self, function: Function) -> Function:
        """Return a method bound to an object of its class that is made somewhere."""
        klass = Class(function.path, function.qualified.rpartition(".")[0])
        return Function(function.path, function.qualified, (), Object(klass, function.path, -1))

    def function(self, function: Function) -> FunctionFacts:
        """Return the facts of a function."""
        name = function.path, function.qualified
        found = self._unpacked.get(name)
        if found is None:
            found = self._unpacked[name] = self.facts[function.path].functions[function.qualified]
        return found

    def head(self, path: str, qualified: str) -> Head:
        """Return the head of a function: what is asked of a function that is not entered."""
        return head(self.facts[path].functions, qualified)

    def is_short(self, function: Function) -> bool:
        """Return whether a function is so short that running it costs little more than remembering what it did."""
        name = function.path, function.qualified
        found = self._short.get(name)
        if found is None:
            found = self._short[name] = _is_short(self.function(function).body)
        return found

    def defines_only(self, function: Function) -> bool:
        """Return whether a function only defines functions and returns one, as a decorator factory does."""
        facts = self.function(function)
        return 0 < len(facts.body) < 4 and all(_makes(statement) for statement in facts.body)


def _is_short(body: Statements) -> bool:
    """Return whether statements are few, and only look at what they are given and return something."""
    steps = list(islice(walk(body), _SHORT + 1))
    return len(steps) <= _SHORT and all(isinstance(step, (Branch, Bind, Do, Leave)) for step in steps)


def _makes(statement: Statement) -> bool:
    """Return whether a statement defines a function or returns one that is defined."""
    return isinstance(statement, Define) or (isinstance(statement, Leave) and isinstance(statement.value, Local))


@cache
def folder(path: str) -> str:
    """Return the folder that a file is in."""
    return PurePosixPath(path).parent.as_posix()


def linked(
    facts: Iterable[Facts], catalogue: Catalogue, unread: Iterable[str] = (), documents: Documents | None = None
) -> Program:
    """Return a program of these files. `unread` are the paths of project files that are not among them, `documents` the
    configuration files of the project.
    """
    by_path = {each.path: each for each in facts}
    return Program(by_path, Imports([*by_path, *unread]), catalogue, documents or Documents(none))

"""A whole program: its files, how they import each other, and what their modules hold once they have run."""

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
METHODS = "*"  # in place of the path of a file
_SHORT = 4  # statements
_METHODS = 2  # of one name, that an object which is not known may have
_MOST_UNPACKED = 2_000  # functions that are kept for the next program: about 10 MB
_KINDS = (list, dict, set, str, bytes, int, tuple, object, Path)
_BUILT_IN = frozenset(name for kind in _KINDS for name in dir(kind))


def _go_on() -> None:
    """Nobody has it halt."""


@dataclass
class Environment:
    """The variables of a module. `done` says whether its top level has run; `quiet` that it neither draws nor seeds.

    `partial` says that an import found a module that was itself not done, and something of it missing; `loads` are the
    files that it imports, `stars` the libraries all of which it imports. `span` is what was noted while it ran.
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

    `walks` are, for a function of a file, the states that it was gone through in, each walk once; `noted` are those
    of the programs since it was last emptied. `options` are the options that decorators give a function's parameters.
    `asked` are the variables of modules that programs look for, by path and name, `ALL` where they look at all of a
    file, `METHODS` in place of a path for methods that are looked for in all files. `root` is what the program notes
    that is being followed, `span` the part of it that runs now. `halt` raises where nobody waits for it any more.
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
    closures: dict[str, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)
    _packages: dict[str, str | None] = field(default_factory=dict)
    pending_options: dict[str, list[tuple[str, Value]]] = field(default_factory=lambda: defaultdict(list))
    options: dict[tuple[str, str], dict[str, Value]] = field(default_factory=lambda: defaultdict(dict))
    asked: set[tuple[str, str]] = field(default_factory=set)
    root: Span = field(default_factory=Span)
    span: Span = field(init=False)
    halt: Callable[[], None] = field(default=_go_on)
    _entered: set[str] = field(default_factory=set)  # the files of which functions were run
    _unpacked: dict[Name, FunctionFacts] = field(default_factory=dict)
    _short: dict[Name, bool] = field(default_factory=dict)
    derived: dict[str, dict[str, Any]] = field(default_factory=dict)  # what was made of single files, by path
    overwritten: dict[tuple[str, str], Value | None] = field(default_factory=dict)  # variables of modules, as they were

    def __post_init__(self) -> None:
        self.objects = Objects(self.catalogue)
        self.span = self.root

    def set_options(self, function: Function, options: Mapping[str, Value]) -> None:
        """A decorator gives parameters of a function options."""
        known = self.options[function.path, function.qualified]
        if known | dict(options) != known:
            self.forget(function.path)
            known.update(options)

    def forget(self, path: str) -> None:
        """What no record looks at has changed for the functions of a file: none is sure, if one of these was run."""
        if path in self._entered:
            self.records.clear()
        self.objects.record = None

    def end(self) -> None:
        """The program that was followed has ended: the next one does not find what its functions set."""
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
            self.records.clear()  # what they found would not be known again

    def afresh(self) -> Program:
        """The same files, of which nothing is known but what is written in them."""
        return Program(self.facts, self.imports, self.catalogue, self.documents, halt=self.halt)

    def of_file(self, work: Callable[[str], T], path: str) -> T:
        """What `work` gives for the path of a file, of which it looks at the facts and at nothing else."""
        known = self.derived.setdefault(path, {})
        if work.__qualname__ not in known:
            known[work.__qualname__] = work(path)
        found: T = known[work.__qualname__]
        return found

    def take_over(self, other: Program) -> None:
        """Note what was looked at in `other`, which are the same files: what changes there matters here."""
        self.asked |= other.asked
        entered = {name: (name, None) for name, _ in other.noted.values()}
        self.noted.update((id(walked), walked) for walked in entered.values())

    def take(self) -> tuple[tuple[Walked, ...], frozenset[tuple[str, str]]]:
        """What was noted since this was asked last: walks, and what was asked for."""
        found = tuple(self.noted.values()), frozenset(self.asked)
        self.noted, self.asked = {}, set()
        return found

    def finish(self) -> None:
        """Programs have been followed: forget what they taught."""
        self.objects, self.memo = Objects(self.catalogue), {}
        learned = (self.environments, self.records, self.closures, self.options, self.pending_options)
        for each in (*learned, self._unpacked, self._entered):
            each.clear()

    def reset(self, path: str) -> Environment:
        """The empty environment of a file that a program starts with."""
        self._reopen(path)
        self.environments[path] = Environment()
        return self.environments[path]

    def add_load(self, loader: str, path: str) -> None:
        """Note that a file imports another."""
        self._reopen(loader)
        self.environments[loader].loads.add(path)

    def _reopen(self, path: str) -> None:
        """Forget what is imported with files that import this one, which may import more now."""
        self.closures = {root: found for root, found in self.closures.items() if path not in found[0]}

    def closure(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """What is imported with a file: files whose top level need not run again, and others, which it may have to."""
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
        """Begin to record the states in which a function is gone through."""
        self.halt()
        walk: list[tuple[int, State]] = []
        self.span.begun.append(((path, function), walk))
        if function != TOP:
            self._entered.add(path)
        return walk

    def enter(self) -> Span:
        """Something begins to run, as a part of what runs now; that."""
        outer, self.span = self.span, Span()
        outer.inner[self.span] = None
        return outer

    def load(self, path: str) -> Span:
        """The top level of a file begins to run; what runs now."""
        outer, self.span = self.span, Span()
        self.environments[path].span = self.span
        self.root.inner[self.span] = None
        return outer

    def has_loaded(self, paths: Iterable[str]) -> None:
        """Files are imported whose top level need not run again."""
        self.root.inner.update((self.environments[path].span, None) for path in paths)

    def package(self, path: str) -> str | None:
        """The `__init__.py` of the package that a file belongs to, which runs before it."""
        if path not in self._packages:
            around = folder(folder(path) if path.endswith("/__init__.py") else path)
            found = f"{around}/__init__.py" if around != "." else "__init__.py"
            self._packages[path] = found if found in self.facts and found != path else None
        return self._packages[path]

    @cached_property
    def shadows(self) -> frozenset[str]:
        """The names of modules of the standard library that a file of the project has too."""
        return frozenset(PurePosixPath(path).stem for path in self.facts) & STANDARD

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The names of the packages that the tables speak of."""
        return frozenset({name.partition(".")[0] for name in self.catalogue.known_names if "." in name})

    def is_own(self, script: str, name: str) -> bool:
        """Whether a script that imports a module of this name gets itself: its own name, and that of no library."""
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
        """What the project defines of which the settings tell what it does to generators: names by path and name."""
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
        """The methods of the project's classes that have a name, to be called on an object that is not known."""
        common = self.catalogue.names("program", "common")
        if name in _BUILT_IN or name in common or len(name) < 5:
            return []
        self.span.asked.add((METHODS, name))
        return [self.on_some_object(Function(*each)) for each in self._methods.get(name, ())]

    def on_some_object(self, function: Function) -> Function:
        """A method, bound to an object of its class that is made somewhere."""
        klass = Class(function.path, function.qualified.rpartition(".")[0])
        return Function(function.path, function.qualified, (), Object(klass, function.path, -1))

    def function(self, function: Function) -> FunctionFacts:
        """The facts of a function."""
        name = function.path, function.qualified
        found = self._unpacked.get(name)
        if found is None:
            found = self._unpacked[name] = self.facts[function.path].functions[function.qualified]
        return found

    def head(self, path: str, qualified: str) -> Head:
        """What is asked of a function that is not entered."""
        return head(self.facts[path].functions, qualified)

    def is_short(self, function: Function) -> bool:
        """Whether a function is so short that to run it costs little more than to remember what it did."""
        name = function.path, function.qualified
        found = self._short.get(name)
        if found is None:
            found = self._short[name] = _is_short(self.function(function).body)
        return found

    def defines_only(self, function: Function) -> bool:
        """Whether all that a function does is to define functions and return one, as the maker of a decorator does."""
        facts = self.function(function)
        return 0 < len(facts.body) < 4 and all(_makes(statement) for statement in facts.body)


def _is_short(body: Statements) -> bool:
    """Whether statements are a few that look at what they are given and return something."""
    steps = list(islice(walk(body), _SHORT + 1))
    return len(steps) <= _SHORT and all(isinstance(step, (Branch, Bind, Do, Leave)) for step in steps)


def _makes(statement: Statement) -> bool:
    """Whether a statement defines a function or returns one that is defined."""
    return isinstance(statement, Define) or (isinstance(statement, Leave) and isinstance(statement.value, Local))


@cache
def folder(path: str) -> str:
    """The folder that a file is in."""
    return PurePosixPath(path).parent.as_posix()


def linked(
    facts: Iterable[Facts], catalogue: Catalogue, unread: Iterable[str] = (), documents: Documents | None = None
) -> Program:
    """A program of these files; `unread` are the paths of files of the project that are not among them, `documents`
    its configuration files.
    """
    by_path = {each.path: each for each in facts}
    return Program(by_path, Imports([*by_path, *unread]), catalogue, documents or Documents(none))

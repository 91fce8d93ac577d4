"""One walk through a program from an entry point: its frames, state and trace."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.state.noting import Noting
from detlint.link.state.objects import OPEN, UNSPELLED
from detlint.link.state.otherwise import Otherwise
from detlint.link.state.program import Program, folder
from detlint.link.state.records import Exact, Name
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Class,
    Function,
    Library,
    Module,
    Namespace,
    Object,
    Value,
    constant,
    join,
    single,
)
from detlint.programs.events import START, Apart, Called, Event, Guarded, State, is_parameter, merged
from detlint.registered import UNREAD

UNGUARDED = nullcontext()  # what is traced in this context happens by default
RUNTIME = "detlint.runtime"  # also its copy in a project
_DEFINED = frozenset((Function, Class))
_IMPORTED_MAIN = "__mp_main__"  # the name in a spawned process of the file that the program was started with


@dataclass(slots=True)
class Frame:
    """A function that is being run. `exits` and `raised` are the states in which it was left, `returned` the values.

    `left` is the option that must be set for control to get here. `optional` are the states in which the function is
    left then, `spare` the values.
    """

    path: str
    function: str
    variables: dict[str, Value]
    walk: list[tuple[int, State]]
    exits: list[State] = field(default_factory=list)
    raised: list[State] = field(default_factory=list)
    returned: list[Value] = field(default_factory=list)
    optional: list[State] = field(default_factory=list)
    spare: list[Value] = field(default_factory=list)
    left: str = ""
    reach: int = f.PROGRAM  # the least that was ended by what left the arm that is being run
    usual: str = ""  # the option that is at its default at this point
    yielded: list[Value] = field(default_factory=list)
    on_yield: Callable[[Value], None] | None = None
    receiver: Object | Class | None = None  # `self`, in a method
    doubtful: bool = False  # a calling function may have been left before
    main: bool = False  # the top level of the script
    top: bool = False  # the top level of a file; its variables are the module's
    body: bool = False  # the body of a class, which looks up there what it has not bound itself
    copies: tuple[Object, ...] = ()  # the dicts that were copied here
    watched: dict[str, set[str]] = field(default_factory=dict)  # the functions defined here that use a variable
    dicts: frozenset[Object] = frozenset()  # the dicts that were made here
    otherwise: Otherwise = field(default_factory=dict)  # what variables hold where an option is set
    maker: int = 0  # distinguishes the containers made here from those of other runs of the function

    def leave(self, state: State, raises: bool = False) -> None:
        """Record that the function is left in this state."""
        (self.raised if raises else self.optional if self.left else self.exits).append(state)

    @property
    def end(self) -> State | None:
        """The state after the function; that of raising paths if there are no others, as a derived class may differ."""
        return merged(self.exits or self.optional or self.raised)


class Run(Noting):
    """The state that all parts of the interpreter share. `state` is None where control does not get."""

    def __init__(self, program: Program, script: str) -> None:
        """Create a run of `script`, the file that the program starts with; imports search its folder first."""
        self.program = program
        self.script = script
        self.state: State | None = START
        self.trace: list[Event] = []
        self.frame = Frame(script, f.TOP, {}, [])
        self.contexts: dict[Name, set[Exact]] = defaultdict(set)  # of each function
        self.dispatching = 0  # how many nested calls may each call several things
        self.drawn: set[str] = set()  # the generators that were drawn from unseeded
        self.seeds: frozenset[str] = frozenset()  # the parameters that take seeds
        self.calling: set[Object] = set()  # the containers of layers that are being called
        self.walked = 0  # the number of functions so far
        self.depth = 0  # of nested calls
        self.doubts = 0  # nested contexts that may not run
        self.unlikely = 0  # of these, those that need an option to be set
        self.chosen = 0  # of these, those for which the user must set one
        self.active: list[tuple[str, str]] = []  # the functions that are being run, outermost first
        self.undecided: frozenset[str] = frozenset()  # options that need not be at their defaults
        self.launching = program.catalogue.names("program", "launched", "variables")
        self.launched = False  # whether the program has tested one of these
        self.search: list[str] = []  # what the program adds to sys.path
        self.spawned: list[tuple[Function, tuple[Value, ...], bool]] = []  # each with whether it is pickled as a whole
        self.leaving: list[tuple[Value, tuple[Value, ...], bool, Place]] = []  # calls at the end, and if sure
        self.imported: set[str] = set()
        self.loading: dict[str, None] = {}  # the files whose top level is being run, outermost first
        self.iterating: Place | None = None  # the place of what a loop iterates over
        self.node: f.Call | None = None  # the call that is being evaluated
        self.statement_place: Place | None = None  # the assignment that is being run, if it may set a switch

    # What the other parts provide

    def invoke(
        self,
        function: Function,
        positional: Sequence[Value],
        keywords: dict[str, Value],
        place: Place,
        resumed: bool = False,
    ) -> Value:
        """Run a function of the project with these arguments."""
        raise NotImplementedError

    def call_value(
        self, function: Value, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call everything that a value may be."""
        raise NotImplementedError

    def assign(self, target: f.Expression, value: Value) -> None:
        """Assign a value to a target."""
        raise NotImplementedError

    def iterate(self, value: Value) -> Value:
        """Iterate over a value, and return what the items may be."""
        raise NotImplementedError

    def block(self, statements: f.Statements) -> None:
        """Run statements in order."""
        raise NotImplementedError

    # Modules

    def module_variable(self, path: str, name: str) -> Value:
        """Return a global variable of a file, or a builtin."""
        if name == "__name__":
            main = self.has_run(path)[1] and (self.frame.main or not self.frame.top)
            module = self.program.facts[path].module
            return constant("__main__" if main else _IMPORTED_MAIN if module == "__main__" else module)
        found = self.variable(path, name)
        if found is None and hasattr(builtins, name):
            return single(Library(f"builtins.{name}"))
        return self.starred(path, name) if found is None else found

    def starred(self, path: str, name: str) -> Value:
        """Return the library object that `from library import *` may have given a file under a name, or unknown."""
        for star in reversed(self.stars(path)):
            known = self.canonical(f"{star}.{name}")
            if known in self.program.catalogue.known_names:
                return single(Library(known))
        return UNKNOWN

    def variables_of(self, path: str) -> dict[str, Value]:
        """Return all global variables of a file."""
        self.program.span.asked.add((path, f.ALL))
        return self.program.environments[path].variables

    def set_variables(self, variables: dict[str, Value]) -> None:
        """Replace the variables of the current frame."""
        self.frame.variables = variables
        if self.frame.top:
            self.program.environments[self.frame.path].variables = variables

    def module_attribute(self, path: str, name: str) -> Value | None:
        """Return `module.name`: a variable, or a module of the package. Return None if there is neither."""
        found = self.variable(path, name)
        if found is not None:
            return found
        if path.endswith("__init__.py"):
            inner = self.program.imports.relative(path, 1, name)
            if inner is not None and inner != path:
                return self.module_at(inner)
            full = f"{self.program.facts[path].module}.{name}"
            if self.is_namespace(full, path):
                return single(Namespace(full, path))
        if path in self.loading:
            self.program.environments[self.frame.path].partial = True
        return None

    def module_named(self, name: str, importer: str) -> Value:
        """Return the module of a dotted name, of the project or a library."""
        if self.canonical(name) == RUNTIME:
            return single(Library(RUNTIME))
        found = self.find(name, importer)
        if found is not None:
            return self.module_at(found)
        if self.is_namespace(name, importer):
            return single(Namespace(name, importer))
        head, _, last = name.rpartition(".")
        if head:
            path = self.find(head, importer)
            if path is not None:
                known = path in self.program.facts
                return (self.module_attribute(path, last) or UNKNOWN) if known else self.module_at(path)
        inner = self.within_project(name, importer)
        if inner is None and importer == self.script and self.program.is_own(importer, name):
            inner = importer
        return single(Library(self.canonical(name))) if inner is None else self.module_at(inner)

    def module_loaded(self, name: str) -> Value:
        """Return `sys.modules[name]`."""
        here = self.frame.path
        own = {"__main__": self.script, self.program.facts[here].module: here}
        return single(Module(own[name])) if name in own else self.module_named(name, here)

    def within_project(self, name: str, importer: str) -> str | None:
        """Return the file of a module imported through packages of a larger repository that are not here, or None."""
        imports, parts = self.program.imports, name.split(".")
        if parts[0] in self.program.libraries:
            return None
        for start in range(1, len(parts)):
            if start > 1 and imports.local_root(parts[start]):
                for first in (start, start + 1):
                    found = self.find(".".join(parts[first:]), importer)
                    if found is not None:
                        return found
        return None

    def module_at(self, path: str) -> Value:
        """Return the module of a file after running it."""
        if path not in self.program.facts:
            return single(Library(f"{UNREAD}.{path.removesuffix('.py').replace('/', '.')}"))
        self.load(path)
        return single(Module(path))

    def load(self, path: str) -> None:
        """Run the top level of an imported file, unless it has run already and does nothing to generators."""
        loader = self.frame.path if self.frame.top else next(reversed(self.loading), None)
        if loader is not None and path not in self.program.environments[loader].loads:
            self.program.add_load(loader, path)  # a function that imports may be called during an import
            self.unrepeatable()
        self._load(path)

    def _load(self, path: str) -> None:
        if path in self.imported or path not in self.program.facts:
            self.has_run(path)
            return
        self.unrepeatable()
        if not self.loading:
            again, others = self.program.closure(path)
            if others <= self.imported:
                self.imported |= again
                self.program.has_loaded(again)
                return
        package = self.program.package(path)
        if package is not None and package not in self.loading:
            self._load(package)
            if path in self.imported:
                return
        self.imported.add(path)
        environment = self.program.environments[path]
        if environment.ran_quietly:
            self.program.has_loaded((path,))
            for inner in sorted(environment.loads - self.imported):
                self._load(inner)
            return
        environment.done, environment.partial = True, False
        self.loading[path] = None
        outer, before, state, span = self.frame, self.trace, self.state, self.program.load(path)
        self.frame = Frame(path, f.TOP, environment.variables, self.program.begin(path, f.TOP), top=True)
        self.trace = []
        objects = self.program.objects
        self.program.objects = objects.shared or objects
        self.block(tuple(self.program.facts[path].top))
        self.program.objects = objects
        self.state = self.state or state
        del self.loading[path]
        self.frame, self.program.span = outer, span
        inner_trace, self.trace = tuple(self.trace), before
        if inner_trace:
            environment.quiet = False
            self.trace.append(Called(path, Place(path, 1, 1, 1, 1), inner_trace, imports=True))

    def load_package(self, path: str) -> None:
        """Import all modules of the package whose `__init__.py` is at `path`, as one that lists its folder does."""
        for inner in self.program.folders.get(folder(path), ()):
            if not inner.endswith("__init__.py") or inner != path:
                self.load(inner)

    def held(self, owner: Atom, slot: str | None = None) -> Value:
        """Return what a container holds, or one slot of it, without functions and classes of unimported modules."""
        objects = self.program.objects
        value = (slot and (objects.stored(owner, slot) or objects.stored(owner, UNSPELLED))) or objects.items(owner)
        return self.present(value) or UNKNOWN

    def present(self, value: Value) -> Value:
        """Return a value without the functions and classes of modules that only other programs import."""
        if _DEFINED.isdisjoint(map(type, value)):
            return value
        return frozenset(a for a in value if not isinstance(a, (Function, Class)) or any(self.has_run(a.path)))

    def canonical(self, name: str) -> str:
        """Return the one name of an API that can be imported from several places."""
        return self.program.catalogue.canonical(name)

    def add_search(self, path: str) -> None:
        """Add a folder to those that are searched for imports."""
        self.unrepeatable()
        if path not in self.search:
            self.search.append(path)

    @property
    def script_folder(self) -> str:
        """The folder of the script."""
        return folder(self.script)

    def container(self, kind: str, path: str, order: int) -> Object:
        """Return a list, set or dict made at an allocation site: one for each string that the function is given."""
        return Object(Library(f"builtins.{kind}"), path, order + self.frame.maker)

    def is_container(self, atom: Atom) -> bool:
        """Return whether an atom is a list, set or dict."""
        return isinstance(atom, Object) and isinstance(atom.kind, Library) and atom.kind.name.startswith("builtins.")

    def open(self, owner: Atom) -> None:
        """Record that unknown names of an object's attributes are set, unless only where an option says so."""
        if not self.is_chosen():
            self.program.objects.store(owner, OPEN, UNKNOWN)

    # Traces

    def note(self, event: Event) -> None:
        """Add an event to the trace."""
        self.trace.append(event)

    def guarded(self, option: str, dispatch: Place | None = None) -> AbstractContextManager[None]:
        """Return a context whose trace needs `option` set, or only may happen, as one of what `dispatch` may call."""
        return _Guard(self, option, dispatch)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Trace the body of the `with` as something that happens in another process."""
        before, self.trace = self.trace, []
        yield
        inner, self.trace = tuple(self.trace), before
        if inner:
            self.trace.append(Apart(inner))

    def merge_variables(self, found: Iterable[dict[str, Value]]) -> dict[str, Value]:
        """Return the variables after one of several paths."""
        first, *others = found
        for variables in others:
            if variables == first:
                continue
            merged = first | variables
            for name, value in first.items():
                other = merged[name]
                if other is not value:
                    merged[name] = join((value, other))
            first = merged
        return first


class _Guard(AbstractContextManager[None]):
    """A context whose trace may happen; a class, since a generator function would cost more than what it guards."""

    __slots__ = ("before", "dispatch", "option", "run")

    def __init__(self, run: Run, option: str, dispatch: Place | None) -> None:
        self.run, self.option, self.dispatch, self.before = run, option, dispatch, run.trace

    def __enter__(self) -> None:
        run = self.run
        run.trace = []
        run.doubts += 1
        run.unlikely += bool(self.option)
        run.chosen += bool(self.option) and not is_parameter(self.option)

    def __exit__(self, *_: object) -> None:
        run = self.run
        run.doubts -= 1
        run.unlikely -= bool(self.option)
        run.chosen -= bool(self.option) and not is_parameter(self.option)
        inner, run.trace = run.trace, self.before
        if inner:
            run.trace.append(Guarded(self.option, tuple(inner), self.dispatch))

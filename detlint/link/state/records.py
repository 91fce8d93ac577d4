"""Records of runs of functions: what each found in its program and what it changed, so that it can be repeated."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.state.spans import Name as Name
from detlint.link.state.spans import Span
from detlint.link.state.values import Atom, Class, Function, Object, Value
from detlint.programs.events import State, Trace
from detlint.support.interned import Interned
from detlint.support.records import record

if TYPE_CHECKING:
    from detlint.link.state.noting import Noting
    from detlint.link.state.run import Run
else:
    Noting = Run = Any

Told = tuple[Value, ...]  # the values of its variables
Exact = tuple[Function, Told, State | None, frozenset[tuple[Object, int]]]  # what a run of a function depends on
Look = Callable[[Run, Any], object]


@record(frozen=True, slots=True, eq=False)
class Result(metaclass=Interned):
    """The result of a run of a function: the state after it, the value it returned, and its trace."""

    state: State
    value: Value
    trace: Trace


class Circumstances(NamedTuple):
    """The context of a call that a run of its function may ask about. The integers count nesting levels."""

    doubts: int
    unlikely: int
    chosen: int
    dispatching: int
    doubtful: bool
    iterating: Place | None
    node: f.Call | None
    statement: Place | None
    calling: frozenset[Atom]


_ALIKE = 4  # records kept of runs of one function with the same arguments
_MOST = 500_000  # looks and effects in all records together: about 45 MB
_LEAST = 10  # the size of a record without looks and effects, in looks
_OWN = object()  # marks what a run finds that it has made itself


def _same(one: object, other: object) -> bool:
    return one == other or (isinstance(one, int) and bool(one) is bool(other))


# What a run looks at


def mark(run: Run, owner: Atom) -> object:
    """Return the versions that identify the contents of an object."""
    return run.program.objects.mark(owner)


def lineage(run: Run, klass: Class) -> object:
    """Return a class and its bases, with what is known of each."""
    return run.program.objects.lineage_now(klass)


def variable(run: Run, key: tuple[str, str]) -> object:
    """Return a variable of a module, by path and name."""
    return run.program.environments[key[0]].variables.get(key[1])


def starred(run: Run, path: str) -> object:
    """Return the libraries that a file has imported with `*`."""
    return tuple(run.program.environments[path].stars)


def result(run: Run, key: object) -> object:
    """Return the result of a function that was run before, or None."""
    known = run.program.memo.get(key)
    return known.result if known is not None and known.holds else None


def context(run: Run, key: Exact) -> object:
    """Return whether a function was run with these arguments before."""
    return key in run.contexts.get(named(key[0]), ())


def contexts(run: Run, name: Name) -> object:
    """Return the number of different arguments that a function was run with."""
    return len(run.contexts.get(name, ()))


def imported(run: Run, path: str) -> object:
    """Return whether a file was imported, and whether the program started with it."""
    return path in run.imported, path == run.script


def located(run: Noting, key: tuple[str, str]) -> object:
    """Return the file of a module, by its name and its importer; without one, whether it is a namespace package."""
    imports = run.program.imports
    return imports.find(*key, run.script, run.search) or imports.is_namespace(*key, run.script, run.search)


def drawn(run: Run, generator: str) -> object:
    """Return whether a generator was drawn from unseeded."""
    return generator in run.drawn


_LOOKS: tuple[Look, ...] = (  # what differs most often between programs comes first
    mark, drawn, contexts, result, context, imported, variable, lineage, located, starred,
)  # fmt: skip


def named(function: Function) -> Name:
    """Return the name of a function."""
    return function.path, function.qualified


class Record:
    """A run of a function. `looks` are what it found where it looked first, `effects` what it changed, in order.

    `asked` are the circumstances that mattered, `statement` is the last assignment that ran. `names` are all functions
    that it ran, at most `deepest` deep. `reach` is the depth of the outermost active function that it called again.
    When the run ends, `found` replaces `looks` to save memory; `size` counts what it found and changed.
    """

    __slots__ = (
        "asked", "deepest", "depth", "effects", "found", "lineages", "looks", "marks", "names", "reach", "result",
        "size", "span", "start", "statement", "variables", "walked",
    )  # fmt: skip
    result: Result
    span: Span
    size: int
    found: tuple[tuple[Look, tuple[Any, ...], tuple[object, ...]], ...]

    def __init__(self, name: Name, variables: Mapping[str, Value], start: Circumstances, depth: int) -> None:
        self.variables, self.start = dict(variables), start
        self.depth = self.reach = depth
        self.deepest = depth + 1
        self.looks: dict[Look, dict[Any, object]] = defaultdict(dict)
        self.marks, self.lineages = self.looks[mark], self.looks[lineage]
        self.effects: list[tuple[Any, ...]] = []
        self.asked: set[str] = set()
        self.names = {name}
        self.walked = 1
        self.statement: Place | None = None

    def end(self, found: Result, span: Span) -> None:
        """End the run with this result and what it noted."""
        self.result, self.span = found, span
        kept = ((look, self.looks[look]) for look in _LOOKS if look in self.looks)
        self.found = tuple((look, tuple(seen), tuple(seen.values())) for look, seen in kept if seen)
        self.size = sum(len(keys) for _, keys, _ in self.found) + len(self.effects) + _LEAST
        del self.looks, self.marks, self.lineages

    def make(self, look: Look, key: object) -> None:
        """Note that the run makes something itself: what it finds there later does not depend on what was there."""
        self.looks[look].setdefault(key, _OWN)

    def ask(self, name: str, value: object) -> None:
        """Note that the run asks for one of its circumstances, unless it has given it another value itself.

        "calling" is always noted: it is a set that the run adds to, and it may ask for both parts.
        """
        if name == "calling" or getattr(self.start, name) == value:
            self.asked.add(name)

    def include(self, inner: Record, start: Circumstances, depth: int) -> None:
        """Add a run within this one, which began in the circumstances `start` at the depth `depth`."""
        for look, keys, values in inner.found:
            mine = self.looks[look]
            for key, value in zip(keys, values, strict=True):
                mine.setdefault(key, value)
        self.effects += inner.effects
        for name in inner.asked:
            self.ask(name, getattr(start, name))
        if inner.reach < inner.depth:
            self.reach = min(self.reach, inner.reach)
        self.names |= inner.names
        self.statement = inner.statement or self.statement
        self.walked += inner.walked
        self.deepest = max(self.deepest, depth + inner.deepest - inner.depth)

    def watch(self, run: Run) -> None:
        """Look at what this run looked at."""
        for look, keys, _ in self.found:
            if look is variable:
                for path, name in keys:
                    run.watch_variable(path, name, run.program.environments[path].variables.get(name))
            elif look is result:
                for key in keys:
                    if (known := run.program.memo.get(key)) is not None:
                        run.program.objects.watch.use(known.run)

    def holds(self, run: Run, variables: Mapping[str, Value], now: Circumstances) -> bool:
        """Return whether the program is as this run found it wherever it looked."""
        if self.variables != variables or not self.names.isdisjoint(run.active):
            return False
        for name in self.asked:
            if not _same(getattr(self.start, name), getattr(now, name)):
                return False
        for look, keys, values in self.found:
            for key, value in zip(keys, values, strict=True):
                if value is not _OWN and look(run, key) != value:
                    return False
        return True


class Records:
    """Records of runs by what these depend on, the latest first. When there are too many in all, the least recently
    used ones are dropped.
    """

    def __init__(self, most: int = _MOST) -> None:
        """Create an empty store; `most` is how many looks and effects its records may have in all."""
        self._by_key: OrderedDict[Exact, tuple[Record, ...]] = OrderedDict()  # a plain dict's first key is slow to find
        self._most = most
        self.size = 0

    def find(self, key: Exact) -> tuple[Record, ...]:
        """Return the records of runs that depended on this."""
        return self._by_key.get(key, ())

    def prefer(self, key: Exact) -> None:
        """Note that a record with this key was used, so that it is dropped last."""
        self._by_key.move_to_end(key)

    def keep(self, key: Exact, record: Record) -> None:
        """Keep the record of a run that has ended."""
        known = (record, *self._by_key.pop(key, ()))
        self._by_key[key] = known[:_ALIKE]
        self.size += record.size - sum(each.size for each in known[_ALIKE:])
        while self.size > self._most and len(self._by_key) > 1:
            _, oldest = self._by_key.popitem(last=False)
            self.size -= sum(each.size for each in oldest)

    def clear(self) -> None:
        """Drop all records."""
        self._by_key.clear()
        self.size = 0

"""The solver: a table of nodes with their inputs and summaries, evaluated until nothing grows."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush
from typing import TypeVar

from detlint.domain.atoms import Atom, Context, FunctionRef, Node, Option
from detlint.domain.documents import Documents
from detlint.domain.heap import Heap
from detlint.domain.lattice import Lattice
from detlint.domain.library import Libraries
from detlint.domain.limits import Limits
from detlint.domain.slots import Cell
from detlint.domain.summaries import Summary
from detlint.domain.taints import Kind
from detlint.domain.values import NOTHING, Value
from detlint.interpreter.firsts import Firsts
from detlint.interpreter.index import Index
from detlint.interpreter.registered import Known, registered
from detlint.interpreter.scripts import Scripts
from detlint.interpreter.search import Search
from detlint.ir import nodes as ir
from detlint.sources.imports import Imports

T = TypeVar("T")
Ways = tuple[tuple[str, Atom | Option], ...]
_DEEPEST = 60  # calls that are evaluated at once, each within the other


class Entry:
    """A node of the table: what callers give, by caller and parameter, and what it gives."""

    __slots__ = (
        "active",
        "asks",
        "awaits",
        "by_caller",
        "callers",
        "evaluations",
        "file",
        "function",
        "inputs",
        "node",
        "order",
        "queued",
        "reads",
        "summary",
        "watched",
    )

    def __init__(self, node: Node, file: ir.File, function: ir.Function) -> None:
        self.node = node
        self.file = file
        self.function = function
        self.inputs: dict[str, Value] = {}
        self.by_caller: dict[Node | None, dict[str, Value]] = {}
        self.callers: dict[Node, None] = {}
        self.reads: dict[Cell, None] = {}
        self.awaits: dict[Cell, None] = {}  # cells in which something is taken to be stored later
        self.summary = Summary()
        self.watched = 0
        self.evaluations = 0
        self.order = 0.0
        self.queued = False
        self.active = False
        self.asks: set[Kind] = set()  # of which taints it matters what is certain


class Solver:
    """Solves the values of a group of programs.

    `evaluate` gives the summary of an entry; it calls `enter`, `read` and `write`. `shuffle` is the seed of another
    order of work, which changes no result. `below` is a solver of programs: what no program reaches is solved over the
    top levels that it ran and what it left in its heap, which stay as they are. Where states at calls are `asked` for,
    effects say where calls are.
    """

    def __init__(
        self,
        files: Mapping[str, ir.File],
        imports: Imports,
        libraries: Libraries,
        evaluate: Callable[[Solver, Entry], Summary],
        limits: Limits,
        *,
        started: frozenset[str] = frozenset(),
        shuffle: int | None = None,
        strict: bool = False,
        below: Solver | None = None,
        asked: bool = False,
        documents: Documents | None = None,
    ) -> None:
        self.files = files
        self.imports = imports
        self.evaluate = evaluate
        self.limits = limits
        self.started = started
        self.below = below
        self.asked = asked
        self.lattice: Lattice = Lattice(limits, strict) if below is None else below.lattice
        self.heap: Heap = Heap(self.lattice, below.heap if below is not None else None)
        self.index: Index = Index(files) if below is None else below.index
        self.firsts: Firsts = Firsts(files) if below is None else below.firsts
        self.search: Search = Search(files, imports, libraries.same_path, started) if below is None else below.search
        found = documents if below is None else below.documents
        assert found is not None
        self.documents: Documents = found
        self.scripts: Scripts = Scripts(files, imports, started) if below is None else below.scripts
        self.table: dict[Node, Entry] = {}
        self.coarse: dict[tuple[str, str], None] = {}
        self.many: dict[tuple[str, str], None] = {}
        self.libraries = libraries
        self.registered: Known = registered(files, libraries.followed) if below is None else below.registered
        self.expressions = 0
        self._contexts: dict[tuple[str, str], dict[tuple[FunctionRef, Context], None]] = defaultdict(dict)
        self._tested: dict[tuple[str, str], dict[Ways, None]] = defaultdict(dict)
        self._queue: list[tuple[int, float, int, Entry]] = []
        self._round, self._now = 0, 0.0
        self._pushed = 0
        self._finished = 0
        self.given_up: dict[Cell, None] = {}
        self._random = random.Random(shuffle) if shuffle is not None else None
        self._depth = 0

    def is_registered(self, function: FunctionRef) -> bool:
        """Whether settings tell what a function does to generators."""
        return (function.file, function.name) in self.registered

    # The table

    def entry(self, node: Node) -> Entry:
        """The entry of a node, new where there is none."""
        found = self.table.get(node)
        if found is None:
            file = self.files[node.function.file]
            found = self.table[node] = Entry(node, file, file.functions[node.function.name])
        return found

    def is_full(self, function: FunctionRef, contexts: Iterable[Context]) -> bool:
        """Whether a function would have more contexts than it may with these."""
        key = function.file, function.name
        if key in self.coarse:
            return True
        known = self._contexts[key]
        if len(known) + sum((function, context) not in known for context in contexts) <= self.limits.contexts:
            known.update(dict.fromkeys((function, context) for context in contexts))
            return False
        self.lattice.meet()
        self.coarse[key] = None
        return True

    def is_tested(self, function: FunctionRef, ways: Iterable[Ways]) -> bool:
        """Whether the tests of a function would tell more of its calls apart than they may with these."""
        key = function.file, function.name
        if key in self.many:
            return True
        known = self._tested[key]
        if len({*known, *ways}) <= self.limits.tests:
            known.update(dict.fromkeys(ways))
            return False
        self.lattice.meet()
        self.many[key] = None
        return True

    def nearest(self, function: FunctionRef, context: Context) -> Context:
        """The context in which a function is evaluated for one that a call chooses: that one."""
        return context

    def enter(self, caller: Entry | None, node: Node, given: Mapping[str, Value]) -> Summary:
        """Call a node with values for its parameters, and give what it gives so far."""
        if self.below is not None and node.function.name in (ir.TOP, ir.MAIN) and node in self.below.table:
            return self.below.table[node].summary
        entry = self.entry(node)
        grown = entry.evaluations == 0 and not entry.active
        if self.below is None:  # who gave what, for what one program sees of it
            own = entry.by_caller.setdefault(caller.node if caller is not None else None, {})
            given = {name: value for name, value in given.items() if own.get(name) is not self.lattice.stored(value)}
            self._join(own, given)
        if self._join(entry.inputs, given) or grown:
            at_once = entry.evaluations == 0 and not entry.active and self._depth < _DEEPEST
            if at_once and (self._random is None or self._random.random() < 0.5):
                self._run(entry)
            else:
                self.push(entry)
        if caller is not None:  # from here on: until now it waited for what the node gives
            entry.callers[caller.node] = None
        return entry.summary

    def _join(self, into: dict[str, Value], given: Mapping[str, Value]) -> bool:
        """Join the values of parameters; whether some grew."""
        grown = False
        for name, value in given.items():
            before = into.get(name, NOTHING)
            after = self.lattice.join(before, self.lattice.stored(value))
            if after is not before:
                into[name] = after
                grown = True
        return grown

    def push(self, entry: Entry) -> None:
        """Evaluate an entry later."""
        if not entry.queued:
            entry.queued = True
            self._pushed += 1
            if self._random is not None:
                place = (0, self._random.random())
            else:  # callees before callers, in rounds: a cycle of calls is gone through as a whole
                place = (self._round + (entry.order <= self._now), entry.order)
            heappush(self._queue, (*place, self._pushed, entry))

    def solve(self) -> None:
        """Evaluate until nothing grows; what nobody is known to store where it is awaited then may be anything."""
        while self._queue or self._give_up():
            self._round, self._now, _, entry = heappop(self._queue)
            entry.queued = False
            self._run(entry)

    def _give_up(self) -> bool:
        """Await cells no more that have nothing in the end: whether there are any that somebody reads."""
        for entry in self.shuffled(self.table.values()):
            lacking = [cell for cell in entry.awaits if not self.heap.read(cell).atoms]
            if lacking:
                self.given_up.update(dict.fromkeys(lacking))
                self.push(entry)
        return bool(self._queue)

    def _run(self, entry: Entry) -> None:
        entry.active = True
        entry.evaluations += 1
        entry.reads, entry.awaits = {}, {}
        self._depth += 1
        summary = self.evaluate(self, entry)
        self._depth -= 1
        entry.active = False
        if entry.evaluations == 1:
            self._finished += 1
            entry.order = self._finished
        old = entry.summary
        summary.returns = self.lattice.join(old.returns, self.lattice.stored(summary.returns))
        summary.writes |= old.writes
        summary.changed = {
            name: self.lattice.join(old.changed.get(name, NOTHING), self.lattice.stored(value))
            for name, value in summary.changed.items()
        }
        grown = summary.returns is not old.returns or summary.changed != old.changed
        written = summary.writes & ~old.writes
        entry.summary = summary
        if grown:
            for caller in self.shuffled(entry.callers):
                self.push(self.table[caller])
        if written:
            self._spread(entry, written)

    def _spread(self, entry: Entry, written: int) -> None:
        """Tell callers what a node may write; those that hold some of it are evaluated again."""
        waiting = [entry]
        while waiting:
            for name in self.shuffled(waiting.pop().callers):
                caller = self.table[name]
                if caller.watched & written:
                    self.push(caller)
                if written & ~caller.summary.writes:
                    caller.summary.writes |= written
                    waiting.append(caller)

    def shuffled(self, each: Iterable[T]) -> list[T]:
        """Things in the order in which they are worked on."""
        found = list(each)
        if self._random is not None:
            self._random.shuffle(found)
        return found

    # The heap

    def read(self, reader: Entry, cell: Cell) -> Value:
        """What a cell holds; the reader is evaluated again when that grows."""
        self.heap.readers[cell][reader.node] = None
        reader.reads[cell] = None
        return self.heap.read(cell)

    def read_others(self, reader: Entry, cell: Cell) -> Value:
        """What others than the reader left in a cell."""
        self.heap.readers[cell][reader.node] = None
        reader.reads[cell] = None
        return self.heap.others(cell, reader.node)

    def awaits(self, reader: Entry, cell: Cell) -> bool:
        """Whether a cell that is read may have something once all is solved."""
        if cell in self.given_up:
            return False
        reader.awaits[cell] = None
        return True

    def write(self, writer: Entry, cell: Cell, value: Value) -> None:
        """Leave a value in a cell."""
        if value.atoms and self.heap.write(cell, writer.node, self.lattice.stored(value)):
            for reader in self.shuffled(self.heap.readers[cell]):
                self.push(self.table[reader])

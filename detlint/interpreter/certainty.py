"""Which taints values surely have: solved once it stands what they may be.

What may be only grows and what is sure only shrinks, so that the two cannot be solved together: whether a container was
still empty when something joined it is known at the end alone. Here nothing changes but `Value.certain`: it begins with
all that a value may have, and nodes are evaluated until none is left that something takes away. Only nodes are
evaluated from which one has tainted values that asks what is certain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from detlint.domain.atoms import Context, FunctionRef, Node
from detlint.domain.slots import Cell
from detlint.domain.summaries import Summary
from detlint.domain.taints import Kind
from detlint.domain.values import NOTHING, Value, kinds_of, possible, surely, tainted
from detlint.interpreter.solver import Entry, Solver, Ways


class Certainty(Solver):
    """A solver of what is certain, over the table and the heap of one that has solved what may be."""

    def __init__(self, solved: Solver, above: Certainty | None = None) -> None:
        self.__dict__.update(solved.__dict__)
        self.solved = solved
        self._above = above
        self._given: dict[Node, dict[str, Value]] = {}  # by the node that is evaluated
        self._written: dict[Cell, Value] = {}
        self._cells: dict[Node, list[Cell]] = defaultdict(list)  # tainted ones, by who writes them
        self._callees: dict[Node, list[Node]] = defaultdict(list)  # that are given tainted values
        self._nodes: dict[Node, None] = {}
        self.looked_for: dict[tuple[Cell, Kind], None] = {}
        self._kinds: dict[Value, frozenset[Kind]] = {}  # of the taints of a value

    def settle(self) -> None:
        """Find what is certain."""
        self._begin()
        for node in self.shuffled(self._nodes):
            self.push(self.table[node])
        self.solve()
        self.solved.expressions = self.expressions

    def _begin(self) -> None:
        """Let all that may be be certain that is asked for, and note which nodes this has to do with."""
        needed = self.needed
        nodes: set[Node] = set()
        for cell in {cell: None for node in needed for cell in self.table[node].reads}:
            if tainted(self.heap.read(cell)):
                nodes.update(self.heap.readers.get(cell, ()))
                for writer, value in self.heap.cells.get(cell, {}).items():
                    if tainted(value):
                        self.heap.cells[cell][writer] = surely(value)
                        self._cells[writer].append(cell)
                self.heap.rejoin(cell)
        for node in needed:
            entry = self.table[node]
            for caller, given in entry.by_caller.items():
                if caller is not None and any(map(tainted, given.values())):
                    self._callees[caller].append(node)
                    nodes.add(node)
                    given.update({name: surely(value) for name, value in given.items()})
            entry.inputs = self._joined(entry)
            summary = entry.summary
            if any(map(tainted, (summary.returns, *summary.changed.values()))):
                nodes.update((node, *entry.callers))
                summary.returns = surely(summary.returns)
                summary.changed = {name: surely(value) for name, value in summary.changed.items()}
        nodes.update(self._cells, self._callees)
        self._nodes = {node: None for node in needed if node in nodes}

    @cached_property
    def needed(self) -> dict[Node, None]:
        """The nodes that ask which taints are certain, and those from which they may have these.

        What no program reaches, solved `above`, may ask for those of what programs leave.
        """
        callees: dict[Node, list[Entry]] = defaultdict(list)
        for entry in self.table.values():
            for caller in entry.callers:
                callees[caller].append(entry)
        waiting = [(node, kind) for node, entry in self.table.items() for kind in entry.asks]
        if self._above is not None and self._above.needed:
            waiting += [(each, kind) for cell, kind in self._above.looked_for for each in self._writers(cell, kind)]
        needed: set[tuple[Node, Kind]] = set()
        while waiting:
            node, kind = asked = waiting.pop()
            if asked in needed:
                continue
            needed.add(asked)
            entry = self.table[node]
            found = [caller for caller, given in entry.by_caller.items() if caller and self._has(given.values(), kind)]
            for callee in callees[node]:
                summary, given = callee.summary, callee.by_caller.get(node, {})
                if self._has((summary.returns, *summary.changed.values(), *given.values()), kind):
                    found.append(callee.node)
            for cell in entry.reads:
                self.looked_for[cell, kind] = None
                found += self._writers(cell, kind)
            waiting += [(each, kind) for each in found]
        nodes = {node for node, _ in needed}
        return {node: None for node in self.table if node in nodes}

    def _writers(self, cell: Cell, kind: Kind) -> list[Node]:
        """The nodes that leave values with a kind of taints in a cell."""
        return [writer for writer, value in self.heap.cells.get(cell, {}).items() if self._has((value,), kind)]

    def _has(self, values: Iterable[Value], kind: Kind) -> bool:
        """Whether one of some values has a kind of taints, in itself or in a part."""
        for value in values:
            kinds = self._kinds.get(value)
            if kinds is None:
                kinds = self._kinds[value] = kinds_of(value)
            if kind in kinds:
                return True
        return False

    def is_full(self, function: FunctionRef, contexts: Iterable[Context]) -> bool:
        """Whether the function had too many contexts: it has them still."""
        return (function.file, function.name) in self.coarse

    def is_tested(self, function: FunctionRef, ways: Iterable[Ways]) -> bool:
        """Whether the tests of the function told too many of its calls apart: they do still."""
        return (function.file, function.name) in self.many

    def push(self, entry: Entry) -> None:
        """Evaluate an entry later, if that has to do with tainted values."""
        if entry.node in self._nodes:
            super().push(entry)

    def enter(self, caller: Entry | None, node: Node, given: Mapping[str, Value]) -> Summary:
        """What a node gives so far; note what it is given."""
        entry = self.table.get(node) or (self.below.table.get(node) if self.below is not None else None)
        if entry is None:
            return Summary()
        noted = self._given.setdefault(node, {})
        for name, value in given.items():
            noted[name] = self.lattice.join(noted.get(name, NOTHING), self.lattice.bounded(value))
        return entry.summary

    def write(self, writer: Entry, cell: Cell, value: Value) -> None:
        """Note what is written."""
        if value.atoms:
            self._written[cell] = self.lattice.join(self._written.get(cell, NOTHING), self.lattice.bounded(value))

    def _run(self, entry: Entry) -> None:
        entry.evaluations += 1
        self._given, self._written = {}, {}
        summary = self.evaluate(self, entry)
        old = entry.summary
        summary.writes |= old.writes
        summary.returns = _with_certain(old.returns, self.lattice.bounded(summary.returns))
        summary.changed = {
            name: _with_certain(value, self.lattice.bounded(summary.changed.get(name, NOTHING)))
            for name, value in old.changed.items()
        }
        entry.summary = summary
        if summary.returns != old.returns or summary.changed != old.changed:
            for caller in self.shuffled(entry.callers):
                self.push(self.table[caller])
        for cell in self._cells.get(entry.node, ()):
            self._rewrite(entry.node, cell)
        for callee in self._callees.get(entry.node, ()):
            self._give(entry.node, self.table[callee])

    def _rewrite(self, writer: Node, cell: Cell) -> None:
        """Leave in a cell what is certain of what was written."""
        old = self.heap.cells[cell][writer]
        new = _with_certain(old, self._written.get(cell, NOTHING))
        if new != old:
            self.heap.cells[cell][writer] = new
            self.heap.rejoin(cell)
            for reader in self.shuffled(self.heap.readers.get(cell, ())):
                self.push(self.table[reader])

    def _give(self, caller: Node, callee: Entry) -> None:
        """Give a node what is certain of what a caller gives."""
        given, now = callee.by_caller[caller], self._given.get(callee.node, {})
        new = {name: _with_certain(value, now.get(name, NOTHING)) for name, value in given.items()}
        if new != given:
            callee.by_caller[caller] = new
            callee.inputs = self._joined(callee)
            self.push(callee)

    def _joined(self, entry: Entry) -> dict[str, Value]:
        """What all callers give a node."""
        found = dict(entry.inputs) if not entry.by_caller else {}
        for given in entry.by_caller.values():
            for name, value in given.items():
                found[name] = self.lattice.join(found.get(name, NOTHING), value)
        return found


def _with_certain(old: Value, new: Value) -> Value:
    """What was solved, with what is certain now; nothing is where a limit made it something else."""
    return new if possible(new) == possible(old) else possible(old)

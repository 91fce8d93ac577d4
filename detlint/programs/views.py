"""What one program sees of what was solved for all: its own nodes, and what these wrote and were given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from detlint.domain.atoms import Context, FunctionRef, Node
from detlint.domain.slots import Cell
from detlint.domain.summaries import Summary
from detlint.domain.values import NOTHING, Value
from detlint.interpreter.solver import Entry, Solver
from detlint.ir import nodes as ir

Callees = Mapping[Node, list[Node]]


def callees(solver: Solver) -> Callees:
    """The nodes that each node calls or imports."""
    found: dict[Node, list[Node]] = defaultdict(list)
    for node, entry in solver.table.items():
        for caller in entry.callers:
            found[caller].append(node)
    return found


def members(called: Callees, start: Node) -> frozenset[Node]:
    """The nodes that the program which a node starts reaches; the `__main__` blocks of other files are not its own."""
    own = Node(FunctionRef(start.function.file, ir.MAIN)) if start.function.name == ir.TOP else None
    found = {start}
    waiting = [start]
    while waiting:
        for node in called.get(waiting.pop(), ()):
            if node not in found and (node.function.name != ir.MAIN or node == own):
                found.add(node)
                waiting.append(node)
    return frozenset(found)


@dataclass
class View:
    """The summaries of a program's nodes where they are others than those for all programs together."""

    nodes: frozenset[Node]
    own: dict[Node, Summary] = field(default_factory=dict)


class _Narrowed(Solver):
    """A solver for the evaluations of one program: it reads what the program's nodes wrote, and writes nothing."""

    def __init__(self, whole: Solver, view: View) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole = whole
        self.view = view
        self._cells: dict[Cell, Value] = {}

    def seen(self, cell: Cell) -> Value:
        """What the program's nodes left in a cell."""
        found = self._cells.get(cell)
        if found is None:
            writers = self.whole.heap.cells.get(cell, {})
            if all(writer in self.view.nodes for writer in writers):
                found = self.whole.heap.read(cell)
            else:
                found = self.lattice.all(value for writer, value in writers.items() if writer in self.view.nodes)
            self._cells[cell] = found
        return found

    def is_full(self, function: FunctionRef, contexts: Iterable[Context]) -> bool:
        """Whether the function had too many contexts: it has them still."""
        return (function.file, function.name) in self.coarse

    def enter(self, caller: Entry | None, node: Node, given: Mapping[str, Value]) -> Summary:
        """What a node gives in this program, as far as that is known."""
        if node in self.view.own:
            return self.view.own[node]
        return self.whole.table[node].summary if node in self.whole.table else Summary()

    def read(self, reader: Entry, cell: Cell) -> Value:
        """What the program left in a cell."""
        return self.seen(cell)

    def read_others(self, reader: Entry, cell: Cell) -> Value:
        """What others than the reader left in a cell, of the program's nodes."""
        writers = self.whole.heap.cells.get(cell, {})
        seen = (value for writer, value in writers.items() if writer in self.view.nodes and writer != reader.node)
        return self.lattice.all(seen)

    def write(self, writer: Entry, cell: Cell, value: Value) -> None:
        """Write nothing: what is written was solved."""


def view(whole: Solver, called: Callees, file: str, command: Node | None = None) -> View:
    """What the program that a file starts sees, or that a console script starts with a node.

    A node is evaluated again, callees first, where it was given something by a node of another program alone, reads
    what such a node wrote, or calls a node that gives something else in this program.
    """
    found = View(members(called, command or Node(FunctionRef(file, ir.TOP))))
    narrowed = _Narrowed(whole, found)
    changed: set[Node] = set()
    for entry in sorted((whole.table[node] for node in found.nodes), key=lambda entry: entry.order):
        inputs = _inputs(whole, entry, found)
        same = inputs == entry.inputs and changed.isdisjoint(called.get(entry.node, ()))
        if same and all(narrowed.seen(cell) is whole.heap.read(cell) for cell in entry.reads):
            continue
        again = Entry(entry.node, entry.file, entry.function)
        again.inputs = inputs
        summary = found.own[entry.node] = whole.evaluate(narrowed, again)
        if summary.returns != entry.summary.returns or summary.changed != entry.summary.changed:
            changed.add(entry.node)
    return found


def _inputs(whole: Solver, entry: Entry, found: View) -> dict[str, Value]:
    """What the program's nodes give an entry."""
    own = [given for caller, given in entry.by_caller.items() if caller is None or caller in found.nodes]
    if len(own) == len(entry.by_caller):
        return entry.inputs
    names = {name: None for given in own for name in given}
    return {name: whole.lattice.all(given.get(name, NOTHING) for given in own) for name in names}

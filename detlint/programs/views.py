"""What one program sees of what was solved for all: its own nodes, and what these wrote and were given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from detlint.domain import effects as e
from detlint.domain.atoms import Constant, Context, Cut, Formal, FunctionRef, Node, NotNone, Unknown
from detlint.domain.effects import Effects
from detlint.domain.slots import Cell
from detlint.domain.summaries import Summary
from detlint.domain.values import NOTHING, Value, told
from detlint.interpreter.solver import Entry, Solver, Ways
from detlint.ir import nodes as ir

_ACTING = (e.Draw, e.Seed, e.SetSwitch, e.Listed, e.Made, e.Spawn, e.Mark)
_HOLDING = (e.Repeat, e.Apart, e.Restoring, e.Scope, e.Around, e.Later)
_PLAIN = (Unknown, NotNone, Cut, Formal)
Given = Mapping[Node, Mapping[str, Value]]


@dataclass
class View:
    """The summaries of a program's nodes where they are others than those for all programs together.

    `given` is what these nodes then give others that they call.
    """

    nodes: frozenset[Node]
    own: dict[Node, Summary] = field(default_factory=dict)
    given: dict[Node, Given] = field(default_factory=dict)


@dataclass(frozen=True)
class _Known:
    """What a node gave in a program: where it was given the same, read the same and called the same, it does again."""

    inputs: Mapping[str, Value]
    cells: tuple[tuple[Cell, bool, Value], ...]
    called: tuple[tuple[Node, Summary], ...]
    summary: Summary
    given: Given


class _Narrowed(Solver):
    """A solver for the evaluations of one program: it reads what the program's nodes wrote, and writes nothing."""

    def __init__(self, whole: Solver, view: View, solved: Mapping[FunctionRef, list[Context]]) -> None:
        self.__dict__.update(whole.__dict__)
        self.whole = whole
        self.view = view
        self.solved = solved  # the contexts of each function
        self._cells: dict[Cell, Value] = {}
        self.looked: dict[tuple[Cell, bool], Value] = {}  # at cells: at what all left there, or others than the reader
        self.called: dict[Node, Summary] = {}
        self.given: dict[Node, Mapping[str, Value]] = {}

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

    def others(self, cell: Cell, reader: Node) -> Value:
        """What others than the reader left in a cell, of the program's nodes."""
        writers = self.whole.heap.cells.get(cell, {})
        seen = (value for writer, value in writers.items() if writer in self.view.nodes and writer != reader)
        return self.lattice.all(seen)

    def summary(self, node: Node) -> Summary:
        """What a node gives in this program, as far as that is known."""
        found = self.view.own.get(node)
        if found is None:
            found = self.whole.table[node].summary if node in self.whole.table else _NOTHING
        return found

    def is_full(self, function: FunctionRef, contexts: Iterable[Context]) -> bool:
        """Whether the function had too many contexts: it has them still."""
        return (function.file, function.name) in self.coarse

    def is_tested(self, function: FunctionRef, ways: Iterable[Ways]) -> bool:
        """Whether the tests of the function told too many of its calls apart: they do still."""
        return (function.file, function.name) in self.many

    def nearest(self, function: FunctionRef, context: Context) -> Context:
        """The context that was solved for one that this program's values choose: all programs have coarser ones."""
        if Node(function, context) in self.whole.table:
            return context
        solved = self.solved.get(function, ())
        within = [each for each in solved if each.receiver == context.receiver and {*each.given} <= {*context.given}]
        return max(within, key=lambda each: (len(each.given), told(each)), default=context)

    def enter(self, caller: Entry | None, node: Node, given: Mapping[str, Value]) -> Summary:
        """What a node gives in this program."""
        old = self.given.get(node, {})
        self.given[node] = {name: self.lattice.join(old.get(name, NOTHING), value) for name, value in given.items()}
        found = self.called[node] = self.summary(node)
        return found

    def read(self, reader: Entry, cell: Cell) -> Value:
        """What the program left in a cell."""
        found = self.looked[cell, False] = self.seen(cell)
        return found

    def read_others(self, reader: Entry, cell: Cell) -> Value:
        """What others than the reader left in a cell."""
        found = self.looked[cell, True] = self.others(cell, reader.node)
        return found

    def write(self, writer: Entry, cell: Cell, value: Value) -> None:
        """Write nothing: what is written was solved."""


class Views:
    """The views that programs have of what was solved for all.

    A node is evaluated again, callees first, where it was given something by a node of another program alone, reads
    what such a node wrote, or calls a node that gives something else in this program; and only one that acts, or gives
    one that acts more than a plain value. What it gave in one program it gives in others that see the same.
    """

    def __init__(self, whole: Solver) -> None:
        self.whole = whole
        self.called: dict[Node, list[Node]] = defaultdict(list)
        self._solved: dict[FunctionRef, list[Context]] = defaultdict(list)
        for node, entry in whole.table.items():
            self._solved[node.function].append(node.context)
            for caller in entry.callers:
                self.called[caller].append(node)
        self._telling = self._found()
        self._known: dict[Node, list[_Known]] = defaultdict(list)

    def of(self, file: str, command: Node | None = None) -> View:
        """What the program that a file starts sees, or that a console script starts with a node."""
        found = View(self.members(command or Node(FunctionRef(file, ir.TOP))))
        narrowed = _Narrowed(self.whole, found, self._solved)
        changed: set[Node] = set()
        entries = (self.whole.table[node] for node in found.nodes if node in self._telling)
        for entry in sorted(entries, key=lambda entry: entry.order):
            inputs = self.inputs(entry, found)
            same = inputs == entry.inputs and changed.isdisjoint(self.called.get(entry.node, ()))
            if same and all(narrowed.seen(cell) is self.whole.heap.read(cell) for cell in entry.reads):
                continue
            known = self._evaluated(narrowed, entry, inputs)
            summary, found.given[entry.node] = known.summary, known.given
            found.own[entry.node] = summary
            if summary.returns != entry.summary.returns or summary.changed != entry.summary.changed:
                changed.add(entry.node)
        return found

    def members(self, start: Node) -> frozenset[Node]:
        """The nodes that the program of a node reaches; the `__main__` blocks of other files are not its own.

        A function is called once its file was loaded, by something else than what other programs alone let it reach.
        """
        own = Node(FunctionRef(start.function.file, ir.MAIN)) if start.function.name == ir.TOP else None
        found = {start}
        loaded = {start.function.file}
        held: dict[str, list[Node]] = defaultdict(list)
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for callee in self.called.get(node, ()):
                path, name = callee.function.file, callee.function.name
                if callee in found or (name == ir.MAIN and callee != own):
                    continue
                top = Node(FunctionRef(path, ir.TOP))
                if callee == top:
                    loaded.add(path)
                elif path not in loaded and top in self.whole.table:
                    held[path].append(callee)
                    continue
                news = dict.fromkeys((callee, *held.pop(path, ())))
                waiting += [each for each in news if each not in found]
                found.update(news)
        return frozenset(found)

    def _evaluated(self, narrowed: _Narrowed, entry: Entry, inputs: Mapping[str, Value]) -> _Known:
        """What a node gives from inputs of one program: as in another program that sees the same, or anew."""
        for known in self._known[entry.node]:
            if known.inputs == inputs and _holds(known, narrowed, entry.node):
                return known
        again = Entry(entry.node, entry.file, entry.function)
        again.inputs = dict(inputs)
        narrowed.looked, narrowed.called, narrowed.given = {}, {}, {}
        summary = self.whole.evaluate(narrowed, again)
        cells = tuple((cell, others, value) for (cell, others), value in narrowed.looked.items())
        found = _Known(inputs, cells, tuple(narrowed.called.items()), summary, narrowed.given)
        self._known[entry.node].append(found)
        return found

    def inputs(self, entry: Entry, found: View) -> dict[str, Value]:
        """What the program's nodes give an entry."""
        own = [
            given if caller is None else found.given.get(caller, {}).get(entry.node, given)
            for caller, given in entry.by_caller.items()
            if caller is None or caller in found.nodes
        ]
        if len(own) == len(entry.by_caller) and found.given.keys().isdisjoint(entry.by_caller):
            return entry.inputs
        names = {name: None for given in own for name in given}
        return {name: self.whole.lattice.all(given.get(name, NOTHING) for given in own) for name in names}

    def _found(self) -> frozenset[Node]:
        """The nodes that act, and those that give such a node something that tells more than a plain value."""
        table = self.whole.table
        acting = (node for node, each in table.items() if each.summary.flows or any(_acts(each.summary.effects)))
        found = set(acting)
        waiting = list(found)
        while waiting:
            callers = [caller for caller in table[waiting.pop()].callers if caller not in found]
            found.update(callers)
            waiting += callers
        waiting = list(found)
        while waiting:
            for callee in self.called.get(waiting.pop(), ()):
                summary = table[callee].summary
                if callee not in found and (summary.changed or not _is_plain(summary.returns)):
                    found.add(callee)
                    waiting.append(callee)
        return frozenset(found)


_NOTHING = Summary()


def _holds(known: _Known, narrowed: _Narrowed, node: Node) -> bool:
    """Whether a node sees in a program what it saw in another."""
    if any(narrowed.summary(callee) is not summary for callee, summary in known.called):
        return False
    return all(
        (narrowed.others(cell, node) if others else narrowed.seen(cell)) == value for cell, others, value in known.cells
    )


def _acts(effects: Effects) -> Iterator[bool]:
    """Whether effects do anything to generators and switches, or say what a program is for."""
    for effect in effects:
        if isinstance(effect, _ACTING):
            yield True
        elif isinstance(effect, (e.Branch, e.First)):
            yield from _acts(effect.body)
            yield from _acts(effect.orelse)
        elif isinstance(effect, e.Dispatch):
            for arm in effect.arms:
                yield from _acts(arm)
        elif isinstance(effect, _HOLDING):
            yield from _acts(effect.body)


def _is_plain(value: Value) -> bool:
    """Whether a value says no more than what any number would."""
    return all(isinstance(a, _PLAIN) or (isinstance(a, Constant) and a.kind == "None") for a in value.atoms)

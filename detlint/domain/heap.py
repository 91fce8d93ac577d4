"""The heap: what each slot holds, by who wrote it."""

from __future__ import annotations

from collections import defaultdict

from detlint.domain.atoms import Node
from detlint.domain.lattice import Lattice
from detlint.domain.slots import Base, Cell
from detlint.domain.values import NOTHING, Value


class Heap:
    """Cells with a value for each node that writes them; a read joins these.

    `below` is a heap that is read as well and never written.
    """

    def __init__(self, lattice: Lattice, below: Heap | None = None) -> None:
        self.lattice = lattice
        self.below = below
        self.cells: dict[Cell, dict[Node, Value]] = {}
        self.joined: dict[Cell, Value] = {}
        self.readers: dict[Cell, dict[Node, None]] = defaultdict(dict)
        self.growths = 0  # how often a cell grew
        self.derivations = 0  # and one of the bases of a class
        self._bits: dict[object, int] = {} if below is None else below._bits

    def read(self, cell: Cell) -> Value:
        """What all writers left in a cell."""
        found = self.joined.get(cell, NOTHING)
        if self.below is not None:
            found = self.lattice.join(self.below.read(cell), found)
        return found

    def others(self, cell: Cell, node: Node) -> Value:
        """What all writers but one left in a cell."""
        writers = self.cells.get(cell, {})
        found = NOTHING if self.below is None else self.below.read(cell)
        for writer, value in writers.items():
            if writer is not node and writer != node:
                found = self.lattice.join(found, value)
        return found

    def write(self, cell: Cell, writer: Node, value: Value) -> bool:
        """Leave a value in a cell; whether the cell grew."""
        writers = self.cells.setdefault(cell, {})
        old = writers.get(writer, NOTHING)
        new = self.lattice.join(old, value)
        if new is old:
            return False
        writers[writer] = new
        joined = self.joined.get(cell, NOTHING)
        grown = self.lattice.join(joined, new)
        if grown is joined:
            return False
        self.joined[cell] = grown
        self.growths += 1
        self.derivations += isinstance(cell[1], Base)
        return True

    def rejoin(self, cell: Cell) -> None:
        """Join anew what the writers of a cell left."""
        if cell in self.cells:
            self.joined[cell] = self.lattice.all(self.cells[cell].values())

    def bit(self, written: object) -> int:
        """A bit that stands for what is written: a slot of whatever object, or a variable."""
        return 1 << self._bits.setdefault(written, len(self._bits))

"""What an index or a slice of a value does whose items stand in an arbitrary order."""

from __future__ import annotations

from detlint.orders.calls import Calls
from detlint.semantics.values import literal
from detlint.tree import syntax as s


def subscripted(calls: Calls, node: s.Subscript, of: str = "") -> str:
    """Return "passes" where what is taken has the order, too, the kind of a leak, or "" where the order is no matter.

    `of` is "table" for one of rows and columns.
    """
    counts, index = calls.loops.counts, node.indices[0]
    if len(node.indices) != 1 or counts.only_one(node) or counts.is_found(index):
        return ""
    if counts.goes_through(index):
        return "numbers" if counts.keeps_count(index) else ""
    if isinstance(node.parent, s.Operation) and node.parent.operator == "f-string":
        return ""  # an example in a message
    if isinstance(literal(index), str) and not of:
        return ""  # an entry of a mapping
    if of and not isinstance(index, s.Slice) and not isinstance(literal(index), int):
        return "passes" if isinstance(literal(index), str) else ""  # a column, or the rows that a mask tells
    if isinstance(index, s.Slice) and calls.joins(node):
        return "passes"
    if calls.loops.only_told(node):
        return ""
    return "first" if isinstance(index, s.Constant) and index.value == 0 else "position"

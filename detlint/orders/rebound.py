"""Bindings of a name that are overwritten before it is read, which their order alone does not show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile

from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, reaching


class Live:
    """Finds the bindings that may give a name its value, cached by name node."""

    def __init__(self) -> None:
        self._known: dict[s.Name, list[Binding]] = {}

    def __call__(self, read: s.Name) -> list[Binding]:
        """Return the bindings that may give `read` its value, without those that every path to it overwrites."""
        found = self._known.get(read)
        if found is None:
            reached = reaching(read) or []
            several = len(reached) > 1
            found = [each for each in reached if not (several and _is_overwritten(each, read))]
            self._known[read] = found
        return found


def _is_overwritten(binding: Binding, read: s.Name) -> bool:
    statement = _statement(binding.node)
    if statement is None or binding.node.order > read.order:
        return False
    around = {id(node) for node in read.ancestors()}
    while isinstance(statement.parent, s.Block):
        if any(_rebinds(other, read) for other in _between(statement, read) if id(other) not in around):
            return True
        if id(statement.parent) in around or not isinstance(statement.parent.parent, (s.If, s.With)):
            return False
        statement = statement.parent.parent
    return False


def _between(statement: s.Statement, read: s.Name) -> Iterator[s.Statement]:
    """Yield the statements that follow one in its block, up to where a name is read."""
    statements = statement.parent.statements if isinstance(statement.parent, s.Block) else []
    later = islice(statements, statements.index(statement) + 1, None)
    yield from takewhile(lambda other: statement.order < other.order < read.order, later)


def _statement(node: s.Node) -> s.Statement | None:
    if isinstance(node, s.Statement):
        return node
    return next((a for a in node.ancestors() if isinstance(a, s.Statement)), None)


def _rebinds(node: s.Statement, read: s.Name) -> bool:
    """Return whether a statement gives a name a new value on every path through it."""
    if isinstance(node, s.Assign):
        return node.operator == "=" and any(_is_name(target, read) for target in node.targets)
    if isinstance(node, s.If):
        return all(block is not None and _ends(block, read) for block in (node.body, node.orelse))
    return isinstance(node, s.With) and _ends(node.body, read)


def _ends(block: s.Block, read: s.Name) -> bool:
    return any(_rebinds(each, read) or isinstance(each, s.Leave) for each in block.statements)


def _is_name(target: s.Expression, read: s.Name) -> bool:
    return isinstance(target, s.Name) and target.id == read.id

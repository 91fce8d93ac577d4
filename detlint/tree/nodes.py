"""The base classes of all nodes of `syntax`: their parent, their children, their place in evaluation order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from detlint.support.records import record


@record(slots=True, eq=False)
class Node:
    """A piece of syntax. `order` increases in evaluation order within a file: operands before their operation.

    `around` is the innermost function, lambda or class that contains the node. `origin` is the parser's own node; only
    the `positions` of that parser can interpret it.
    """

    parent: Node | None = field(default=None, init=False, repr=False)
    around: Enclosing | None = field(default=None, init=False, repr=False)
    order: int = field(init=False, repr=False)
    origin: object = field(init=False, repr=False)

    def below(self) -> list[Node]:
        """Return the direct children, in evaluation order, as a new list."""
        return []

    def __iter__(self) -> Iterator[Node]:
        """Iterate over the direct children, in evaluation order."""
        return iter(self.below())

    def ancestors(self) -> Iterator[Node]:
        """Yield the nodes around this one, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Expression(Node):
    """A node that has a value."""

    __slots__ = ()


class Statement(Node):
    """A node that is executed, in a block."""

    __slots__ = ()


class Enclosing(Statement):
    """A function, a lambda or a class."""

    __slots__ = ()


@record(slots=True, eq=False)
class Block(Node):
    """A sequence of statements: the body of a file, a function, a branch, a loop."""

    statements: list[Statement]

    def below(self) -> list[Node]:
        """Return the statements."""
        return [*self.statements]


def present(*nodes: Node | None) -> list[Node]:
    """Return those of `nodes` that are not None."""
    return [node for node in nodes if node is not None]


def walk(node: Node) -> Iterator[Node]:
    """Yield `node` and all nodes below it, in source order of statements, parents before children."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = current.below()
        if below:
            below.reverse()
            stack += below


def adopt(root: Node) -> list[Node]:
    """Set what all nodes below `root` are in; return `root` and these nodes in the order of `walk`."""
    found: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append(node)
        below = node.below()
        if below:
            around = node if isinstance(node, Enclosing) else node.around
            for child in below:
                child.parent = node
                child.around = around
            below.reverse()
            stack += below
    return found

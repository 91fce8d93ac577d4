"""What all nodes of `syntax` have in common: their parent, their children, their place in evaluation order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from detlint.support.records import record


@record(slots=True, eq=False)
class Node:
    """A piece of syntax. `order` grows in evaluation order within a file: operands before their operation.

    `origin` is what the parser made of it, which only `positions` of that parser know.
    """

    parent: Node | None = field(default=None, init=False, repr=False)
    order: int = field(init=False, repr=False)
    origin: object = field(init=False, repr=False)

    def below(self) -> list[Node]:
        """The direct children, in evaluation order: a new list."""
        return []

    def __iter__(self) -> Iterator[Node]:
        """The direct children, in evaluation order."""
        return iter(self.below())

    def ancestors(self) -> Iterator[Node]:
        """The nodes around this one, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Expression(Node):
    """What has a value."""

    __slots__ = ()


class Statement(Node):
    """What is done, in a block."""

    __slots__ = ()


@record(slots=True, eq=False)
class Block(Node):
    """A run of statements: the body of a file, a function, a branch, a loop."""

    statements: list[Statement]

    def below(self) -> list[Node]:
        """The statements."""
        return [*self.statements]


def present(*nodes: Node | None) -> list[Node]:
    """Those of `nodes` that are there."""
    return [node for node in nodes if node is not None]


def walk(node: Node) -> Iterator[Node]:
    """`node` and all below it, in source order of statements; parents before children."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        below = current.below()
        if below:
            below.reverse()
            stack += below


def adopt(root: Node) -> list[Node]:
    """Tell all nodes below `root` their parents; `root` and all of them, in the order of `walk`."""
    found: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        found.append(node)
        below = node.below()
        if below:
            for child in below:
                child.parent = node
            below.reverse()
            stack += below
    return found

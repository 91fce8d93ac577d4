"""Loops that write one element at a time and skip some."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.memory.uses import Store
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s

_LOOPS = (s.For, s.While, s.Comprehension)
_CHOICES = (s.If, s.Conditional, s.Match, s.Try)


def loops(call: s.Call, store: Store) -> list[s.Node]:
    """Return the loops that may run a store again for the same memory, even if allocated in one iteration alone."""
    above = list(call.ancestors())
    again = [a for a in store.node.ancestors() if isinstance(a, _LOOPS)]
    return [a for a in again if a not in above or any(isinstance(b, _CHOICES) for b in above[: above.index(a)])]


def skips(call: s.Call, store: Store, *, within: bool = False) -> bool:
    """Return whether a store to what `call` allocates is indexed by the counter of a loop that skips some iterations.

    It is where the store stands under an `if`, after a `continue`, or where a `break` may end the loop. The test must
    depend on the iteration; otherwise all elements are written or none. Only the innermost loop counts, unless
    `within`: an inner loop may search for what to write, and does find it. Where one constant is written, the search
    matters too.
    """
    around = loops(call, store)
    return any(isinstance(loop, s.For) and _passes_by(loop, store) for loop in (around if within else around[:1]))


def _passes_by(loop: s.For, store: Store) -> bool:
    """Return whether a loop whose counter is in the index of a store skips some of its iterations."""
    bound = {node.id for node in s.walk(loop.target) if isinstance(node, s.Name)}
    counted = (node for index in store.index or () for node in s.walk(index) if isinstance(node, s.Name))
    if not any(node.id in bound for node in counted):
        return False
    inside = bound | {node.id for node in s.walk(loop.body) if isinstance(node, s.Name) and node.stored}
    tests = [*_conditions(store.node, loop), *_left(store.node, loop)]
    return any(isinstance(n, s.Name) and n.id in inside for test in tests for n in s.walk(test))


def _conditions(node: s.Node, loop: s.For) -> Iterator[s.Expression]:
    """Yield the tests of the `if` statements around a node within a loop."""
    for around in node.ancestors():
        if around is loop or isinstance(around, (s.While, s.Match, s.Try, s.Function)):
            return
        if isinstance(around, s.If):
            yield around.test


def _left(node: s.Node, loop: s.For) -> Iterator[s.Expression]:
    """Yield the tests under which the loop ends, or ends an iteration before the store."""
    for leave in s.walk(loop.body):
        if not isinstance(leave, s.Leave) or leave.kind not in ("continue", "break"):
            continue
        home = next(a for a in leave.ancestors() if isinstance(a, (s.For, s.While)))
        choice = next((a for a in leave.ancestors() if isinstance(a, (s.If, s.Try, s.Match, s.For, s.While))), None)
        early = leave.kind == "break" or leave.order < node.order
        alike = isinstance(choice, s.If) and choice in list(node.ancestors())
        if home is loop and early and isinstance(choice, s.If) and not alike and literal(choice.test) is UNKNOWN:
            yield choice.test

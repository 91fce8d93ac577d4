"""A forward analysis over the statements of a function or a file: how a state changes along every path.

A state is any immutable value with `==`; `visit` changes it at a node, `join` merges two where paths meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from detlint.tree import syntax as s

S = TypeVar("S")


class Flow(Generic[S]):
    """One forward analysis.

    `visit(state, node)` returns the state after `node`, or None where the program goes no further. Nodes are visited in
    evaluation order, operands before operations, and a compound statement after all of its parts. Bodies of functions
    and lambdas do not run where they stand and are left out. A node is visited once for every state found there.
    `join` must be associative, commutative and idempotent. With `loops_run` every loop is assumed to run at least once,
    unless no run of it ends. Any expression inside a `try` may raise an exception before it changes the state; `with`
    suppresses none.
    """

    def __init__(
        self,
        visit: Callable[[S, s.Node], S | None],
        join: Callable[[S, S], S],
        *,
        loops_run: bool = False,
    ) -> None:
        self._visit = visit
        self._join = join
        self._loops_run = loops_run
        self._left: dict[str, S] = {}  # states in which the current construct is left, by kind of `Leave`
        self._tries = 0

    def run(self, block: s.Block, state: S) -> S | None:
        """Return the state at the end of `block`, or None where no path reaches it."""
        self._left = {}
        return self._block(block, state)

    def _merge(self, states: Iterable[S | None]) -> S | None:
        found: S | None = None
        for state in states:
            if state is not None:
                found = state if found is None else self._join(found, state)
        return found

    def _leave(self, kind: str, state: S | None) -> None:
        if state is not None:
            self._left[kind] = state if kind not in self._left else self._join(self._left[kind], state)

    def _apart(self, run: Callable[[], S | None]) -> tuple[S | None, dict[str, S]]:
        """Run a part; return its end state and the states in which it is left, apart from those of the code around."""
        outer, self._left = self._left, {}
        state = run()
        inner, self._left = self._left, outer
        return state, inner

    def _at(self, node: s.Node, state: S | None) -> S | None:
        if state is None:
            return None
        if self._tries and isinstance(node, s.Expression):
            self._leave("raise", state)
        return self._visit(state, node)

    # Statements

    def _block(self, block: s.Block | None, state: S | None) -> S | None:
        for statement in block.statements if block is not None else ():
            if state is None:
                break
            state = self._statement(statement, state)
        return state

    def _statement(self, node: s.Statement, state: S | None) -> S | None:
        if isinstance(node, s.If):
            state = self._expression(node.test, state)
            state = self._merge((self._block(node.body, state), self._block(node.orelse, state)))
        elif isinstance(node, (s.For, s.While)):
            state = self._loop(node, state)
        elif isinstance(node, s.With):
            for item in node.items:
                state = self._expression(item, state)
            state = self._block(node.body, state)
        elif isinstance(node, s.Try):
            state = self._try(node, state)
        elif isinstance(node, s.Match):
            state = self._expression(node.subject, state)
            ends = [self._block(case, state) for case in node.cases]
            state = self._merge(ends if node.exhaustive else [*ends, state])
        elif isinstance(node, s.Function):
            state = self._all([*node.decorators, *(p.default for p in node.parameters if p.default)], state)
        elif isinstance(node, s.Class):
            state = self._block(node.body, self._all([*node.decorators, *node.arguments], state))
        else:
            state = self._all(node, state)
        state = self._at(node, state)
        if isinstance(node, s.Leave):
            self._leave(node.kind, state)
            return None
        if isinstance(node, s.Other) and node.kind == "assert" and _truth(node.values[0]) is False:
            return None
        return state

    def _loop(self, node: s.For | s.While, state: S | None) -> S | None:
        if isinstance(node, s.For):
            state = self._expression(node.iterator, state)
        head = node.target if isinstance(node, s.For) else node.test
        endless = isinstance(node, s.While) and _truth(node.test) is True
        entry = state
        while True:

            def once(into: S | None = entry) -> S | None:
                return self._block(node.body, self._expression(head, into))

            end, left = self._apart(once)
            back = self._merge((end, left.pop("continue", None)))
            again = self._merge((entry, back))
            if again == entry:
                break
            entry = again
        broken = left.pop("break", None)
        ran = self._loops_run and (back is not None or broken is not None)
        after = back if ran else entry
        if isinstance(node, s.While):
            after = None if endless else self._expression(head, after)
        for kind, other in left.items():
            self._leave(kind, other)
        return self._merge((self._block(node.orelse, after), broken))

    def _try(self, node: s.Try, state: S | None) -> S | None:
        self._tries += 1
        end, left = self._apart(lambda: self._block(node.body, state))
        self._tries -= 1
        raised = left.get("raise")

        def rest() -> S | None:
            handled = [self._block(handler, raised) for handler in node.handlers]
            return self._merge([self._block(node.orelse, end), *handled])

        self._tries += node.final is not None
        end, more = self._apart(rest)
        self._tries -= node.final is not None
        for kind in left.keys() | more.keys():
            through = self._merge((left.get(kind), more.get(kind)))
            self._leave(kind, self._block(node.final, through))
        return self._block(node.final, end)

    # Expressions

    def _all(self, nodes: Iterable[s.Node], state: S | None) -> S | None:
        for node in nodes:
            state = self._expression(node, state)
        return state

    def _expression(self, node: s.Node, state: S | None) -> S | None:
        if state is None:
            return None
        if isinstance(node, s.Operation) and node.operator in ("and", "or"):
            ends = []
            for operand in node.operands:
                state = self._expression(operand, state)
                ends.append(state)
            state = self._merge(ends)
        elif isinstance(node, s.Conditional):
            state = self._expression(node.test, state)
            state = self._merge((self._expression(node.body, state), self._expression(node.orelse, state)))
        elif isinstance(node, s.Comprehension):
            state = self._expression(node.clauses[0].iterator, state)
            once = self._all([*node.clauses[0].tests, *node.clauses[1:], *node.elements], state)
            state = once if self._loops_run else self._merge((state, once))
        elif isinstance(node, s.Lambda):
            state = self._all([p.default for p in node.function.parameters if p.default], state)
        else:
            state = self._all(node, state)
        return self._at(node, state)


def _truth(node: s.Expression) -> bool | None:
    return bool(node.value) if isinstance(node, s.Constant) else None

"""Memory that a local name holds before anything is written to it, followed along every path of its scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from detlint.analysis.flow import Flow
from detlint.analysis.uses import Effect, Use, Uses
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

State = frozenset[tuple[s.Call, bool]]  # allocations that a name may hold; True: nothing is written yet
_LOOPS = (s.For, s.While, s.Comprehension)
_CHOICES = (s.If, s.Conditional, s.While, s.Match, s.Try)


def _never(_: s.Call) -> bool:
    return False


class Local:
    """A name of one scope that holds uninitialised memory from `events` (node to allocation) on.

    `runs` says that calling the name reads the memory; a call that `ends` ends the program, one that `fills` writes
    all such memory.
    """

    def __init__(
        self,
        module: Module,
        uses: Uses,
        scope: Scope,
        name: str,
        events: dict[s.Node, s.Call],
        runs: bool,
        *,
        ends: Callable[[s.Call], bool] = _never,
        fills: Callable[[s.Call], bool] = _never,
    ) -> None:
        self.module = module
        self.events = events
        self.ends = ends
        self.fills = fills
        self.reading: dict[s.Node, s.Node] = {}
        self.filling: set[s.Node] = set()
        self.resetting: set[s.Node] = set()
        self.found: dict[s.Call, dict[s.Node, bool]] = defaultdict(dict)
        self.body = scope.owner.body if isinstance(scope.owner, s.Function) else module.file.body
        self._around = {id(a) for event in events for a in event.ancestors()}
        names = module.reads(scope, name)
        bindings = scope.bindings[name]
        owner = module.function_of(next(iter(events)))
        self.captured = any(module.function_of(node) is not owner for node in [*names, *(b.node for b in bindings[1:])])
        kept: set[s.Node] = set(events)
        for node in names:
            use = uses.of(node, runs)
            if use.effect is Effect.BINDS and isinstance(use.node, s.Name) and use.node.id == name:
                kept.add(next(a for a in node.ancestors() if isinstance(a, s.Assign)))
            else:
                self._use(node, use)
        for binding in bindings:
            if binding.kind == "augment":
                self.reading[binding.node] = binding.node
            elif binding.node not in kept:
                self.resetting.add(binding.node)

    def _use(self, node: s.Name, use: Use) -> None:
        if use.effect is Effect.READS:
            self.reading[node] = use.node
        elif use.effect is not Effect.NOTHING:
            self.filling.add(use.node if use.effect is Effect.FILLS else node)
            # what a loop fills bit by bit, or under conditions, is taken to be filled when it ends
            self.filling.update(a for a in node.ancestors() if isinstance(a, _LOOPS) and id(a) not in self._around)

    def reads(self) -> dict[s.Call, tuple[s.Node, bool]]:
        """The first read of each allocation that a path reaches without filling it, and if every path does."""
        if self.captured:
            return {}
        Flow[State](self._visit, frozenset.union, loops_run=True).run(self.body, frozenset())
        first: dict[s.Call, tuple[s.Node, bool]] = {}
        for call, nodes in self.found.items():
            for node, certain in sorted(nodes.items(), key=lambda item: item[0].order):
                if call not in first and (_together(call, node) if certain else self._always(call, node)):
                    first[call] = node, certain
        return first

    def _visit(self, state: State, node: s.Node) -> State | None:
        if node in self.reading:
            for call, empty in state:
                if empty:
                    before = self.found[call].get(self.reading[node], True)
                    self.found[call][self.reading[node]] = before and (call, False) not in state
        if node in self.filling or (isinstance(node, s.Call) and self.fills(node)):
            state = frozenset((call, False) for call, _ in state)
        if node in self.resetting:
            state = frozenset()
        if node in self.events:
            state = frozenset({(self.events[node], True)})
        if isinstance(node, s.Call) and self.ends(node):
            return None
        return state

    def _always(self, call: s.Call, read: s.Node) -> bool:
        """Whether the read follows the allocation under no condition, nor the filling under one on its size."""
        block = next(a for a in call.ancestors() if isinstance(a, s.Block))
        above = list(read.ancestors())
        if block not in above or any(isinstance(a, _CHOICES) for a in above[: above.index(block)]):
            return False
        sizes = {node.id for node in s.walk(call) if isinstance(node, s.Name)}
        tests = [a.test for node in self.filling for a in node.ancestors() if isinstance(a, (s.If, s.Conditional))]
        return not any(isinstance(n, s.Name) and n.id in sizes for test in tests for n in s.walk(test))


def _together(call: s.Call, read: s.Node) -> bool:
    """Whether no condition on the read may contradict one on the allocation."""
    above, below = list(call.ancestors()), list(read.ancestors())
    conditions = [a for a in above if isinstance(a, _CHOICES) and a not in below]
    return not conditions or not any(isinstance(a, _CHOICES) and a not in above for a in below)

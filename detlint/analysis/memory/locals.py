"""Memory that a local name holds before anything is written to it, followed along every path of its scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType

from detlint.analysis.memory.coverage import Gap
from detlint.analysis.memory.flow import Flow
from detlint.analysis.memory.uses import Effect, Store, Use, Uses
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope, reaching

EMPTY, WRITTEN = -2, -1  # nothing is written, or all that will be; other numbers are those of stores
State = frozenset[tuple[s.Call, int]]  # allocations that a name may hold, and what may have been done to each
_LOOPS = (s.For, s.While, s.Comprehension)
_CHOICES = (s.If, s.Conditional, s.While, s.Match, s.Try)


def _never(_: object) -> bool:
    return False


@record(frozen=True, slots=True)
class Read:
    """A read of unfilled memory, or a `handed` use of it: on all paths (`certain`) or some, `partly` written or not."""

    node: s.Node
    certain: bool
    partly: bool
    handed: bool = False


class Local:
    """A name of one scope that holds uninitialised memory from `events` (node to allocation) on.

    `runs` says that calling the name reads the memory. A call that `ends` ends the program; one that `fills` writes all
    such memory. `gap` returns what stores certainly leave of an allocation, and `shows` whether the code that a use
    hands it to finds the gap. The allocations in `begun` have already had a store when they are bound.
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
        gap: Callable[[s.Call, list[Store]], Gap | None] = lambda *_: None,
        shows: Callable[[Use, Gap], bool] = lambda *_: False,
        begun: Mapping[s.Call, Store] = MappingProxyType({}),
    ) -> None:
        self.module = module
        self.uses = uses
        self.events = events
        self.ends = ends
        self.fills = fills
        self.shows = shows
        self.stores = list(begun.values())
        self._begun = {call: number for number, call in enumerate(begun)}
        self._gap = gap
        self._gaps: dict[tuple[s.Call, frozenset[int]], Gap | None] = {}
        self.reading: dict[s.Node, Use] = {}
        self.handing: dict[s.Node, Use] = {}
        self.filling: set[s.Node] = set()
        self.storing: dict[s.Node, set[int]] = defaultdict(set)
        self.leaving: set[s.Node] = set()
        self.narrowing: set[s.Node] = set()
        self.resetting: set[s.Node] = set()
        self.found: dict[s.Call, dict[s.Node, Read]] = defaultdict(dict)
        self.body = scope.owner.body if isinstance(scope.owner, s.Function) else module.file.body
        self.until: float = inf
        self.inner: list[Use] = []
        self._seen: set[s.Node] = set()
        self._around = {id(a) for event in events for a in event.ancestors()}
        self._scope = scope
        self._name = name
        self._owner = module.function_of(next(iter(events)))
        self._runs = runs
        self._follow(name, set(events), True)

    def _follow(self, name: str, kept: set[s.Node], whole: bool) -> None:
        """Record the uses of a name that is bound to the memory at `kept`: to all of it if `whole`, else to a part."""
        reads = self.module.reads(self._scope, name)
        bindings = self._scope.bindings[name]
        for binding in bindings[1:]:
            self._capture(binding.node)
        for node in reads:
            use = self.uses.of(node, self._runs)
            self._take(node, use if whole else replace(use, whole=False), name, kept)
        for binding in bindings:
            if binding.kind == "augment":
                self.reading[binding.node] = Use(Effect.READS, binding.node, whole)
            elif binding.node not in kept:
                self.resetting.add(binding.node)

    def _follow_other(self, name: s.Name, statement: s.Assign, whole: bool) -> None:
        """Record the uses of another name that is bound to the memory as well."""
        kept: set[s.Node] = {statement}
        for node in self.module.reads(self._scope, name.id):
            bindings = reaching(node) or []
            if any(binding.node in kept for binding in bindings):
                use = self.uses.of(node, self._runs)
                sure = all(binding.node in kept for binding in bindings)
                self._take(node, use if whole else replace(use, whole=False), name.id, kept, sure=sure)

    def _take(self, node: s.Node, use: Use, name: str, kept: set[s.Node], *, sure: bool = True) -> None:
        """Record a use at the node after which it takes effect; one that is not `sure` may be of something else."""
        if self.module.function_of(node) is not self._owner:
            if use.effect not in (Effect.NOTHING, Effect.READS):
                self._capture(node)
            elif use.effect is Effect.READS and sure:
                self.inner.append(use)
        elif use.effect is Effect.READS:
            if sure:
                self.reading[node] = use
        elif use.effect is Effect.STORES and use.store is not None:
            for around in self._around_it(use.node):
                self.storing[around].add(len(self.stores))
            self.stores.append(use.store)
            if use.then is not None and use.node.parent is not None:
                self._take(use.node.parent, use.then, name, kept, sure=sure)
        elif use.effect is Effect.HANDED:
            if sure:
                self.handing[node] = use
            self._note(self.leaving, node)
        elif use.effect is Effect.BINDS and isinstance(use.node, s.Name):
            statement = next(a for a in use.node.ancestors() if isinstance(a, s.Assign))
            if use.node.id == name:
                kept.add(statement)
                if not use.whole:
                    self.narrowing.add(node)
            elif use.node.scope.find(use.node.id) is self._scope and statement not in self._seen:
                self._seen.add(statement)
                self._follow_other(use.node, statement, use.whole)
            else:
                self._note(self.filling, node)
        elif use.effect is not Effect.NOTHING:
            if sure and use.effect is Effect.ESCAPES and isinstance(use.node, s.Call):
                self.handing[node] = use
            self._note(self.filling, use.node if use.effect is Effect.FILLS else node)

    def _capture(self, node: s.Node) -> None:
        """Stop where a function is defined that may write to the memory, now or when it is called."""
        inner = [a for a in node.ancestors() if isinstance(a, s.Function) and self.module.function_of(a) is self._owner]
        for function in inner if self.module.function_of(node) is not self._owner else ():
            looped = any(isinstance(a, _LOOPS) and id(a) not in self._around for a in function.ancestors())
            self.until = min(self.until, -inf if looped else function.order)

    def _note(self, kind: set[s.Node], node: s.Node) -> None:
        kind.update(self._around_it(node))

    def _around_it(self, node: s.Node) -> list[s.Node]:
        """Return a node and the loops around it that end after it.

        What a loop writes bit by bit, or under conditions, counts as written when the loop ends.
        """
        return [node, *(a for a in node.ancestors() if isinstance(a, _LOOPS) and id(a) not in self._around)]

    def reads(self) -> dict[s.Call, Read]:
        """Return the first read of each allocation that some path reaches unfilled, and whether every path does."""
        Flow[State](self._visit, frozenset.union, loops_run=True).run(self.body, frozenset())
        first: dict[s.Call, Read] = {}
        for call, reads in self.found.items():
            for read in sorted(reads.values(), key=lambda each: each.node.order):
                counts = self._together if read.certain else self._always
                if call not in first and read.node.order < self.until and counts(call, read.node):
                    first[call] = read
        if self.until == inf and not self.filling and not self.leaving:
            for call in self.events.values():
                for use in self.inner if call not in first else ():
                    if self._shows(call, frozenset(range(len(self.stores))), use):
                        first.setdefault(call, Read(use.node, False, bool(self.stores)))
        return first

    def _visit(self, state: State, node: s.Node) -> State | None:
        reading, handing = self.reading.get(node), self.handing.get(node)
        if reading is not None:
            self._find(state, reading)
        if handing is not None:
            self._find(state, handing)
        if node in self.storing:
            made = [(call, store) for call, how in state for store in self.storing[node] if how != WRITTEN]
            state = frozenset([*made, *((call, how) for call, how in state if how != EMPTY)])
        if node in self.leaving:
            state = frozenset((call, WRITTEN if how == EMPTY else how) for call, how in state)
        if node in self.narrowing:
            state = frozenset((call, how if self._outlasts(state, call, how) else WRITTEN) for call, how in state)
        if node in self.filling or (isinstance(node, s.Call) and self.fills(node)):
            state = frozenset((call, WRITTEN) for call, _ in state)
        if node in self.resetting:
            state = frozenset()
        if node in self.events:
            call = self.events[node]
            state = frozenset({(call, self._begun.get(call, EMPTY))})
        if isinstance(node, s.Call) and self.ends(node):
            return None
        return state

    def _left(self, call: s.Call, stores: frozenset[int]) -> Gap | None:
        """Return the gap that some stores leave in an allocation."""
        key = call, stores
        if key not in self._gaps:
            self._gaps[key] = self._gap(call, [self.stores[number] for number in sorted(stores)])
        return self._gaps[key]

    def _outlasts(self, state: State, call: s.Call, how: int) -> bool:
        """Return whether every part of the memory holds some of what is unwritten."""
        return how == EMPTY or self._left(call, _made(state, call)) is Gap.MARKS

    def _shows(self, call: s.Call, stores: frozenset[int], use: Use) -> bool:
        """Return whether a use finds something unwritten after these stores."""
        gap = self._left(call, stores) if stores else None
        if gap is None:
            return not stores and use.effect is Effect.READS
        if use.effect is not Effect.READS:
            return self.shows(use, gap)
        return use.whole or (gap is Gap.MARKS and not self._is_of_a_store(use))

    def _find(self, state: State, use: Use) -> None:
        """Record a use that finds something unwritten."""
        for call in {call for call, _ in state}:
            done = {how for each, how in state if each is call}
            stores = _made(state, call)
            empty = EMPTY in done and self._shows(call, frozenset(), use)
            partly = bool(stores) and self._shows(call, stores, use)
            if empty or partly:
                before = self.found[call].get(use.node)
                certain = WRITTEN not in done and (partly or (empty and not stores))
                certain = certain and (before is None or before.certain)
                self.found[call][use.node] = Read(use.node, certain, not empty, use.effect is not Effect.READS)

    def _is_of_a_store(self, use: Use) -> bool:
        """Return whether a use is of exactly what an earlier store writes."""
        text = self._text(use.index)
        before = [store for store in self.stores if store.node.order < use.node.order]
        return bool(text) and any(self._text(store.index or ()) == text for store in before)

    def _text(self, index: tuple[s.Expression, ...]) -> list[str]:
        return [self.module.source(each) for each in index]

    def _together(self, call: s.Call, read: s.Node) -> bool:
        """Return whether no condition on the read can contradict one on the allocation.

        None can where nothing else binds the name: a read without the allocation would raise an error.
        """
        above, below = list(call.ancestors()), list(read.ancestors())
        conditions = [a for a in above if isinstance(a, _CHOICES) and a not in below]
        alone = self._scope.kind == "function" and len(self._scope.bindings[self._name]) == 1
        return alone or not conditions or not any(isinstance(a, _CHOICES) and a not in above for a in below)

    def _always(self, call: s.Call, read: s.Node) -> bool:
        """Return whether the read follows the allocation unconditionally, and no test on its size guards a write."""
        block = next(a for a in call.ancestors() if isinstance(a, s.Block))
        above = list(read.ancestors())
        if block not in above or any(isinstance(a, _CHOICES) for a in above[: above.index(block)]):
            return False
        sizes = {node.id for node in s.walk(call) if isinstance(node, s.Name)}
        writing = self.filling.union(self.storing)
        tests = [a.test for node in writing for a in node.ancestors() if isinstance(a, (s.If, s.Conditional))]
        return not any(isinstance(n, s.Name) and n.id in sizes for test in tests for n in s.walk(test))


def _made(state: State, call: s.Call) -> frozenset[int]:
    """Return the stores that may have been made to an allocation."""
    return frozenset(how for each, how in state if each is call and how >= 0)

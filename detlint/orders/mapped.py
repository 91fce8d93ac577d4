"""Mappings whose keys stand in the order in which they were put in: where that order is taken up again."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.values.conditions import applies
from detlint.orders.callers import callers
from detlint.orders.calls import Calls
from detlint.orders.counts import VIEWS
from detlint.orders.parts import Parts
from detlint.orders.rebound import Live
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_TAKING = VIEWS | {"most_common"}
_DEPTH = 4


class Mapped:
    """Finds the expressions of one file that take the keys, or what stands under them, one by one."""

    def __init__(self, module: Module, calls: Calls, parts: Parts, live: Live, *, apart: bool) -> None:
        """Create the analysis. With `apart` no function of the file is entered, and none is left for its callers."""
        self.module = module
        self._apart = apart
        self._parts = parts
        self._calls = calls
        self._live = live
        self._same = module.python("functions", "same-mapping")
        self._sorted = module.catalogue.rows("order", "sorted")

    def taken(self, node: s.Expression, depth: int = _DEPTH) -> Iterator[s.Expression]:
        """Yield where the order of the mapping that `node` gives is taken up, by itself or by a view of it."""
        parent = node.parent
        call = parent.parent if isinstance(parent, (s.Argument, s.Attribute)) else None
        if depth == 0:
            return
        if isinstance(parent, s.Assign) and node is parent.value and parent.operator == "=":
            for target in parent.targets:
                yield from self._reads(target, parent, depth)
        elif isinstance(parent, s.Attribute) and isinstance(call, s.Call) and call.function is parent:
            if parent.attribute in _TAKING:
                yield call
            elif parent.attribute == "copy":
                yield from self.taken(call, depth - 1)
        elif isinstance(parent, s.Argument) and isinstance(call, s.Call) and self.module.callee(call) <= self._same:
            yield from self.taken(call, depth - 1) if self.module.callee(call) else ()
        elif isinstance(parent, s.Leave) and parent.kind == "return":
            function = self.module.function_of(parent)
            for each in callers(self.module, function) if function is not None and not self._apart else ():
                yield from self.taken(each, depth - 1)
        elif self._calls.hands_on(node):
            yield from self._entered(node, depth)
        elif isinstance(call, s.Call) and self._is_sorted(call):
            return
        elif self._calls.exposes(node) or self._is_written(node, call):
            yield node

    def _is_sorted(self, call: s.Call) -> bool:
        """Return whether a call writes a mapping in the order of its keys."""
        return any(
            self.module.callee(call) <= row.set("names")
            and applies(self.module, call, row.list("when"), row.list("unless"))
            for row in (self._sorted if self.module.callee(call) else ())
        )

    def _is_written(self, node: s.Expression, call: s.Node | None) -> bool:
        """Return whether a call writes a mapping to a file, entry by entry."""
        argument = node.parent
        return (
            isinstance(argument, s.Argument)
            and isinstance(call, s.Call)
            and self._calls.kind(argument, call) == "writes"
        )

    def filled(self, holder: s.Expression, node: s.Node) -> Iterator[s.Expression]:
        """Yield where the order of the mapping that `holder` names is taken up after `node` has put keys into it."""
        last = max((part.order for part in s.walk(node)), default=node.order)
        loops = [around for around in node.ancestors() if isinstance(around, (s.For, s.While))]
        for read in self._of(holder):
            if read.order > last or (read is not holder and any(a in loops for a in read.ancestors())):
                yield from self.taken(read, _DEPTH - 1)

    def _reads(self, target: s.Expression, assign: s.Assign, depth: int) -> Iterator[s.Expression]:
        for read in self._of(target):
            if isinstance(read, s.Attribute) or any(binding.node is assign for binding in self._live(read)):
                yield from self.taken(read, depth - 1)

    def _entered(self, node: s.Expression, depth: int) -> Iterator[s.Expression]:
        """Yield where a function of the file takes up the order of a mapping that it is given."""
        argument, call = node.parent, node.parent.parent if node.parent is not None else None
        if self._apart or not isinstance(argument, s.Argument) or not isinstance(call, s.Call) or argument.star:
            return
        for name in sorted(self.module.callee(call) & self.module.functions.keys()):
            wanted, scope = self._parts.parameter(call, argument), self.module.functions[name].scope
            for read in self.module.reads(scope, wanted):
                if any(binding.kind == "parameter" for binding in self._live(read)):
                    yield from self.taken(read, depth - 1)

    def _of(self, holder: s.Expression) -> Iterator[s.Name | s.Attribute]:
        """Yield the reads of a name, or of an attribute of a class of the file."""
        if isinstance(holder, s.Name) and (scope := holder.scope.find(holder.id)) is not None:
            yield from self.module.reads(scope, holder.id)
        elif isinstance(holder, s.Attribute) and (klass := self.module.owner(holder.value)) is not None:
            for read in self.module.attributes(holder.attribute):
                if not read.stored and self.module.owner(read.value) is klass:
                    yield read

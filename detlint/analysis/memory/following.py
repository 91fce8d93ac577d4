"""Where memory goes in a file after it is handed on: names, attributes, and the callers that get it returned."""

from __future__ import annotations

from detlint.analysis.memory.fields import Field
from detlint.analysis.memory.uses import Effect, Use, Uses
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


class Trail:
    """All that is done with memory after one use of it, in any order.

    `reads` are its reads; `read_whole` says that one of them reads all of it. `calls` are the calls that return it. It
    is `written` where anything may write to it, and `lost` where code out of sight receives it.
    """

    def __init__(self, module: Module, uses: Uses, field: Field, use: Use) -> None:
        self.module = module
        self.uses = uses
        self.field = field
        self.reads: list[s.Node] = []
        self.read_whole = False
        self.calls: list[s.Call] = []
        self.written = False
        self.lost = False
        self._seen: set[s.Node] = set()
        self._step(use)

    def first_read(self) -> s.Node | None:
        """Return the first read, or None where anything, in sight or not, may have written to the memory."""
        clean = not self.written and not self.lost
        return min(self.reads, key=lambda node: node.order, default=None) if clean else None

    def _step(self, use: Use) -> None:
        if use.effect is Effect.READS:
            self.reads.append(use.node)
            self.read_whole = self.read_whole or use.whole
        elif use.effect in (Effect.FILLS, Effect.STORES):
            self.written = True
        elif use.effect is Effect.BINDS and isinstance(use.node, s.Name):
            self._name(use.node.scope.find(use.node.id), use.node.id, use.node)
        elif use.effect is not Effect.NOTHING:
            self._hand(use)

    def _name(self, scope: Scope | None, name: str, node: s.Node) -> None:
        if scope is None or node in self._seen:
            self.lost = self.lost or scope is None
            return
        self._seen.add(node)
        for read in self.module.reads(scope, name):
            self._step(self.uses.of(read))

    def _hand(self, use: Use) -> None:
        name, klass = self.field.name(use), self.module.class_of(use.node)
        if name is not None:
            self._keep(klass, name, use.node)
        elif isinstance(use.node, s.Leave):
            self._return(use.node)
        else:
            self.lost = True

    def _keep(self, klass: s.Class | None, name: str, kept: s.Node) -> None:
        """Follow an attribute of an object whose whole class is in this file."""
        if klass is None or not self.field.known(klass) or self.field.reached(klass, name):
            self.lost = True
            return
        family = {id(each) for each in self.module.family(klass)}
        for node in self.module.attributes(name):
            if node in self._seen:
                continue
            self._seen.add(node)
            if not node.stored:
                count = len(self.reads)
                self._step(self.uses.of(node))
                if id(self.module.class_of(node)) not in family:
                    del self.reads[count:]
            elif node.parent is not kept and not self.field.holds_nothing(node):
                self.written = True

    def _return(self, leave: s.Leave) -> None:
        """Follow the one value that a function returns to the calls in this file that name the function."""
        function = self.module.function_of(leave)
        if leave in self._seen:
            return
        self._seen.add(leave)
        told = len(leave.values) == 1 and not isinstance(leave.values[0], (s.Collection, s.Dictionary))
        if not told or function is None or function.decorators or function.name == "<lambda>":
            self.lost = True
            return
        self.lost = self.lost or sum(isinstance(n, s.Leave) and n.kind == "return" for n in s.walk(function.body)) > 1
        for call in self.module.calls_to({self.module.qualified(function)}):
            self.calls.append(call)
            self._step(self.uses.of(call))

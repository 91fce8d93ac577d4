"""Where memory goes from one use of it: to reads within the file, and to carriers that take it out of a function."""

from __future__ import annotations

from detlint.analysis.memory.fields import Field
from detlint.analysis.memory.uses import Effect, Use, Uses
from detlint.orders.follow import Order
from detlint.questions import Carrier
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope, class_of, reaching


@record(frozen=True, slots=True)
class Way:
    """A read of memory at a node, or the passing of memory to a carrier, or (None) to unknown code."""

    node: s.Node
    reads: bool
    to: Carrier | None = None


class Ways:
    """The ways of memory of some libraries through the names of one function."""

    def __init__(self, module: Module, uses: Uses, field: Field) -> None:
        self.module = module
        self.uses = uses
        self.field = field
        self._order = Order(module, apart=True)
        self._seen: set[s.Node] = set()

    def of(self, use: Use) -> list[Way] | None:
        """Return all that is done with memory after a use of it; None if something may write to it."""
        self._seen = set()
        found: list[Way] = []
        return found if self._follow(use, found) else None

    def of_parameter(self, function: s.Function, parameter: s.Parameter) -> list[Way] | None:
        """Return the same for a parameter of a function."""
        self._seen = set()
        found: list[Way] = []
        return found if self._reads(function.scope, parameter.name, parameter, found) else None

    def is_own(self, name: str) -> bool:
        """Return whether a name may be one of the project's."""
        return self._order.handing.is_own(name)

    def called(self, call: s.Call) -> str:
        """Return the only function or class of the project that a call may be of; "" if it is unknown."""
        names = self._order.parts.called(call)
        name = next(iter(names)) if len(names) == 1 else ""
        return name if self.is_own(name) else ""

    def _follow(self, use: Use, found: list[Way]) -> bool:
        """Add what is done after a use to `found`; return False if something may write to the memory."""
        if use.effect is Effect.NOTHING:
            return True
        if use.effect is Effect.READS:
            found.append(Way(use.node, True))
            return True
        if use.effect in (Effect.FILLS, Effect.STORES):
            return False
        if use.effect is Effect.BINDS and isinstance(use.node, s.Name):
            return self._bound(use.node, found)
        to = self._carrier(use)
        if to is None and (use.effect is Effect.ESCAPES or not isinstance(use.node, s.Call)):
            return False
        found.append(Way(use.node, False, to))
        return True

    def _bound(self, name: s.Name, found: list[Way]) -> bool:
        scope = name.scope.find(name.id)
        if scope is None or scope.kind != "function":
            return False
        if name in self._seen:
            return True
        self._seen.add(name)
        return self._reads(scope, name.id, next(a for a in name.ancestors() if isinstance(a, s.Assign)), found)

    def _reads(self, scope: Scope, name: str, bound: s.Node, found: list[Way]) -> bool:
        """Add the ways of reads that `bound` may reach, plain reads if it surely does; return False if one may fill."""
        others = [each for each in scope.bindings[name] if each.node is not bound]
        if others and all(each.kind == "augment" for each in others):
            found += [Way(each.node, True) for each in others]
        for read in self.module.reads(scope, name):
            bindings = [binding.node for binding in reaching(read) or ()]
            sure = all(node is bound for node in bindings)
            if bound in bindings or not bindings:
                ways: list[Way] = []
                if not self._follow(self.uses.of(read), ways):
                    return False
                found += [way for way in ways if sure or not way.reads]
        return True

    def _carrier(self, use: Use) -> Carrier | None:
        """Return the carrier to which a use passes memory; None if it is unknown."""
        name, klass = self.field.name(use), self.module.class_of(use.node)
        if name is not None:
            return None if klass is None else Carrier("attribute", self.module.qualified(klass), name)
        if isinstance(use.node, s.Leave):
            return self._result(use.node)
        if isinstance(use.node, s.Call) and use.argument is not None:
            called = self._order.parts.called(use.node)
            return self._order.handing.parameter(use.argument, use.node, called)
        return None

    def _result(self, leave: s.Leave) -> Carrier | None:
        """Return the result of a function as a carrier, for a property its attribute; None if it may be another."""
        function = self.module.function_of(leave)
        told = len(leave.values) == 1 and not isinstance(leave.values[0], (s.Collection, s.Dictionary))
        if not told or function is None or function.name == "<lambda>":
            return None
        if sum(isinstance(node, s.Leave) and node.kind == "return" for node in s.walk(function.body)) > 1:
            return None
        if not function.decorators:
            return Carrier("result", self.module.qualified(function))
        klass = class_of(function)
        properties = self.module.python("functions", "property")
        shown = all(self.module.names(each) & properties for each in function.decorators)
        return Carrier("attribute", self.module.qualified(klass), function.name) if shown and klass else None

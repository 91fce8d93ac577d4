"""The classes of the project that objects in one file may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from detlint.semantics.infer import ARRAY, TENSOR
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import returned

NO_OBJECT = frozenset((TENSOR, ARRAY))
_HOLDING = ("for", "comprehension", "assign")


class Owners:
    """A finder of the classes of objects, which also uses the tests around them."""

    def __init__(self, module: Module, is_own: Callable[[str], bool]) -> None:
        """Take `is_own`, which says whether a name may be one of the project's."""
        self.module = module
        self.is_own = is_own
        self._layers = module.catalogue.names("randomness", "consumer", weights="yes")
        self._plain = module.python("types", "plain")

    def of(self, node: s.Expression) -> list[str]:
        """Return the classes of the project that an object may have; "" among them if it may be any class."""
        klass = self.module.class_of(node) if isinstance(node, s.Name) else None
        if klass is not None and self.module.is_self(node):
            return [self.module.qualified(klass)]
        names = self._tested(node) if isinstance(node, s.Name) else None
        if names is None:
            names = self.module.types(node) or self._returned(node) or frozenset(("",))
        return sorted(name for name in names if not name or self.is_own(name))

    def within(self, node: s.Expression) -> list[str]:
        """Return the classes of the project that an object may have or hold; "" among them if it may be any class."""
        kinds = self.module.types(node) or self._returned(node)
        if kinds and kinds <= self._layers | NO_OBJECT | self._plain:
            return []
        return self.of(node) or [""]  # what a library's class holds is not known

    def _returned(self, node: s.Expression) -> frozenset[str]:
        """Return the classes of what a function of the file returns that is called; none where one is not known."""
        names = self.module.callee(node) if isinstance(node, s.Call) else frozenset[str]()
        function = self.module.functions.get(next(iter(names))) if len(names) == 1 else None
        found = [] if function is None else [self.module.types(value) for value in returned(function)]
        return frozenset[str]().union(*found) if all(found) else frozenset()

    def held(self, attribute: str) -> list[str]:
        """Return the classes of the project of what the file keeps in attributes of a name; "" if not all are known."""
        stored = [each.parent for each in self.module.attributes(attribute) if each.stored]
        values = [each.value if isinstance(each, s.Assign) else None for each in stored]
        types = [frozenset[str]() if value is None else self.module.types(value) for value in values]
        if not types or not all(types):
            return [""]
        return sorted(filter(self.is_own, frozenset[str]().union(*types)))

    def _tested(self, name: s.Name) -> frozenset[str] | None:
        """Return the classes that an `isinstance` test around a name gives it; None if there is no such test."""
        below: s.Node = name
        for around in name.ancestors():
            if isinstance(around, s.If) and below is around.body:
                for test in _all_of(around.test):
                    named = isinstance(test, s.Call) and self.module.callee(test) == {"builtins.isinstance"}
                    if isinstance(test, s.Call) and named and len(test.arguments) == 2:
                        what, kinds = (argument.value for argument in test.arguments)
                        told = self._classes(kinds)
                        if isinstance(what, s.Name) and what.id == name.id and told:
                            return told
            if isinstance(around, s.Function):
                return None
            below = around
        return None

    def _classes(self, node: s.Expression) -> frozenset[str]:
        each = node.elements if isinstance(node, s.Collection) else [node]
        names = [self.module.names(one) for one in each]
        return frozenset[str]().union(*names) if names and all(names) else frozenset()

    def holder(self, node: s.Expression, depth: int = 4) -> str:
        """Return the class whose object holds another object, directly or not; "" if that is not known."""
        inner = node
        while isinstance(inner, (s.Attribute, s.Subscript, s.Call)):
            inner = inner.function if isinstance(inner, s.Call) else inner.value
        klass = self.module.class_of(node)
        if inner is not node and klass is not None and self.module.is_self(inner):
            return self.module.qualified(klass)
        found = {self.holder(each, depth - 1) for each in self._bound(inner)} if depth else set[str]()
        return next(iter(found)) if len(found) == 1 else ""

    def _bound(self, node: s.Expression) -> list[s.Expression]:
        """Return what a name is bound to or iterates over, if it is bound once."""
        scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
        bindings = scope.bindings[node.id] if scope is not None and isinstance(node, s.Name) else []
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind in _HOLDING else None
        return value.elements if isinstance(value, s.Collection) else [value] if value is not None else []


def _all_of(test: s.Expression) -> Iterator[s.Expression]:
    """Yield a test, and all that must hold with it."""
    yield test
    if isinstance(test, s.Operation) and test.operator == "and":
        for operand in test.operands:
            yield from _all_of(operand)

"""The last components of the names that an expression may stand for, from the text of the file alone.

Resolving a name is expensive and most calls are irrelevant, so what a rule looks for is compared with these first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from detlint.tree import syntax as s
from detlint.tree.scopes import Scope, bound, class_given

Endings = frozenset[str] | None  # None: any ending
_NOTHING: frozenset[str] = frozenset()
_PARTIAL = frozenset(("partial", "partialmethod"))


class Spellings:
    """The last components of all qualified names that `Resolver.names` or `callee` may return for one file.

    They are found through the same assignments, but regardless of the order of statements and of the owner of an
    attribute or its type.
    """

    def __init__(self, attributes: Iterable[s.Attribute], classes: Iterable[s.Class]) -> None:
        """`attributes` and `classes` are those of the file."""
        self._values: dict[str, list[s.Expression]] = defaultdict(list)
        for node in attributes:
            if node.stored:
                statement = next((a for a in node.ancestors() if isinstance(a, s.Statement)), None)
                if isinstance(statement, s.Assign) and statement.value is not None:
                    self._values[node.attribute].append(statement.value)
        for klass in classes:
            for name, bindings in klass.scope.bindings.items():
                self._values[name] += [b.value for b in bindings if b.kind == "assign" and b.value is not None]
        self._of_names: dict[tuple[Scope, str], Endings] = {}
        self._of_attributes: dict[str, Endings] = {}

    def of(self, node: s.Expression) -> Endings:
        """Return the last components of the names that `node`, or what is called where `node` is, may stand for."""
        if isinstance(node, s.Name):
            return self._of_name(node)
        if isinstance(node, s.Attribute):
            return self._of_attribute(node.attribute)
        if isinstance(node, s.Conditional):
            return self._any_of((node.body, node.orelse))
        if isinstance(node, s.Operation) and node.operator == "or":
            return self._any_of(node.operands)
        if isinstance(node, s.NamedExpression):
            return self.of(node.value)
        if isinstance(node, s.Call) and node.arguments:
            made = self.of(node.function)
            if made is None or not made.isdisjoint(_PARTIAL):
                return self.of(node.arguments[0].value)
        return _NOTHING

    def _any_of(self, nodes: Iterable[s.Expression]) -> Endings:
        found: set[str] = set()
        for node in nodes:
            endings = self.of(node)
            if endings is None:
                return None
            found |= endings
        return frozenset(found)

    def _of_name(self, node: s.Name) -> Endings:
        scope = node.scope.find(node.id)
        if scope is None:
            return frozenset((node.id,))
        key = (scope, node.id)
        if key not in self._of_names:
            self._of_names[key] = None  # in a cycle anything is possible
            self._of_names[key] = self._of_bindings(scope, node.id)
        return self._of_names[key]

    def _of_bindings(self, scope: Scope, name: str) -> Endings:
        found: set[str] = set()
        values: list[s.Expression] = []
        for binding in scope.bindings[name]:
            if binding.qualified is not None:
                found.add(binding.qualified.rpartition(".")[2])
            elif isinstance(binding.node, (s.Function, s.Class)):
                found.add(binding.node.name)
            elif (klass := class_given(binding)) is not None:
                found.add(klass.name)
            elif (value := bound(binding)) is not None:
                values.append(value)
        endings = self._any_of(values) if values else _NOTHING
        return None if endings is None else endings | found

    def _of_attribute(self, attribute: str) -> Endings:
        if attribute not in self._of_attributes:
            self._of_attributes[attribute] = None
            endings = self._any_of(self._values[attribute]) if attribute in self._values else _NOTHING
            self._of_attributes[attribute] = None if endings is None else endings | {attribute}
        return self._of_attributes[attribute]

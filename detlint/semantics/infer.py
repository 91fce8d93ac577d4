"""What an expression is an instance of, inferred from the calls, annotations and parameters that gave it its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, bound, class_of, reaching

if TYPE_CHECKING:
    from detlint.semantics.resolve import Resolver

TENSOR = "torch.Tensor"
ARRAY = "numpy.ndarray"
_NONE = "builtins.NoneType"
_ANYTHING = frozenset(("typing.Any", "builtins.object"))
_NO_ARITHMETIC = frozenset(("and", "or", "not", "in", "not in", "is", "is not"))
_NOTHING: frozenset[str] = frozenset()


class Types:
    """The types of one file's expressions, as qualified names of classes; empty if unknown.

    Without `guesses` only what the text says counts, not what holds in most programs: that `forward` receives tensors,
    that a layer returns one, that adding anything to a tensor gives one, that what may be None is not.
    """

    def __init__(self, resolver: Resolver, *, guesses: bool = True) -> None:
        names = resolver.catalogue.names
        self.resolver = resolver
        self._guesses = guesses
        self._found: dict[s.Expression, frozenset[str]] = {}
        self._not_tensor = names("names", "tensor", id="not-a-tensor")
        self._tuples = names("names", "tensor", id="tuple")
        self._tensor_methods = names("names", "tensor", id="tensor-methods")
        self._tensor_attributes = names("tensors", "kind", id="tensor-attribute")
        self._graph_attributes = names("tensors", "kind", id="graph-attribute")
        self._tensor_namespaces = names("tensors", "kind", id="tensor-namespace")
        self._array_namespaces = names("tensors", "kind", id="array-namespace")
        rows = resolver.catalogue.rows("tensors", "result")
        self._results = {row.text("call"): row.text("type") for row in rows if row.text("call")}
        self._items = {row.text("item"): row.text("type") for row in rows if row.text("item")}

    def of(self, node: s.Expression) -> frozenset[str]:
        """Return the types of an expression."""
        found = self._found.get(node)
        if found is None:
            self._found[node] = _NOTHING
            found = self._found[node] = self._find(node)
        return found

    def _find(self, node: s.Expression) -> frozenset[str]:
        """Return the types of an expression, by its kind and parts."""
        if isinstance(node, s.Constant):
            return frozenset((f"builtins.{type(node.value).__name__}",))
        if isinstance(node, s.Collection):
            return frozenset((f"builtins.{node.kind}",))
        if isinstance(node, (s.Dictionary, s.Comprehension)):
            kind = "dict" if isinstance(node, s.Dictionary) else node.kind
            return frozenset((f"builtins.{kind}",))
        if isinstance(node, s.Name):
            return self._of_name(node)
        if isinstance(node, s.Call):
            return self._of_call(node)
        if isinstance(node, s.Attribute):
            return self._of_attribute(node)
        if isinstance(node, s.Subscript):
            if isinstance(node.value, s.Call) and self.resolver.callee(node.value) & self._tuples:
                return frozenset((TENSOR,))
            items = frozenset(self._items.get(name, "") for name in self.resolver.names(node.value)) - {""}
            return items or self.of(node.value) & {TENSOR, ARRAY}
        if isinstance(node, s.Operation):
            kinds = [self.of(operand) for operand in node.operands]
            for kind in (TENSOR, ARRAY) if node.operator not in _NO_ARITHMETIC else ():
                if frozenset((kind,)) in (kinds if self._guesses else kinds[:1]):
                    return frozenset((kind,))
            return frozenset(("builtins.str",)) if node.operator == "f-string" else _NOTHING
        if isinstance(node, s.Conditional):
            body, orelse = self.of(node.body), self.of(node.orelse)
            return body | orelse if body and orelse else _NOTHING
        if isinstance(node, s.NamedExpression):
            return self.of(node.value)
        return _NOTHING

    def _of_name(self, node: s.Name) -> frozenset[str]:
        found: frozenset[str] = _NOTHING
        for binding in reaching(node) or ():
            if binding.kind == "parameter" and isinstance(binding.node, s.Parameter):
                types = self._of_parameter(binding.node)
            elif binding.kind == "augment":
                continue
            elif binding.kind == "assign" and binding.value is not None:
                annotation = binding.node.annotation if isinstance(binding.node, s.Assign) else None
                if annotation is not None:
                    types = self.annotated(annotation)
                elif not binding.path:
                    types = self.of(binding.value)
                else:
                    types = self._of_item(binding)
            elif binding.kind in ("for", "comprehension") and binding.value is not None:
                types = self._of_each(binding.value, binding.path)
            else:
                types = _NOTHING
            if not types:
                return _NOTHING
            found |= types
        return found - {_NONE} or found if self._guesses else found

    def _of_item(self, binding: Binding) -> frozenset[str]:
        value = bound(binding)
        if value is not None:
            return self.of(value)
        if isinstance(binding.value, s.Call) and self.resolver.callee(binding.value) & self._tuples:
            return frozenset((TENSOR,))
        return _NOTHING

    def _of_each(self, node: s.Expression, path: tuple[int, ...]) -> frozenset[str]:
        """Return the types of what stands at `path` in each item of an iterable: the items of tensors are tensors."""
        names = self.resolver.callee(node) if isinstance(node, s.Call) and path else _NOTHING
        given = (
            [a.value for a in node.arguments if a.keyword is None and not a.star] if isinstance(node, s.Call) else []
        )
        if names == {"builtins.zip"} and path[0] < len(given):
            return self._of_each(given[path[0]], path[1:])
        if names == {"builtins.enumerate"} and path[0] == 1 and given:
            return self._of_each(given[0], path[1:])
        return self.of(node) & {TENSOR} if not path else _NOTHING

    def _of_parameter(self, parameter: s.Parameter) -> frozenset[str]:
        if parameter.annotation is not None:
            default = parameter.default
            told = self.annotated(parameter.annotation)
            return self._or_none(told) if default is not None and literal(default) is None else told
        function = parameter.parent
        if not isinstance(function, s.Function) or parameter.star:
            return _NOTHING
        klass = class_of(function)
        if klass is None:
            return _NOTHING
        if function.parameters[0] is parameter and not self.resolver.is_static(function):
            return frozenset((self.resolver.qualified(klass),))
        if not self._guesses or function.name != "forward":
            return _NOTHING
        needed = parameter.default is None or literal(parameter.default) is None
        return frozenset((TENSOR,)) if needed else _NOTHING

    def annotated(self, node: s.Expression) -> frozenset[str]:
        """Return the classes that an annotation admits; with guesses, None is left out."""
        if isinstance(node, s.Constant):
            if isinstance(node.value, str) and node.parent is not None:
                last = node.value.rpartition(".")[2]
                return frozenset((TENSOR,)) if last == "Tensor" else _NOTHING
            return _NOTHING
        if isinstance(node, s.Subscript):
            if self.resolver.names(node.value) & {"typing.Optional", "typing.Annotated"} and node.indices:
                told = self.annotated(node.indices[0])
                return self._or_none(told) if "typing.Optional" in self.resolver.names(node.value) else told
            names = self.resolver.names(node.value)
            return self._any_of(node.indices) if names == {"typing.Union"} else names
        if isinstance(node, s.Operation) and node.operator == "|":
            return self._any_of(node.operands)
        names = self.resolver.names(node)
        return names if names.isdisjoint(_ANYTHING) else _NOTHING

    def _any_of(self, nodes: Sequence[s.Expression]) -> frozenset[str]:
        """Return the classes that one of several annotations admits; empty if one of them admits anything."""
        none = [node for node in nodes if isinstance(node, s.Constant) and node.value is None]
        found = [self.annotated(node) for node in nodes if node not in none]
        told = frozenset[str]().union(*found) if all(found) else _NOTHING
        return self._or_none(told) if none else told

    def _or_none(self, told: frozenset[str]) -> frozenset[str]:
        """Return the types of a value that has one of these types or is None; guesses leave None out."""
        return told | {_NONE} if told and not self._guesses else told

    def _of_call(self, node: s.Call) -> frozenset[str]:
        names = self.resolver.callee(node)
        if not names:
            return self._of_instance_call(self.of(node.function)) if self._guesses else _NOTHING
        if not self._guesses and self._is_of_a_guess(node):
            return _NOTHING
        found: set[str] = set()
        for name in names:
            kind = self._result(name)
            if kind is None:
                return _NOTHING
            found.add(kind)
        return frozenset(found)

    def _is_of_a_guess(self, node: s.Call) -> bool:
        """Return whether a call is of a method of something whose type is unknown."""
        called = node.function
        return isinstance(called, s.Attribute) and not self.resolver.names(called.value) and not self.of(called.value)

    def _of_instance_call(self, types: frozenset[str]) -> frozenset[str]:
        """Return the tensor that calling an instance of torch.nn gives; empty for recurrent and attention modules."""
        if not types or not all(t.startswith("torch.nn.") and t not in self._not_tensor for t in types):
            return _NOTHING
        return frozenset((TENSOR,))

    def _result(self, name: str) -> str | None:
        if name in self.resolver.classes:
            return name
        if name in self._results:
            return self._results[name]
        function = self.resolver.functions.get(name)
        if function is not None:
            returns = self.annotated(function.returns) if function.returns is not None else _NOTHING
            return next(iter(returns)) if len(returns) == 1 else None
        head, _, last = name.rpartition(".")
        if name in self._not_tensor or name in self._tuples:
            return None
        if head == TENSOR:
            return TENSOR if name in self._tensor_methods else None
        if last[:1].isupper():
            return name
        if head in self._tensor_namespaces:
            return None if last.startswith("_") else TENSOR
        if head in self._array_namespaces:
            return ARRAY
        return None

    def _of_attribute(self, node: s.Attribute) -> frozenset[str]:
        kinds = self.of(node.value)
        if kinds <= {TENSOR} and node.attribute in self._graph_attributes:
            return frozenset((TENSOR,))  # a model may be given a graph as well as a tensor
        if kinds == {TENSOR}:
            return frozenset((TENSOR,)) if node.attribute in self._tensor_attributes else _NOTHING
        owner = self.resolver.classes.get(next(iter(kinds))) if len(kinds) == 1 else None
        if owner is None:
            return _NOTHING
        found: frozenset[str] = _NOTHING
        values = self.resolver.attribute_values(owner, node.attribute)
        for value in sorted(values, key=lambda value: _method_on(value, node.attribute) != ""):
            method = _method_on(value, node.attribute)  # of what the attribute held before
            results = {self._result(f"{kind}.{method}") for kind in found} if method else set()
            types = frozenset(each for each in results if each) if method else self.of(value)
            if not types:
                return _NOTHING
            found |= types
        return found - {_NONE} if self._guesses else found  # what is only None here gets a value elsewhere


def _method_on(value: s.Expression, attribute: str) -> str:
    """Return the method of an attribute that gives a value, as in `self.g = self.g.manual_seed(0)`; "" for others."""
    method = value.function if isinstance(value, s.Call) else None
    holder = method.value if isinstance(method, s.Attribute) else None
    same = isinstance(holder, s.Attribute) and holder.attribute == attribute
    return method.attribute if isinstance(method, s.Attribute) and same else ""

"""The expressions that are sets."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, bound, reaching, returned

_OPERATORS = frozenset(("|", "&", "-", "^"))


_DISPLAYS: tuple[type[s.Collection | s.Comprehension], ...] = (s.Collection, s.Comprehension)


class Sets:
    """Finds the sets of one file."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.types = module.python("types", "set")
        self.algebra = module.python("methods", "set-algebra")
        self._methods = {f"builtins.set.{method}" for method in self.algebra}
        self._sets: dict[s.Expression, bool] = {}
        self._returned: dict[s.Function, bool] = {}

    def may_be_any(self) -> bool:
        """Return whether the file has a word, a display or an operation without which it has no sets."""
        module = self.module
        if module.speaks_of((*self.types, *self.algebra)) or any(
            n.kind == "set" for kind in _DISPLAYS for n in module.every(kind)
        ):
            return True
        return "keys" in module.words and any(node.operator in _OPERATORS for node in module.every(s.Operation))

    def is_set(self, node: s.Expression) -> bool:
        """Return whether an expression is certainly a set."""
        if node not in self._sets:
            self._sets[node] = False
            self._sets[node] = self._is_set(node)
        return self._sets[node]

    def has_no_order(self, node: s.Expression) -> bool:
        """Return whether a set is known to hold at most one item: a display, or a name of one that nothing adds to."""
        if isinstance(node, s.Collection):
            return len(node.elements) < 2 and not any(isinstance(element, s.Starred) for element in node.elements)
        if isinstance(node, s.Call) and self.module.callee(node) <= self.types and len(node.arguments) == 1:
            given = node.arguments[0].value
            return isinstance(given, s.Collection) and self.has_no_order(given)
        scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
        if not isinstance(node, s.Name) or scope is None:
            return False
        bindings = reaching(node) or ()
        if not bindings or not all(b.kind == "assign" and not b.path for b in bindings):
            return False
        if not all(isinstance(b.value, s.Collection) and self.has_no_order(b.value) for b in bindings):
            return False
        return not any(self._may_grow(read) for read in self.module.reads(scope, node.id))

    def _may_grow(self, read: s.Name) -> bool:
        """Return whether a use of a set may add items to it: by a method, or in a function that is not a builtin."""
        parent = read.parent
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            names = self.module.callee(parent.parent)
            return not names or not all(name.startswith("builtins.") for name in names)
        return not isinstance(parent, (s.Operation, s.For, s.Clause, s.Starred))

    def _is_set(self, node: s.Expression) -> bool:
        if isinstance(node, (s.Collection, s.Comprehension)):
            return node.kind == "set"
        if isinstance(node, s.Call):
            return self._makes_set(node)
        if isinstance(node, s.Operation) and node.operator in _OPERATORS and len(node.operands) == 2:
            left, right = node.operands
            if node.operator == "-":
                return self.is_set(left) or (self._is_keys(left) and (self.is_set(right) or self._is_keys(right)))
            return any(self.is_set(o) for o in node.operands) or all(self._is_keys(o) for o in node.operands)
        if isinstance(node, s.Conditional):
            return self.is_set(node.body) and self.is_set(node.orelse)
        if isinstance(node, s.Operation) and node.operator == "or":
            return all(self.is_set(operand) for operand in node.operands)
        if isinstance(node, s.NamedExpression):
            return self.is_set(node.value)
        if isinstance(node, s.Name):
            bindings = [b for b in reaching(node) or () if b.kind != "augment"]
            return bool(bindings) and all(self._binds_set(binding) for binding in bindings)
        if isinstance(node, s.Attribute):
            owner = self.module.owner(node.value)
            values = self.module.attribute_values(owner, node.attribute) if owner is not None else []
            return bool(values) and all(self.is_set(value) for value in values)
        return isinstance(node, s.Subscript) and self._holds_sets(node.value)

    def _makes_set(self, node: s.Call) -> bool:
        names = self.module.callee(node)
        if names:
            if names <= {"builtins.set", "builtins.frozenset"}:
                return True
            if names <= {"copy.copy", "copy.deepcopy"} and node.arguments:
                return self.is_set(node.arguments[0].value)
            functions = [self.module.functions[name] for name in names if name in self.module.functions]
            if len(functions) == len(names):
                return all(self._gives_set(function) for function in functions)
        if isinstance(node.function, s.Attribute):
            if node.function.attribute in self.algebra:
                return self.is_set(node.function.value) or names <= self._methods != names
            return node.function.attribute == "copy" and self.is_set(node.function.value)
        return False

    def _gives_set(self, function: s.Function) -> bool:
        """Return whether a function returns only sets."""
        if function.returns is not None:
            return self._annotates_set(function.returns)
        if function not in self._returned:
            leaves = [n for n in s.walk(function.body) if isinstance(n, s.Leave) and n.kind == "return"]
            own = [leave for leave in leaves if self.module.function_of(leave) is function]
            self._returned[function] = bool(own) and all(len(n.values) == 1 and self.is_set(n.values[0]) for n in own)
        return self._returned[function]

    def _is_keys(self, node: s.Expression) -> bool:
        return isinstance(node, s.Call) and isinstance(node.function, s.Attribute) and node.function.attribute == "keys"

    def _binds_set(self, binding: Binding) -> bool:
        annotation = getattr(binding.node, "annotation", None)
        if annotation is not None:
            return self._annotates_set(annotation)
        if binding.kind in ("for", "comprehension"):
            return self._is_value_of_sets(binding)
        value = binding.value if binding.kind == "named" else bound(binding)
        if value is None and binding.kind == "assign" and len(binding.path) == 1 and isinstance(binding.value, s.Call):
            return self._gives_sets_at(binding.value, binding.path[0])
        return value is not None and self.is_set(value)

    def _gives_sets_at(self, call: s.Call, place: int) -> bool:
        """Return whether functions of the file return tuples with a set at a place."""
        functions = [self.module.functions.get(name) for name in self.module.callee(call)]
        found = [value for function in functions for value in (returned(function) if function is not None else ())]
        tuples = [value.elements for value in found if isinstance(value, s.Collection) and value.kind == "tuple"]
        if not found or None in functions or len(tuples) < len(found):
            return False
        return all(place < len(parts) and self.is_set(parts[place]) for parts in tuples)

    def _annotates_set(self, node: s.Expression) -> bool:
        value = node.value if isinstance(node, s.Subscript) else node
        if self.module.names(value) & {"typing.Optional"} and isinstance(node, s.Subscript):
            return self._annotates_set(node.indices[0])
        return bool(self.module.names(value)) and self.module.names(value) <= self.types

    def _is_value_of_sets(self, binding: Binding) -> bool:
        """Return whether a loop binds a name to the values of a mapping, all of which are sets."""
        call = binding.value
        if not isinstance(call, s.Call) or not isinstance(call.function, s.Attribute):
            return False
        place = {"items": (1,), "values": ()}.get(call.function.attribute)
        return binding.path == place and self._holds_sets(call.function.value)

    def _holds_sets(self, node: s.Expression) -> bool:
        """Return whether a mapping is a `defaultdict(set)`, or a dict of which the file shows that it holds sets."""
        values = self.module.values(node) or []
        return bool(values) and all(self._makes_mapping_of_sets(node, value) for value in values)

    def _makes_mapping_of_sets(self, node: s.Expression, value: s.Expression) -> bool:
        if isinstance(value, s.Call) and self.module.callee(value) == {"collections.defaultdict"}:
            return bool(value.arguments) and self.module.names(value.arguments[0].value) == {"builtins.set"}
        if isinstance(value, s.Comprehension) and value.kind == "dict":
            return self.is_set(value.elements[-1])
        made = isinstance(value, s.Call) and self.module.callee(value) == {"builtins.dict"} and not value.arguments
        put = [*self._put_into(node)] if made or isinstance(value, s.Dictionary) else []
        put += value.values if isinstance(value, s.Dictionary) else []
        return bool(put) and all(each is not None and self.is_set(each) for each in put)

    def _put_into(self, node: s.Expression) -> Iterator[s.Expression]:
        """Yield what is stored in a mapping of a variable, under keys or as defaults."""
        scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
        for read in self.module.reads(scope, node.id) if isinstance(node, s.Name) and scope is not None else ():
            parent = read.parent
            if isinstance(parent, s.Subscript) and parent.stored and isinstance(parent.parent, s.Assign):
                if parent.parent.value is not None:
                    yield parent.parent.value
            elif isinstance(parent, s.Attribute) and parent.attribute == "setdefault":
                call = parent.parent
                if isinstance(call, s.Call) and len(call.arguments) == 2:
                    yield call.arguments[1].value

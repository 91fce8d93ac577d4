"""What expressions refer to: qualified names, values, constants and types of a file's expressions."""

from __future__ import annotations

import builtins
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from detlint.catalogue import Catalogue
from detlint.semantics.index import Index
from detlint.semantics.infer import TENSOR, Types
from detlint.semantics.values import UNKNOWN, literal
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, Scope, bound, class_given, reaching

_BUILTINS = frozenset(dir(builtins))
_NOTHING: frozenset[str] = frozenset()
PARTIAL = frozenset(("functools.partial", "functools.partialmethod"))


class Resolver(Index):
    """Answers about the expressions of one file. An empty set or None means "unknown"."""

    def __init__(self, file: s.File, module: str, catalogue: Catalogue) -> None:
        super().__init__(file, catalogue)
        self.module = module
        self.functions: dict[str, s.Function] = {}
        self.classes: dict[str, s.Class] = {}
        self._qualified: dict[s.Node, str] = {}
        self._names: dict[s.Expression, frozenset[str]] = {}
        self._settled: dict[tuple[Scope, str], frozenset[str] | None] = {}
        self._callees: dict[s.Call, frozenset[str]] = {}
        self._begun = False
        self._ancestries: dict[s.Class, list[str]] = {}
        names = catalogue.names
        self._tensor_only = names("names", "methods", "methods", id="tensor-only")
        self._parts = names("tensors", "kind", id="tensor-attribute")
        self._parameters = names("tensors", "kind", id="layer-parameter")
        self._types = Types(self)
        self._proven = Types(self, guesses=False)
        for klass in self.every(s.Class):
            self.classes.setdefault(self.qualified(klass), klass)
        for function in self.every(s.Function):
            self.functions.setdefault(self.qualified(function), function)

    # Qualified names

    def qualified(self, node: s.Function | s.Class) -> str:
        """Return the qualified name of a function or class of this file."""
        found = self._qualified.get(node)
        if found is None:
            outer = next((a for a in node.ancestors() if isinstance(a, (s.Function, s.Class))), None)
            found = self._qualified[node] = f"{self.module if outer is None else self.qualified(outer)}.{node.name}"
        return found

    def canonical(self, name: str) -> str:
        """Return the canonical name of an API that can be imported from several places."""
        return self.catalogue.canonical(name)

    def names(self, node: s.Expression) -> frozenset[str]:
        """Return the qualified names that a reference may stand for; several if an import is conditional."""
        found = self._names.get(node)
        if found is None and not self._begun:
            self._begin()
            found = self._names.get(node)
        if found is None:
            self._names[node] = _NOTHING  # a cycle of assignments is unknown
            found = self._names[node] = self._find_names(node)
        return found

    def _begin(self) -> None:
        """Resolve the calls in order: the result for a cycle of assignments depends on where the cycle is entered."""
        self._begun = True
        for call in self.calls:
            self._callees[call] = self.callee(call)

    def name(self, node: s.Expression) -> str | None:
        """Return the qualified name if there is just one, else None."""
        names = self.names(node)
        return next(iter(names)) if len(names) == 1 else None

    def _find_names(self, node: s.Expression) -> frozenset[str]:
        if isinstance(node, s.Name):
            return self._names_of_name(node)
        if isinstance(node, s.Attribute):
            return self._names_of_attribute(node)
        if isinstance(node, s.Conditional):
            return self._all([node.body, node.orelse])
        return _NOTHING

    def _all(self, nodes: Iterable[s.Expression]) -> frozenset[str]:
        found: frozenset[str] = _NOTHING
        for node in nodes:
            if isinstance(node, s.Constant) and node.value is None:
                continue
            names = self.names(node)
            if not names:
                return _NOTHING
            found |= names
        return found

    def _names_of_name(self, node: s.Name) -> frozenset[str]:
        """Return what a name stands for: found once for all its reads where all its bindings agree."""
        key = node.scope, node.id
        if key not in self._settled:
            scope = node.scope.find(node.id)
            self._settled[key] = None if scope is None else self._names_anywhere(scope.bindings[node.id])
        settled = self._settled[key]
        return self._names_here(node) if settled is None else settled

    def _names_anywhere(self, bindings: list[Binding]) -> frozenset[str] | None:
        """Return what bindings give whichever of them counts, without following them; None if that varies."""
        if all(map(_gives_no_name, bindings)):
            return _NOTHING
        only = bindings[0] if len(bindings) == 1 else None
        if only is not None and only.qualified is not None:
            return frozenset((self.canonical(only.qualified),))
        given = only.node if only is not None and isinstance(only.node, (s.Function, s.Class)) else None
        given = class_given(only) if given is None and only is not None else given
        return None if given is None else frozenset((self.qualified(given),))

    def _names_here(self, node: s.Name) -> frozenset[str]:
        bindings = reaching(node)
        if bindings is None:
            for star in reversed(self.file.stars):
                name = self.canonical(f"{star}.{node.id}")
                if name in self.catalogue.known_names:
                    return frozenset((name,))
            return frozenset((f"builtins.{node.id}",)) if node.id in _BUILTINS else _NOTHING
        found: set[str] = set()
        for binding in bindings:
            if binding.qualified is not None:
                found.add(self.canonical(binding.qualified))
            elif isinstance(binding.node, (s.Function, s.Class)):
                found.add(self.qualified(binding.node))
            elif (klass := class_given(binding)) is not None:
                found.add(self.qualified(klass))
            elif binding.kind == "assign" and binding.value is not None and not binding.path:
                if isinstance(binding.value, s.Constant) and binding.value.value is None:
                    continue
                names = self.names(binding.value)
                if not names:
                    return _NOTHING
                found |= names
            else:
                return _NOTHING
        return frozenset(found)

    def _names_of_attribute(self, node: s.Attribute) -> frozenset[str]:
        bases = self.names(node.value)
        if bases and not (node.attribute in self._tensor_only and all(map(self._is_kept, bases))):
            return frozenset(self._member(self._held(base), node.attribute) for base in bases)
        types = self.types(node.value)
        if types:
            owner = self.owner(node.value)
            if owner is not None and self._defines(owner, node.attribute) is None:
                values = self.attribute_values(owner, node.attribute)
                if values:
                    return self._all(values)
            return frozenset(self._member(kind, node.attribute) for kind in types)
        if node.attribute in self._tensor_only:
            return frozenset((f"{TENSOR}.{node.attribute}",))
        return _NOTHING

    def _is_kept(self, name: str) -> bool:
        """Return whether a name is of an attribute that the class does not define, such as a buffer of a module."""
        owner, _, attribute = name.rpartition(".")
        return owner in self.classes and self._defines(self.classes[owner], attribute) is None

    def _held(self, base: str) -> str:
        """Return `TENSOR` for the name of a tensor that is part of a tensor or a layer, else the name itself."""
        owner, _, attribute = base.rpartition(".")
        layer = owner.startswith("torch.nn.") and owner.rpartition(".")[2][:1].isupper()
        of_layer = layer and attribute in self._parameters
        return TENSOR if of_layer or (owner == TENSOR and attribute in self._parts) else base

    def _member(self, base: str, attribute: str) -> str:
        owner = self.classes.get(base)
        where = None if owner is None else self._defines(owner, attribute)
        return self.canonical(f"{base if where is None else self.qualified(where)}.{attribute}")

    def is_builtin(self, name: str, node: s.Node) -> bool:
        """Return whether `name` refers to the builtin at `node`: nothing in the file binds it there."""
        for around in node.ancestors():
            if isinstance(around, s.Comprehension):
                targets = [part for clause in around.clauses for part in s.walk(clause.target)]
                if any(isinstance(part, s.Name) and part.id == name for part in targets):
                    return False
            elif isinstance(around, (s.Function, s.Class)):
                return around.scope.find(name) is None
        return self.file.scope.find(name) is None

    # Classes

    def bases(self, klass: s.Class) -> list[str]:
        """Return the qualified names of the direct bases that are known."""
        found: list[str] = []
        for argument in klass.arguments:
            if argument.keyword is None:
                value = argument.value.value if isinstance(argument.value, s.Subscript) else argument.value
                found += sorted(self.names(value))
        return found

    def ancestry(self, klass: s.Class) -> list[str]:
        """Return the qualified names of all bases, through the classes of this file."""
        found = self._ancestries.get(klass)
        if found is None:
            seen: dict[str, None] = {}
            queue = deque(self.bases(klass))
            while queue:
                base = queue.popleft()
                if base not in seen:
                    seen[base] = None
                    if base in self.classes:
                        queue += self.bases(self.classes[base])
            found = self._ancestries[klass] = list(seen)
        return found

    def is_a(self, klass: s.Class, family: str) -> bool:
        """Return whether a class descends from a family of `names.toml`: "module", "dataset" ..."""
        return not self.catalogue.names("names", "base", id=family).isdisjoint(self.ancestry(klass))

    def family(self, klass: s.Class) -> list[s.Class]:
        """Return the class and its bases in this file."""
        return [klass, *(self.classes[base] for base in self.ancestry(klass) if base in self.classes)]

    def method(self, klass: s.Class, name: str) -> s.Function | None:
        """Return the method that an instance finds under `name` in this file, or None."""
        for owner in self.family(klass):
            for binding in owner.scope.bindings.get(name, ()):
                if isinstance(binding.node, s.Function):
                    return binding.node
        return None

    def _defines(self, klass: s.Class, name: str) -> s.Class | None:
        return next((c for c in self.family(klass) if name in c.scope.bindings), None)

    def owner(self, node: s.Expression) -> s.Class | None:
        """Return the class of this file that an expression is an instance of, or None."""
        types = self.types(node)
        return self.classes.get(next(iter(types))) if len(types) == 1 else None

    @cached_property
    def _stored_attributes(self) -> Mapping[tuple[s.Class, str], list[s.Assign]]:
        """The assignments in methods to attributes of their first parameter, by the class of the method."""
        found: dict[tuple[s.Class, str], list[s.Assign]] = defaultdict(list)
        for node in self.every(s.Attribute):
            if not node.stored or not isinstance(node.value, s.Name):
                continue
            statement = next((a for a in node.ancestors() if isinstance(a, s.Statement)), None)
            for around in node.ancestors() if isinstance(statement, s.Assign) else ():
                if isinstance(around, s.Function) and around.parameters and isinstance(statement, s.Assign):
                    klass = around.parent.parent if around.parent is not None else None
                    if isinstance(klass, s.Class) and around.parameters[0].name == node.value.id:
                        found[klass, node.attribute].append(statement)
        return found

    def attribute_assignments(self, klass: s.Class, name: str) -> list[s.Assign]:
        """Return every `self.name = ...` of the class and its bases in this file."""
        found: list[s.Assign] = []
        for owner in self.family(klass):
            found += self._stored_attributes.get((owner, name), ())
        return found

    def attribute_values(self, klass: s.Class, name: str) -> list[s.Expression]:
        """Return what `self.name` is set to, in the class body or in a method; empty if unknown."""
        values: list[s.Expression] = []
        for assign in self.attribute_assignments(klass, name):
            if assign.value is None or assign.operator != "=" or _unpacks(assign):
                return []
            values.append(assign.value)
        for owner in self.family(klass):
            for binding in owner.scope.bindings.get(name, ()):
                if binding.value is not None and binding.kind == "assign" and not binding.path:
                    annotated = isinstance(binding.node, s.Assign) and binding.node.annotation is not None
                    if annotated and (owner.decorators or owner.arguments):
                        return []  # a field of a dataclass or model: the default of what its constructor takes
                    values.append(binding.value)
        return values

    # Values

    def values(self, node: s.Expression, depth: int = 8) -> list[s.Expression] | None:
        """Return the expressions that may have given `node` its value, through assignments; None if unknown."""
        if depth == 0:
            return None
        steps: Sequence[s.Expression | None]
        if isinstance(node, s.Name):
            bindings = reaching(node)
            if not bindings:
                return None
            steps = [bound(binding) for binding in bindings]
        elif isinstance(node, s.Attribute):
            owner = self.owner(node.value)
            steps = [] if owner is None else self.attribute_values(owner, node.attribute)
            if not steps:
                return [node] if self.names(node) else None
        elif isinstance(node, s.Conditional):
            steps = [node.body, node.orelse]
        elif isinstance(node, s.Operation) and node.operator == "or":
            steps = node.operands
        elif isinstance(node, s.NamedExpression):
            steps = [node.value]
        else:
            return [node]
        found: list[s.Expression] = []
        for step in steps:
            values = None if step is None else self.values(step, depth - 1)
            if values is None:
                return None
            found += values
        return found

    def constants(self, node: s.Expression) -> list[object] | None:
        """Return all constants that an expression may evaluate to, or None if one value is not a constant."""
        values = self.values(node)
        if values is None:
            return None
        found = [literal(value) for value in values]
        return None if any(value is UNKNOWN for value in found) else found

    # Calls

    def callee(self, call: s.Call) -> frozenset[str]:
        """Return the qualified names of what is called, through `functools.partial` and aliases."""
        found = self._callees.get(call)
        if found is not None:
            return found
        names = self.names(call.function)
        if not names:
            made = self.partial(call.function)
            names = _NOTHING if made is None else self.names(made.arguments[0].value)
        return names

    def calls_to(self, names: Collection[str]) -> Iterator[s.Call]:
        """Yield the calls all of whose possible callees are among `names`, in evaluation order."""
        for call in self.calls_named(names):
            callee = self.callee(call)
            if callee and all(name in names for name in callee):
                yield call

    @cached_property
    def _makes_partials(self) -> bool:
        return not self.narrows or not self.words.isdisjoint(self.catalogue.spellings(PARTIAL))

    def partial(self, node: s.Expression) -> s.Call | None:
        """Return the `functools.partial(f, ...)` call that made `node`, or None."""
        if not self._makes_partials:
            return None
        values = self.values(node) if isinstance(node, (s.Name, s.Attribute, s.Call)) else None
        for value in values or ():
            if isinstance(value, s.Call) and value.arguments and self.names(value.function) & PARTIAL:
                return value
        return None

    # Types

    def types(self, node: s.Expression) -> frozenset[str]:
        """Return the qualified names of the classes that an expression may be an instance of."""
        if not self._begun:
            self._begin()
        return self._types.of(node)

    def proven(self, node: s.Expression) -> frozenset[str]:
        """Return the same as `types`, but only what the text says, without guesses from what most programs do."""
        if not self._begun:
            self._begin()
        return self._proven.of(node)

    def is_tensor(self, node: s.Expression) -> bool:
        """Return whether an expression is certainly a tensor."""
        return self.types(node) == {TENSOR}

    def is_static(self, function: s.Function) -> bool:
        """Return whether a method is a `staticmethod`."""
        return any("builtins.staticmethod" in self.names(d) for d in function.decorators)


def _gives_no_name(binding: Binding) -> bool:
    """Return whether a name with this binding cannot stand for anything that has a qualified name."""
    if binding.qualified is not None or isinstance(binding.node, (s.Function, s.Class)):
        return False
    if binding.kind != "assign" or binding.value is None or binding.path:
        return class_given(binding) is None
    return not isinstance(binding.value, (s.Name, s.Attribute, s.Conditional))


def _unpacks(assign: s.Assign) -> bool:
    return any(isinstance(target, s.Collection) for target in assign.targets)

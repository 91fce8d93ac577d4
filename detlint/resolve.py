"""What expressions stand for: qualified names, values, constants and types of a file's expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence

from detlint import syntax as s
from detlint.bindings import reaching
from detlint.catalogue import Catalogue

_BUILTINS = frozenset(dir(builtins))
_NOTHING: frozenset[str] = frozenset()
TENSOR = "torch.Tensor"
ARRAY = "numpy.ndarray"
_TENSOR_ATTRIBUTES = frozenset(("T", "mT", "H", "data", "grad", "real", "imag"))
_PARTIAL = frozenset(("functools.partial", "functools.partialmethod"))


class Unknown:
    """The value of an expression that is not a constant."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


class Resolver:
    """Answers about the expressions of one file. An empty set or None means "not known"."""

    def __init__(self, file: s.File, module: str, catalogue: Catalogue) -> None:
        self.file = file
        self.module = module
        self.catalogue = catalogue
        self.functions: dict[str, s.Function] = {}
        self.classes: dict[str, s.Class] = {}
        self._qualified: dict[s.Node, str] = {}
        self._aliases = {
            prefix: row.text("canonical") for row in catalogue.rows("names", "alias") for prefix in row.list("prefixes")
        }
        self._names: dict[s.Expression, frozenset[str]] = {}
        self._types: dict[s.Expression, frozenset[str]] = {}
        self._stored_attributes: dict[s.Class, dict[str, list[s.Assign]]] = {}
        names = catalogue.names
        self._tensor_only = names("names", "methods", "methods", id="tensor-only")
        self._not_tensor = names("names", "tensor", id="not-a-tensor")
        self._tuples = names("names", "tensor", id="tuple")
        self._tensor_methods = names("names", "tensor", id="tensor-methods")
        self._results = {row.text("call"): row.text("type") for row in catalogue.rows("tensors", "result")}
        self._index(file.body, module)

    def _index(self, node: s.Node, prefix: str) -> None:
        for child in s.walk(node):
            if isinstance(child, (s.Function, s.Class)):
                outer = next((a for a in child.ancestors() if isinstance(a, (s.Function, s.Class))), None)
                base = prefix if outer is None else self._qualified[outer]
                qualified = self._qualified[child] = f"{base}.{child.name}"
                if isinstance(child, s.Class):
                    self.classes.setdefault(qualified, child)
                else:
                    self.functions.setdefault(qualified, child)

    # Qualified names

    def qualified(self, node: s.Function | s.Class) -> str:
        """The qualified name of a function or class of this file."""
        return self._qualified[node]

    def canonical(self, name: str) -> str:
        """The one name of an API that can be imported from several places."""
        for _ in range(3):
            head, tail = name, ""
            while head and head not in self._aliases:
                head, _, last = head.rpartition(".")
                tail = f".{last}{tail}"
            if not head or (not tail and head.startswith(f"{self._aliases[head]}.")):
                return name  # a module that is on the way to a name of its own
            name = self._aliases[head] + tail
        return name

    def names(self, node: s.Expression) -> frozenset[str]:
        """The qualified names that a reference may stand for; several where an import is conditional."""
        found = self._names.get(node)
        if found is None:
            self._names[node] = _NOTHING  # a cycle of assignments is not known
            found = self._names[node] = self._find_names(node)
        return found

    def name(self, node: s.Expression) -> str | None:
        """The qualified name where there is just one."""
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
                found.add(self._qualified[binding.node])
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
        if bases:
            return frozenset(self._member(base, node.attribute) for base in bases)
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

    def _member(self, base: str, attribute: str) -> str:
        owner = self.classes.get(base)
        where = None if owner is None else self._defines(owner, attribute)
        return self.canonical(f"{base if where is None else self._qualified[where]}.{attribute}")

    # Classes

    def bases(self, klass: s.Class) -> list[str]:
        """Qualified names of the direct bases that are known."""
        found: list[str] = []
        for argument in klass.arguments:
            if argument.keyword is None:
                value = argument.value.value if isinstance(argument.value, s.Subscript) else argument.value
                found += sorted(self.names(value))
        return found

    def ancestry(self, klass: s.Class) -> list[str]:
        """Qualified names of all bases, through the classes of this file."""
        found: list[str] = []
        queue = self.bases(klass)
        while queue:
            base = queue.pop(0)
            if base not in found:
                found.append(base)
                if base in self.classes:
                    queue += self.bases(self.classes[base])
        return found

    def is_a(self, klass: s.Class, family: str) -> bool:
        """Whether a class descends from a family of `names.toml`: "module", "dataset" ..."""
        return not self.catalogue.names("names", "base", id=family).isdisjoint(self.ancestry(klass))

    def family(self, klass: s.Class) -> list[s.Class]:
        """The class and its bases in this file."""
        return [klass, *(self.classes[base] for base in self.ancestry(klass) if base in self.classes)]

    def method(self, klass: s.Class, name: str) -> s.Function | None:
        """The method that an instance finds under `name`, in this file."""
        for owner in self.family(klass):
            for binding in owner.scope.bindings.get(name, ()):
                if isinstance(binding.node, s.Function):
                    return binding.node
        return None

    def _defines(self, klass: s.Class, name: str) -> s.Class | None:
        return next((c for c in self.family(klass) if name in c.scope.bindings), None)

    def owner(self, node: s.Expression) -> s.Class | None:
        """The class of this file that an expression is an instance of."""
        types = self.types(node)
        return self.classes.get(next(iter(types))) if len(types) == 1 else None

    def attribute_assignments(self, klass: s.Class, name: str) -> list[s.Assign]:
        """Every `self.name = ...` of the class and its bases in this file."""
        found: list[s.Assign] = []
        for owner in self.family(klass):
            stored = self._stored_attributes.get(owner)
            if stored is None:
                stored = self._stored_attributes[owner] = _stored_on_self(owner)
            found += stored.get(name, [])
        return found

    def attribute_values(self, klass: s.Class, name: str) -> list[s.Expression]:
        """What `self.name` is set to, in the class body or in a method; none where it is not known."""
        values: list[s.Expression] = []
        for assign in self.attribute_assignments(klass, name):
            if assign.value is None or assign.operator != "=" or _unpacks(assign):
                return []
            values.append(assign.value)
        for owner in self.family(klass):
            for binding in owner.scope.bindings.get(name, ()):
                if binding.value is not None and binding.kind == "assign" and not binding.path:
                    values.append(binding.value)
        return values

    # Values

    def values(self, node: s.Expression, depth: int = 8) -> list[s.Expression] | None:
        """The expressions that may have given `node` its value, followed through assignments; None: unknown."""
        if depth == 0:
            return None
        steps: Sequence[s.Expression | None]
        if isinstance(node, s.Name):
            bindings = reaching(node)
            if not bindings:
                return None
            steps = [_bound(binding) for binding in bindings]
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
        """All constants that an expression may evaluate to, or None where one is not a constant."""
        values = self.values(node)
        if values is None:
            return None
        found = [literal(value) for value in values]
        return None if any(value is UNKNOWN for value in found) else found

    # Calls

    def callee(self, call: s.Call) -> frozenset[str]:
        """Qualified names of what is called, through `functools.partial` and aliases."""
        names = self.names(call.function)
        if not names:
            made = self.partial(call.function)
            names = _NOTHING if made is None else self.names(made.arguments[0].value)
        return names

    def partial(self, node: s.Expression) -> s.Call | None:
        """The `functools.partial(f, ...)` call that made `node`."""
        values = self.values(node) if isinstance(node, (s.Name, s.Attribute, s.Call)) else None
        for value in values or ():
            if isinstance(value, s.Call) and value.arguments and self.names(value.function) & _PARTIAL:
                return value
        return None

    # Types

    def types(self, node: s.Expression) -> frozenset[str]:
        """Qualified names of the classes that an expression may be an instance of."""
        found = self._types.get(node)
        if found is None:
            self._types[node] = _NOTHING
            found = self._types[node] = self._find_types(node)
        return found

    def is_tensor(self, node: s.Expression) -> bool:
        """Whether an expression is certainly a tensor."""
        return self.types(node) == {TENSOR}

    def _find_types(self, node: s.Expression) -> frozenset[str]:
        if isinstance(node, s.Constant):
            return frozenset((f"builtins.{type(node.value).__name__}",))
        if isinstance(node, s.Collection):
            return frozenset((f"builtins.{node.kind}",))
        if isinstance(node, (s.Dictionary, s.Comprehension)):
            kind = "dict" if isinstance(node, s.Dictionary) else node.kind
            return frozenset((f"builtins.{kind}",))
        if isinstance(node, s.Name):
            return self._types_of_name(node)
        if isinstance(node, s.Call):
            return self._types_of_call(node)
        if isinstance(node, s.Attribute):
            return self._types_of_attribute(node)
        if isinstance(node, s.Subscript):
            if isinstance(node.value, s.Call) and self.callee(node.value) & self._tuples:
                return frozenset((TENSOR,))
            return self.types(node.value) & {TENSOR, ARRAY}
        if isinstance(node, s.Operation):
            kinds = [self.types(operand) for operand in node.operands]
            for kind in (TENSOR, ARRAY):
                if frozenset((kind,)) in kinds and node.operator not in ("and", "or", "in", "not in", "is", "is not"):
                    return frozenset((kind,))
            return frozenset(("builtins.str",)) if node.operator == "f-string" else _NOTHING
        if isinstance(node, s.Conditional):
            body, orelse = self.types(node.body), self.types(node.orelse)
            return body | orelse if body and orelse else _NOTHING
        if isinstance(node, s.NamedExpression):
            return self.types(node.value)
        return _NOTHING

    def _types_of_name(self, node: s.Name) -> frozenset[str]:
        found: frozenset[str] = _NOTHING
        for binding in reaching(node) or ():
            if binding.kind == "parameter" and isinstance(binding.node, s.Parameter):
                types = self._types_of_parameter(binding.node)
            elif binding.kind == "augment":
                continue
            elif binding.kind == "assign" and binding.value is not None:
                annotation = binding.node.annotation if isinstance(binding.node, s.Assign) else None
                if annotation is not None:
                    types = self.annotated(annotation)
                elif not binding.path:
                    types = self.types(binding.value)
                else:
                    types = self._types_of_item(binding)
            else:
                types = _NOTHING
            if not types:
                return _NOTHING
            found |= types
        return found - {"builtins.NoneType"} or found

    def _types_of_item(self, binding: s.Binding) -> frozenset[str]:
        value = _bound(binding)
        if value is not None:
            return self.types(value)
        if isinstance(binding.value, s.Call) and self.callee(binding.value) & self._tuples:
            return frozenset((TENSOR,))
        return _NOTHING

    def _types_of_parameter(self, parameter: s.Parameter) -> frozenset[str]:
        if parameter.annotation is not None:
            return self.annotated(parameter.annotation)
        function = parameter.parent
        if not isinstance(function, s.Function) or parameter.star:
            return _NOTHING
        klass = class_of(function)
        if klass is None:
            return _NOTHING
        if function.parameters[0] is parameter and not self.is_static(function):
            return frozenset((self._qualified[klass],))
        if function.name == "forward" and (parameter.default is None or literal(parameter.default) is None):
            return frozenset((TENSOR,))
        return _NOTHING

    def is_static(self, function: s.Function) -> bool:
        """Whether a method is a `staticmethod`."""
        return any("builtins.staticmethod" in self.names(d) for d in function.decorators)

    def annotated(self, node: s.Expression) -> frozenset[str]:
        """The classes that an annotation admits, None left out."""
        if isinstance(node, s.Constant):
            if isinstance(node.value, str) and node.parent is not None:
                last = node.value.rpartition(".")[2]
                return frozenset((TENSOR,)) if last == "Tensor" else _NOTHING
            return _NOTHING
        if isinstance(node, s.Subscript):
            if self.names(node.value) & {"typing.Optional", "typing.Annotated"} and node.indices:
                return self.annotated(node.indices[0])
            return self.names(node.value)
        if isinstance(node, s.Operation) and node.operator == "|":
            return frozenset().union(*(self.annotated(operand) for operand in node.operands))
        return self.names(node)

    def _types_of_call(self, node: s.Call) -> frozenset[str]:
        names = self.callee(node)
        if not names:
            return self._types_of_instance_call(self.types(node.function))
        found: set[str] = set()
        for name in names:
            kind = self._result(name)
            if kind is None:
                return _NOTHING
            found.add(kind)
        return frozenset(found)

    def _types_of_instance_call(self, types: frozenset[str]) -> frozenset[str]:
        """Calling an instance of a torch.nn module gives a tensor, recurrent and attention modules aside."""
        if not types or not all(t.startswith("torch.nn.") and t not in self._not_tensor for t in types):
            return _NOTHING
        return frozenset((TENSOR,))

    def _result(self, name: str) -> str | None:
        if name in self.classes:
            return name
        if name in self._results:
            return self._results[name]
        function = self.functions.get(name)
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
        if head in ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special"):
            return None if last.startswith("_") else TENSOR
        if head in ("numpy", "numpy.random", "numpy.linalg"):
            return ARRAY
        return None

    def _types_of_attribute(self, node: s.Attribute) -> frozenset[str]:
        kinds = self.types(node.value)
        if kinds == {TENSOR}:
            return frozenset((TENSOR,)) if node.attribute in _TENSOR_ATTRIBUTES else _NOTHING
        owner = self.classes.get(next(iter(kinds))) if len(kinds) == 1 else None
        if owner is None:
            return _NOTHING
        found: frozenset[str] = _NOTHING
        for value in self.attribute_values(owner, node.attribute):
            types = self.types(value)
            if not types:
                return _NOTHING
            found |= types
        return found - {"builtins.NoneType"} or found


def literal(node: s.Expression) -> object:
    """The value of a literal expression, displays of literals and signs included, else UNKNOWN."""
    if isinstance(node, s.Constant):
        return node.value
    if isinstance(node, s.Collection) and node.kind in ("tuple", "list"):
        items = [literal(element) for element in node.elements]
        return UNKNOWN if UNKNOWN in items else tuple(items)
    if isinstance(node, s.Operation) and node.operator == "-" and len(node.operands) == 1:
        value = literal(node.operands[0])
        return -value if isinstance(value, (int, float)) else UNKNOWN
    return UNKNOWN


def class_of(function: s.Node) -> s.Class | None:
    """The class whose body holds `function` directly."""
    block = function.parent
    while block is not None and not isinstance(block, (s.Class, s.Function, s.File)):
        block = block.parent
    return block if isinstance(block, s.Class) else None


def parse_signature(text: str) -> list[tuple[str, object, bool]]:
    """Parameters of a signature of `signatures.toml`: name, default (or UNKNOWN), keyword-only."""
    parsed = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    given = parsed.args
    positional = [*given.posonlyargs, *given.args]
    pad = len(positional) - len(given.defaults)
    defaults: list[ast.expr | None] = [*([None] * pad), *given.defaults]
    found = [(a.arg, _default(d), False) for a, d in zip(positional, defaults, strict=True)]
    return found + [(a.arg, _default(d), True) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]


def _default(node: ast.expr | None) -> object:
    if node is None:
        return UNKNOWN
    try:
        return ast.literal_eval(node)
    except ValueError:
        return UNKNOWN


def _bound(binding: s.Binding) -> s.Expression | None:
    """The expression that a binding gives its name, through the unpacking of a display."""
    if binding.kind != "assign" or binding.value is None:
        return None
    value = binding.value
    for index in binding.path:
        if not isinstance(value, s.Collection) or not 0 <= index < len(value.elements):
            return None
        value = value.elements[index]
    return None if isinstance(value, s.Starred) else value


def _unpacks(assign: s.Assign) -> bool:
    return any(isinstance(target, s.Collection) for target in assign.targets)


def _stored_on_self(klass: s.Class) -> dict[str, list[s.Assign]]:
    stored: dict[str, list[s.Assign]] = {}
    for method in klass.body.statements:
        if not isinstance(method, s.Function) or not method.parameters:
            continue
        receiver = method.parameters[0].name
        for node in s.walk(method.body):
            if not isinstance(node, s.Attribute) or not node.stored or not isinstance(node.value, s.Name):
                continue
            assign = next((a for a in node.ancestors() if isinstance(a, s.Statement)), None)
            if node.value.id == receiver and isinstance(assign, s.Assign):
                stored.setdefault(node.attribute, []).append(assign)
    return stored

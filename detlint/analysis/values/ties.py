"""Values among which ties are all but certain: counts, and rounded numbers."""

from __future__ import annotations

from detlint.analysis.values.conditions import applies, subject
from detlint.catalogue import Row
from detlint.semantics.infer import ARRAY, TENSOR
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import Binding, reaching

_DEPTH = 8
_COMPARES = frozenset(("==", "!=", "<", ">", "<=", ">="))
_MASKS = frozenset(("&", "|", "^", "~"))
_MASK = "a mask"
_LIBRARIES = {TENSOR: "torch", ARRAY: "numpy"}
_METHODS = (f"{TENSOR}.", f"{ARRAY}.")


def receiver_or_first(module: Module, call: s.Call) -> s.Expression | None:
    """Return the values that a call is about: the object of its method, else its first argument; or None."""
    if isinstance(call.function, s.Attribute) and all(name.startswith(_METHODS) for name in module.callee(call)):
        return call.function.value
    return subject(module, call)


@record(frozen=True, slots=True)
class Tied:
    """Values with ties: `what` describes them, `library` is "torch", "numpy", or "" where that is not known."""

    what: str
    library: str

    @property
    def is_mask(self) -> bool:
        """Whether the values are the outcomes of a comparison."""
        return self.what == _MASK


class Ties:
    """The values with ties in one file."""

    def __init__(self, module: Module) -> None:
        names = module.catalogue.names
        self.module = module
        self._names = module.catalogue.by_name("ties", "tied")
        self._methods = module.catalogue.by_name("ties", "tied", "methods")
        self._own = frozenset(method for method, row in self._methods.items() if not row.text("takes"))
        self._keeps = names("ties", "keeps", "methods", id="methods"), names("ties", "keeps", id="methods")
        self._joins = names("ties", "keeps", id="joins")
        self._scalars = names("ties", "keeps", "methods", id="scalars"), names("ties", "keeps", id="scalars")

    def of(self, node: s.Expression, depth: int = _DEPTH) -> Tied | None:
        """Return what is known to be tied in the values of `node`, or None."""
        if depth == 0:
            return None
        if isinstance(node, s.Operation):
            return self._operation(node, depth)
        if isinstance(node, s.Call):
            return self._call(node, depth)
        if isinstance(node, s.Name):
            bindings = reaching(node) or []
            found = [self._bound(binding, depth) for binding in bindings]
            return found[0] if found and all(each is not None for each in found) else None
        if isinstance(node, s.Attribute):
            owner = self.module.owner(node.value)
            values = self.module.attribute_values(owner, node.attribute) if owner is not None else []
            kinds = [self.of(value, depth - 1) for value in values]
            return kinds[0] if kinds and all(kind is not None for kind in kinds) else None
        if isinstance(node, s.Subscript):
            call, index = node.value, literal(node.indices[0]) if len(node.indices) == 1 else None
            if isinstance(call, s.Call) and isinstance(index, int):
                return self._item(call, index)
            return self.of(node.value, depth - 1)
        return None

    def _operation(self, node: s.Operation, depth: int) -> Tied | None:
        if node.operator in _COMPARES:
            return Tied(_MASK, self._library(node))
        if node.operator in _MASKS or (node.operator == "-" and len(node.operands) == 1):
            return next((tied for o in node.operands if (tied := self.of(o, depth - 1)) is not None), None)
        if node.operator in ("+", "-", "*", "/", "//") and len(node.operands) == 2:
            left, right = node.operands
            if self._is_number(right):
                return self.of(left, depth - 1)
            return self.of(right, depth - 1) if self._is_number(left) else None
        return None

    def _is_number(self, node: s.Expression) -> bool:
        """Return whether an operand is one number, which leaves equal values equal."""
        if isinstance(node, s.Constant):
            return True
        if not isinstance(node, s.Call):
            return False
        methods, names = self._scalars
        found = self.module.callee(node)
        whole = isinstance(node.function, s.Attribute) and node.function.attribute in methods and not node.arguments
        return whole or (bool(found) and found <= names)

    def _call(self, call: s.Call, depth: int) -> Tied | None:
        names = self.module.callee(call)
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        row = self._row(call)
        value = receiver_or_first(self.module, call)
        if row is not None and not row.text("place") and applies(self.module, call, row.list("when"), ()):
            tied = self.of(value, depth - 1) if row.text("takes") and value is not None else None
            if not row.text("takes") or (tied is not None and tied.is_mask):
                return Tied(row.text("what"), self._library(call) or (tied.library if tied is not None else ""))
        if names and names <= self._joins and isinstance(value, s.Collection):
            return next((tied for each in value.elements if (tied := self.of(each, depth - 1)) is not None), None)
        methods, functions = self._keeps
        keeps = names <= functions if names and not isinstance(call.function, s.Attribute) else False
        keeps = keeps or (bool(names) and names <= functions) or (method in methods and not names & self._names.keys())
        return self.of(value, depth - 1) if keeps and value is not None else None

    def _row(self, call: s.Call) -> Row | None:
        """Return the row of a call, by the name of what is called or by the method of an array or an unknown object."""
        names = self.module.callee(call)
        rows = {id(row): row for name in names if (row := self._names.get(name)) is not None}
        if rows:
            return next(iter(rows.values())) if len(rows) == 1 else None
        if isinstance(call.function, s.Attribute) and all(name.startswith(_METHODS) for name in names):
            return self._methods.get(call.function.attribute)
        return None

    def _bound(self, binding: Binding, depth: int) -> Tied | None:
        value = binding.value
        if binding.kind == "augment" and value is not None:
            constant = self._is_number(value)
            return Tied("counts", "") if constant else self.of(value, depth - 1)
        if binding.kind != "assign" or value is None:
            return None
        if not binding.path:
            return self.of(value, depth - 1)
        target = binding.node.targets[0] if isinstance(binding.node, s.Assign) else None
        size = len(target.elements) if isinstance(target, s.Collection) else 0
        last = len(binding.path) == 1 and binding.path[0] in (-1, size - 1)
        return self._item(value, -1) if isinstance(value, s.Call) and last else None

    def _item(self, call: s.Call, index: int) -> Tied | None:
        """Return what stands at a position in the tuple that a call returns, if it is tied; else None."""
        row = self._row(call)
        if row is None or not row.text("place"):
            return None
        given = {argument.keyword: literal(argument.value) for argument in call.arguments}
        size = 1 + sum(value is True for key, value in given.items() if key and key.startswith("return_"))
        wanted = given.get(row.text("keyword")) is True and index in (-1, size - 1)
        return Tied(row.text("what"), self._library(call)) if wanted else None

    def _library(self, node: s.Expression) -> str:
        """Return the library that the value of an expression belongs to, or ""."""
        types = self.module.types(node)
        if len(types) == 1 and next(iter(types)) in _LIBRARIES:
            return _LIBRARIES[next(iter(types))]
        names = self.module.callee(node) if isinstance(node, s.Call) else frozenset[str]()
        libraries = {name.partition(".")[0].partition("_")[0] for name in names}
        found = libraries.pop() if len(libraries) == 1 else ""
        of = node.function if isinstance(node, s.Call) and not found else None
        if isinstance(of, s.Attribute) and of.attribute in self._own:
            return self._library(of.value)
        return found if found in ("torch", "numpy") else ""

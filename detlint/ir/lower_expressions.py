"""Expressions of a file, as the intermediate representation has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from detlint.ir import nodes as ir
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

_COMPARED = frozenset(("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"))
_SINGLE = {None: "None", True: "True", False: "False"}


@dataclass
class Body:
    """A function that is being lowered: its qualified name, its numbered nodes, what functions within it share."""

    qualified: str
    numbered: list[s.Node] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)
    names: dict[str, int] = field(default_factory=dict)
    yields: bool = False

    def number(self, node: s.Node) -> int:
        """The number of a node: how many of its function came before it."""
        self.numbered.append(node)
        return len(self.numbered) - 1

    def unique(self, name: str) -> str:
        """A qualified name for what this body defines; a second one of a name is told from the first."""
        count = self.names[name] = self.names.get(name, 0) + 1
        qualified = f"{self.qualified}.{name}" if self.qualified else name
        return qualified if count == 1 else f"{qualified}#{count}"


class Expressions:
    """Lowers the expressions of one file. `function` lowers a function that an expression holds."""

    def __init__(self, function: Callable[[s.Function], str]) -> None:
        self.function = function
        self.bodies: list[Body] = []  # that are being lowered, outermost first
        self.owners: dict[s.Function, Body] = {}

    @property
    def body(self) -> Body:
        """The function that is being lowered."""
        return self.bodies[-1]

    def lower(self, node: s.Expression | None) -> ir.Expression:
        """An expression; `Unread` for none, and for one of a kind that is not read."""
        lowered = _EXPRESSIONS.get(type(node))
        return ir.Unread() if lowered is None else lowered(self, node)

    def each(self, nodes: list[s.Expression]) -> tuple[ir.Expression, ...]:
        """Several expressions, one after the other."""
        return tuple([self.lower(node) for node in nodes])

    def optional(self, node: s.Expression | None) -> ir.Expression | None:
        """An expression that may be missing."""
        return None if node is None else self.lower(node)

    def variable(self, name: str, scope: Scope) -> ir.Expression:
        """What a name stands for in a scope: a variable of this function, of one around it, or of the module."""
        home = scope.find(name)
        while home is not None and home.kind == "comprehension":
            home = (
                home.parent if home.parent is not None and home.parent.kind == "comprehension" else self._around(home)
            )
        if home is None or home.kind == "module":
            return ir.Global(name)
        owner = self.owners.get(home.owner) if isinstance(home.owner, s.Function) else None
        if owner is None or owner is self.body:
            return ir.Local(name)
        owner.shared.add(name)
        return ir.Captured(name, owner.qualified)

    @staticmethod
    def _around(scope: Scope) -> Scope | None:
        """The scope in which a comprehension stands: its variables are locals of the function around it."""
        around = scope.parent
        return None if around is None else around

    def argument(self, node: s.Argument) -> ir.Argument:
        """An argument of a call or of a class."""
        star: Any = node.star
        return ir.Argument(self.lower(node.value), node.keyword or "", star)

    def _name(self, node: s.Name) -> ir.Expression:
        return self.variable(node.id, node.scope)

    def _attribute(self, node: s.Attribute) -> ir.Expression:
        return ir.Attribute(self.lower(node.value), node.attribute, self.body.number(node))

    def _constant(self, node: s.Constant) -> ir.Expression:
        return constant(node.value)

    def _call(self, node: s.Call) -> ir.Expression:
        function = self.lower(node.function)
        arguments = tuple([self.argument(argument) for argument in node.arguments])
        return ir.Call(function, arguments, self.body.number(node))

    def _subscript(self, node: s.Subscript) -> ir.Expression:
        value = self.lower(node.value)
        if len(node.indices) == 1:
            key = self.lower(node.indices[0])
        else:
            key = ir.Display("tuple", self.each(node.indices), self.body.number(node))
        return ir.Subscript(value, key, self.body.number(node))

    def _slice(self, node: s.Slice) -> ir.Expression:
        return ir.Slice(self.optional(node.lower), self.optional(node.upper), self.optional(node.step))

    def _collection(self, node: s.Collection) -> ir.Expression:
        elements = list(self.each(node.elements))
        if node.rest is not None and not isinstance(elements[node.rest], ir.Starred):
            elements[node.rest] = ir.Starred(elements[node.rest])
        kind: Any = node.kind
        return ir.Display(kind, tuple(elements), self.body.number(node))

    def _dictionary(self, node: s.Dictionary) -> ir.Expression:
        pairs = zip(node.keys, node.values, strict=True)
        entries = tuple([(self.optional(key), self.lower(value)) for key, value in pairs])
        return ir.Mapping(entries, self.body.number(node))

    def _operation(self, node: s.Operation) -> ir.Expression:
        if node.operator == "yield":
            self.body.yields = True
            value = self.lower(node.operands[0]) if node.operands else ir.Constant("None")
            return ir.Yield(value, "from" in node.rest, self.body.number(node))
        operands = self.each(node.operands)
        if node.operator in _COMPARED:
            return ir.Compare((node.operator, *node.rest), operands, self.body.number(node))
        if node.operator == "-" and len(operands) == 1 and isinstance(operands[0], ir.Constant):
            constant_kind, digits = operands[0].kind, operands[0].value
            if constant_kind in ("int", "float"):
                return ir.Constant(constant_kind, digits[1:] if digits.startswith("-") else f"-{digits}")
        return ir.Operation(node.operator, operands, self.body.number(node))

    def _conditional(self, node: s.Conditional) -> ir.Expression:
        return ir.Conditional(self.lower(node.test), self.lower(node.body), self.lower(node.orelse))

    def _named(self, node: s.NamedExpression) -> ir.Expression:
        value = self.lower(node.value)
        return ir.Named(self.lower(node.target), value)

    def _comprehension(self, node: s.Comprehension) -> ir.Expression:
        clauses = []
        for clause in node.clauses:
            iterator = self.lower(clause.iterator)
            number = self.body.number(clause.iterator)
            clauses.append(ir.Clause(self.lower(clause.target), iterator, self.each(clause.tests), number))
        *keys, element = self.each(node.elements)
        kind: Any = node.kind
        return ir.Comprehension(kind, tuple(clauses), element, self.body.number(node), keys[0] if keys else None)

    def _lambda(self, node: s.Lambda) -> ir.Expression:
        return ir.Lambda(self.function(node.function), self.body.number(node))

    def _starred(self, node: s.Starred) -> ir.Expression:
        return ir.Starred(self.lower(node.value))


_E = Expressions
_EXPRESSIONS: dict[type, Callable[[Any, Any], ir.Expression]] = {
    s.Name: _E._name, s.Attribute: _E._attribute, s.Call: _E._call, s.Constant: _E._constant,
    s.Collection: _E._collection, s.Dictionary: _E._dictionary, s.Subscript: _E._subscript, s.Slice: _E._slice,
    s.Operation: _E._operation, s.Conditional: _E._conditional, s.NamedExpression: _E._named,
    s.Comprehension: _E._comprehension, s.Lambda: _E._lambda, s.Starred: _E._starred,
}  # fmt: skip


def constant(value: object) -> ir.Constant:
    """A literal of Python as a constant; a complex number and `...` are of the kind "..."."""
    if value is None or isinstance(value, bool):
        kind: Any = str(value)
        return ir.Constant(kind)
    if isinstance(value, str):
        return ir.Constant("str", value)
    if isinstance(value, (int, float)):
        return ir.Constant("int" if isinstance(value, int) else "float", _repr(value))
    if isinstance(value, bytes):
        return ir.Constant("bytes", value.decode("latin-1"))
    return ir.Constant("...")


def _repr(value: float) -> str:
    """The digits of a number; those of an integer that is longer than Python prints are hexadecimal."""
    try:
        return repr(value)
    except ValueError:
        return hex(int(value))

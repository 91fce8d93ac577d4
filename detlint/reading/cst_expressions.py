"""Expressions of libcst lowered to `syntax`, with names bound in their scopes on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

from detlint.reading.lowering import Lowering, Names
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

OPERATORS = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%",
    "Power": "**", "MatrixMultiply": "@", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LeftShift": "<<",
    "RightShift": ">>", "And": "and", "Or": "or", "Not": "not", "Minus": "-", "Plus": "+", "BitInvert": "~",
    "Equal": "==", "NotEqual": "!=", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">",
    "GreaterThanEqual": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip


class Expressions(Lowering):
    """The half of a pass over a libcst tree that makes expressions; `cst_tree` adds the statements."""

    # Names

    def target(
        self, node: cst.CSTNode, kind: str, value: s.Expression | None, path: tuple[int, ...] = ()
    ) -> tuple[s.Expression, Names]:
        """Return the lowered target and the names it binds; the caller binds them once their statement exists."""
        if isinstance(node, cst.Name):
            return self.make(s.Name(node.value, self.scope, stored=True), node), [(node.value, path)]
        if isinstance(node, (cst.Tuple, cst.List)):
            elements: list[s.Expression] = []
            names: Names = []
            for index, element in enumerate(node.elements):
                starred = isinstance(element, cst.StarredElement)
                lowered, bound = self.target(element.value, kind, value, (*path, -1 if starred else index))
                elements.append(lowered)
                names += bound
            shape = "tuple" if isinstance(node, cst.Tuple) else "list"
            stars = (place for place, each in enumerate(node.elements) if isinstance(each, cst.StarredElement))
            return self.make(s.Collection(shape, elements, next(stars, None)), node), names
        lowered = self.expression(node)
        if isinstance(lowered, (s.Attribute, s.Subscript)):
            lowered.stored = True
        return lowered, []

    # Expressions

    def expression(self, node: cst.CSTNode) -> s.Expression:
        """Return the lowered expression."""
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            return self.make(s.Operation(type(node).__name__, []), node)
        return handler(self, node)

    def optional(self, node: Any) -> s.Expression | None:
        """Return the lowered expression, or None for None."""
        return None if node is None else self.expression(node)

    def _name(self, node: cst.Name) -> s.Expression:
        if node.value in ("True", "False", "None"):
            return self.make(s.Constant({"True": True, "False": False, "None": None}[node.value]), node)
        return self.make(s.Name(node.value, self.scope), node)

    def _attribute(self, node: cst.Attribute) -> s.Expression:
        return self.make(s.Attribute(self.expression(node.value), node.attr.value), node)

    def _literal(self, node: Any) -> s.Expression:
        try:
            return self.make(s.Constant(node.evaluated_value), node)
        except (SyntaxError, ValueError):  # a string with an unknown escape, an integer with too many digits
            return self.make(s.Operation("literal", []), node)

    def _ellipsis(self, node: cst.Ellipsis) -> s.Expression:
        return self.make(s.Constant(...), node)

    def _joined(self, node: cst.ConcatenatedString) -> s.Expression:
        try:
            value = node.evaluated_value
        except (SyntaxError, ValueError):
            value = None
        if value is not None:
            return self.make(s.Constant(value), node)
        return self.make(s.Operation("f-string", [self.expression(node.left), self.expression(node.right)]), node)

    def _formatted(self, node: Any) -> s.Expression:
        return self.make(s.Operation("f-string", [self._part(part) for part in node.parts]), node)

    def _part(self, node: Any) -> s.Expression:
        """Lower a part of an f-string: its text, or an expression, formatted or not."""
        if not hasattr(node, "expression"):
            return self.make(s.Constant(node.value), node)
        value = self.expression(node.expression)
        plain = node.conversion is None and node.format_spec is None and node.equal is None
        return value if plain else self.make(s.Operation("format", [value]), node)

    def arguments(self, arguments: Sequence[cst.Arg]) -> list[s.Argument]:
        """Return the lowered arguments of a call or a class."""
        return [
            self.make(s.Argument(self.expression(a.value), a.keyword.value if a.keyword else None, a.star), a)
            for a in arguments
        ]

    def _call(self, node: cst.Call) -> s.Expression:
        function = self.expression(node.func)
        return self.make(s.Call(function, self.arguments(node.args)), node)

    def _subscript(self, node: cst.Subscript) -> s.Expression:
        value = self.expression(node.value)
        indices: list[s.Expression] = []
        for element in node.slice:
            index: Any = element.slice
            if isinstance(index, cst.Slice):
                bounds = (self.optional(index.lower), self.optional(index.upper), self.optional(index.step))
                indices.append(self.make(s.Slice(*bounds), index))
            else:
                indices.append(self.expression(index.value))
        return self.make(s.Subscript(value, indices), node)

    def _elements(self, elements: Iterable[Any]) -> list[s.Expression]:
        lowered: list[s.Expression] = []
        for element in elements:
            value = self.expression(element.value)
            starred = isinstance(element, cst.StarredElement)
            lowered.append(self.make(s.Starred(value), element) if starred else value)
        return lowered

    def _collection(self, node: Any) -> s.Expression:
        return self.make(s.Collection(type(node).__name__.lower(), self._elements(node.elements)), node)

    def _dictionary(self, node: cst.Dict) -> s.Expression:
        keys: list[s.Expression | None] = []
        values: list[s.Expression] = []
        for element in node.elements:
            keys.append(self.expression(element.key) if isinstance(element, cst.DictElement) else None)
            values.append(self.expression(element.value))
        return self.make(s.Dictionary(keys, values), node)

    def _operator(self, node: Any) -> s.Expression:
        name = OPERATORS.get(type(node.operator).__name__, "?")
        if isinstance(node, cst.UnaryOperation):
            return self.make(s.Operation(name, [self.expression(node.expression)]), node)
        return self.make(s.Operation(name, [self.expression(node.left), self.expression(node.right)]), node)

    def _comparison(self, node: cst.Comparison) -> s.Expression:
        operands = [self.expression(node.left), *(self.expression(t.comparator) for t in node.comparisons)]
        first, *rest = [OPERATORS.get(type(target.operator).__name__, "?") for target in node.comparisons]
        return self.make(s.Operation(first, operands, tuple(rest)), node)

    def _conditional(self, node: cst.IfExp) -> s.Expression:
        test = self.expression(node.test)
        return self.make(s.Conditional(test, self.expression(node.body), self.expression(node.orelse)), node)

    def _named(self, node: cst.NamedExpr) -> s.Expression:
        value = self.expression(node.value)
        lowered, names = self.target(node.target, "named", value)
        made = self.make(s.NamedExpression(lowered, value), node)
        self.bind_all(names, "named", made, value)
        return made

    def _waiting(self, node: Any) -> s.Expression:
        inner = getattr(node, "expression", None) or getattr(node, "value", None)
        kind = type(node).__name__.lower()
        if isinstance(inner, cst.From):
            inner, kind = inner.item, "yield from"
        return self.make(s.Operation(kind, [] if inner is None else [self.expression(inner)]), node)

    def _comprehension(self, node: Any) -> s.Expression:
        outer, self.scope = self.scope, Scope("comprehension", self.scope)
        clauses: list[s.Clause] = []
        part: Any = node.for_in
        while part is not None:
            inner = self.scope
            if not clauses:
                self.scope = outer
            iterator = self.expression(part.iter)
            self.scope = inner
            lowered, names = self.target(part.target, "comprehension", iterator)
            tests = [self.expression(test.test) for test in part.ifs]
            clause = self.make(s.Clause(lowered, iterator, tests), part)
            self.bind_all(names, "comprehension", clause, iterator)
            clauses.append(clause)
            part = part.inner_for_in
        parts = [node.key, node.value] if isinstance(node, cst.DictComp) else [node.elt]
        elements = [self.expression(part) for part in parts]
        self.scope = outer
        kind = type(node).__name__.removesuffix("Comp").removesuffix("Exp").lower()
        return self.make(s.Comprehension(kind, clauses, elements), node)

    def _function_scope(self) -> Scope:
        return Scope("function", self.scope)

    def _anonymous(self, node: cst.Lambda) -> s.Expression:
        parameters = self.parameters(node.params)
        outer, self.scope = self.scope, self._function_scope()
        for parameter in parameters:
            self.bind(parameter.name, "parameter", parameter)
        value = self.expression(node.body)
        leave = self.make(s.Leave("return", [value]), node.body)
        body = self.make(s.Block([leave]), node.body)
        function = self.make(s.Function("<lambda>", parameters, [], None, body, self.scope), node)
        self.scope.owner = function
        self.scope = outer
        return self.make(s.Lambda(function), node)

    def parameters(self, node: cst.Parameters) -> list[s.Parameter]:
        """Return the lowered parameters in order; defaults and annotations belong to the enclosing scope."""
        found: list[s.Parameter] = []

        def add(parameter: object, star: str = "", keyword_only: bool = False) -> None:
            if isinstance(parameter, cst.Param):
                annotation = self.annotation(parameter.annotation)
                made = s.Parameter(
                    parameter.name.value, self.optional(parameter.default), annotation, star, keyword_only
                )
                found.append(self.make(made, parameter))

        for parameter in (*node.posonly_params, *node.params):
            add(parameter)
        add(node.star_arg, "*")
        for parameter in node.kwonly_params:
            add(parameter, keyword_only=True)
        add(node.star_kwarg, "**")
        return found

    def annotation(self, node: cst.Annotation | None) -> s.Expression | None:
        """Return the lowered annotation, or None for None."""
        return None if node is None else self.annotated(self.expression(node.annotation))


_E = Expressions
_EXPRESSIONS: dict[type, Callable[[Expressions, Any], s.Expression]] = {
    cst.Name: _E._name, cst.Attribute: _E._attribute, cst.Integer: _E._literal, cst.Float: _E._literal,
    cst.Imaginary: _E._literal, cst.SimpleString: _E._literal, cst.ConcatenatedString: _E._joined,
    cst.FormattedString: _E._formatted, cst.Ellipsis: _E._ellipsis, cst.Call: _E._call,
    cst.Subscript: _E._subscript, cst.Tuple: _E._collection, cst.List: _E._collection, cst.Set: _E._collection,
    cst.Dict: _E._dictionary, cst.BinaryOperation: _E._operator, cst.UnaryOperation: _E._operator,
    cst.BooleanOperation: _E._operator, cst.Comparison: _E._comparison, cst.IfExp: _E._conditional,
    cst.NamedExpr: _E._named, cst.Await: _E._waiting, cst.Yield: _E._waiting, cst.ListComp: _E._comprehension,
    cst.SetComp: _E._comprehension, cst.DictComp: _E._comprehension, cst.GeneratorExp: _E._comprehension,
    cst.Lambda: _E._anonymous,
}  # fmt: skip

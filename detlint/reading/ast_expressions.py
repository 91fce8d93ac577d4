"""Expressions of Python's own `ast` lowered to `syntax`, with names bound in their scopes on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from detlint.reading.ast_places import Places
from detlint.reading.ast_strings import Field, Piece, Text, expression, pieces
from detlint.reading.lowering import Lowering, Names
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class AstExpressions(Lowering):
    """The half of a pass over an `ast` that makes expressions; `ast_tree` adds the statements."""

    def __init__(self, places: Places, package: str) -> None:
        super().__init__(package)
        self.places = places

    # Targets

    def target(self, node: ast.expr, path: tuple[int, ...] = ()) -> tuple[s.Expression, Names]:
        """Return the lowered target and the names it binds; the caller binds them once their statement exists."""
        if isinstance(node, ast.Name):
            return self.make(s.Name(node.id, self.scope, True), node), [(node.id, path)]
        if isinstance(node, (ast.Tuple, ast.List)):
            return self.unpacked(type(node).__name__.lower(), node.elts, node, path)
        lowered = self.expression(node)
        if isinstance(lowered, (s.Attribute, s.Subscript)):
            lowered.stored = True
        return lowered, []

    def unpacked(
        self, kind: str, elements: Sequence[ast.expr], origin: ast.AST, path: tuple[int, ...] = ()
    ) -> tuple[s.Expression, Names]:
        """Return the lowered display that a value is unpacked into, and the names in it."""
        lowered: list[s.Expression] = []
        names: Names = []
        for index, element in enumerate(elements):
            starred = isinstance(element, ast.Starred)
            inner = element.value if isinstance(element, ast.Starred) else element
            each, bound = self.target(inner, (*path, -1 if starred else index))
            lowered.append(each)
            names += bound
        rest = next((place for place, each in enumerate(elements) if isinstance(each, ast.Starred)), None)
        return self.make(s.Collection(kind, lowered, rest), origin), names

    # Expressions

    def expression(self, node: ast.expr) -> s.Expression:
        """Return the lowered expression."""
        return _EXPRESSIONS[type(node)](self, node)

    def optional(self, node: ast.expr | None) -> s.Expression | None:
        """Return the lowered expression, or None for None."""
        return None if node is None else self.expression(node)

    def annotation(self, node: ast.expr | None) -> s.Expression | None:
        """Return the lowered annotation, or None for None."""
        return None if node is None else self.annotated(self.expression(node))

    def _expressions(self, nodes: Sequence[ast.expr]) -> list[s.Expression]:
        return [_EXPRESSIONS[type(node)](self, node) for node in nodes]

    def _name(self, node: ast.Name) -> s.Expression:
        return self.make(s.Name(node.id, self.scope), node)

    def _constant(self, node: ast.Constant) -> s.Expression:
        return self.make(s.Constant(node.value), node)

    def _attribute(self, node: ast.Attribute) -> s.Expression:
        return self.make(s.Attribute(self.expression(node.value), node.attr), node)

    def arguments(self, values: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[s.Argument]:
        """Return the lowered arguments of a call or a class, in the order of the text."""
        given: list[Any] = [*values, *keywords]
        if keywords and values and _starts(values[-1]) > _starts(keywords[0]):
            given.sort(key=_starts)
        return [self._argument(node) for node in given]

    def _argument(self, node: ast.expr | ast.keyword) -> s.Argument:
        if isinstance(node, ast.keyword):
            made = s.Argument(self.expression(node.value), node.arg, "" if node.arg is not None else "**")
        elif isinstance(node, ast.Starred):
            made = s.Argument(self.expression(node.value), None, "*")
        else:
            made = s.Argument(self.expression(node))
        return self.make(made, node)

    def _call(self, node: ast.Call) -> s.Expression:
        function = self.expression(node.func)
        return self.make(s.Call(function, self.arguments(node.args, node.keywords)), node)

    def _subscript(self, node: ast.Subscript) -> s.Expression:
        value = self.expression(node.value)
        index = node.slice
        inside = index.elts if isinstance(index, ast.Tuple) and not self.places.is_parenthesised(index) else [index]
        bare = [each.value if isinstance(each, ast.Starred) else each for each in inside]
        return self.make(s.Subscript(value, self._expressions(bare)), node)

    def _slice(self, node: ast.Slice) -> s.Expression:
        bounds = (self.optional(node.lower), self.optional(node.upper), self.optional(node.step))
        return self.make(s.Slice(*bounds), node)

    def _collection(self, node: ast.Tuple | ast.List | ast.Set) -> s.Expression:
        elements = [
            self.make(s.Starred(self.expression(each.value)), each)
            if isinstance(each, ast.Starred)
            else self.expression(each)
            for each in node.elts
        ]
        return self.make(s.Collection(type(node).__name__.lower(), elements), node)

    def _lone_star(self, node: ast.Starred) -> s.Expression:
        return self.make(s.Operation("StarredElement", []), node)

    def _dictionary(self, node: ast.Dict) -> s.Expression:
        keys: list[s.Expression | None] = []
        values: list[s.Expression] = []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(self.optional(key))
            values.append(self.expression(value))
        return self.make(s.Dictionary(keys, values), node)

    def _binary(self, node: ast.BinOp) -> s.Expression:
        left = self.expression(node.left)
        return self.make(s.Operation(OPERATORS[type(node.op)], [left, self.expression(node.right)]), node)

    def _unary(self, node: ast.UnaryOp) -> s.Expression:
        return self.make(s.Operation(OPERATORS[type(node.op)], [self.expression(node.operand)]), node)

    def _boolean(self, node: ast.BoolOp) -> s.Expression:
        """Lower `a and b and c` as `(a and b) and c`; the origin of the inner one also has its last value."""
        name = OPERATORS[type(node.op)]
        made = self.expression(node.values[0])
        for value in node.values[1:]:
            origin = node if value is node.values[-1] else (node, value)
            made = self.make(s.Operation(name, [made, self.expression(value)]), origin)
        return made

    def _comparison(self, node: ast.Compare) -> s.Expression:
        operands = [self.expression(node.left), *self._expressions(node.comparators)]
        first, *rest = [OPERATORS[type(operator)] for operator in node.ops]
        return self.make(s.Operation(first, operands, tuple(rest)), node)

    def _conditional(self, node: ast.IfExp) -> s.Expression:
        test = self.expression(node.test)
        return self.make(s.Conditional(test, self.expression(node.body), self.expression(node.orelse)), node)

    def _named(self, node: ast.NamedExpr) -> s.Expression:
        value = self.expression(node.value)
        target, names = self.target(node.target)
        made = self.make(s.NamedExpression(target, value), node)
        self.bind_all(names, "named", made, value)
        return made

    def _waiting(self, node: ast.Await | ast.Yield | ast.YieldFrom) -> s.Expression:
        operands = [] if node.value is None else [self.expression(node.value)]
        return self.make(s.Operation(_WAITING[type(node)], operands), node)

    def _comprehension(self, node: Any) -> s.Expression:
        outer, self.scope = self.scope, Scope("comprehension", self.scope)
        clauses: list[s.Clause] = []
        for part in node.generators:
            inner = self.scope
            if not clauses:
                self.scope = outer
            iterator = self.expression(part.iter)
            self.scope = inner
            target, names = self.target(part.target)
            clause = self.make(s.Clause(target, iterator, self._expressions(part.ifs)), part)
            self.bind_all(names, "comprehension", clause, iterator)
            clauses.append(clause)
        elements = self._expressions([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.scope = outer
        kind = type(node).__name__.removesuffix("Comp").removesuffix("Exp").lower()
        return self.make(s.Comprehension(kind, clauses, elements), node)

    def _anonymous(self, node: ast.Lambda) -> s.Expression:
        parameters = self.parameters(node.args)
        outer, self.scope = self.scope, Scope("function", self.scope)
        for parameter in parameters:
            self.bind(parameter.name, "parameter", parameter)
        leave = self.make(s.Leave("return", [self.expression(node.body)]), node.body)
        body = self.make(s.Block([leave]), node.body)
        function = self.make(s.Function("<lambda>", parameters, [], None, body, self.scope), node)
        self.scope.owner = function
        self.scope = outer
        return self.make(s.Lambda(function), node)

    def parameters(self, node: ast.arguments) -> list[s.Parameter]:
        """Return the lowered parameters in order; defaults and annotations belong to the enclosing scope."""
        positional = [*node.posonlyargs, *node.args]
        without = [None] * (len(positional) - len(node.defaults))
        found = [
            self._parameter(each, default)
            for each, default in zip(positional, chain(without, node.defaults), strict=True)
        ]
        if node.vararg is not None:
            found.append(self._parameter(node.vararg, None, "*"))
        for each, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            found.append(self._parameter(each, default, keyword_only=True))
        if node.kwarg is not None:
            found.append(self._parameter(node.kwarg, None, "**"))
        return found

    def _parameter(
        self, node: ast.arg, default: ast.expr | None, star: str = "", keyword_only: bool = False
    ) -> s.Parameter:
        annotation = self.annotation(node.annotation)
        return self.make(s.Parameter(node.arg, self.optional(default), annotation, star, keyword_only), node)

    # Strings with replacement fields

    def _joined(self, node: ast.JoinedStr) -> s.Expression:
        """Lower an f-string, alone or with its neighbours: these nest to the right, plain ones at the end as one."""
        return self._concatenated(pieces(self.places.text, *self.places.of(node)))

    def _concatenated(self, found: Sequence[Piece]) -> s.Expression:
        first, last = found[0], found[-1]
        origin = first.start, last.end
        if all(piece.parts is None for piece in found):
            return self.make(s.Constant(ast.literal_eval(f"({self.places.text[slice(*origin)]})")), origin)
        if len(found) > 1:
            return self.make(
                s.Operation("f-string", [self._concatenated(found[:1]), self._concatenated(found[1:])]), origin
            )
        return self.make(s.Operation("f-string", [self._part(part) for part in first.parts or ()]), origin)

    def _part(self, part: Text | Field) -> s.Expression:
        """Lower a part of an f-string: its text, or an expression, formatted or not."""
        if isinstance(part, Text):
            return self.make(s.Constant(self.places.text[part.start : part.end]), (part.start, part.end))
        source = self.places.text[slice(*part.expression)]
        value = self.expression(expression(source, *self.places.position(part.expression[0])))
        return value if part.plain else self.make(s.Operation("format", [value]), (part.start, part.end))

    def _template(self, node: ast.expr) -> s.Expression:
        return self.make(s.Operation("TemplatedString", []), node)


def _starts(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


_WAITING = {ast.Await: "await", ast.Yield: "yield", ast.YieldFrom: "yield from"}
_E = AstExpressions
_EXPRESSIONS: dict[type, Callable[[AstExpressions, Any], s.Expression]] = {
    ast.Name: _E._name, ast.Attribute: _E._attribute, ast.Constant: _E._constant, ast.JoinedStr: _E._joined,
    ast.Call: _E._call, ast.Subscript: _E._subscript, ast.Slice: _E._slice, ast.Tuple: _E._collection,
    ast.List: _E._collection, ast.Set: _E._collection, ast.Dict: _E._dictionary, ast.BinOp: _E._binary,
    ast.UnaryOp: _E._unary, ast.BoolOp: _E._boolean, ast.Compare: _E._comparison, ast.IfExp: _E._conditional,
    ast.NamedExpr: _E._named, ast.Await: _E._waiting, ast.Yield: _E._waiting, ast.YieldFrom: _E._waiting,
    ast.ListComp: _E._comprehension, ast.SetComp: _E._comprehension, ast.DictComp: _E._comprehension,
    ast.GeneratorExp: _E._comprehension, ast.Lambda: _E._anonymous, ast.Starred: _E._lone_star,
}  # fmt: skip
if hasattr(ast, "TemplateStr"):  # Python 3.14
    _EXPRESSIONS[ast.TemplateStr] = _E._template

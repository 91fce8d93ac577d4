"""From libcst to `syntax`: the one place that knows how libcst lays out its nodes.

libcst reads the grammar of every Python it supports whatever Python runs it, and its tree holds each
character of the file, so spans and fixes are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import libcst as cst

from detlint import syntax as s

N = TypeVar("N", bound=s.Node)

_OPERATORS = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%",
    "Power": "**", "MatrixMultiply": "@", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LeftShift": "<<",
    "RightShift": ">>", "And": "and", "Or": "or", "Not": "not", "Minus": "-", "Plus": "+", "BitInvert": "~",
    "Equal": "==", "NotEqual": "!=", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">",
    "GreaterThanEqual": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip


class NotPythonError(Exception):
    """The text is not Python that libcst can read. `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def parse(text: str) -> cst.Module:
    """The libcst tree of `text`; raises NotPythonError."""
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        reason = error.message.splitlines()[0] if error.message else "it cannot be parsed"
        raise NotPythonError(reason, max(error.raw_line, 1), max(error.raw_column, 0) + 1) from None
    except RecursionError:
        raise NotPythonError("it is nested too deeply", 1, 1) from None
    except Exception as error:  # the parser also raises validation errors and errors of its native part
        raise NotPythonError(str(error).partition("\n")[0] or "it cannot be parsed", 1, 1) from None


def lower(module: cst.Module, package: str = "") -> s.File:
    """The syntax of a parsed file. `package` is the dotted package that relative imports start from."""
    try:
        return _Lowering(package).file(module)
    except RecursionError:
        raise NotPythonError("it is nested too deeply", 1, 1) from None


class _Lowering:
    """One pass over a libcst tree that makes nodes and fills scopes."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.count = 0
        self.stars: list[str] = []
        self.scope = s.Scope("module", None)

    def make(self, node: N, origin: cst.CSTNode) -> N:
        node.origin = origin
        self.count += 1
        node.order = self.count
        for child in node:
            child.parent = node
        return node

    def file(self, module: cst.Module) -> s.File:
        body = self.block(module.body, module)
        return self.make(s.File(body, self.scope, self.stars), module)

    # Names

    def bind(
        self,
        name: str,
        kind: str,
        node: s.Node,
        value: s.Expression | None = None,
        path: tuple[int, ...] = (),
        qualified: str | None = None,
    ) -> None:
        scope = self.scope
        if kind == "named":
            kind = "assign"
            while scope.kind == "comprehension" and scope.parent is not None:
                scope = scope.parent
        where = scope.outside.get(name)
        if where == "global":
            while scope.parent is not None:
                scope = scope.parent
        elif where == "nonlocal" and scope.parent is not None:
            scope = scope.parent.find(name) or scope
        binding = s.Binding(name, kind, node, value, path, qualified)
        scope.bindings.setdefault(name, []).append(binding)

    def target(
        self, node: cst.CSTNode, kind: str, value: s.Expression | None, path: tuple[int, ...] = ()
    ) -> tuple[s.Expression, list[tuple[str, tuple[int, ...]]]]:
        """The lowered target and the names it binds; the caller binds them once their statement exists."""
        if isinstance(node, cst.Name):
            return self.make(s.Name(node.value, self.scope, stored=True), node), [(node.value, path)]
        if isinstance(node, (cst.Tuple, cst.List)):
            elements: list[s.Expression] = []
            names: list[tuple[str, tuple[int, ...]]] = []
            for index, element in enumerate(node.elements):
                starred = isinstance(element, cst.StarredElement)
                lowered, bound = self.target(element.value, kind, value, (*path, -1 if starred else index))
                elements.append(lowered)
                names += bound
            shape = "tuple" if isinstance(node, cst.Tuple) else "list"
            return self.make(s.Collection(shape, elements), node), names
        lowered = self.expression(node)
        if isinstance(lowered, (s.Attribute, s.Subscript)):
            lowered.stored = True
        return lowered, []

    def bind_all(
        self, names: Iterable[tuple[str, tuple[int, ...]]], kind: str, node: s.Node, value: s.Expression | None
    ) -> None:
        for name, path in names:
            self.bind(name, kind, node, value, path)

    # Expressions

    def expression(self, node: cst.CSTNode) -> s.Expression:
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            return self.make(s.Operation(type(node).__name__, []), node)
        return handler(self, node)

    def optional(self, node: Any) -> s.Expression | None:
        return None if node is None else self.expression(node)

    def name(self, node: cst.Name) -> s.Expression:
        if node.value in ("True", "False", "None"):
            return self.make(s.Constant({"True": True, "False": False, "None": None}[node.value]), node)
        return self.make(s.Name(node.value, self.scope), node)

    def attribute(self, node: cst.Attribute) -> s.Expression:
        return self.make(s.Attribute(self.expression(node.value), node.attr.value), node)

    def literal(self, node: Any) -> s.Expression:
        try:
            return self.make(s.Constant(node.evaluated_value), node)
        except (SyntaxError, ValueError):  # a string with an unknown escape, an integer of too many digits
            return self.make(s.Operation("literal", []), node)

    def ellipsis(self, node: cst.Ellipsis) -> s.Expression:
        return self.make(s.Constant(...), node)

    def joined(self, node: cst.ConcatenatedString) -> s.Expression:
        try:
            value = node.evaluated_value
        except (SyntaxError, ValueError):
            value = None
        if value is not None:
            return self.make(s.Constant(value), node)
        return self.make(s.Operation("f-string", [self.expression(node.left), self.expression(node.right)]), node)

    def formatted(self, node: Any) -> s.Expression:
        parts = [self.expression(p.expression) for p in node.parts if hasattr(p, "expression")]
        return self.make(s.Operation("f-string", parts), node)

    def arguments(self, arguments: Sequence[cst.Arg]) -> list[s.Argument]:
        return [
            self.make(s.Argument(self.expression(a.value), a.keyword.value if a.keyword else None, a.star), a)
            for a in arguments
        ]

    def call(self, node: cst.Call) -> s.Expression:
        function = self.expression(node.func)
        return self.make(s.Call(function, self.arguments(node.args)), node)

    def subscript(self, node: cst.Subscript) -> s.Expression:
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

    def elements(self, elements: Iterable[Any]) -> list[s.Expression]:
        lowered: list[s.Expression] = []
        for element in elements:
            value = self.expression(element.value)
            starred = isinstance(element, cst.StarredElement)
            lowered.append(self.make(s.Starred(value), element) if starred else value)
        return lowered

    def collection(self, node: Any) -> s.Expression:
        return self.make(s.Collection(type(node).__name__.lower(), self.elements(node.elements)), node)

    def dictionary(self, node: cst.Dict) -> s.Expression:
        keys: list[s.Expression | None] = []
        values: list[s.Expression] = []
        for element in node.elements:
            keys.append(self.expression(element.key) if isinstance(element, cst.DictElement) else None)
            values.append(self.expression(element.value))
        return self.make(s.Dictionary(keys, values), node)

    def operator(self, node: Any) -> s.Expression:
        name = _OPERATORS.get(type(node.operator).__name__, "?")
        if isinstance(node, cst.UnaryOperation):
            return self.make(s.Operation(name, [self.expression(node.expression)]), node)
        return self.make(s.Operation(name, [self.expression(node.left), self.expression(node.right)]), node)

    def comparison(self, node: cst.Comparison) -> s.Expression:
        operands = [self.expression(node.left), *(self.expression(t.comparator) for t in node.comparisons)]
        name = _OPERATORS.get(type(node.comparisons[0].operator).__name__, "?")
        return self.make(s.Operation(name, operands), node)

    def conditional(self, node: cst.IfExp) -> s.Expression:
        test = self.expression(node.test)
        return self.make(s.Conditional(test, self.expression(node.body), self.expression(node.orelse)), node)

    def named(self, node: cst.NamedExpr) -> s.Expression:
        value = self.expression(node.value)
        lowered, names = self.target(node.target, "named", value)
        made = self.make(s.NamedExpression(lowered, value), node)
        self.bind_all(names, "named", made, value)
        return made

    def waiting(self, node: Any) -> s.Expression:
        inner = getattr(node, "expression", None) or getattr(node, "value", None)
        if isinstance(inner, cst.From):
            inner = inner.item
        kind = type(node).__name__.lower()
        return self.make(s.Operation(kind, [] if inner is None else [self.expression(inner)]), node)

    def comprehension(self, node: Any) -> s.Expression:
        outer, self.scope = self.scope, s.Scope("comprehension", self.scope)
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

    def function_scope(self) -> s.Scope:
        return s.Scope("function", self.scope)

    def anonymous(self, node: cst.Lambda) -> s.Expression:
        parameters = self.parameters(node.params)
        outer, self.scope = self.scope, self.function_scope()
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
        return None if node is None else self.expression(node.annotation)

    # Statements

    def block(self, statements: Iterable[cst.CSTNode], origin: cst.CSTNode) -> s.Block:
        lowered: list[s.Statement] = []
        for statement in statements:
            if isinstance(statement, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
                for small in statement.body:
                    lowered += self.statement(small)
            else:
                lowered += self.statement(statement)
        return self.make(s.Block(lowered), origin)

    def suite(self, node: Any) -> s.Block:
        return self.block(node.body, node)

    def optional_suite(self, node: Any) -> s.Block | None:
        if node is None:
            return None
        if isinstance(node, cst.If):
            return self.block([node], node)
        return self.suite(node.body)

    def statement(self, node: cst.CSTNode) -> list[s.Statement]:
        handler = _STATEMENTS.get(type(node))
        if handler is None:
            return []
        made = handler(self, node)
        return [] if made is None else [made]

    def expression_statement(self, node: cst.Expr) -> s.Statement:
        return self.make(s.ExpressionStatement(self.expression(node.value)), node)

    def assign(self, node: Any) -> s.Statement:
        value = self.optional(node.value)
        annotation = self.annotation(getattr(node, "annotation", None))
        origins = [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]
        operator = "="
        if isinstance(node, cst.AugAssign):
            operator = _OPERATORS.get(type(node.operator).__name__.removesuffix("Assign"), "?") + "="
        kind = "assign" if operator == "=" else "augment"
        lowered = [self.target(origin, kind, value) for origin in origins]
        made = self.make(s.Assign([target for target, _ in lowered], value, operator, annotation), node)
        if annotation is not None:
            annotation.parent = made
        for _, names in lowered:
            if value is not None or annotation is None:
                self.bind_all(names, kind, made, value)
        return made

    def leave(self, node: Any) -> s.Statement:
        parts = [getattr(node, "value", None), getattr(node, "exc", None)]
        values = [self.expression(part) for part in parts if part is not None]
        return self.make(s.Leave(type(node).__name__.lower(), values), node)

    def other(self, node: Any) -> s.Statement:
        if isinstance(node, cst.Del):
            lowered, names = self.target(node.target, "delete", None)
            made = self.make(s.Other("del", [lowered]), node)
            self.bind_all(names, "delete", made, None)
            return made
        values = [node.test] if isinstance(node, cst.Assert) else []
        return self.make(s.Other(type(node).__name__.lower(), [self.expression(v) for v in values]), node)

    def elsewhere(self, node: Any) -> None:
        for item in node.names:
            self.scope.outside[item.name.value] = type(node).__name__.lower()

    def imports(self, node: Any) -> s.Statement:
        made = self.make(s.Other("import", []), node)
        prefix = ""
        if hasattr(node, "module"):
            prefix = _dotted(node.module) if node.module is not None else ""
            if node.relative:
                parts = self.package.split(".") if self.package else []
                kept = parts[: len(parts) - len(node.relative) + 1]
                prefix = ".".join([*(kept or ["."]), *([prefix] if prefix else [])])
            if isinstance(node.names, cst.ImportStar):
                self.stars.append(prefix)
                return made
            prefix += "."
        for alias in node.names:
            full = prefix + _dotted(alias.name)
            if alias.asname is not None:
                self.bind(_dotted(alias.asname.name), "import", made, qualified=full)
            elif prefix:
                self.bind(full.rpartition(".")[2], "import", made, qualified=full)
            else:
                root = full.partition(".")[0]
                self.bind(root, "import", made, qualified=root)
        return made

    def branch(self, node: cst.If) -> s.Statement:
        test = self.expression(node.test)
        body = self.suite(node.body)
        return self.make(s.If(test, body, self.optional_suite(node.orelse)), node)

    def loop(self, node: Any) -> s.Statement:
        if isinstance(node, cst.While):
            test = self.expression(node.test)
            body = self.suite(node.body)
            return self.make(s.While(test, body, self.optional_suite(node.orelse)), node)
        iterator = self.expression(node.iter)
        target, names = self.target(node.target, "for", iterator)
        made = s.For(target, iterator, s.Block([]), None)
        made.order = self.count
        self.bind_all(names, "for", target, iterator)
        made.body = self.suite(node.body)
        made.orelse = self.optional_suite(node.orelse)
        return self.make(made, node)

    def managed(self, node: cst.With) -> s.Statement:
        items: list[s.WithItem] = []
        for item in node.items:
            value = self.expression(item.item)
            target: s.Expression | None = None
            names: list[tuple[str, tuple[int, ...]]] = []
            if item.asname is not None:
                target, names = self.target(item.asname.name, "with", value)
            made = self.make(s.WithItem(value, target), item)
            self.bind_all(names, "with", made, value)
            items.append(made)
        return self.make(s.With(items, self.suite(node.body)), node)

    def attempt(self, node: Any) -> s.Statement:
        body = self.suite(node.body)
        handlers: list[s.Block] = []
        for handler in node.handlers:
            if handler.name is not None:
                target, names = self.target(handler.name.name, "except", None)
                self.bind_all(names, "except", target, None)
            handlers.append(self.suite(handler.body))
        orelse = self.optional_suite(node.orelse)
        final = self.optional_suite(node.finalbody)
        return self.make(s.Try(body, handlers, orelse, final), node)

    def choose(self, node: cst.Match) -> s.Statement:
        subject = self.expression(node.subject)
        cases: list[s.Block] = []
        for case in node.cases:
            marker = self.make(s.Other("pattern", []), case)
            for name in _captures(case.pattern):
                self.bind(name, "pattern", marker)
            body = self.suite(case.body)
            if case.guard is not None:
                guard = self.make(s.ExpressionStatement(self.expression(case.guard)), case.guard)
                body.statements.insert(0, guard)
                guard.parent = body
            cases.append(body)
        last = node.cases[-1]
        exhaustive = last.guard is None and isinstance(last.pattern, cst.MatchAs) and last.pattern.pattern is None
        return self.make(s.Match(subject, cases, exhaustive), node)

    def function(self, node: cst.FunctionDef) -> s.Statement:
        decorators = [self.expression(d.decorator) for d in node.decorators]
        parameters = self.parameters(node.params)
        returns = self.annotation(node.returns)
        outer, scope = self.scope, self.function_scope()
        self.scope = scope
        for parameter in parameters:
            self.bind(parameter.name, "parameter", parameter)
        body = self.suite(node.body)
        self.scope = outer
        function = s.Function(node.name.value, parameters, decorators, returns, body, scope)
        made = self.make(function, node)
        scope.owner = made
        self.bind(made.name, "function", made)
        return made

    def klass(self, node: cst.ClassDef) -> s.Statement:
        decorators = [self.expression(d.decorator) for d in node.decorators]
        arguments = self.arguments([*node.bases, *node.keywords])
        outer, scope = self.scope, s.Scope("class", self.scope)
        self.scope = scope
        body = self.suite(node.body)
        self.scope = outer
        made = self.make(s.Class(node.name.value, arguments, decorators, body, scope), node)
        scope.owner = made
        self.bind(made.name, "class", made)
        return made


def _dotted(node: Any) -> str:
    return f"{_dotted(node.value)}.{node.attr.value}" if isinstance(node, cst.Attribute) else str(node.value)


def _captures(pattern: object) -> list[str]:
    names: list[str] = []
    if isinstance(pattern, (cst.MatchAs, cst.MatchStar)) and pattern.name is not None:
        names.append(pattern.name.value)
    for child in getattr(pattern, "children", ()):
        names += _captures(child)
    return names


_L = _Lowering
_EXPRESSIONS: dict[type, Callable[[_Lowering, Any], s.Expression]] = {
    cst.Name: _L.name, cst.Attribute: _L.attribute, cst.Integer: _L.literal, cst.Float: _L.literal,
    cst.Imaginary: _L.literal, cst.SimpleString: _L.literal, cst.ConcatenatedString: _L.joined,
    cst.FormattedString: _L.formatted, cst.Ellipsis: _L.ellipsis, cst.Call: _L.call,
    cst.Subscript: _L.subscript, cst.Tuple: _L.collection, cst.List: _L.collection, cst.Set: _L.collection,
    cst.Dict: _L.dictionary, cst.BinaryOperation: _L.operator, cst.UnaryOperation: _L.operator,
    cst.BooleanOperation: _L.operator, cst.Comparison: _L.comparison, cst.IfExp: _L.conditional,
    cst.NamedExpr: _L.named, cst.Await: _L.waiting, cst.Yield: _L.waiting, cst.ListComp: _L.comprehension,
    cst.SetComp: _L.comprehension, cst.DictComp: _L.comprehension, cst.GeneratorExp: _L.comprehension,
    cst.Lambda: _L.anonymous,
}  # fmt: skip
_STATEMENTS: dict[type, Callable[[_Lowering, Any], s.Statement | None]] = {
    cst.Expr: _L.expression_statement, cst.Assign: _L.assign, cst.AnnAssign: _L.assign,
    cst.AugAssign: _L.assign, cst.Return: _L.leave, cst.Raise: _L.leave, cst.Break: _L.leave,
    cst.Continue: _L.leave, cst.Del: _L.other, cst.Assert: _L.other, cst.Global: _L.elsewhere,
    cst.Nonlocal: _L.elsewhere, cst.Import: _L.imports, cst.ImportFrom: _L.imports, cst.If: _L.branch,
    cst.For: _L.loop, cst.While: _L.loop, cst.With: _L.managed, cst.Try: _L.attempt,
    cst.TryStar: _L.attempt, cst.FunctionDef: _L.function, cst.ClassDef: _L.klass, cst.Match: _L.choose,
}  # fmt: skip

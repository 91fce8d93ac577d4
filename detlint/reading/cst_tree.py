"""From libcst to `syntax`. Only this module and `cst_expressions` know how libcst lays out its nodes.

libcst reads the grammar of every Python version it supports, whichever one runs it, and its tree holds each character
of the file, so spans and fixes are exact.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import libcst as cst

from detlint.reading.cst_expressions import OPERATORS, Expressions
from detlint.reading.lowering import Names, NotPythonError, TooDeepError
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope

_BRACKETS = 200  # open at once: no Python version reads more
_DEEPEST = 1500  # the parser overflows its stack somewhere beyond 2000 terms of a sum, each bracket counting as four
_TOKEN = re.compile(
    r"""
    (?P<text>(?<!\w)[bBrRuU]{0,2}
        (?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|\"(?:\\.|[^"\\\r\n])*\"|'(?:\\.|[^'\\\r\n])*'))
    |(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\(?:\r\n|\r|\n))
    |(?P<line>[\r\n]+(?P<outer>(?:async|class|def|from|import|@)\b)?)|(?P<delimiter>[,;])|(?P<step>\w+|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)


def parse(text: str) -> cst.Module:
    """Return the libcst tree of `text`. Raises NotPythonError."""
    if _is_too_deep(text):
        raise TooDeepError()
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise _as_python_says(text) or _as_parser_says(error) from None
    except RecursionError:
        raise TooDeepError() from None
    except Exception as error:  # the parser also raises validation errors and errors of its native part
        raise NotPythonError(str(error).partition("\n")[0] or "it cannot be parsed") from None


def _is_too_deep(text: str) -> bool:
    """Return whether the parser may overflow its stack on a text, which would end the process.

    It goes deeper with each bracket, with each word or sign that continues an expression, and with each `elif`. The
    answer is yes for more texts than necessary: in f-strings everything counts as code.
    """
    runs = [0]  # for each open bracket, outermost first: words and signs since the last delimiter
    depth = branches = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if token["outer"] is not None:
            runs, depth, branches = [0], 0, 0
        elif kind == "open":
            runs.append(0)
        elif kind == "delimiter" or (kind == "line" and len(runs) == 1):
            depth -= runs[-1]
            runs[-1] = 0
        elif kind in ("close", "step", "text"):
            if kind == "close" and len(runs) == 1:
                continue
            if kind == "close":
                depth -= runs.pop()
            runs[-1] += 1
            depth += 1
            branches += token[0] == "elif"
        if len(runs) > _BRACKETS or depth + branches + 4 * len(runs) > _DEEPEST:
            return True
    return False


def _as_python_says(text: str) -> NotPythonError | None:
    """Return the running Python's error, whose message and place are better. None if it reads the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return NotPythonError(error.msg, max(error.lineno or 1, 1), max(error.offset or 1, 1))
        except (ValueError, RecursionError, MemoryError):
            pass
    return None


def _as_parser_says(error: cst.ParserSyntaxError) -> NotPythonError:
    """Return the parser's error in one short line, with the place from its message and without its list of tokens."""
    message = error.message.partition("\n")[0]
    place = re.search(r"error at (\d+):(\d+): ", message)
    text = re.sub(r"^(parser|tokenizer) error: (error at \d+:\d+: )?", "", message)
    reason = "invalid syntax" if not text or text.startswith("expected one of") else text
    line, column = (place[1], place[2]) if place else (error.raw_line, error.raw_column + 1)
    return NotPythonError(reason, max(int(line), 1), max(int(column), 1))


def lower(module: cst.Module, package: str = "") -> s.File:
    """Return the syntax of a parsed file. `package` is the dotted package that relative imports start from.

    Raises NotPythonError.
    """
    try:
        return _Statements(package).file(module)
    except RecursionError:
        raise TooDeepError() from None


class _Statements(Expressions):
    """One pass over a libcst tree that makes nodes and fills scopes."""

    def file(self, module: cst.Module) -> s.File:
        body = self.block(module.body, module)
        return self.made(body, module)

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
            operator = OPERATORS.get(type(node.operator).__name__.removesuffix("Assign"), "?") + "="
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
        module = None if isinstance(node, cst.Import) else _dotted(node.module) if node.module is not None else ""
        named = [] if isinstance(node.names, cst.ImportStar) else node.names
        names = [(_dotted(a.name), _dotted(a.asname.name) if a.asname is not None else None) for a in named]
        level = 0 if module is None else len(node.relative)
        made = self.make(s.Import(module, level, names or [("*", None)]), node)
        self.bind_import(made)
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
            names: Names = []
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
        patterns: list[Any] = []
        for case in node.cases:
            patterns.append(None if case.guard is not None else self._alternatives(case.pattern))
            marker = self.make(s.Other("pattern", []), case)
            for name in _captures(case.pattern):
                self.bind(name, "pattern", marker)
            body = self.suite(case.body)
            if case.guard is not None:
                guard = self.make(s.ExpressionStatement(self.expression(case.guard)), case.guard)
                body.statements.insert(0, guard)
            cases.append(body)
        last = node.cases[-1]
        exhaustive = last.guard is None and isinstance(last.pattern, cst.MatchAs) and last.pattern.pattern is None
        return self.make(s.Match(subject, cases, exhaustive, patterns), node)

    def _alternatives(self, pattern: cst.MatchPattern) -> list[tuple[str, s.Expression]] | None:
        """Return what the subject is compared with in turn: empty for any subject, None if it takes more."""
        if isinstance(pattern, cst.MatchAs) and pattern.pattern is None:
            return []
        found: list[tuple[str, s.Expression]] = []
        every = [each.pattern for each in pattern.patterns] if isinstance(pattern, cst.MatchOr) else [pattern]
        if not all(map(_is_plain, every)):
            return None
        for each in every:
            if isinstance(each, cst.MatchValue):
                found.append(("==", self.expression(each.value)))
            elif isinstance(each, cst.MatchSingleton):
                found.append(("is", self.expression(each.value)))
            elif isinstance(each, cst.MatchClass):
                found.append(("isinstance", self.expression(each.cls)))
        return found

    def function(self, node: cst.FunctionDef) -> s.Statement:
        decorators = [self.expression(d.decorator) for d in node.decorators]
        parameters = self.parameters(node.params)
        returns = self.annotation(node.returns)
        outer, scope = self.scope, self._function_scope()
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
        outer, scope = self.scope, Scope("class", self.scope)
        self.scope = scope
        body = self.suite(node.body)
        self.scope = outer
        made = self.make(s.Class(node.name.value, arguments, decorators, body, scope), node)
        scope.owner = made
        self.bind(made.name, "class", made)
        return made


def _dotted(node: Any) -> str:
    return f"{_dotted(node.value)}.{node.attr.value}" if isinstance(node, cst.Attribute) else str(node.value)


def _is_plain(pattern: cst.MatchPattern) -> bool:
    """Return whether a pattern tests for a value or a class, and nothing about its parts."""
    if isinstance(pattern, cst.MatchClass):
        return not (pattern.patterns or pattern.kwds)
    return isinstance(pattern, (cst.MatchValue, cst.MatchSingleton))


def _captures(pattern: object) -> list[str]:
    names: list[str] = []
    if isinstance(pattern, (cst.MatchAs, cst.MatchStar)) and pattern.name is not None:
        names.append(pattern.name.value)
    for child in getattr(pattern, "children", ()):
        names += _captures(child)
    return names


_S = _Statements
_STATEMENTS: dict[type, Callable[[_Statements, Any], s.Statement | None]] = {
    cst.Expr: _S.expression_statement, cst.Assign: _S.assign, cst.AnnAssign: _S.assign,
    cst.AugAssign: _S.assign, cst.Return: _S.leave, cst.Raise: _S.leave, cst.Break: _S.leave,
    cst.Continue: _S.leave, cst.Del: _S.other, cst.Assert: _S.other, cst.Global: _S.elsewhere,
    cst.Nonlocal: _S.elsewhere, cst.Import: _S.imports, cst.ImportFrom: _S.imports, cst.If: _S.branch,
    cst.For: _S.loop, cst.While: _S.loop, cst.With: _S.managed, cst.Try: _S.attempt,
    cst.TryStar: _S.attempt, cst.FunctionDef: _S.function, cst.ClassDef: _S.klass, cst.Match: _S.choose,
}  # fmt: skip

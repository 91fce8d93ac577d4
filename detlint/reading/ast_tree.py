"""From Python's own `ast` to `syntax`. Only this module and `ast_expressions` know how `ast` lays out its nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from detlint.reading.ast_expressions import OPERATORS, AstExpressions
from detlint.reading.ast_places import Places
from detlint.reading.lowering import TooDeepError
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


def lower(module: ast.Module, places: Places, package: str = "") -> s.File:
    """Return the syntax of a parsed text. `package` is the dotted package that relative imports start from.

    Raises NotPythonError, and UnclearError where libcst has to read the text.
    """
    try:
        return _AstStatements(places, package).file(module)
    except RecursionError:
        raise TooDeepError from None


class _AstStatements(AstExpressions):
    """One pass over an `ast` that makes nodes and fills scopes. A block's origin is the list of its statements."""

    def file(self, module: ast.Module) -> s.File:
        body = self.make(s.Block(list(self.statements(module.body))), module)
        return self.made(body, module)

    def block(self, body: list[ast.stmt]) -> s.Block:
        return self.make(s.Block(list(self.statements(body))), body)

    def optional_block(self, body: list[ast.stmt]) -> s.Block | None:
        return self.block(body) if body else None

    def statements(self, body: list[ast.stmt]) -> Iterator[s.Statement]:
        for node in body:
            handler = _STATEMENTS.get(type(node))
            made = None if handler is None else handler(self, node)
            if made is not None:
                yield made

    def _expression_statement(self, node: ast.Expr) -> s.Statement:
        return self.make(s.ExpressionStatement(self.expression(node.value)), node)

    # Bindings

    def _assign(self, node: ast.Assign) -> s.Statement:
        value = self.expression(node.value)
        lowered = [self.target(target) for target in node.targets]
        made = self.make(s.Assign([target for target, _ in lowered], value), node)
        for _, names in lowered:
            self.bind_all(names, "assign", made, value)
        return made

    def _annotated(self, node: ast.AnnAssign) -> s.Statement:
        value = self.optional(node.value)
        annotation = self.annotation(node.annotation)
        target, names = self.target(node.target)
        made = self.make(s.Assign([target], value, "=", annotation), node)
        if annotation is not None:
            annotation.parent = made
        if value is not None:
            self.bind_all(names, "assign", made, value)
        return made

    def _augmented(self, node: ast.AugAssign) -> s.Statement:
        value = self.expression(node.value)
        target, names = self.target(node.target)
        made = self.make(s.Assign([target], value, OPERATORS[type(node.op)] + "="), node)
        self.bind_all(names, "augment", made, value)
        return made

    def _delete(self, node: ast.Delete) -> s.Statement:
        if len(node.targets) == 1 and self.places.text[self.places.end(node) - 1] != ",":
            target, names = self.target(node.targets[0])
        else:  # a tuple without parentheses
            target, names = self.unpacked("tuple", node.targets, node)
        made = self.make(s.Other("del", [target]), node)
        self.bind_all(names, "delete", made, None)
        return made

    def _elsewhere(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            self.scope.outside[name] = type(node).__name__.lower()

    def _import(self, node: ast.Import) -> s.Statement:
        return self._imported(s.Import(None, 0, [(a.name, a.asname) for a in node.names]), node)

    def _import_from(self, node: ast.ImportFrom) -> s.Statement:
        names = [(a.name, a.asname) for a in node.names]
        return self._imported(s.Import(node.module or "", node.level, names), node)

    def _imported(self, made: s.Import, node: ast.stmt) -> s.Import:
        self.make(made, node)
        self.bind_import(made)
        return made

    # Statements that leave, and assertions

    def _return(self, node: ast.Return) -> s.Statement:
        return self.make(s.Leave("return", [] if node.value is None else [self.expression(node.value)]), node)

    def _raise(self, node: ast.Raise) -> s.Statement:
        return self.make(s.Leave("raise", [] if node.exc is None else [self.expression(node.exc)]), node)

    def _jump(self, node: ast.Break | ast.Continue) -> s.Statement:
        return self.make(s.Leave(type(node).__name__.lower(), []), node)

    def _assert(self, node: ast.Assert) -> s.Statement:
        return self.make(s.Other("assert", [self.expression(node.test)]), node)

    # Compound statements

    def _if(self, node: ast.If) -> s.Statement:
        test = self.expression(node.test)
        body = self.block(node.body)
        return self.make(s.If(test, body, self.optional_block(node.orelse)), node)

    def _while(self, node: ast.While) -> s.Statement:
        test = self.expression(node.test)
        body = self.block(node.body)
        return self.make(s.While(test, body, self.optional_block(node.orelse)), node)

    def _for(self, node: ast.For | ast.AsyncFor) -> s.Statement:
        iterator = self.expression(node.iter)
        target, names = self.target(node.target)
        self.bind_all(names, "for", target, iterator)
        body = self.block(node.body)
        return self.make(s.For(target, iterator, body, self.optional_block(node.orelse)), node)

    def _with(self, node: ast.With | ast.AsyncWith) -> s.Statement:
        items: list[s.WithItem] = []
        for item in node.items:
            value = self.expression(item.context_expr)
            target, names = (None, []) if item.optional_vars is None else self.target(item.optional_vars)
            made = self.make(s.WithItem(value, target), item)
            self.bind_all(names, "with", made, value)
            items.append(made)
        return self.make(s.With(items, self.block(node.body)), node)

    def _try(self, node: Any) -> s.Statement:
        body = self.block(node.body)
        handlers: list[s.Block] = []
        for handler in node.handlers:
            if handler.name is not None:
                target = self.make(s.Name(handler.name, self.scope, stored=True), handler)
                self.bind(handler.name, "except", target)
            handlers.append(self.block(handler.body))
        orelse = self.optional_block(node.orelse)
        return self.make(s.Try(body, handlers, orelse, self.optional_block(node.finalbody)), node)

    def _match(self, node: ast.Match) -> s.Statement:
        subject = self.expression(node.subject)
        cases: list[s.Block] = []
        patterns: list[Any] = []
        for case in node.cases:
            patterns.append(None if case.guard is not None else self._alternatives(case.pattern))
            marker = self.make(s.Other("pattern", []), case)
            for name in _captures(case.pattern):
                self.bind(name, "pattern", marker)
            body = self.block(case.body)
            if case.guard is not None:
                guard = self.make(s.ExpressionStatement(self.expression(case.guard)), case.guard)
                body.statements.insert(0, guard)
            cases.append(body)
        last = node.cases[-1]
        exhaustive = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return self.make(s.Match(subject, cases, exhaustive, patterns), node)

    def _alternatives(self, pattern: ast.pattern) -> list[tuple[str, s.Expression]] | None:
        """Return what the subject is compared with in turn: empty for any subject, None if it takes more."""
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            return []
        found: list[tuple[str, s.Expression]] = []
        every = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        if not all(map(_is_plain, every)):
            return None
        for each in every:
            if isinstance(each, ast.MatchValue):
                found.append(("==", self.expression(each.value)))
            elif isinstance(each, ast.MatchSingleton):
                found.append(("is", self.make(s.Constant(each.value), each)))
            elif isinstance(each, ast.MatchClass):
                found.append(("isinstance", self.expression(each.cls)))
        return found

    # Definitions

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> s.Statement:
        decorators = [self.expression(each) for each in node.decorator_list]
        parameters = self.parameters(node.args)
        returns = self.annotation(node.returns)
        outer, self.scope = self.scope, Scope("function", self.scope)
        for parameter in parameters:
            self.bind(parameter.name, "parameter", parameter)
        body = self.block(node.body)
        made = self.make(s.Function(node.name, parameters, decorators, returns, body, self.scope), node)
        self.scope.owner = made
        self.scope = outer
        self.bind(made.name, "function", made)
        return made

    def _class(self, node: ast.ClassDef) -> s.Statement:
        decorators = [self.expression(each) for each in node.decorator_list]
        arguments = self.arguments(node.bases, node.keywords)
        outer, self.scope = self.scope, Scope("class", self.scope)
        body = self.block(node.body)
        made = self.make(s.Class(node.name, arguments, decorators, body, self.scope), node)
        self.scope.owner = made
        self.scope = outer
        self.bind(made.name, "class", made)
        return made


def _is_plain(pattern: ast.pattern) -> bool:
    """Return whether a pattern tests for a value or a class, and nothing about its parts."""
    if isinstance(pattern, ast.MatchClass):
        return not (pattern.patterns or pattern.kwd_patterns)
    return isinstance(pattern, (ast.MatchValue, ast.MatchSingleton))


def _captures(pattern: ast.AST) -> Iterator[str]:
    if isinstance(pattern, (ast.MatchAs, ast.MatchStar)) and pattern.name is not None:
        yield pattern.name
    for child in ast.iter_child_nodes(pattern):
        yield from _captures(child)


_S = _AstStatements
_STATEMENTS: dict[type, Callable[[_AstStatements, Any], s.Statement | None]] = {
    ast.Expr: _S._expression_statement, ast.Assign: _S._assign, ast.AnnAssign: _S._annotated,
    ast.AugAssign: _S._augmented, ast.Return: _S._return, ast.Raise: _S._raise, ast.Break: _S._jump,
    ast.Continue: _S._jump, ast.Delete: _S._delete, ast.Assert: _S._assert, ast.Global: _S._elsewhere,
    ast.Nonlocal: _S._elsewhere, ast.Import: _S._import, ast.ImportFrom: _S._import_from, ast.If: _S._if,
    ast.For: _S._for, ast.AsyncFor: _S._for, ast.While: _S._while, ast.With: _S._with, ast.AsyncWith: _S._with,
    ast.Try: _S._try, ast.FunctionDef: _S._function, ast.AsyncFunctionDef: _S._function,
    ast.ClassDef: _S._class, ast.Match: _S._match,
}  # fmt: skip
if hasattr(ast, "TryStar"):  # Python 3.11
    _STATEMENTS[ast.TryStar] = _S._try

"""Statements of a file, as the intermediate representation has them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import structs

from detlint.ir import nodes as ir
from detlint.ir.counting import tested
from detlint.ir.lower_expressions import Body, Expressions
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope, class_of, is_main_guard

Lowered = tuple[ir.Statement, ...]


class Statements(Expressions):
    """Lowers the statements of one file, and its functions on the way."""

    def __init__(self) -> None:
        super().__init__(self.define)
        self.functions: dict[str, ir.Function] = {}
        self.classes: dict[str, ir.Class] = {}
        self.numbered: dict[str, list[s.Node]] = {}
        self.defined: dict[str, s.Function] = {}
        self.stars: list[tuple[int, str]] = []
        self._classes: list[str] = []  # the qualified names of those whose bodies are being lowered

    def block(self, block: s.Block | None) -> ir.Statements:
        """Statements up to the first that surely leaves."""
        found: list[ir.Statement] = []
        for statement in block.statements if block is not None else ():
            lowered = _STATEMENTS.get(type(statement))
            if lowered is not None:
                found += lowered(self, statement)
            if found and isinstance(found[-1], ir.Leave):
                break
        return tuple(found)

    def open(self, qualified: str, owner: s.Function | None = None) -> Body:
        """Begin a function."""
        body = Body(qualified)
        self.bodies.append(body)
        if owner is not None:
            self.owners[owner] = body
        return body

    def close(self) -> Body:
        """End the function that was begun last."""
        body = self.bodies.pop()
        self.numbered[body.qualified] = body.numbered
        return body

    def top(self, file: s.File) -> None:
        """The top level of a file."""
        self.open(ir.TOP)
        statements = self.block(file.body)
        self.close()
        self.functions[ir.TOP] = ir.Function("", ir.TOP, (), statements, caught=_caught(file.scope))

    def define(self, node: s.Function) -> str:
        """Lower a function and give its qualified name; its defaults belong to the function around it."""
        parameters = tuple([self._parameter(parameter) for parameter in node.parameters])
        around = self.body
        qualified = self._unique_in_class(node.name) if self._in_class(node) else around.unique(node.name)
        self.defined[qualified] = node
        before = len(self.functions)
        body = self.open(qualified, node)
        classes, self._classes = self._classes, []
        statements = self.block(node.body)
        self._classes = classes
        self.close()
        klass = classes[-1] if self._in_class(node) else ""
        owner = around.qualified if around.qualified not in (ir.TOP, ir.MAIN) else ""
        shared = tuple(sorted(body.shared))
        function = ir.Function(
            node.name, qualified, parameters, statements, klass, owner, shared, _caught(node.scope), body.yields
        )  # fmt: skip
        inner = list(self.functions.values())[before:]
        self.functions[qualified] = structs.replace(function, tested=tested(function, inner))
        return qualified

    def _in_class(self, node: s.Function) -> bool:
        return bool(self._classes) and class_of(node) is not None

    def _unique_in_class(self, name: str) -> str:
        """The qualified name of a method; a second one of a name, as a property's setter, is told from the first."""
        stem = qualified = f"{self._classes[-1]}.{name}"
        count = 1
        while qualified in self.functions or any(body.qualified == qualified for body in self.bodies):
            count += 1
            qualified = f"{stem}#{count}"
        return qualified

    def _parameter(self, node: s.Parameter) -> ir.Parameter:
        star: Any = node.star
        annotation = _annotation(node.annotation) if not star else ""
        kind = annotation if annotation in _TEXTS and isinstance(node.annotation, s.Name) else ""
        named = annotation if not hasattr(builtins, annotation) else ""
        return ir.Parameter(node.name, self.optional(node.default), star, node.keyword_only, kind, named)

    # Simple statements

    def _expression(self, node: s.ExpressionStatement) -> Lowered:
        return (ir.Do(self.lower(node.value)),)

    def _assign(self, node: s.Assign) -> Lowered:
        if node.value is None:
            return (ir.Annotated(self.lower(node.targets[0])),)
        value = self.lower(node.value)
        targets = self.each(node.targets)
        return (ir.Assign(targets, value, self.body.number(node), node.operator),)

    def _leave(self, node: s.Leave) -> Lowered:
        kind: Any = node.kind
        return (ir.Leave(kind, self.lower(node.values[0]) if node.values else None),)

    def _import(self, node: s.Import) -> Lowered:
        number = self.body.number(node)
        scope = self._scope(node)
        if node.module is None:
            found = []
            for name, alias in node.names:
                target = self.variable(alias or name.partition(".")[0], scope)
                found.append(ir.ImportModule(name, alias or "", target, number))
            return tuple(found)
        names: list[tuple[str, ir.Expression | None]] = []
        for name, alias in node.names:
            if name == "*":
                self.stars.append((node.level, node.module))
                names.append(("*", None))
            else:
                names.append((name, self.variable(alias or name, scope)))
        return (ir.ImportNames(node.module, node.level, tuple(names), number),)

    def _other(self, node: s.Other) -> Lowered:
        if node.kind == "del":
            return (ir.Delete(self.each(node.values)),)
        if node.kind == "assert":
            return (ir.Assert(self.each(node.values)),)
        if not node.values:
            return ()
        return (ir.Do(ir.Display("tuple", self.each(node.values), self.body.number(node))),)

    # Compound statements

    def _if(self, node: s.If) -> Lowered:
        if is_main_guard(node) and len(self.bodies) == 1 and not self._classes:
            self.open(ir.MAIN)
            statements = self.block(node.body)
            self.close()
            self.functions[ir.MAIN] = ir.Function(ir.MAIN, ir.MAIN, (), statements)
            return (ir.Main(self.block(node.orelse)),)
        return (ir.If(self.lower(node.test), self.block(node.body), self.block(node.orelse)),)

    def _for(self, node: s.For) -> Lowered:
        iterator = self.lower(node.iterator)
        number = self.body.number(node.iterator)
        return (ir.For(self.lower(node.target), iterator, self.block(node.body), self.block(node.orelse), number),)

    def _while(self, node: s.While) -> Lowered:
        return (ir.While(self.lower(node.test), self.block(node.body), self.block(node.orelse)),)

    def _with(self, node: s.With) -> Lowered:
        items = [ir.WithItem(self.lower(i.value), self.optional(i.target), self.body.number(i)) for i in node.items]
        return (ir.With(tuple(items), self.block(node.body)),)

    def _try(self, node: s.Try) -> Lowered:
        body = self.block(node.body)
        handlers = tuple([self.block(handler) for handler in node.handlers])
        return (ir.Try(body, handlers, self.block(node.orelse), self.block(node.final)),)

    def _match(self, node: s.Match) -> Lowered:
        subject = self.lower(node.subject)
        patterns = node.patterns or [None] * len(node.cases)
        cases = []
        for alternatives, block in zip(patterns, node.cases, strict=True):
            tests = tuple([(operator, self.lower(value)) for operator, value in alternatives or ()])
            cases.append(ir.Case(tests, self.block(block), alternatives is None))
        return (ir.Match(subject, tuple(cases), node.exhaustive),)

    def _define(self, node: s.Function) -> Lowered:
        decorators = self.each(node.decorators)
        qualified = self.define(node)
        target = self.variable(node.name, self._scope(node))
        return (ir.Define(target, qualified, decorators, self.body.number(node)),)

    def _class(self, node: s.Class) -> Lowered:
        decorators = self.each(node.decorators)
        arguments = tuple([self.argument(argument) for argument in node.arguments])
        qualified = f"{self._classes[-1]}.{node.name}" if self._classes else self.body.unique(node.name)
        self._classes.append(qualified)
        body = self.block(node.body)
        self._classes.pop()
        bases = sum(not argument.keyword and argument.star != "**" for argument in arguments)
        self.classes[qualified] = ir.Class(
            qualified, tuple(sorted(node.scope.bindings)), _stores(node), bases, _fields(node), _assigned(body),
            any(argument.keyword == "metaclass" for argument in arguments), any(map(_opens, _firsts(node))),
        )  # fmt: skip
        target = self.variable(node.name, self._scope(node))
        return (ir.DefineClass(target, qualified, arguments, decorators, body, self.body.number(node)),)

    @staticmethod
    def _scope(node: s.Statement) -> Any:
        """The scope whose variables a statement binds."""
        around = next((a for a in node.ancestors() if isinstance(a, (s.Function, s.Class, s.File))), None)
        return around.scope if around is not None else None


_TEXTS = ("str", "bytes")
_S = Statements
_STATEMENTS: dict[type, Callable[[Any, Any], Lowered]] = {
    s.ExpressionStatement: _S._expression, s.Assign: _S._assign, s.If: _S._if, s.For: _S._for, s.While: _S._while,
    s.With: _S._with, s.Try: _S._try, s.Match: _S._match, s.Function: _S._define, s.Class: _S._class,
    s.Import: _S._import, s.Leave: _S._leave, s.Other: _S._other,
}  # fmt: skip


def _caught(scope: Scope) -> tuple[str, ...]:
    """The variables of a scope that an `except` clause or a pattern binds."""
    kinds = {name: {binding.kind for binding in bindings} for name, bindings in scope.bindings.items()}
    return tuple(sorted(name for name, found in kinds.items() if not found.isdisjoint(("except", "pattern"))))


def _firsts(node: s.Class) -> Iterator[s.Node]:
    """The uses of their first parameters in the methods of a class."""
    for statement in node.body.statements:
        if isinstance(statement, s.Function) and statement.parameters:
            first = statement.parameters[0].name
            for inner in s.walk(statement.body):
                if isinstance(inner, s.Name) and inner.id == first:
                    yield inner


def _stores(node: s.Class) -> tuple[str, ...]:
    """The attributes that methods of a class store on their first parameter."""
    around = (use.parent for use in _firsts(node))
    return tuple(sorted({each.attribute for each in around if isinstance(each, s.Attribute) and each.stored}))


def _opens(use: s.Node) -> bool:
    """Whether a use of an object is one where it is given attributes by names that are computed."""
    around = use.parent
    if isinstance(around, s.Attribute) and around.attribute == "__dict__":
        return not around.stored and _changes(around)
    if not (isinstance(around, s.Argument) and isinstance(around.parent, s.Call)):
        return False
    call, function = around.parent, around.parent.function
    named = function.id if isinstance(function, s.Name) else ""
    if named == "setattr":
        names = [argument.value for argument in call.arguments[1:2]]
        return call.arguments[0] is around and not isinstance(names[0] if names else None, s.Constant)
    return named == "vars" and _changes(call)


def _changes(shown: s.Expression) -> bool:
    """Whether a dict that shows the attributes of an object is changed."""
    around = shown.parent
    if isinstance(around, s.Subscript):
        return around.stored
    return isinstance(around, s.Attribute) and around.attribute == "update"


def _annotation(node: s.Expression | None) -> str:
    """The dotted name of what an annotation says that something is, which may be None besides."""
    if isinstance(node, s.Subscript):
        return _annotation(node.indices[0]) if _annotation(node.value).endswith("Optional") else ""
    if isinstance(node, s.Operation) and node.operator == "|":
        return _annotation(node.operands[0])
    if isinstance(node, s.Attribute):
        around = _annotation(node.value)
        return f"{around}.{node.attribute}" if around else ""
    return node.id if isinstance(node, s.Name) else ""


def _fields(node: s.Class) -> tuple[str, ...]:
    """The annotated attributes of a class that something else than itself gives a constructor."""
    if not node.decorators and not node.arguments:
        return ()
    annotated = [x for x in node.body.statements if isinstance(x, s.Assign) and x.annotation is not None]
    return tuple(target.id for each in annotated for target in each.targets if isinstance(target, s.Name))


def _assigned(body: Lowered) -> tuple[tuple[str, ir.Constant | None], ...]:
    """The attributes that a class body gives a value, in order, with the constants that some are."""
    found: dict[str, ir.Constant | None] = {}
    for statement in body:
        if isinstance(statement, ir.Assign) and statement.operator == "=":
            value = statement.value if isinstance(statement.value, ir.Constant) else None
            found |= {target.name: value for target in statement.targets if isinstance(target, ir.Local | ir.Global)}
    return tuple(found.items())

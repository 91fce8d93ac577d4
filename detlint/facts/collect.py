"""The facts of a file, collected: its statements, reduced to what the rest of the program may need to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from detlint.analysis.loaders.epochs import COUNTERS
from detlint.analysis.training.inputs import classes_spoken_of
from detlint.analysis.training.learning import may_learn
from detlint.facts import facts as f
from detlint.facts import told
from detlint.facts.arms import arms
from detlint.facts.carried import carried
from detlint.facts.counting import counted
from detlint.facts.lower import Expressions, computed, idle
from detlint.facts.tests import holds_tests
from detlint.facts.touched import memory
from detlint.reading.lowering import TooDeepError
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, is_main_guard

_MOST_OPEN = 500  # nested contexts, one per item of a `with`; CPython refuses to compile more than 20 nested blocks


def collect(module: Module) -> f.Facts:
    """Return the facts of a file."""
    collector = _Collector(module)
    top = collector.block(module.file.body)
    guarded = any(is_main_guard(statement) for statement in module.file.body.statements)
    tests = holds_tests(module)
    kept = guarded, _acts(top), told.lasts(module), may_learn(module), told.finds(module), tests
    flows = () if tests else carried(module)  # an order that only tests use affects no result
    beside = flows, tuple(told.telling(module)), told.resuming(module), told.samples(module)
    convolving, draws = tuple(dict.fromkeys(told.convolving(module))), tuple(told.draws(module))
    drawing = convolving, memory(module), draws, tuple(dict.fromkeys(classes_spoken_of(module)))
    gpu = told.uses_gpu(module)
    return f.Facts(module.module, module.path, top, collector.functions, *kept, *beside, *drawing, gpu=gpu)


def _acts(statements: f.Statements) -> bool:
    """Return whether statements of a top level do more than define and import."""
    for statement in statements:
        if isinstance(statement, f.Branch) and _acts((*statement.body, *statement.orelse)):
            return True
        if isinstance(statement, f.Fork) and any(_acts(arm) for arm in statement.arms):
            return True
        if isinstance(statement, (f.Do, f.Loop, f.Scoped)):
            return True
        if isinstance(statement, f.Bind) and isinstance(statement.value, f.Call):
            return True
    return False


def _each(targets: tuple[f.Expression, ...]) -> Iterator[f.Expression]:
    """Yield targets, replacing those that unpack by what they unpack into."""
    for target in targets:
        yield from _each(target.elements) if isinstance(target, f.Display) else (target,)


def _is_of_library(target: f.Expression) -> bool:
    """Return whether a target is something of a library, or an attribute or item of it."""
    return isinstance(target, f.Library) or isinstance(getattr(target, "value", None), f.Library)


def _last(node: s.Expression) -> str:
    """Return the last part of a name."""
    if isinstance(node, s.Attribute):
        return node.attribute
    return node.id if isinstance(node, s.Name) else ""


class _Collector(Expressions):
    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.exits = module.catalogue.names("program", "exit")
        self.generators = {_body_of(node) for node in module.every(s.Operation) if _yields(node)}
        self.open = 0
        self.trying = 0  # how many open `try` statements of the function have handlers that may catch an error
        self.counted = counted(module)
        self.arms = arms(module)
        self.marks: dict[s.If, f.Local] = {}  # variables that record whether a branch in a `try` may fail

    def block(self, block: s.Block | None) -> f.Statements:
        found: list[f.Statement] = []
        for statement in block.statements if block is not None else ():
            made = self.statement(statement)
            found += made
            if made and any(isinstance(one, f.Leave) for one in made):
                break
        return tuple(found)

    def statement(self, node: s.Statement) -> list[f.Statement]:
        lowered = _STATEMENTS.get(type(node))
        mark = [self.mark(node)] if node in self.module.passed else []
        return [] if lowered is None else [*mark, *lowered(self, node)]

    def _expression(self, node: s.ExpressionStatement) -> list[f.Statement]:
        return self.do(node.value)

    def _if(self, node: s.If) -> list[f.Statement]:
        test = self.lower(node.test)
        body, orelse = self.block(node.body), self.block(node.orelse)
        return [*self.marked(node, test), *self.branch(test, self.arm(node.body, body), self.arm(node.orelse, orelse))]

    def arm(self, block: s.Block | None, statements: f.Statements) -> f.Statements:
        """Return the statements of a branch, after a mark if the branch holds what findings ask about."""
        if block not in self.arms:
            return statements
        return (self.mark(block.statements[0]), *statements)

    def mark(self, statement: s.Node) -> f.Do:
        """Return a mark of a statement that findings ask about."""
        return f.Do(f.Call(None, (), self.module.place(statement), statement.order, f.ARM))

    def marked(self, node: s.If, test: f.Expression) -> list[f.Statement]:
        """Return the statements that mark a branch in a `try`: None for arms that may fail, a number for others."""
        mark = self.marks.get(node)
        if mark is None:
            return []
        arms = [f.Literal(None if self.converted(arm) is None else 0) for arm in (node.body, node.orelse)]
        return [f.Bind((mark,), f.Conditional(test, arms[0], arms[1]))]

    def _for(self, node: s.For) -> list[f.Statement]:
        iterator, place = self.lower(node.iterator), self.module.place(node.iterator)
        loop = f.Loop(self.target(node.target), iterator, self.block(node.body), place, self.bounds(node.iterator))
        return [*self.counting(node), loop, *self.block(node.orelse)]

    def bounds(self, node: s.Expression) -> tuple[f.Expression, ...] | None:
        """Return the bounds of a range of numbers, perhaps in a progress bar or kept in a variable; otherwise None."""
        values = self.module.values(node) if isinstance(node, s.Name) else [node]
        if values is None or len(values) != 1 or not isinstance(values[0], s.Call):
            return None
        given = [argument.value for argument in values[0].arguments if argument.keyword is None and not argument.star]
        if _last(values[0].function) in COUNTERS:
            return tuple(map(self.lower, given))
        return self.bounds(given[0]) if given else None

    def _while(self, node: s.While) -> list[f.Statement]:
        test = self.lower(node.test)
        body = self.block(node.body)
        loop = [*self.counting(node), f.Loop(None, None, body)] if body else []
        return [*self.evaluated(_asked(test)), *loop, *self.block(node.orelse)]

    def counting(self, loop: s.For | s.While) -> list[f.Statement]:
        """Return the statements that mark, before a loop, the variables that it counts."""
        names = self.counted.variables.get(loop, {}).values()
        return [f.Bind((self.target(name),), f.Computed((self.lower(name),), f.COUNTED)) for name in names]

    def _with(self, node: s.With) -> list[f.Statement]:
        return self.managed(node.items, node.body)

    def _match(self, node: s.Match) -> list[f.Statement]:
        subject = self.lower(node.subject)
        arms = [self.block(case) for case in node.cases]
        plain = isinstance(node.subject, (s.Name, s.Attribute))  # may be evaluated again for each case
        known = next((i for i, tests in enumerate(node.patterns) if not tests or not plain), len(arms))
        tests = [self._matches(subject, node.patterns[index] or ()) for index in range(known)]
        if known < len(arms) and node.patterns[known] == [] and plain:
            rest: list[f.Statement] = list(arms[known])
        else:
            others = arms[known:] if node.exhaustive else [*arms[known:], ()]
            rest = [f.Fork(tuple(others))] if len(others) > 1 else list(others[0])
        for test, arm in zip(reversed(tests), reversed(arms[:known]), strict=True):
            rest = self.branch(test, arm, tuple(rest))
        return [*self.evaluated(subject), *rest]

    def _matches(self, subject: f.Expression, alternatives: Iterable[tuple[str, s.Expression]]) -> f.Expression:
        """Return the test of whether a case matches."""
        tests = [f.Compare(operator, subject, self.lower(each)) for operator, each in alternatives]
        return tests[0] if len(tests) == 1 else f.Junction("or", tuple(tests))

    def _define(self, node: s.Function) -> list[f.Statement]:
        qualified = self.function(node)
        return [f.Define(node.name, qualified, tuple(self.lower(d) for d in node.decorators))]

    def _leave(self, node: s.Leave) -> list[f.Statement]:
        value = self.lower(node.values[0]) if node.values else None
        if node.kind == "return":
            return [f.Leave(value)]
        called = node.values[0].function if node.values and isinstance(node.values[0], s.Call) else None
        ends = called is not None and "builtins.SystemExit" in self.module.names(called)
        return [f.Leave(value, True, self.reach(ends))] if node.kind == "raise" else []

    def reach(self, ends: bool) -> int:
        """Return what an error ends or, if it `ends` the program, an exit: CAUGHT, PROGRAM or FUNCTION."""
        return f.CAUGHT if self.trying else f.PROGRAM if ends else f.FUNCTION

    def _other(self, node: s.Other) -> list[f.Statement]:
        return self.evaluated(computed([self.lower(v) for v in node.values]))

    def do(self, value: s.Expression) -> list[f.Statement]:
        if isinstance(value, s.Call) and not self.exits.isdisjoint(self.module.callee(value)):
            return [f.Leave(computed([self.lower(a.value) for a in value.arguments]), True, self.reach(True))]
        return self.evaluated(self.lower(value))

    def evaluated(self, value: f.Expression) -> list[f.Statement]:
        return [] if idle(value) else [f.Do(value)]

    def assign(self, node: s.Assign) -> list[f.Statement]:
        if node.value is None:
            return []
        value = self.lower(node.value)
        targets = tuple([self.target(target) for target in node.targets])
        if node.operator != "=":
            value = f.Computed((self.lower(node.targets[0]), value), node.operator)
        elif isinstance(value, f.Literal) and any(map(self.is_counted, node.targets)):
            value = f.Computed((value,), f.COUNTED)
        sets = any(_is_of_library(target) for target in _each(targets))
        return [f.Bind(targets, value, self.module.place(node) if sets else None)]

    def is_counted(self, target: s.Expression) -> bool:
        return isinstance(target, s.Attribute) and target.attribute in self.counted.attributes

    def branch(self, test: f.Expression, body: f.Statements, orelse: f.Statements) -> list[f.Statement]:
        return [f.Branch(test, body, orelse)] if body or orelse else self.evaluated(_asked(test))

    def managed(self, items: list[s.WithItem], body: s.Block) -> list[f.Statement]:
        self.open += len(items)
        if self.open > _MOST_OPEN:
            raise TooDeepError
        made: f.Statements | None = None
        for item in reversed(items):
            target = self.target(item.target) if item.target is not None else None
            inner = self.block(body) if made is None else made
            made = (f.Scoped(self.lower(item.value), target, inner),)
        self.open -= len(items)
        return list(made or ())

    def attempt(self, node: s.Try) -> list[f.Statement]:
        """Return the statements of a `try`: handlers may replace a body of imports, and may follow any other."""
        imports = bool(node.body.statements) and all(isinstance(x, s.Import) for x in node.body.statements)
        numbers = self.converted(node.body) if node.handlers and not imports else None
        known = [mark for mark in self.marks.values() if mark in (numbers or ())]
        self.trying += bool(node.handlers)
        body = self.block(node.body)
        self.trying -= bool(node.handlers)
        handlers = [self.block(handler) for handler in node.handlers]
        body += self.block(node.orelse)
        if imports:
            found: list[f.Statement] = [f.Fork((body, *handlers))] if handlers else list(body)
        elif any(handlers):
            unasked = [f.Bind((mark,), f.Literal(0)) for mark in known]
            found = [*unasked, *body, f.Fork((*handlers, ()), tuple(numbers or ()), handles=True)]
        else:
            found = list(body)
        return [*found, *self.block(node.final)]

    def converted(self, block: s.Block | None) -> list[f.Expression] | None:
        """Return what a block assigns, or None if it does more; it fails only where a value is no number or text."""
        found: list[f.Expression] = []
        for statement in block.statements if block is not None else ():
            inner: list[f.Expression] | None = None
            if isinstance(statement, s.If) and self.converts(statement.test):
                arms = self.converted(statement.body), self.converted(statement.orelse)
                inner = [number for arm in arms for number in arm or ()]
                if None in arms:
                    inner.append(self.marks.setdefault(statement, f.Local(f"{statement.order}:failing")))
            elif isinstance(statement, s.ExpressionStatement) and self.converts(statement.value):
                inner = [self.lower(statement.value)]
            elif isinstance(statement, s.Assign) and statement.operator == "=" and statement.value is not None:
                names = all(isinstance(target, s.Name) for target in statement.targets)
                converts = names and not isinstance(statement.value, s.Attribute) and self.converts(statement.value)
                inner = [self.target(target) for target in statement.targets] if converts else None
            if inner is None:
                return None
            found += inner
        return found

    def converts(self, node: s.Expression) -> bool:
        """Return whether an expression only looks at values, computes with them, and calls Python's own functions."""
        if isinstance(node, s.Call):
            parts = [argument.value for argument in node.arguments]
            return bool(self.library(node.function)) and all(map(self.converts, parts))
        if isinstance(node, s.Operation):
            return not _yields(node) and all(map(self.converts, node.operands))
        if isinstance(node, s.Conditional):
            return all(map(self.converts, (node.test, node.body, node.orelse)))
        return isinstance(node, (s.Name, s.Constant)) or (isinstance(node, s.Attribute) and self.converts(node.value))

    def imports(self, node: s.Import) -> list[f.Statement]:
        if node.module is not None:
            names = tuple((name, alias or name) for name, alias in node.names)
            return [f.Import(node.module, node.level, names, None, node.order)]
        return [f.Import(name, 0, None, alias, node.order) for name, alias in node.names]

    # Definitions

    def klass(self, node: s.Class) -> list[f.Statement]:
        bases = tuple(self.lower(a.value) for a in node.arguments if a.keyword is None and a.star != "**")
        made_by_others = bool(node.decorators or bases)
        annotated = [x for x in node.body.statements if isinstance(x, s.Assign) and x.annotation is not None]
        fields = [t.id for x in annotated for t in x.targets if isinstance(t, s.Name) and made_by_others]
        decorators = tuple(self.lower(d) for d in node.decorators)
        body = self.block(node.body)
        given = [a for a in node.arguments if a.star == "**" or a.keyword is not None]
        keywords = tuple(f.Argument(self.lower(a.value), a.keyword, a.star) for a in given)
        qualified = self.module.qualified(node)
        return [f.DefineClass(node.name, qualified, bases, body, decorators, tuple(fields), keywords)]

    def function(self, node: s.Function) -> str:
        qualified = self.module.qualified(node)
        if qualified in self.functions or node.name == "<lambda>":
            qualified = f"{qualified}:{node.order}"
        captured: set[str] = set()
        parameters = tuple(self.parameter(p) for p in node.parameters)
        self.captured.append((node, captured))
        outer, self.trying = self.trying, 0
        body = self.block(node.body)
        self.trying = outer
        self.captured.pop()
        yields = node in self.generators
        returns = self.lower(node.returns)
        place = self.module.place(node)
        kind, names = self.kind(node), tuple(sorted(captured))
        self.functions[qualified] = f.Function(
            node.name, qualified, parameters, body, kind, names, yields, returns, place
        )
        return qualified

    def parameter(self, node: s.Parameter) -> f.Parameter:
        default = self.lower(node.default)
        annotation = self.annotation(node.annotation)
        return f.Parameter(node.name, default, node.default is not None, node.star, node.keyword_only, annotation)

    def annotation(self, node: s.Expression | None) -> f.Expression:
        """Return an annotation that may name a class of the project; None for any other."""
        if isinstance(node, s.Subscript):
            return self.annotation(node.indices[0]) if self.module.names(node.value) & {"typing.Optional"} else None
        if isinstance(node, s.Operation) and node.operator == "|":
            return self.annotation(node.operands[0])
        return self.lower(node) if isinstance(node, (s.Name, s.Attribute)) else None

    def kind(self, node: s.Function) -> str:
        if class_of(node) is None:
            return "function"
        if node.name in _OF_CLASSES:
            return "class"
        for decorator in node.decorators:
            for name in self.module.names(decorator):
                kind = _KINDS.get(name) or _ACCESSORS.get(name.rpartition(".")[2], "")
                if kind:
                    return kind
        return "method"


_C = _Collector
_STATEMENTS: dict[type, Callable[[_Collector, Any], list[f.Statement]]] = {
    s.ExpressionStatement: _C._expression, s.Assign: _C.assign, s.If: _C._if, s.For: _C._for, s.While: _C._while,
    s.With: _C._with, s.Try: _C.attempt, s.Match: _C._match, s.Function: _C._define, s.Class: _C.klass,
    s.Import: _C.imports, s.Leave: _C._leave, s.Other: _C._other,
}  # fmt: skip

_OF_CLASSES = ("__init_subclass__", "__class_getitem__")  # need no decorator
_KINDS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
}
_ACCESSORS = {"getter": "property", "setter": "setter", "deleter": "deleter"}  # of a property, as decorators


def _asked(test: f.Expression) -> f.Expression:
    """Return a test that is evaluated for its side effects."""
    return f.Computed((test,), "builtins.bool")


def _yields(node: s.Operation) -> bool:
    return node.operator in ("yield", "yield from")


def _body_of(node: s.Node) -> s.Node | None:
    """Return the function or class whose body holds `node`; None outside of one, or in its decorators."""
    inner = node
    for outer in node.ancestors():
        if isinstance(outer, (s.Function, s.Class)):
            return outer if inner is outer.body else None
        inner = outer
    return None

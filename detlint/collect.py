"""The facts of a file, collected: what its functions do to the global generators, in program order."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from detlint import syntax as s
from detlint.analysis.conditions import applies
from detlint.catalogue import Row
from detlint.facts import GENERATORS, TOP, Branch, Draw, Effect, Effects, Exit, Facts, Import, Invoke, Loop, Seed
from detlint.model import Module
from detlint.scopes import class_of, reaching

_QUIET_ROOTS = frozenset(sys.stdlib_module_names) | {"torch", "numpy", "builtins"}


def collect(module: Module) -> Facts:
    """The facts of a file."""
    collector = _Collector(module)
    functions = {TOP: collector.block(module.file.body)}
    for name, function in module.functions.items():
        if function.name != "<lambda>":
            effects = (*collector.decorators(function), *collector.block(function.body))
            if effects:
                functions[name] = effects
    statements = module.file.body.statements
    guarded = any(s.is_main_guard(statement) for statement in statements)
    acts = any(isinstance(x, (s.For, s.While, s.With)) or _is_call(x) for x in statements)
    acts = acts or any(isinstance(effect, Draw) for effect in functions[TOP])
    outcomes = module.catalogue.names("randomness", "outcome")
    lasting = any(_last(call.function) in outcomes for call in module.calls)
    return Facts(module.module, module.path, functions, guarded, acts, lasting, tuple(_spawned(module)))


def _spawned(module: Module) -> Iterator[str]:
    for row in module.catalogue.rows("randomness", "launcher"):
        for call in module.calls_to(row.list("names")) if row.text("kind") == "spawns" else ():
            if applies(module, call, row.list("when"), row.list("unless")):
                yield from _given(module, call, row)


def _given(module: Module, call: s.Call, launcher: Row) -> list[str]:
    """The functions of the file that a launcher is given."""
    values = module.argument(call, launcher.text("parameter")).values
    return sorted(name for value in values for name in module.names(value) if name in module.functions)


def _last(node: s.Expression) -> str:
    """The last part of a name."""
    if isinstance(node, s.Attribute):
        return node.attribute
    return node.id if isinstance(node, s.Name) else ""


def _is_call(statement: s.Statement) -> bool:
    return isinstance(statement, s.ExpressionStatement) and isinstance(statement.value, s.Call)


class _Collector:
    def __init__(self, module: Module) -> None:
        self.module = module
        names = module.catalogue.names
        self.consumers = self._rows("consumer", "call") | self._rows("consumer", "constructor")
        self.iterated = self._rows("consumer", "iteration")
        sampled = self._rows("consumer", "sample").items()
        self.sampled = {f"{name}.{method}": row for name, row in sampled for method in row.list("methods")}
        self.examples = names("randomness", "example_input")
        self.undrawn = names("randomness", "undrawn")
        self.seeders = self._rows("seeder")
        self.reseeders = self._rows("entropy", "reseeds")
        self.methods = names("randomness", "object", key="seeding")
        self.hints = names("randomness", "hint")
        self.runners = self._rows("launcher", "runs")
        devices = {name for name, row in self.seeders.items() if row.list("seeds") == ("cuda",)}
        self.seeds_devices = any(True for _ in module.calls_to(devices))
        self._open: set[s.Lambda] = set()

    def _rows(self, table: str, kind: str = "") -> dict[str, Row]:
        """The rows of a table of random numbers by each of their names; all of them, or those of one kind."""
        rows = self.module.catalogue.rows("randomness", table)
        return {name: row for row in rows if kind in ("", row.text("kind")) for name in row.list("names")}

    def decorators(self, function: s.Function) -> Iterator[Effect]:
        """What the decorators of a function, of this file or another, may do whenever it is called."""
        for decorator in function.decorators:
            names = sorted(self.module.names(decorator.function if isinstance(decorator, s.Call) else decorator))
            own = [self.module.functions[name] for name in names if name in self.module.functions]
            inner = [node for each in own for node in s.walk(each.body) if isinstance(node, s.Call)]
            seeds = any(not self.module.callee(call).isdisjoint(self.seeders) for call in inner)
            if seeds or (not own and any(hint in name.lower() for name in names for hint in self.hints)):
                yield Seed(GENERATORS, names[0], self.module.place(decorator), decorator.order, certain=False)

    # Statements

    def block(self, block: s.Block | None) -> Effects:
        found: list[Effect] = []
        for statement in block.statements if block is not None else ():
            found += self.statement(statement)
        return tuple(found)

    def statement(self, node: s.Statement) -> Iterator[Effect]:
        if isinstance(node, s.If):
            yield from self.expression(node.test)
            yield from self.branch(self.block(node.body), self.block(node.orelse))
        elif isinstance(node, (s.For, s.While)):
            head = node.iterator if isinstance(node, s.For) else node.test
            yield from self.expression(head)
            if isinstance(node, s.For):
                yield from self.iteration(node.iterator)
            body = self.block(node.body)
            if body:
                yield Loop(body)
            yield from self.block(node.orelse)
        elif isinstance(node, s.With):
            for item in node.items:
                yield from self.expression(item.value)
                owner = self.module.owner(item.value)
                enter = self.module.method(owner, "__enter__") if owner is not None else None
                if enter is not None:
                    yield Invoke(self.module.qualified(enter), self.module.place(item.value), item.value.order)
            yield from self.block(node.body)
        elif isinstance(node, s.Try):
            yield from self.block(node.body)
            yield from self.branch(*(self.block(handler) for handler in node.handlers), ())
            yield from self.block(node.orelse)
            yield from self.block(node.final)
        elif isinstance(node, s.Match):
            yield from self.expression(node.subject)
            yield from self.branch(*(self.block(case) for case in node.cases), ())
        elif isinstance(node, (s.Function, s.Class)):
            for decorator in node.decorators:
                yield from self.expression(decorator)
            if isinstance(node, s.Class):
                yield from self.block(node.body)
            else:
                for parameter in node.parameters:
                    if parameter.default is not None:
                        yield from self.expression(parameter.default)
        elif isinstance(node, s.Other) and node.kind == "import":
            yield from self.imports(node)
        else:
            yield from self.expression(node)
            if isinstance(node, s.Leave) and node.kind in ("return", "raise"):
                yield Exit()

    def branch(self, *arms: Effects) -> Iterator[Effect]:
        if any(arms):
            yield Branch(arms)

    def imports(self, node: s.Other) -> Iterator[Effect]:
        names = {
            b.qualified
            for scope in (self.module.file.scope,)
            for bindings in scope.bindings.values()
            for b in bindings
            if b.node is node and b.qualified is not None
        }
        for name in sorted(names):
            if name.partition(".")[0] not in _QUIET_ROOTS:
                yield Import(name, node.order)

    # Expressions

    def expression(self, node: s.Node) -> Iterator[Effect]:
        calls = [n for n in _walk_here(node) if isinstance(n, s.Call)]
        for call in sorted(calls, key=lambda call: call.order):
            yield from self.call(call)

    def iteration(self, iterator: s.Expression) -> Iterator[Effect]:
        """Iterating over a loader or a sampler draws."""
        while isinstance(iterator, s.Call) and iterator.arguments and self.wraps(iterator):
            iterator = iterator.arguments[0].value
        for value in self.module.values(iterator) or ():
            if isinstance(value, s.Call):
                for name in self.module.callee(value):
                    row = self.iterated.get(name)
                    if row is not None and applies(self.module, value, row.list("when"), row.list("unless")):
                        yield Draw(row.text("generator"), name, self.module.place(iterator), iterator.order)

    def wraps(self, call: s.Call) -> bool:
        names = self.module.callee(call)
        return bool(names) and all(name.rpartition(".")[2] in ("enumerate", "tqdm", "iter", "trange") for name in names)

    def call(self, call: s.Call) -> Iterator[Effect]:
        module = self.module
        names = sorted(module.callee(call))
        if isinstance(call.function, s.Attribute) and self.is_super(call.function.value):
            yield from self.inherited(call, call.function.attribute)
            return
        if not names:
            yield from self.unnamed(call)
            return
        name = names[0]
        last = name.rpartition(".")[2]
        row = self.consumers.get(name) or self.sampled.get(name)
        if row is not None:
            if self.draws(call, row):
                yield Draw(row.text("generator"), name, module.place(call), call.order)
        elif name in self.runners:
            for target in _given(module, call, self.runners[name]):
                yield Invoke(target, module.place(call), call.order)
        elif name in self.seeders:
            yield from self.seed(call, name)
        elif name in self.reseeders:
            seeds = tuple(g for g in self.reseeders[name].list("seeds") if g in GENERATORS)
            yield Seed(seeds, name, module.place(call), call.order, certain=False)
        elif last == "exit" and name in ("sys.exit", "builtins.exit", "os._exit"):
            yield Exit()
        elif name in module.classes:
            yield from self.construction(call, module.classes[name])
        elif name in module.functions:
            every = [name, *self.overrides(call, module.functions[name])]
            arms = tuple((Invoke(each, module.place(call), call.order),) for each in every)
            yield from arms[0] if len(arms) == 1 else (Branch(arms),)
        elif name.partition(".")[0] not in _QUIET_ROOTS:
            if any(hint in last.lower() for hint in self.hints):
                yield Seed(GENERATORS, name, module.place(call), call.order, certain=False)
            else:
                yield Invoke(name, module.place(call), call.order)
        if last in ("iter", "list", "next") and call.arguments:
            yield from self.iteration(call.arguments[0].value)

    def is_super(self, node: s.Expression) -> bool:
        return isinstance(node, s.Call) and self.module.callee(node) == {"builtins.super"}

    def inherited(self, call: s.Call, name: str) -> Iterator[Effect]:
        """The method that `super().name(...)` runs, of a class of this file or of one that may belong to another."""
        klass = self.module.class_of(call)
        for base in self.module.ancestry(klass) if klass is not None else ():
            owner = self.module.classes.get(base)
            method = self.module.method(owner, name) if owner is not None else None
            if method is not None:
                yield Invoke(self.module.qualified(method), self.module.place(call), call.order)
                return
            if owner is None and base.partition(".")[0] not in _QUIET_ROOTS:
                yield Invoke(f"{base}.{name}", self.module.place(call), call.order)

    def overrides(self, call: s.Call, method: s.Function) -> list[str]:
        """The methods of derived classes that a call on `self` of a method may run instead."""
        klass, function = class_of(method), call.function
        if klass is None or not isinstance(function, s.Attribute) or not isinstance(function.value, s.Name):
            return []
        bindings = reaching(function.value) or ()
        if not bindings or any(not isinstance(b.node, s.Parameter) for b in bindings):
            return []
        base = self.module.qualified(klass)
        derived = [c for c in self.module.classes.values() if base in self.module.ancestry(c)]
        found = [self.module.method(c, method.name) for c in derived]
        return sorted({self.module.qualified(f) for f in found if f is not None and f is not method})

    def unnamed(self, call: s.Call) -> Iterator[Effect]:
        """What a call does of which no name is known: a module's forward, a lambda, one function of a display."""
        module, function = self.module, call.function
        for kind in module.types(function):
            owner = module.classes.get(kind)
            forward = module.method(owner, "forward") if owner is not None else None
            if forward is not None:
                yield Invoke(module.qualified(forward), module.place(call), call.order)
        for value in module.values(function) or ():
            if isinstance(value, s.Lambda) and value not in self._open:
                self._open.add(value)
                yield from self.block(value.function.body)
                self._open.discard(value)
        targets = [name for e in self.displayed(function) for name in module.names(e) if name in module.functions]
        if targets:
            yield from self.branch(*((Invoke(target, module.place(call), call.order),) for target in targets), ())
        if self.may_seed(function):
            yield Seed(GENERATORS, module.short(function), module.place(call), call.order, certain=False)

    def may_seed(self, function: s.Expression) -> bool:
        """Whether a callable that is not known is called like a seeder, or is one of a display of seeders."""
        if any(hint in _last(function).lower() for hint in self.hints):
            return _last(function) not in self.methods
        return any(not self.module.names(e).isdisjoint(self.seeders) for e in self.displayed(function))

    def displayed(self, function: s.Expression) -> list[s.Expression]:
        """The elements of the display that a loop or a subscript takes a callable from."""
        if isinstance(function, s.Subscript):
            tables = self.module.values(function.value) or []
            return [value for table in tables if isinstance(table, s.Dictionary) for value in table.values]
        bindings = (reaching(function) or ()) if isinstance(function, s.Name) else ()
        displays = [b.value for b in bindings if b.kind == "for" and isinstance(b.value, s.Collection)]
        return [element for display in displays for element in display.elements]

    def draws(self, call: s.Call, row: Row) -> bool:
        """Whether a call of a row's consumer draws a number that decides something, from a generator of this host."""
        device = self.module.argument(call, "device")
        elsewhere = device.given and self.module.possible(device) != ["cpu"]
        return (
            applies(self.module, call, row.list("when"), row.list("unless"))
            and not (elsewhere and self.seeds_devices)
            and not self.is_undrawn(call)
            and not self.is_example(call)
            and not self.chooses_seed(call)
        )

    def is_undrawn(self, call: s.Call) -> bool:
        """Whether a call stands under a context in which nothing is drawn, such as that of the meta device."""
        for around in call.ancestors():
            for item in around.items if isinstance(around, s.With) else ():
                context = item.value
                if isinstance(context, s.Call):
                    names = self.module.callee(context)
                    meta = names == {"torch.device"} and self.module.constants(context.arguments[0].value) == ["meta"]
                    if meta or not names.isdisjoint(self.undrawn):
                        return True
        return False

    def is_example(self, call: s.Call) -> bool:
        """Whether what a call draws only serves as an example of a shape, in tracing or counting."""
        uses: list[s.Expression] = [call]
        statement = call.parent
        if isinstance(statement, s.Assign) and isinstance(statement.targets[0], s.Name):
            target = statement.targets[0]
            scope = target.scope.find(target.id)
            uses = list(self.module.reads(scope, target.id)) if scope is not None else []
        return bool(uses) and all(self.is_traced(use) for use in uses)

    def chooses_seed(self, call: s.Call) -> bool:
        """Whether what a call draws is a seed: that is a matter of where the seed comes from."""
        for outer in call.ancestors():
            if isinstance(outer, s.Call) and not self.seeders.keys().isdisjoint(self.module.callee(outer)):
                return True
            if isinstance(outer, s.Statement):
                kept = outer.targets if isinstance(outer, s.Assign) else []
                return any("seed" in _last(target).lower() for target in kept)
        return False

    def is_traced(self, node: s.Expression) -> bool:
        outer = next((a for a in node.ancestors() if not isinstance(a, (s.Argument, s.Collection))), None)
        return isinstance(outer, s.Call) and not self.examples.isdisjoint(self.module.callee(outer))

    def seed(self, call: s.Call, name: str) -> Iterator[Effect]:
        row = self.seeders[name]
        parameter = row.text("parameter")
        certain = True
        generators = tuple(g for g in row.list("seeds") if g in GENERATORS)
        if parameter:
            passed = self.module.argument(call, parameter)
            possible = self.module.possible(passed)
            certain = possible is None or None not in possible  # None seeds from the operating system
        if generators:
            yield Seed(generators, name, self.module.place(call), call.order, certain)

    def construction(self, call: s.Call, klass: s.Class) -> Iterator[Effect]:
        init = self.module.method(klass, "__init__")
        if init is not None:
            yield Invoke(self.module.qualified(init), self.module.place(call), call.order)
        for base in self.module.ancestry(klass):
            if base not in self.module.classes and base.partition(".")[0] not in _QUIET_ROOTS:
                yield Invoke(f"{base}.__init__", self.module.place(call), call.order)


def _walk_here(node: s.Node) -> Iterator[s.Node]:
    """The nodes that run with `node`: the bodies of lambdas and functions are left out."""
    yield node
    if not isinstance(node, (s.Lambda, s.Function)):
        for child in node:
            yield from _walk_here(child)

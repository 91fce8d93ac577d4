"""Statements: bindings, branches, loops, definitions and imports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from detlint.facts import facts as f
from detlint.link.language.arms import leave, stand_in
from detlint.link.language.descriptors import name_attributes
from detlint.link.language.evaluate import not_none
from detlint.link.language.fields import factories
from detlint.link.language.passes import bound
from detlint.link.language.rounds import picked, rounds
from detlint.link.language.scopes import Scopes, nowhere
from detlint.link.state.enumerations import enumerate_members
from detlint.link.state.objects import ClassInfo
from detlint.link.state.otherwise import iterate_otherwise
from detlint.link.state.run import RUNTIME, UNGUARDED, Frame
from detlint.link.state.truth import Truth, is_text_or_number
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Library,
    Module,
    Object,
    Option,
    Partial,
    Tuple,
    Value,
    each,
    join,
    only,
    single,
)
from detlint.programs.events import State, merged

_DECORATORS = (Function, Class, Object, Library, Partial)


class Statements(Scopes):
    """The part of the interpreter that runs statements."""

    def block(self, statements: f.Statements) -> None:
        """Run statements in order until the function is left."""
        for index, statement in enumerate(statements):
            if self.state is None:
                return
            left = self.frame.left
            _HANDLERS[type(statement)](self, statement)
            if self.frame.left != left:  # by default the function is left here: the rest runs only with the option
                with self.guarded(self.frame.left):
                    self.block(statements[index + 1 :])
                return

    def _do(self, node: f.Do) -> None:
        self.value(node.value)

    def _bind(self, node: f.Bind) -> None:
        value = self.value(node.value)
        self.statement_place = node.place
        if self.program.objects.record is not None:
            self.program.objects.record.statement = node.place
        for target in node.targets:
            self.assign(target, value)

    def _leave(self, node: f.Leave) -> None:
        value = self.value(node.value)
        if self.state is not None:
            self.frame.leave(self.state, node.raises)
            self.frame.reach = min(self.frame.reach, node.reach)
            if not node.raises:
                (self.frame.spare if self.frame.left else self.frame.returned).append(value)
        self.state = None

    def _choose(self, node: f.Branch) -> None:
        answer = self.test(node.test)
        if answer.option and answer.default is not None and _refuses(node.body if answer.default else node.orelse):
            answer = Truth(not answer.default, answer.default)  # an option that must be set
            self.require(node.test)
        orelse = (lambda: self.block(node.orelse)) if node.orelse else None
        self.branch(answer, lambda: self.block(node.body), orelse)

    def require(self, test: f.Expression) -> None:
        """Assume that a test fails: what it compares to None is something else from now on."""
        asked = test.operands[0] if isinstance(test, f.Junction) and test.operator == "not" else None
        if isinstance(test, f.Compare) and test.operator in ("is", "==") and test.right == f.Literal(None):
            asked = test.left
        if isinstance(asked, (f.Local, f.Member)):
            self.assign(asked, not_none(self.value(asked)))

    def _fork(self, node: f.Fork) -> None:
        start, variables, before = self.state, dict(self.frame.variables), len(self.trace)
        ends: list[tuple[State | None, dict[str, Value]]] = []
        sure = node.numbers and all(map(is_text_or_number, map(self.value, node.numbers)))
        for arm in node.arms[-1:] if sure else node.arms:
            self.state = start
            self.set_variables(dict(variables))
            first, reach, self.frame.reach = len(self.trace), self.frame.reach, f.PROGRAM
            with self.guarded("") if len(node.arms) > 1 and not sure else UNGUARDED:
                self.block(arm)
            if self.state is None:
                leave(self.trace, first, len(self.trace), self.frame.reach, False)
            self.frame.reach = min(reach, self.frame.reach)
            ends.append((self.state, self.frame.variables))
        if node.handles:
            stand_in(self.trace, before)
        self.set_variables(self.merge_variables([v for s, v in ends if s is not None] or [variables]))
        self.state = merged(s for s, _ in ends if s is not None)

    def _loop(self, node: f.Loop) -> None:
        item, apart, first = UNKNOWN, tuple[Value, ...](), len(self.trace)
        if node.iterator is not None:
            iterated = self.value(node.iterator)
            outer, start, self.iterating = self.iterating, self.state, node.place
            item = self.iterate(iterated)
            iterate_otherwise(self, node.iterator, start)
            self.iterating = outer
            found = filter(None, map(self.present, rounds(self.program.objects, node, iterated)))
            apart = tuple(picked(self, node, list(found)))
        before, body = self.state, len(self.trace)
        for each_item in apart or (item, item):  # a round starts in the state that the one before it leaves
            start, variables, left = self.state, dict(self.frame.variables), len(self.frame.exits)
            if node.target is not None:
                self.assign(node.target, each_item)
            self.block(node.body)
            known = [variables] if self.state is None else [variables, self.frame.variables]
            self.set_variables(self.merge_variables(known))
            # a loop is assumed to run, as that is its purpose; if its body always leaves, that may be a `raise`: go on
            self.state = self.state or merged(self.frame.exits[left:]) or start
            if self.state == start and not apart:
                break
        self.state = self.state or before
        bound(self, node, first, body)

    # Definitions

    def _define(self, node: f.Define) -> None:
        made = self.made(node.function)
        if self.program.head(made.path, made.qualified).calls:
            for parameter in self.program.function(made).parameters:
                if isinstance(parameter.default, f.Call):  # a default is evaluated once, here
                    self.value(parameter.default)
        kind = self.program.head(made.path, made.qualified).kind
        if kind in ("setter", "deleter"):
            self.set_variable(self.program.objects.accessor(node.name, kind), single(made))
            return
        value: Value = single(made)
        for decorator in reversed(node.decorators):
            value = self.decorated(decorator, value)
        known = (made.path, made.qualified) in self.program.registered  # its decorators do not matter
        self.set_variable(node.name, single(made) if known else value)

    def decorated(self, decorator: f.Expression, value: Value) -> Value:
        """Return what a decorator returns for a function or class; its argument if that is unknown."""
        path = self.frame.path
        pending = self.program.pending_options[path]
        found = self.value(decorator)
        if pending:  # a command-line option for a parameter of this function
            self.unrepeatable()
            for atom in each(value):
                if isinstance(atom, Function):
                    self.program.set_options(atom, dict(pending))
            pending.clear()
        own = frozenset(a for a in found if isinstance(a, _DECORATORS) and self.decorates(a))
        if own:
            result = self.call_value(own, (value,), {}, nowhere(path))
            kept = frozenset(a for a in result if isinstance(a, (Function, Class, Object, Partial)))
            return kept or value
        return value

    def decorates(self, atom: Atom) -> bool:
        """Return whether it is known what a decorator does."""
        if isinstance(atom, Partial):
            return all(map(self.decorates, atom.function))
        return not isinstance(atom, Library) and not (isinstance(atom, Object) and isinstance(atom.kind, Library))

    def _define_class(self, node: f.DefineClass) -> None:
        klass = Class(self.frame.path, node.qualified)
        bases = tuple(join(map(self.spelled_out, self.value(base))) for base in node.bases)
        outer = self.frame
        variables = {} if outer.top else dict(outer.variables)
        self.frame = Frame(outer.path, outer.function, variables, outer.walk, body=True)
        before = set(self.frame.variables)
        self.block(node.body)
        attributes = {n: v for n, v in self.frame.variables.items() if n not in before or outer.variables[n] != v}
        made = factories(self, node)
        self.frame = outer
        named = [only(self.value(given.value)) for given in node.keywords if given.keyword == "metaclass"]
        metaclass = next((kind for kind in named if isinstance(kind, Class)), None)
        for name in node.fields:
            held = attributes.get(name, UNKNOWN)
            attributes[name] = frozenset(Option(name, a.value, None) if isinstance(a, Constant) else a for a in held)
        info = ClassInfo(bases, attributes, node.fields, made, metaclass)
        self.program.objects.define(klass, info)
        if node.bases:
            enumerate_members(self, klass, node, info)
        if "__set_name__" in self.program.objects.attending:
            name_attributes(self, klass)
        if node.bases:
            self._derived(klass, node)
        value: Value = single(klass)
        for decorator in reversed(node.decorators):
            value = self.decorated(decorator, value)
        self.set_variable(node.name, value)

    def _derived(self, klass: Class, node: f.DefineClass) -> None:
        """Call the `__init_subclass__` that a new class inherits."""
        objects = self.program.objects
        found = objects.find(objects.ancestry(klass)[1:], klass, "__init_subclass__")
        methods = frozenset(a for a in found or () if isinstance(a, Function))
        if methods and self.state is not None:
            _, keywords = self.arguments(tuple(a for a in node.keywords if a.keyword != "metaclass"))
            self.call_value(self.bound(methods, klass), (), keywords, nowhere(self.frame.path))

    def spelled_out(self, base: Atom) -> Value:
        """Return a base class, or those in a container that is unpacked."""
        if isinstance(base, Tuple):
            return join(base.items)
        if isinstance(base, Class) and (base.path, base.qualified) in self.program.own:
            return single(Library(self.program.own[base.path, base.qualified]))
        return self.held(base) if self.is_container(base) else single(base)

    def set_variable(self, name: str, value: Value) -> None:
        """Bind a name that a statement of this frame defines."""
        self.set_local(name, value)

    def _import(self, node: f.Import) -> None:
        importer = self.frame.path
        imports = self.program.imports
        if node.names is None:
            value = self.module_named(node.module, importer)
            root = node.module.partition(".")[0]
            bound = value if node.alias else self.module_named(root, importer) if root != node.module else value
            self.set_variable(node.alias or root, bound)
            return
        source: Value
        if node.level and self.canonical(node.module) != RUNTIME:
            path = imports.relative(importer, node.level, node.module)
            source = UNKNOWN if path is None else self.module_at(path)
        else:
            source = self.module_named(node.module, importer)
        for name, alias in node.names:
            if name == "*":
                self._import_all(source)
                continue
            found = [self.attribute(atom, name) for atom in each(source)]
            if node.level and not any(isinstance(a, Module) for a in source):
                inner = imports.relative(importer, node.level, f"{node.module}.{name}" if node.module else name)
                found = found if inner is None else [self.module_at(inner)]
            self.set_variable(alias, join(found))

    def _import_all(self, source: Value) -> None:
        for atom in each(source):
            if isinstance(atom, Module):
                self.unrepeatable()
                for name, value in list(self.variables_of(atom.path).items()):
                    if not name.startswith("_"):
                        self.set_variable(name, value)
            elif isinstance(atom, Library):
                self.program.environments[self.frame.path].stars.append(atom.name)


def _refuses(statements: f.Statements) -> bool:
    """Return whether a block ends the program with an error."""
    last = statements[-1] if statements else None
    return isinstance(last, f.Leave) and last.raises


_X = Statements
_HANDLERS = cast(
    "dict[type, Callable[[Statements, Any], None]]",
    {
        f.Do: _X._do, f.Bind: _X._bind, f.Leave: _X._leave, f.Branch: _X._choose, f.Fork: _X._fork, f.Loop: _X._loop,
        f.Scoped: _X.scoped, f.Define: _X._define, f.DefineClass: _X._define_class, f.Import: _X._import,
    },
)  # fmt: skip

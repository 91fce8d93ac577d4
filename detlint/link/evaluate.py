"""Expressions: what they may be, and what evaluating them does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from detlint import facts as f
from detlint.finding import Place
from detlint.link.comparisons import Comparisons
from detlint.link.keywords import method_of_keywords
from detlint.link.objects import UNNAMED
from detlint.link.run import UNGUARDED
from detlint.link.state import UNSURE, merged
from detlint.link.values import (
    EITHER,
    ENTROPY,
    FLAGS,
    NONE,
    SOME,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Function,
    Keywords,
    Library,
    Module,
    Namespace,
    Object,
    Option,
    Partial,
    Super,
    Suspended,
    Truth,
    Tuple,
    Value,
    Wrapped,
    both,
    bounded,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    truth,
)

_SEQUENCES = {"list": "builtins.list", "set": "builtins.set", "generator": "builtins.list", "dict": "builtins.dict"}


class Evaluator(Comparisons):
    """Evaluates expressions in the current frame, and does what their calls do."""

    def value(self, node: f.Expression) -> Value:
        """What an expression may be."""
        return UNKNOWN if node is None else _HANDLERS[type(node)](self, node)

    def _local(self, node: f.Local) -> Value:
        found = self.frame.variables.get(node.name)
        if found is None and self.frame.body:
            return self.module_variable(self.frame.path, node.name)
        return UNKNOWN if found is None else found

    def _global(self, node: f.Global) -> Value:
        return self.module_variable(self.frame.path, node.name)

    def _library(self, node: f.Library) -> Value:
        if node.name == "typing.TYPE_CHECKING":  # imports that a program never runs
            return constant(False)
        if self.program.shadows and node.name.partition(".")[0] in self.program.shadows:
            root, *parts = node.name.split(".")
            path = self.find(root, self.frame.path)
            if path is not None:
                value = self.module_at(path)
                for part in parts:
                    value = join(self.attribute(atom, part) for atom in each(value))
                return value
        return frozenset((Library(node.name),))

    def _literal(self, node: f.Literal) -> Value:
        return constant(node.value)

    def _closure(self, node: f.Closure) -> Value:
        return frozenset((self.made(node.function),))

    def made(self, qualified: str) -> Function:
        """A function of this file that is defined here, with the variables that it captures."""
        names = self.program.facts[self.frame.path].functions[qualified].captured
        captured = tuple((n, bounded(self.frame.variables[n])) for n in names if n in self.frame.variables)
        return Function(self.frame.path, qualified, captured)

    # Parts of values

    def _member(self, node: f.Member) -> Value:
        owner = self.program.objects.having(self.value(node.value), node.name)
        if len(owner) == 1:
            return self.attribute(next(iter(owner)), node.name, node.library)
        return join([self.attribute(atom, node.name, node.library) for atom in each(owner)])

    def attribute(self, atom: Atom, name: str, library: str = "") -> Value:
        """`atom.name`; `library` is its name where the file knows what kind of library's object has it."""
        found: Value | None = None
        if type(atom) is Object or type(atom) is Class:
            if name == "__dict__" and isinstance(atom, Object):
                return frozenset((Library("builtins.vars", atom),))
            found = self.program.objects.attribute(atom, name)
            found = self.looked_up(atom, name) if found is None else self.bound(found, atom)
        elif isinstance(atom, (Constant, Option)) and isinstance(settled(atom), str):
            found = frozenset((Partial(frozenset((Library(f"builtins.str.{name}"),)), (frozenset((atom,)),), ()),))
        elif isinstance(atom, Library):
            found = self.library_attribute(atom, name)
        elif isinstance(atom, Module):
            found = self.module_attribute(atom.path, name)
        elif isinstance(atom, Namespace):
            found = self.module_named(f"{atom.name}.{name}", atom.importer)
        elif isinstance(atom, Super):
            found = self.program.objects.find(self.program.objects.after(atom), atom.receiver, name)
            found = None if found is None else self.bound(found, atom.receiver)
        elif isinstance(atom, Keywords):
            found = method_of_keywords(self.frame, atom, name)
        elif isinstance(atom, Function) and name in ("command", "group"):
            found = frozenset((Library(f"click.Group.{name}", atom),))
        if found is None:
            return frozenset((Library(library),)) if library else UNKNOWN
        if name == "training" and isinstance(atom, Object) and self.state is not None:
            mode = self.state["layers"]
            return UNKNOWN if mode == UNSURE else constant(mode == "train")
        return found

    def looked_up(self, atom: Object | Class, name: str) -> Value | None:
        """An attribute that `__getattr__` of the class gives, or an option made from a field of a class."""
        if isinstance(atom, Object) and self.program.objects.stored(atom, UNNAMED) is not None:
            return self.field(name)
        found = self.program.objects.attribute(atom, "__getattr__") if isinstance(atom, Object) else None
        methods = frozenset(a for a in found or () if isinstance(a, Function))
        if not methods or name.startswith("__") or self.state is None:
            return None
        return self.call_value(self.bound(methods, atom), (constant(name),), {}, self.place_of(methods))

    def field(self, name: str) -> Value | None:
        """The default of the fields of this name, where all classes of the program that have one agree."""
        self.unrepeatable()
        found = {value for klass, value in self.program.objects.fields(name) if any(self.has_run(klass.path))}
        return found.pop() if len(found) == 1 else None

    def place_of(self, functions: Value) -> Place:
        """Where the first of some functions stands."""
        return next(self.program.function(a).place for a in each(functions) if isinstance(a, Function))

    def library_attribute(self, atom: Library, name: str) -> Value:
        """`atom.name` for something of a library."""
        if atom.name == "absl.flags.FLAGS":
            stored = self.program.objects.stored(FLAGS, name)
            if stored is not None:
                return stored
        receiver = atom.receiver if atom.name == "builtins.vars" else None
        return frozenset((Library(self.canonical(f"{atom.name}.{name}"), receiver),))

    def bound(self, value: Value, owner: Object | Class) -> Value:
        """Methods of a class, bound to an object or the class; properties are evaluated."""
        if Function not in map(type, value):
            return value
        found: list[Value] = []
        for atom in each(value):
            if isinstance(atom, Function) and atom.receiver is None:
                kind = self.program.function(atom).kind
                klass = owner.kind if isinstance(owner, Object) else owner
                if kind == "property" and isinstance(owner, Object):
                    method = Function(atom.path, atom.qualified, atom.captured, owner)
                    found.append(self.invoke(method, (), {}, self.program.function(atom).place))
                    continue
                if kind == "class" and isinstance(klass, Class):
                    atom = Function(atom.path, atom.qualified, atom.captured, klass)
                elif kind in ("method", "function") and isinstance(owner, Object):
                    atom = Function(atom.path, atom.qualified, atom.captured, owner)
            found.append(frozenset((atom,)))
        return found[0] if len(found) == 1 else join(found)

    def _item(self, node: f.Item) -> Value:
        value, key = self.value(node.value), self.value(node.key)
        if len(value) == 1:
            return self.item_of(next(iter(value)), key)
        return join(self.item_of(atom, key) for atom in each(value - NONE))

    def item_of(self, atom: Atom, key: Value) -> Value:
        """`atom[key]`."""
        known = only(key)
        key_value = settled(known) if isinstance(known, (Constant, Option)) else None
        objects = self.program.objects
        if isinstance(atom, Tuple):
            if isinstance(key_value, int) and -len(atom.items) <= key_value < len(atom.items):
                return atom.items[key_value]
            return join(atom.items)
        if isinstance(atom, Keywords):
            return next((value for name, value in atom.items if name == key_value), UNKNOWN)
        if isinstance(atom, Wrapped):
            return atom.items
        if isinstance(atom, Class) or (isinstance(atom, Library) and atom.name.rpartition(".")[2][:1].isupper()):
            return frozenset((atom,))  # a generic type with its parameters
        if isinstance(atom, Object):
            if isinstance(atom.kind, Class):
                method = objects.attribute(atom, "__getitem__")
                if method is not None and any(isinstance(a, Function) for a in method):
                    return self.call_value(self.bound(method, atom), (key,), {}, self.place_of(method))
            return self.held(atom, f"[{key_value!r}]" if key_value is not None else None)
        return UNKNOWN

    def _display(self, node: f.Display) -> Value:
        items = tuple(self.value(element) for element in node.elements)
        if node.kind == "tuple":
            return frozenset((Tuple(items),))
        made = self.container(node.kind, self.frame.path, node.order)
        for index, item in enumerate(items):
            self.program.objects.store(made, f"[{index}]", item)
        return frozenset((made,))

    def _table(self, node: f.Table) -> Value:
        made = self.container("dict", self.frame.path, node.order)
        for key, entry in node.entries:
            name, value = self.value(key), self.value(entry)
            if key is None:
                for atom in each(value):
                    self.spread(atom, made)
                continue
            known = next(iter(name)) if len(name) == 1 else None
            slot = f"[{known.value!r}]" if isinstance(known, Constant) else "[]"
            self.program.objects.store(made, slot, value)
        return frozenset((made,))

    def spread(self, atom: Atom, made: Object) -> None:
        """Take over what a dict holds into another; of one that is not known, keys that are not."""
        held = {f"[{name!r}]": value for name, value in atom.items} if isinstance(atom, Keywords) else None
        if held is None and isinstance(atom, Object):
            held = self.program.objects.slots(atom)
        for slot, value in {"[]": UNKNOWN}.items() if held is None else held.items():
            self.program.objects.store(made, slot, value)

    def _each(self, node: f.Each) -> Value:
        for target, iterator in node.clauses:
            self.assign(target, self.iterate(self.value(iterator)))
        items = self.value(node.element)
        made = Object(Library(_SEQUENCES[node.kind]), self.frame.path, node.order)
        self.program.objects.store(made, "[]", items)
        return frozenset((made,))

    # Operations

    def _conditional(self, node: f.Conditional) -> Value:
        answer = self.test(node.test)
        values: list[Value] = []
        absent, present = _asked_for_none(node)
        arms: list[Callable[[], None]] = [
            lambda: values.append(not_none(self.value(node.body), node.body == present)),
            lambda: values.append(not_none(self.value(node.orelse), node.orelse == absent)),
        ]
        self.branch(answer, *arms)
        return join(values)

    def _junction(self, node: f.Junction) -> Value:
        if node.operator == "not":
            return self.outcome(self.test(node))
        found: list[Value] = []

        def evaluate(operand: f.Expression) -> Truth:
            found.append(self.value(operand))
            return truth(found[-1])

        self.short_circuit(node, evaluate)
        if node.operator == "and":
            return join(found)
        used = found[: next((index for index, v in enumerate(found) if truth(v).expected), len(found) - 1) + 1]
        kept = [
            frozenset(a for a in v if not (isinstance(a, (Constant, Option)) and not settled(a))) for v in used[:-1]
        ]
        return join([*(v for v in kept if v), used[-1]])

    def short_circuit(self, node: f.Junction, evaluate: Callable[[f.Expression], Truth]) -> Truth:
        """Evaluate operands up to the one that decides; those after one that may decide may be left out."""
        answer = evaluate(node.operands[0])
        for operand in node.operands[1:]:
            decided = answer.may_hold if node.operator == "and" else answer.may_fail
            if not decided:
                return answer
            start, unsure = self.state, answer.may_hold is answer.may_fail
            chosen = answer.default is not None and bool(answer.option)  # by an option
            default = chosen and answer.default is (node.operator == "and")
            with self.guarded(answer.option if chosen else "") if unsure and not default else UNGUARDED:
                second = evaluate(operand)
            if unsure and not default:
                self.state = start if chosen else merged(s for s in (start, self.state) if s is not None)
            answer = both(answer, second) if node.operator == "and" else ~both(~answer, ~second)
        return answer

    def _compare(self, node: f.Compare) -> Value:
        return self.outcome(self.test(node))

    def outcome(self, answer: Truth) -> Value:
        """The value of a test."""
        if answer.option and answer.default is not None:
            return frozenset((Option(answer.option, answer.default, None),))
        return constant(answer.may_hold) if answer.may_hold is not answer.may_fail else UNKNOWN

    def _computed(self, node: f.Computed) -> Value:
        values = [self.value(operand) for operand in node.operands]
        parts = [a for value in values for a in value if type(a) is Tuple or type(a) is Object]
        containers = frozenset([a for a in parts if type(a) is Tuple or self.is_container(a)]) if parts else None
        return containers or (ENTROPY if any(value >= ENTROPY for value in values) else SOME)

    def _joined(self, node: f.Joined) -> Value:
        parts = [exact(self.value(operand)) for operand in node.operands]
        return constant("".join(map(str, parts))) if all(isinstance(p, (str, int)) for p in parts) else SOME

    def _named(self, node: f.Named) -> Value:
        value = self.value(node.value)
        self.assign(node.target, value)
        return value

    def _yield(self, node: f.Yield) -> Value:
        value = self.value(node.value)
        if any(isinstance(atom, Suspended) for atom in value):  # `yield from`
            value = self.iterate(value)
        if self.frame.on_yield is not None:
            self.frame.on_yield(value)
        else:
            self.frame.yielded.append(value)
        return UNKNOWN

    def called(self, node: f.Call) -> Value:
        """Evaluate a call."""
        raise NotImplementedError

    # Tests

    def test(self, node: f.Expression) -> Truth:
        """How a test may come out."""
        if isinstance(node, f.Junction):
            return ~self.test(node.operands[0]) if node.operator == "not" else self.short_circuit(node, self.test)
        if isinstance(node, f.Compare):
            return self.comparison(node)
        return EITHER if node is None else truth(self.value(node))

    def branch(self, answer: Truth, body: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Run the arm or arms that a test may choose, and go on in the state that they leave."""
        if self.state is None:
            return
        if answer.may_hold is not answer.may_fail:
            (body if answer.may_hold else orelse)()
            return
        start, variables = self.state, self.frame.variables
        ends = []
        for arm, expected in ((body, True), (orelse, False)):
            self.state = start
            self.set_variables(variables.copy())
            guarded = answer.default is not expected
            left = self.frame.left
            if guarded and answer.default is not None:
                self.frame.left = left or answer.option
            option = "" if answer.default is None else answer.option  # what is usual is not known
            started = len(self.spawned)
            with self.guarded(option) if guarded else UNGUARDED:
                arm()
            self.frame.left = left
            ends.append((self.state, self.frame.variables, expected is answer.default, len(self.spawned) > started))
        if any(state is None and usual for state, _, usual, _ in ends) and answer.option:
            self.frame.left = self.frame.left or answer.option
        alive = [end for end in ends if end[0] is not None]
        here = [end for end in alive if answer.default is None and not end[3]]  # not where others go on
        known = [end for end in alive if end[2]] or here or alive
        self.set_variables(self.merge_variables([end[1] for end in known] or [variables]))
        self.state = merged(end[0] for end in known)


def _asked_for_none(node: f.Conditional) -> tuple[f.Expression, f.Expression]:
    """What `node` asks whether it is None, and what it asks whether it is not."""
    test = node.test
    if not isinstance(test, f.Compare) or test.right != f.Literal(None):
        return None, None
    return test.left if test.operator == "is" else None, test.left if test.operator == "is not" else None


def not_none(value: Value, known: bool = True) -> Value:
    """A value where it is `known` not to be None."""
    if not known:
        return value
    kept = frozenset(a for a in value if not (isinstance(a, (Constant, Option)) and settled(a) is None))
    return kept if kept == value else kept | SOME


_E = Evaluator
_HANDLERS = cast(
    "dict[type, Callable[[Evaluator, Any], Value]]",
    {
        f.Local: _E._local, f.Global: _E._global, f.Library: _E._library, f.Literal: _E._literal, f.Member: _E._member,
        f.Item: _E._item, f.Call: lambda self, node: self.called(node), f.Display: _E._display, f.Table: _E._table,
        f.Conditional: _E._conditional, f.Junction: _E._junction, f.Compare: _E._compare, f.Computed: _E._computed,
        f.Each: _E._each, f.Joined: _E._joined, f.Named: _E._named, f.Closure: _E._closure, f.Yield: _E._yield,
    },
)  # fmt: skip

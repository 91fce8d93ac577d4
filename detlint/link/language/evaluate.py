"""Expressions: their abstract values, and the effects of their evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import add, sub
from typing import Any, cast

from detlint.facts import facts as f
from detlint.link.language.arms import leave, pair
from detlint.link.language.comprehensions import comprehension
from detlint.link.language.items import Items
from detlint.link.language.passes import undecided
from detlint.link.language.protocols import computed, has_own, shown, told
from detlint.link.language.reading import beside, joined
from detlint.link.state.entropy import chosen, instead, is_entropy, mixed, unless
from detlint.link.state.mappings import lay, lay_all, united
from detlint.link.state.otherwise import asked_otherwise, captured, remember, where_set
from detlint.link.state.run import UNGUARDED
from detlint.link.state.truth import EITHER, Truth, both, truth
from detlint.link.state.values import (
    NONE,
    SEVERAL,
    SOME,
    UNKNOWN,
    Atom,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Suspended,
    Tuple,
    Value,
    applied,
    constant,
    each,
    exact,
    join,
    only,
    settled,
    single,
)
from detlint.programs.events import State, merged

_CHECKING = "typing.TYPE_CHECKING"
_CONVERSIONS = {"builtins.int": int, "builtins.float": float, "builtins.bool": bool, "builtins.str": str}
_OPERATIONS: Mapping[str, Callable[..., object]] = {"+": add, "-": sub, "%": str.__mod__, **_CONVERSIONS}
_SUMS = ("+", "-")
_REDUCE = ("-", "&", "^")  # of sets, possibly with an empty result


class Evaluator(Items):
    """The part of the interpreter that evaluates expressions in the current frame, with the effects of their calls."""

    def value(self, node: f.Expression) -> Value:
        """Evaluate an expression; return its abstract value."""
        return _HANDLERS[type(node)](self, node)

    def _nothing(self, _: None) -> Value:
        return UNKNOWN

    def _local(self, node: f.Local) -> Value:
        frame = self.frame
        try:
            return frame.variables[node.name]
        except KeyError:
            return self.module_variable(frame.path, node.name) if frame.body else UNKNOWN

    def _global(self, node: f.Global) -> Value:
        return self.module_variable(self.frame.path, node.name)

    def _library(self, node: f.Library) -> Value:
        if self.program.shadows and node.name.partition(".")[0] in self.program.shadows:
            return self._shadowed(node.name)
        return _of_library(node.name)

    def _shadowed(self, name: str) -> Value:
        """Return something of the standard library, or of a module of the project that has its name."""
        root, *parts = name.split(".")
        path = self.find(root, self.frame.path) if name != _CHECKING else None
        if path is None:
            return _of_library(name)
        value = self.module_at(path)
        for part in parts:
            value = join(self.attribute(atom, part) for atom in each(value))
        return value

    def _literal(self, node: f.Literal) -> Value:
        return constant(node.value)

    def _closure(self, node: f.Closure) -> Value:
        return single(self.made(node.function))

    def made(self, qualified: str) -> Function:
        """Return a function that is defined at this point of the file, with the variables that it captures."""
        names = self.program.head(self.frame.path, qualified).captured
        for name in names:
            self.frame.watched.setdefault(name, set()).add(qualified)
        return Function(self.frame.path, qualified, tuple(captured(self.frame, names)))

    # Parts of values

    def _member(self, node: f.Member) -> Value:
        owner = self.program.objects.having(self.value(node.value), node.name)
        if len(owner) == 1:
            return self.attribute(next(iter(owner)), node.name, node.library)
        return join([self.attribute(atom, node.name, node.library) for atom in each(owner)])

    def _item(self, node: f.Item) -> Value:
        value, key = self.value(node.value), self.value(node.key)
        if len(value) == 1:
            return self.item_of(next(iter(value)), key)
        return join(self.item_of(atom, key) for atom in each(value - NONE))

    def _display(self, node: f.Display) -> Value:
        items = tuple(self.value(element) for element in node.elements)
        if node.kind == "tuple":
            return single(Tuple(items))
        made = self.container(node.kind, self.frame.path, node.order)
        for index, item in enumerate(items):
            self.program.objects.store(made, f"[{index}]", item)
        return single(made)

    def _table(self, node: f.Table) -> Value:
        held, objects = dict[str, Value](), self.program.objects
        for key, entry in node.entries:
            name, value = only(self.value(key)), self.value(entry)
            if key is not None:
                lay(held, f"[{name.value!r}]" if isinstance(name, Constant) else "[]", value, True)
            else:
                lay_all(objects, held, value)
        made = self.container("dict", self.frame.path, node.order)
        for slot, item in held.items():
            objects.store(made, slot, item)
        self.frame.dicts |= {made}
        return single(made)

    def _each(self, node: f.Each) -> Value:
        return comprehension(self, node)

    # Operations

    def _conditional(self, node: f.Conditional) -> Value:
        answer = self.test(node.test)
        values: list[Value] = []
        absent, present = _asked_for_none(node)
        self.branch(
            answer,
            lambda: values.append(not_none(self.value(node.body), node.body == present)),
            lambda: values.append(not_none(self.value(node.orelse), node.orelse == absent)),
        )
        if len(values) == 2 and answer.default is not None and answer.option:
            usual, other = values if answer.default else values[::-1]
            atom = only(usual)
            if isinstance(atom, Constant):
                return _chosen(answer, atom.value)
            if is_entropy(usual):
                return instead(usual, other, answer.option)
        return join(values)

    def _junction(self, node: f.Junction) -> Value:
        if node.operator == "not":
            return self.outcome(self.test(node))
        found: list[Value] = []

        def evaluate(operand: f.Expression) -> Truth:
            found.append(self.value(operand))
            return undecided(self, told(self, found[-1]))

        answer = self.short_circuit(node, evaluate)
        unsure = answer.may_hold and answer.may_fail and answer.default is None
        if node.operator == "and":
            return _without_outcomes(join(found)) if unsure else join(found)
        used = found[: next((index for index, v in enumerate(found) if truth(v).expected), len(found) - 1) + 1]
        kept = [
            frozenset(a for a in v if not (isinstance(a, (Constant, Option)) and not settled(a))) for v in used[:-1]
        ]
        options = [a.name for v in used[:-1] for a in each(v) if isinstance(a, Option) and not a.default]
        value = join([*(v for v in kept if v), unless(used[-1], options[0]) if options else used[-1]])
        return _without_outcomes(value) if unsure else value

    def short_circuit(self, node: f.Junction, evaluate: Callable[[f.Expression], Truth]) -> Truth:
        """Evaluate operands up to the one that decides; those after one that may decide may be skipped."""
        answer = evaluate(node.operands[0])
        for operand in node.operands[1:]:
            decided = answer.may_hold if node.operator == "and" else answer.may_fail
            if not decided:
                return answer
            start, unsure = self.state, answer.may_hold is answer.may_fail
            asked = answer.default is not None and bool(answer.option)  # the test asks for an option
            default = asked and answer.default is (node.operator == "and")
            option = answer.option if asked and not default else ""
            chosen, default = asked and not answer.hidden, default and not answer.hidden
            with self.guarded(option) if unsure and not default else UNGUARDED:
                second = evaluate(operand)
            if unsure and not default:
                self.state = start if chosen else merged(s for s in (start, self.state) if s is not None)
            answer = both(answer, second) if node.operator == "and" else ~both(~answer, ~second)
        return answer

    def _compare(self, node: f.Compare) -> Value:
        return self.outcome(self.test(node))

    def outcome(self, answer: Truth) -> Value:
        """Return the value of a test."""
        if answer.option and answer.default is not None:
            return _chosen(answer, answer.default)
        return constant(answer.may_hold) if answer.may_hold is not answer.may_fail else UNKNOWN

    def _computed(self, node: f.Computed) -> Value:
        values = [self.value(operand) for operand in node.operands]
        if node.operation == f.BESIDE:
            return beside(self.frame.path, str(exact(values[0])))
        if node.operation == f.MADE:
            return mixed(values[1:], values[0])
        if node.operation == f.COUNTED:
            return join(SOME if _is_number(only(value)) else value for value in values)
        if node.operation and has_own(values) and (found := computed(self, node, values)) is not None:
            return found
        if node.operation in ("|", "|=") and (table := united(self, values, node.operation == "|=")) is not None:
            return table
        if node.operation == "/" and (path := self.folded(joined, values)) is not None:
            return path
        known = self.folded(_OPERATIONS[node.operation], values) if node.operation in _OPERATIONS else None
        if known is not None and not (node.operation in _SUMS and isinstance(exact(known), (int, float))):
            return known  # a number that is counted is not: contexts differ only by its sign
        if node.operation == "builtins.len" and (length := _length(values)) is not None:
            return length
        if node.operation in f.ASKING:
            return mixed(values, SOME)
        atoms = [atom for value in values for atom in value]
        containers = [a for a in atoms if type(a) is Tuple or (type(a) is Object and self.is_container(a))]
        if containers and node.operation.removesuffix("=") in _REDUCE:
            return frozenset(containers) | UNKNOWN
        return frozenset(containers) or mixed(values, SOME)

    def _joined(self, node: f.Joined) -> Value:
        return self.folded(_joined, [shown(self, self.value(operand)) for operand in node.operands]) or SOME

    def folded(self, function: Callable[..., object], values: list[Value]) -> Value | None:
        """Apply a function to known values; return None if one is unknown, and in a recursion, which might not end."""
        found, name = applied(function, values), (self.frame.path, self.frame.function)
        if found is not None and self.active.count(name) > 1:
            self.reach(name)
            return None
        return found

    def _named(self, node: f.Named) -> Value:
        value = self.value(node.value)
        self.assign(node.target, value)
        return value

    def _yield(self, node: f.Yield) -> Value:
        value = self.value(node.value)
        if any(isinstance(atom, Suspended) for atom in value):  # `yield from`
            value = self.iterate(value)
        (self.frame.on_yield or self.frame.yielded.append)(value)
        return UNKNOWN

    def called(self, node: f.Call) -> Value:
        """Evaluate a call."""
        raise NotImplementedError

    # Tests

    def test(self, node: f.Expression) -> Truth:
        """Evaluate a test; return its outcome."""
        if isinstance(node, f.Junction):
            return ~self.test(node.operands[0]) if node.operator == "not" else self.short_circuit(node, self.test)
        if node is None:
            return EITHER
        found = self.comparison(node) if isinstance(node, f.Compare) else told(self, self.tested(node))
        answer, kept = undecided(self, found), self.frame.otherwise
        return asked_otherwise(kept, node, self.frame.variables, answer) if kept else answer

    def branch(self, answer: Truth, body: Callable[[], None], orelse: Callable[[], None] | None) -> None:
        """Run the arms that a test may choose, and go on in the merged state that they leave; None is an empty arm."""
        if self.state is None:
            return
        if answer.may_hold is not answer.may_fail:
            arm = body if answer.may_hold else orelse
            if arm is not None:
                arm()
            return
        start, variables, before = self.state, self.frame.variables, len(self.trace)
        default = None if answer.hidden else answer.default
        ends: list[tuple[State | None, dict[str, Value], bool, bool]] = []  # is usual, starts processes
        dead: list[tuple[int, int, int, bool]] = []  # arms that leave
        for arm, expected in ((body, True), (orelse, False)):
            if arm is None:
                ends.append((start, variables, expected is default, False))
                continue
            self.state = start
            guarded = default is not expected
            chooses = guarded and default is not None and answer.option in self.frame.otherwise
            self.set_variables(
                where_set(self.frame.otherwise, answer.option, variables) if chooses else variables.copy()
            )
            left, usual = self.frame.left, self.frame.usual
            if guarded and default is not None:
                self.frame.left = left or answer.option
            self.frame.usual = answer.option if expected is default else usual
            option = "" if answer.default in (None, expected) else answer.option  # the usual arm is unknown
            started, first, reach = len(self.spawned), len(self.trace), self.frame.reach
            self.frame.reach = f.PROGRAM
            with self.guarded(option) if guarded else UNGUARDED:
                arm()
            if self.state is None:
                dead.append((first, len(self.trace), self.frame.reach, not guarded))
            self.frame.left, self.frame.usual, self.frame.reach = left, usual, min(reach, self.frame.reach)
            ends.append((self.state, self.frame.variables, expected is default, len(self.spawned) > started))
        if default is None:
            pair(self.trace, before)
        if len(dead) == 1:
            leave(self.trace, *dead[0])
        if any(state is None and usual for state, _, usual, _ in ends) and answer.option:
            self.frame.left = self.frame.left or answer.option
        alive = [end for end in ends if end[0] is not None]
        here = [end for end in alive if default is None and not end[3]]  # not where started processes go on
        known = [end for end in alive if end[2]] or here or alive
        after = self.merge_variables([end[1] for end in known] or [variables])
        if answer.hidden and len(known) > 1:
            after = _usual(*(end[1] for end in (known if answer.default else reversed(known))))
        elif answer.option and default is not None:
            other = next(end[1] for end in ends if not end[2])
            after = chosen(after, other, answer.option)
            if other is not variables:
                remember(self.frame.otherwise, answer.option, after, other)
        self.set_variables(after)
        self.state = merged(end[0] for end in known if end[0] is not None)


def _without_outcomes(value: Value) -> Value:
    """Return a value with the outcomes of option tests made unknown, as these do not decide the whole test."""
    kept = frozenset(a for a in value if not (isinstance(a, Option) and isinstance(a.default, bool)))
    return value if len(kept) == len(value) else kept | UNKNOWN


def _length(values: list[Value]) -> Value | None:
    """Return the length of a known text or tuple; None if it is unknown, as with `SEVERAL` or more items."""
    atom = only(values[0]) if len(values) == 1 else None
    if isinstance(atom, Constant) and isinstance(atom.value, str):
        return constant(len(atom.value))
    return constant(len(atom.items)) if isinstance(atom, Tuple) and len(atom.items) < SEVERAL else None


def _is_number(atom: Atom | None) -> bool:
    return isinstance(atom, Constant) and isinstance(atom.value, (int, float)) and not isinstance(atom.value, bool)


def _usual(variables: dict[str, Value], others: dict[str, Value]) -> dict[str, Value]:
    """Return the variables after the usual arm, possibly unknown where the other arm leaves another value."""
    return others | {name: v if others.get(name) == v else v | UNKNOWN for name, v in variables.items()}


def _chosen(answer: Truth, default: object) -> Value:
    """Return a value that is `default` unless a test has another outcome."""
    made = single(Option(answer.option, default, None))
    return made | UNKNOWN if answer.hidden else made


def _joined(*parts: object) -> str:
    return "".join(map(str, parts))


@cache
def _of_library(name: str) -> Value:
    """Return something of a library by its name; `TYPE_CHECKING` is False, as imports for types alone never run."""
    return constant(False) if name == _CHECKING else single(Library(name))


def _asked_for_none(node: f.Conditional) -> tuple[f.Expression, f.Expression]:
    """Return what `node` tests for being None, and what it tests for not being None."""
    test = node.test
    if not isinstance(test, f.Compare) or test.right != f.Literal(None):
        return None, None
    return test.left if test.operator == "is" else None, test.left if test.operator == "is not" else None


def not_none(value: Value, known: bool = True) -> Value:
    """Return a value without None if it is `known` not to be None."""
    if not known:
        return value
    kept = frozenset(a for a in value if not (isinstance(a, (Constant, Option)) and settled(a) is None))
    return kept if kept == value else kept | SOME


_E = Evaluator
_HANDLERS = cast(
    "dict[type, Callable[[Evaluator, Any], Value]]",
    {
        type(None): _E._nothing,
        f.Local: _E._local, f.Global: _E._global, f.Library: _E._library, f.Literal: _E._literal, f.Member: _E._member,
        f.Item: _E._item, f.Call: lambda self, node: self.called(node), f.Display: _E._display, f.Table: _E._table,
        f.Conditional: _E._conditional, f.Junction: _E._junction, f.Compare: _E._compare, f.Computed: _E._computed,
        f.Each: _E._each, f.Joined: _E._joined, f.Named: _E._named, f.Closure: _E._closure, f.Yield: _E._yield,
    },
)  # fmt: skip

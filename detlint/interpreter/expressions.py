"""Expressions: their values, and what evaluating them does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain, product
from typing import Any

from detlint.domain import taints as t
from detlint.domain.atoms import Choice, Constant, DictOf, FunctionRef, Instance, LibraryRef, TupleOf
from detlint.domain.dicts import laid, put_anywhere, put_under
from detlint.domain.effects import Yield
from detlint.domain.outcomes import Outcome, both, told, truth
from detlint.domain.slots import ANY_KEY, ITEMS, Argument, Key
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.interpreter import (
    assignments,
    branches,
    calls,
    closures,
    comprehensions,
    containers,
    contexts,
    items,
    modules,
    operators,
    paths,
    protocols,
    rows,
    unsettled,
)  # fmt: skip
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_MOST_WRITTEN = 400  # items of a display that are kept one by one


def _constant(frame: Frame, expression: ir.Constant) -> Value:
    return value_of(expression)


def _local(frame: Frame, expression: ir.Local) -> Value:
    found = frame.get(expression.name)
    if found is None and frame.is_top:  # what the body of a class has not bound yet
        return modules.global_variable(frame, expression.name)
    return NOTHING if found is None else found


def _captured(frame: Frame, expression: ir.Captured) -> Value:
    return closures.read(frame, expression)


def _global(frame: Frame, expression: ir.Global) -> Value:
    return modules.global_variable(frame, expression.name)


def _attribute(frame: Frame, expression: ir.Attribute) -> Value:
    base = frame.evaluate(expression.value)
    frame.risky = True
    if frame.cells:
        path = assignments.path_of(frame, expression)
        found = frame.get(path) if isinstance(path, tuple) else None
        if found is not None:
            return found
    return frame.tables.attribute(frame, base, expression.name)


def _slice(frame: Frame, expression: ir.Slice) -> Value:
    for part in (expression.lower, expression.upper, expression.step):
        if part is not None:
            frame.evaluate(part)
    return SOMETHING


def _subscript(frame: Frame, expression: ir.Subscript) -> Value:
    base = frame.evaluate(expression.value)
    frame.risky = True
    key = frame.evaluate(expression.key)
    path = assignments.path_of(frame, expression.value)
    if path is not None and not isinstance(expression.key, ir.Slice):
        return items.item(frame, base, key, path=path)
    return items.item(frame, base, key, part=isinstance(expression.key, ir.Slice))


def _starred(frame: Frame, expression: ir.Starred) -> Value:
    return items.iterate(frame, frame.evaluate(expression.value))


def _display(frame: Frame, expression: ir.Display) -> Value:
    values = [frame.evaluate(element) for element in expression.elements]
    starred = any(isinstance(element, ir.Starred) for element in expression.elements)
    if expression.kind == "tuple" and not starred and len(values) <= _MOST_WRITTEN:
        return frame.solver.lattice.bounded(value_of(TupleOf(tuple(values))))
    kind = LibraryRef(f"builtins.{expression.kind}")
    site = contexts.site(frame, kind, expression.node, empty=not values)
    taints = certain = t.NONE
    many = len(values) > frame.solver.limits.callables  # what any of them is, is too much to keep: the text tells so
    for index, (element, value) in enumerate(zip(expression.elements, values, strict=True)):
        item = value.with_taints(t.kept(value.taints), t.kept(value.certain))
        plain = not starred and index < _MOST_WRITTEN
        slot = Key(Constant("int", str(index))) if plain else ANY_KEY
        frame.fill((site, slot), UNKNOWN if many and not plain else item)
        frame.fill((site, ITEMS), UNKNOWN if many else item)
        if isinstance(element, ir.Starred) and expression.kind != "set":
            taints, certain = taints | t.gathered(value.taints), certain | t.gathered(value.certain)
    if expression.kind == "list" and not values:
        unsettled.begin(frame, site, value_of(TupleOf(())))
    return Value(frozenset((Instance(site),)), taints, certain)


def _mapping(frame: Frame, expression: ir.Mapping) -> Value:
    site = contexts.site(frame, containers.DICT, expression.node, empty=not expression.entries)
    many = len(expression.entries) > _MOST_WRITTEN
    held = DictOf()
    for key, element in expression.entries:
        if key is None:
            more = containers.mapping(frame, frame.evaluate(element), assignments.path_of(frame, element))
            if more is None:
                return NOTHING
            held = laid(held, more, frame.join)
            continue
        keys = containers.keys(frame, frame.evaluate(key))
        value = frame.evaluate(element)
        if not keys:
            return NOTHING
        held = put_anywhere(held, value, frame.join) if many else put_under(held, keys, value, frame.join)
    if any(key is None for key, _ in expression.entries):
        held = laid(held, DictOf(), frame.join)
    return containers.made(frame, Instance(site), value_of(held))


def _operation(frame: Frame, expression: ir.Operation) -> Value:
    if expression.operator == "await":
        return frame.evaluate(expression.operands[0])
    if expression.operator in ("and", "or"):
        return _either(frame, expression)
    operands = [frame.evaluate(operand) for operand in expression.operands]
    counts = frame.solver.index.counts(expression.operands, partial(is_settled, frame))
    if expression.operator == "|":
        return united(frame, expression, operands, counts=counts)
    return operated(frame, expression.operator, operands, expression.node, counts=counts)


def is_settled(frame: Frame, variable: ir.Expression) -> bool:
    """Whether a variable is given values here alone, in a row: what is made of itself does not go on for ever."""
    if isinstance(variable, ir.Local):
        return not frame.loops and variable.name not in frame.function.shared
    own = isinstance(variable, ir.Global) and frame.is_top and not frame.loops
    return own and variable.name not in frame.solver.index.rebound(frame.file)  # type: ignore[union-attr]


def united(frame: Frame, expression: ir.Operation, operands: list[Value], *, counts: bool) -> Value:
    """`left | right`, of dicts another one."""
    plain = [o.of(a for a in frame.each(o) if not containers.is_mapping(frame, a)) for o in operands]
    if all(len(rest.atoms) == len(frame.each(operand)) for rest, operand in zip(plain, operands, strict=True)):
        return operated(frame, "|", operands, expression.node, counts=counts)
    found = operated(frame, "|", plain, expression.node, counts=counts)
    held = DictOf()
    for part, operand in zip(expression.operands, operands, strict=True):
        more = containers.mapping(frame, operand, assignments.path_of(frame, part))
        if more is None:
            return NOTHING
        held = laid(held, more, frame.join)
    site = contexts.site(frame, containers.DICT, expression.node)
    return frame.join(found, containers.made(frame, Instance(site), value_of(held)))


def operated(frame: Frame, operator: str, operands: list[Value], node: int, *, counts: bool) -> Value:
    """What an operator makes of operands: by a method of theirs, or as it does of what is no object of the project."""
    found, rest = protocols.operated(frame, operator, operands, node)
    beneath, rest = paths.beneath(frame, operator, rest)
    if operator == "+" and len(rest) == 2 and all(operand.atoms for operand in rest):
        listed, alone = _in_a_row(frame, rest, node)
        found = frame.join(found, listed) if listed.atoms else found
        if alone:
            return frame.join(found, beneath)
    return frame.join(frame.join(found, beneath), operators.computed(frame, operator, rest, counts=counts))


def _in_a_row(frame: Frame, operands: list[Value], node: int) -> tuple[Value, bool]:
    """The list of the items of two lists that are written down, in a row, and whether it can be nothing else."""
    made = Instance(contexts.site(frame, containers.LIST, node))
    atoms = [atom for operand in operands for atom in frame.each(operand)]
    if made in atoms or not all(isinstance(a, Instance) and a.site.kind == containers.LIST for a in atoms):
        return NOTHING, False  # nor of one that is made longer each time
    found = NOTHING
    ways = [rows.each_way(frame, operand) for operand in operands]
    for listed in product(*([row for row in way if row] for way in ways)):
        rows.keep(frame, made, tuple(chain(*listed)))
        found = value_of(made)
    taints, certain = (frozenset().union(*(getattr(o, name) for o in operands)) for name in ("taints", "certain"))
    return found.with_taints(taints, certain), all(way and () not in way for way in ways)


def _either(frame: Frame, expression: ir.Operation) -> Value:
    """`a and b`, `a or b`: one of the operands that may decide."""
    wanted = expression.operator == "or"
    outcomes: list[Outcome] = []
    values: list[Value] = []
    for index, operand in enumerate(expression.operands):
        last = index == len(expression.operands) - 1

        def run(operand: ir.Expression = operand, last: bool = last) -> tuple[Value, Outcome]:
            value = frame.evaluate(operand)
            return value, truth(frame.resolve(value)) if last else operators.truth_of(frame, value, expression.node)

        inner, (value, outcome) = frame.within(run)
        frame.branch(both(outcomes), inner, ())
        values.append(value)
        if not (outcome.may_fail if wanted else outcome.may_hold):
            break
        outcomes.append(outcome.inverted() if wanted else outcome)
    found = values[-1]
    for value in reversed(values[:-1]):
        found = _first(frame, value, found, wanted)
    return found


def _first(frame: Frame, value: Value, rest: Value, wanted: bool) -> Value:
    """A value where it is true, or false, as is `wanted`; where it is not, what the rest gives."""
    resolved = frame.resolve(value)
    outcomes = [operators.truth_of_atom(frame, atom) for atom in resolved.atoms]
    if not any(_may(outcome, not wanted) for outcome in outcomes):
        return value
    found = NOTHING
    for atom in frame.each(resolved):
        outcome = operators.truth_of_atom(frame, atom)
        if isinstance(atom, Choice):
            default = _first(frame, atom.default, rest, wanted)
            taken = wanted and atom.other == SOMETHING  # nobody sets an option for what comes instead of it
            other = atom.other if taken else _first(frame, atom.other, rest, wanted)
            found = frame.join(found, frame.chosen(Outcome(True, True, atom.option), other, default))
            continue
        if _may(outcome, wanted):
            found = frame.join(found, resolved.of((atom,)))
        if _may(outcome, not wanted):
            found = frame.join(found, rest)
    return found


def _may(outcome: Outcome, holds: bool) -> bool:
    return outcome.may_hold if holds else outcome.may_fail


def _compare(frame: Frame, expression: ir.Compare) -> Value:
    if len(expression.operators) > 1:
        return told(branches.test(frame, expression))
    operator = expression.operators[0]
    left = frame.evaluate(expression.operands[0])
    right = branches.right_side(frame, operator, expression.operands[1])
    return operators.comparison(frame, operator, left, right, expression.node)


def _conditional(frame: Frame, expression: ir.Conditional) -> Value:
    outcome = branches.test(frame, expression.test)
    env = frame.env
    arms = []
    for may, holds, part in (
        (outcome.may_hold, True, expression.body), (outcome.may_fail, False, expression.orelse)
    ):  # fmt: skip
        told = branches.enter(frame, expression.test, env, may, holds)
        arms.append((*frame.apart(part), (told, frame.env)))
    (body, first, then), (orelse, second, other) = arms
    branches.leave(frame, outcome, env, (then, other))
    frame.branch(outcome, body, orelse)
    return frame.chosen(outcome, first, second)


def _named(frame: Frame, expression: ir.Named) -> Value:
    value = frame.evaluate(expression.value)
    assignments.assign(frame, expression.target, value)
    return value


def _lambda(frame: Frame, expression: ir.Lambda) -> Value:
    return value_of(function(frame, expression.function))


def function(frame: Frame, qualified: str) -> FunctionRef:
    """A function that is defined here, with the context of this one where it is within it; its defaults are kept."""
    code = frame.file.functions[qualified]
    within = frame.defining if code.owner else None
    made = FunctionRef(frame.file.path, qualified, within)
    for parameter in code.parameters:
        if parameter.default is not None:
            value = frame.evaluate(parameter.default)
            frame.fill((made, Argument(parameter.name)), value)
            if within is not None:
                frame.fill((FunctionRef(frame.file.path, qualified), Argument(parameter.name)), value)
    return made


def _yield(frame: Frame, expression: ir.Yield) -> Value:
    value = frame.evaluate(expression.value)
    frame.flush()
    given = items.iterate(frame, value) if expression.delegates else value
    frame.yields = frame.join(frame.yields, given)
    frame.emit(Yield())
    return UNKNOWN


def _unread(frame: Frame, expression: ir.Unread) -> Value:
    return UNKNOWN


EXPRESSIONS: Mapping[type, Callable[[Frame, Any], Value]] = {
    ir.Constant: _constant, ir.Local: _local, ir.Captured: _captured, ir.Global: _global, ir.Attribute: _attribute,
    ir.Slice: _slice, ir.Subscript: _subscript, ir.Call: calls.call, ir.Starred: _starred, ir.Display: _display,
    ir.Mapping: _mapping, ir.Operation: _operation, ir.Compare: _compare, ir.Conditional: _conditional,
    ir.Comprehension: comprehensions.evaluate, ir.Named: _named, ir.Lambda: _lambda, ir.Yield: _yield,
    ir.Unread: _unread,
}  # fmt: skip

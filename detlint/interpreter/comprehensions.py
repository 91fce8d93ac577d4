"""Comprehensions: what they make, item by item where they go through what is written down."""

from __future__ import annotations

from msgspec import Struct

from detlint.domain import taints as t
from detlint.domain.atoms import TRUE, Atom, Constant, DictOf, Instance, IteratorOver, LibraryRef
from detlint.domain.dicts import put_under
from detlint.domain.effects import Effects, Repeat
from detlint.domain.outcomes import FAILS, NEVER, Outcome, both
from detlint.domain.slots import ANY_KEY, FILLED, ITEMS
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.interpreter import assignments, branches, containers, contexts, operators, rows
from detlint.interpreter.frames import Environment, Frame
from detlint.ir import nodes as ir

_RANGE = ir.Global("range")
_BUILTIN = value_of(LibraryRef("builtins.range"))


class Made(Struct):
    """What a comprehension makes on its ways: `rows` of items for each that it may go over, and `rest` for any other.

    An item of a dict is with the keys that it is under, and whether it is there for sure; `opened` where any may be
    under others. It is `filled` where there surely is an item.
    """

    rows: list[list[tuple[list[Atom], Value, bool]]]
    opened: bool = False
    rest: Value = NOTHING
    pending: bool = False
    filled: bool = False
    taints: t.Taints = t.NONE
    certain: t.Taints = t.NONE


def evaluate(frame: Frame, expression: ir.Comprehension) -> Value:
    """The value of a comprehension, and what making it does."""
    env, row = frame.env, frame.row
    made = Made([])
    ends: list[Environment | None] = [env]
    if len(expression.clauses) == 1:
        clause = expression.clauses[0]
        over = _over(frame, clause, made)
        made.filled = not clause.tests and (operators.is_filled(frame, over) or _counts(frame, clause.iterator))
        frame.iterating = clause.node
        start, groups = frame.within(lambda: rows.passes(frame, over))
        parts = []
        for group in groups:
            made.rows.append([])
            for each in group:
                frame.env = dict(env) if env is not None else None
                frame.row = row * frame.solver.limits.rows + each.row if each.row else row
                inner, _ = frame.within(lambda each=each: _pass(frame, expression, each, made))  # type: ignore[misc]
                parts.append(inner)
                ends.append(frame.env)
        empty = not (over.atoms or any(each.item.atoms for group in groups for each in group))
        made.pending = made.pending or empty
        whole = len(groups) == 1 and all(each.row for each in groups[0])
        _emit(frame, start, parts, whole)
    else:
        frame.env = dict(env) if env is not None else None
        start, _ = frame.within(lambda: _nested(frame, expression, made))
        _emit(frame, start, [], False)
        ends.append(frame.env)
    frame.row = row
    _leave(frame, env, ends)
    return NOTHING if made.pending else _value(frame, expression, made)


def _over(frame: Frame, clause: ir.Clause, made: Made) -> Value:
    """What a clause goes over."""
    over = frame.evaluate(clause.iterator)
    made.taints, made.certain = made.taints | over.taints, made.certain | over.certain
    return over


def _counts(frame: Frame, iterator: ir.Expression) -> bool:
    """Whether a clause goes over a range of numbers that surely has one."""
    if not (isinstance(iterator, ir.Call) and iterator.function == _RANGE and len(iterator.arguments) == 1):
        return False
    number = iterator.arguments[0].value
    if not isinstance(number, (ir.Constant, ir.Local, ir.Global)) or frame.evaluate(iterator.function) != _BUILTIN:
        return False
    ends = frame.each(frame.evaluate(number))
    return bool(ends) and all(isinstance(x, Constant) and x.kind == "int" and int(x.value) > 0 for x in ends)


def _pass(frame: Frame, expression: ir.Comprehension, each: rows.Pass, made: Made) -> None:
    """Make one item, if the tests let it through."""
    (clause,) = expression.clauses
    assignments.assign(frame, clause.target, each.item)
    outcome = _tests(frame, clause)
    keys, element = _element(frame, expression)
    if outcome == NEVER:
        made.pending = True  # nobody knows yet whether the item is there
    if outcome in (FAILS, NEVER):
        return
    if each.row and (expression.kind == "dict" or not clause.tests):
        made.rows[-1].append((keys, element, not outcome.may_fail))
    else:
        made.opened = True
        made.rest = frame.join(made.rest, element)


def _nested(frame: Frame, expression: ir.Comprehension, made: Made) -> None:
    """Go through several clauses within each other."""
    for clause in expression.clauses:
        over = _over(frame, clause, made)
        frame.iterating = clause.node
        item = frame.tables.iterate(frame, over)
        made.pending = made.pending or not (item.atoms or over.atoms)
        assignments.assign(frame, clause.target, item)
        _tests(frame, clause)
    made.rest, made.opened = _element(frame, expression)[1], True


def _tests(frame: Frame, clause: ir.Clause) -> Outcome:
    outcomes = []
    for each in clause.tests:
        outcomes.append(branches.test(frame, each))
        branches.narrow(frame, each, True)
    return both(outcomes)


def _element(frame: Frame, expression: ir.Comprehension) -> tuple[list[Atom], Value]:
    """The keys of an item of a dict, and the item."""
    keys = containers.keys(frame, frame.evaluate(expression.key)) if expression.key is not None else []
    return keys, frame.evaluate(expression.element)


def _emit(frame: Frame, start: Effects, parts: list[Effects], whole: bool) -> None:
    """Do what the ways do: one after the other, or any of them, any number of times."""
    if whole:
        frame.effects.extend((*start, *(effect for part in parts for effect in part)))
    elif start or any(parts):
        frame.emit(Repeat((*start, *rows.any_of(parts))))


def _leave(frame: Frame, env: Environment | None, ends: list[Environment | None]) -> None:
    """The variables after a comprehension: its own are gone."""
    inside = {key for end in ends for key in (end or {}) if isinstance(key, str)}
    targets = {key for key in inside if env is not None and key not in env}
    merged = frame.merge(ends)
    frame.env = {k: v for k, v in merged.items() if k not in targets} if merged is not None else None


def _value(frame: Frame, expression: ir.Comprehension, made: Made) -> Value:
    listed = [tuple(item for _, item, _ in row) for row in made.rows if row]
    if expression.kind == "generator":
        every = frame.solver.lattice.all
        iterators = [IteratorOver(every(row), row) for row in listed]
        if made.rest.atoms or not listed:
            iterators.append(IteratorOver(made.rest))
        return Value(frame.solver.lattice.kept(frozenset(iterators)), made.taints, made.certain)
    site = contexts.site(frame, LibraryRef(f"builtins.{expression.kind}"), expression.node)
    rest = made.rest.with_taints(t.kept(made.rest.taints), t.kept(made.rest.certain))
    if expression.kind == "dict":
        found = containers.made(frame, Instance(site), _entries(frame, made, rest))
        return found.with_taints(made.taints | t.FILLED, made.certain)
    for row in made.rows if expression.kind == "set" else ():
        for _, item, _ in row:
            kept = item.with_taints(t.kept(item.taints), t.kept(item.certain))
            frame.fill((site, ITEMS), kept)
            frame.fill((site, ANY_KEY), kept)
    if expression.kind == "list":
        for items in listed:
            rows.keep(frame, Instance(site), items)
    frame.fill((site, ANY_KEY), rest)
    frame.fill((site, ITEMS), rest)
    frame.fill((site, FILLED), value_of(TRUE) if made.filled else UNKNOWN)
    taints, certain = made.taints, made.certain
    if expression.kind == "set":
        taints, certain = t.ordered(taints), t.ordered(certain)
    return Value(frozenset((Instance(site),)), taints | t.FILLED, certain)


def _entries(frame: Frame, made: Made, rest: Value) -> Value:
    """The entries of a dict that is made, for each way."""
    found: list[Atom] = []
    for row in made.rows or [[]]:
        held = DictOf((), rest if made.opened or not all(keys for keys, _, _ in row) else None)
        for keys, item, sure in row:
            kept = item.with_taints(t.kept(item.taints), t.kept(item.certain))
            held = put_under(held, keys, kept, frame.join, perhaps=not sure)
        found.append(held)
    return Value(frame.solver.lattice.kept(frozenset(found)))

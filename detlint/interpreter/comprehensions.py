"""Comprehensions: what they make, item by item where they go through what is written down."""

from __future__ import annotations

from msgspec import Struct

from detlint.domain import taints as t
from detlint.domain.atoms import Instance, IteratorOver, LibraryRef
from detlint.domain.effects import Effects, Repeat
from detlint.domain.outcomes import FAILS, HOLDS, Outcome, both
from detlint.domain.slots import ANY_KEY, ITEMS, Slot
from detlint.domain.values import NOTHING, Value
from detlint.interpreter import assignments, branches, containers, contexts, rows
from detlint.interpreter.frames import Environment, Frame
from detlint.ir import nodes as ir


class Made(Struct):
    """What a comprehension makes on its ways: the items in their order, and what else it may make.

    `keys` are those of a dict, `slots` what each item is under. `whole` says that the items are all, in this order.
    """

    items: list[Value]
    slots: list[list[Slot]]
    rest: Value = NOTHING
    whole: bool = True
    pending: bool = False
    taints: t.Taints = t.NONE
    certain: t.Taints = t.NONE


def evaluate(frame: Frame, expression: ir.Comprehension) -> Value:
    """The value of a comprehension, and what making it does."""
    env, row = frame.env, frame.row
    made = Made([], [])
    ends: list[Environment | None] = [env]
    if len(expression.clauses) == 1:
        clause = expression.clauses[0]
        over = _over(frame, clause, made)
        frame.iterating = expression.node
        effects, (passes, made.whole) = frame.within(lambda: rows.passes(frame, over))
        parts = []
        for each in passes:
            frame.env = dict(env) if env is not None else None
            frame.row = row * frame.solver.limits.rows + each.row if each.row else row
            inner, _ = frame.within(lambda each=each: _pass(frame, expression, clause, each, made))  # type: ignore[misc]
            parts.append(inner)
            ends.append(frame.env)
        made.pending = made.pending or not (over.atoms or any(each.item.atoms for each in passes))
        _emit(frame, effects, parts, made.whole)
    else:
        frame.env = dict(env) if env is not None else None
        made.whole = False
        effects, _ = frame.within(lambda: _nested(frame, expression, made))
        _emit(frame, effects, [], False)
        ends.append(frame.env)
    frame.row = row
    _leave(frame, env, ends)
    return NOTHING if made.pending else _value(frame, expression, made)


def _over(frame: Frame, clause: ir.Clause, made: Made) -> Value:
    """What a clause goes over."""
    over = frame.evaluate(clause.iterator)
    made.taints, made.certain = made.taints | over.taints, made.certain | over.certain
    return over


def _pass(frame: Frame, expression: ir.Comprehension, clause: ir.Clause, each: rows.Pass, made: Made) -> None:
    """Make one item, if the tests let it through."""
    assignments.assign(frame, clause.target, each.item)
    outcome = _tests(frame, clause)
    slots, element = _element(frame, expression)
    if outcome != HOLDS:
        made.whole = False
    if outcome == FAILS:
        return
    if each.row:
        made.items.append(element)
        made.slots.append(slots)
    else:
        made.rest = frame.join(made.rest, element)


def _nested(frame: Frame, expression: ir.Comprehension, made: Made) -> None:
    """Go through several clauses within each other."""
    for clause in expression.clauses:
        over = _over(frame, clause, made)
        frame.iterating = expression.node
        item = frame.tables.iterate(frame, over)
        made.pending = made.pending or not (item.atoms or over.atoms)
        assignments.assign(frame, clause.target, item)
        _tests(frame, clause)
    made.rest = _element(frame, expression)[1]


def _tests(frame: Frame, clause: ir.Clause) -> Outcome:
    outcomes = []
    for each in clause.tests:
        outcomes.append(branches.test(frame, each))
        branches.narrow(frame, each, True)
    return both(outcomes)


def _element(frame: Frame, expression: ir.Comprehension) -> tuple[list[Slot], Value]:
    """The slots of an item of a dict, and the item."""
    slots = containers.slots_of(frame, frame.evaluate(expression.key)) if expression.key is not None else []
    return slots, frame.evaluate(expression.element)


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
    every = frame.solver.lattice.all((*made.items, made.rest))
    if expression.kind == "generator":
        together = tuple(made.items) if made.whole else ()
        return Value(frozenset((IteratorOver(every, together),)), made.taints, made.certain)
    site = contexts.site(frame, LibraryRef(f"builtins.{expression.kind}"), expression.node)
    kept = every.with_taints(t.kept(every.taints), t.kept(every.certain))
    frame.fill((site, ITEMS), kept)
    if expression.kind == "dict":
        for slots, item in zip(made.slots, made.items, strict=True):
            for slot in slots:
                frame.fill((site, slot), item)
        frame.fill((site, ANY_KEY), made.rest)
    elif expression.kind == "list" and made.whole:
        rows.keep(frame, Instance(site), tuple(made.items))
    else:
        frame.fill((site, ANY_KEY), kept)
    taints, certain = made.taints, made.certain
    if expression.kind == "set":
        taints, certain = t.ordered(taints), t.ordered(certain)
    return Value(frozenset((Instance(site),)), taints | t.FILLED, certain)

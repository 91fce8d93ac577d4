"""Statements: what they do to variables, and the effects that they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from detlint.domain.atoms import Atom, FunctionRef, Instance, LibraryRef, Node
from detlint.domain.effects import At, Branch, Effects, First, Leave, Made, Main, Repeat
from detlint.domain.values import value_of
from detlint.interpreter import (
    assignments,
    attribute_dicts,
    branches,
    conversions,
    decorators,
    definitions,
    expressions,
    keeping,
    modules,
    rows,
    withs,
)  # fmt: skip
from detlint.interpreter.frames import Environment, Frame, Loop
from detlint.interpreter.returns import Returning
from detlint.ir import nodes as ir

_SUBJECT = "<subject>"  # the variable of what a `match` looks at, where that is none itself
_EXIT = LibraryRef("builtins.SystemExit")


def _do(frame: Frame, statement: ir.Do) -> None:
    frame.evaluate(statement.value)


def _assign(frame: Frame, statement: ir.Assign) -> None:
    value = frame.evaluate(statement.value)
    if statement.operator != "=":
        old = frame.evaluate(statement.targets[0])
        if statement.operator == "|=" and keeping.take_over(
            frame, old, value, assignments.path_of(frame, statement.targets[0])
        ):
            return
        counts = not expressions.is_settled(frame, statement.targets[0])
        value = expressions.operated(frame, statement.operator, [old, value], statement.node, counts=counts)
    for target in statement.targets:
        if not (isinstance(target, ir.Subscript) and attribute_dicts.put(frame, target, value)):
            assignments.assign(frame, target, value, statement.node)


def _annotated(frame: Frame, statement: ir.Annotated) -> None:
    """An annotation alone binds nothing."""


def _define(frame: Frame, statement: ir.Define) -> None:
    made = expressions.function(frame, statement.function)
    value = value_of(modules.library_of(frame, statement.function) or made)
    for decorator in reversed(statement.decorators):
        value = decorators.decorated(frame, decorator, value)
    assignments.assign(frame, statement.target, value)


# Arms


def _if(frame: Returning, statement: ir.If) -> None:
    outcome = branches.test(frame, statement.test)
    env = frame.env
    ends = []
    before = frame.take()
    for may, holds, body in (
        (outcome.may_hold, True, statement.body), (outcome.may_fail, False, statement.orelse)
    ):  # fmt: skip
        told = branches.enter(frame, statement.test, env, may, holds)
        ends.append((frame.effects_of(body), (told, frame.env), frame.take()))
    (first, then, one), (second, other, two) = ends
    either = outcome.may_hold and outcome.may_fail and outcome.option is None
    if either and first and frame.solver.firsts.first(frame.file.path, statement):
        frame.emit(First(frame.code(-1), first, second))
    else:
        frame.branch(outcome, first, second)
    branches.leave(frame, outcome, env, (then, other))
    frame.tested(outcome, before, ((one, then[1]), (two, other[1])))


def _try(frame: Frame, statement: ir.Try) -> None:
    before = dict(frame.env) if frame.env is not None else None
    frame.trying += bool(statement.handlers)
    outer, frame.risky = frame.risky, not _plain(statement.body)
    body = frame.effects_of(statement.body)
    risky, frame.risky = frame.risky, frame.risky or outer
    frame.trying -= bool(statement.handlers)
    after = frame.env
    fails = not (after is not None and statement.handlers and conversions.succeeds(frame, statement.body))
    effects = (*body, *frame.effects_of(statement.orelse))
    ended = frame.env
    ends: list[Environment | None] = [ended]
    arms = []
    for handler in statement.handlers if fails and risky else ():
        start = frame.merge((before, after))
        frame.env = dict(start) if start is not None else None
        arms.append(_standing_in(effects, frame.effects_of(handler)))
        ends.append(frame.env)
    frame.env = frame.merge(ends)
    if _imports_alone(statement.body):  # a handler then stands for the body
        for arm in arms:
            effects = (Branch(None, True, effects, arm),) if arm or effects else ()
    else:
        rest: tuple[Any, ...] = ()
        for arm in arms:
            rest = (Branch(None, True, arm, rest),) if arm or rest else ()
        effects = (*effects, *rest)
    frame.effects.extend(effects)
    if frame.env is None and statement.final and before is not None:
        frame.env = before
        frame.execute(statement.final)
        frame.env = None
    else:
        frame.execute(statement.final)


def _standing_in(body: Effects, handler: Effects) -> Effects:
    """What a handler does: a loader that it makes stands for the one that is made last before it, if that fails."""
    last = next((effect for effect in reversed(body) if not isinstance(effect, At)), None)
    return tuple(effect for effect in handler if not isinstance(effect, Made)) if isinstance(last, Made) else handler


def _plain(statements: ir.Statements) -> bool:
    """Whether a block does nothing but what tells by itself whether it may raise an error."""
    return all(
        isinstance(each, (ir.Do, ir.Assign)) or (isinstance(each, ir.If) and _plain(each.body) and _plain(each.orelse))
        for each in statements
    )


def _imports_alone(statements: ir.Statements) -> bool:
    """Whether a block does nothing but import."""
    return all(isinstance(statement, (ir.ImportModule, ir.ImportNames)) for statement in statements)


def _match(frame: Frame, statement: ir.Match) -> None:
    """A `match` is a chain of tests of its subject, each of which narrows it for those after it."""
    subject = statement.subject
    value = frame.evaluate(subject)
    if not isinstance(subject, (ir.Local, ir.Global, ir.Attribute)):
        subject = ir.Local(_SUBJECT)
        frame.assign(_SUBJECT, value)
    rest: ir.Statements = ()
    for case in reversed(statement.cases):
        whatever = not (case.patterns or case.asks)
        rest = case.body if whatever else (ir.If(_matches(subject, case), case.body, rest),)
    frame.execute(rest)


def _matches(subject: ir.Expression, case: ir.Case) -> ir.Expression:
    """Whether a case matches, as a test."""
    tests: list[ir.Expression] = []
    for operator, value in case.patterns:
        if operator == "isinstance":
            tests.append(ir.Call(ir.Global(operator), (ir.Argument(subject), ir.Argument(value)), -1))
        else:
            tests.append(ir.Compare((operator,), (subject, value), -1))
    if not tests or case.asks:
        return ir.Unread()
    return tests[0] if len(tests) == 1 else ir.Operation("or", tuple(tests), -1)


def _main(frame: Frame, statement: ir.Main) -> None:
    """The `__main__` block is a function of its own, which gets the variables that the module has here."""
    if frame.file.path in frame.solver.started and frame.env is not None:
        frame.flush()
        node = Node(FunctionRef(frame.file.path, ir.MAIN))
        given = {key: value for key, value in frame.env.items() if isinstance(key, str)}
        frame.solver.enter(frame.entry, node, given)
        frame.emit(Main(node))
    frame.execute(statement.orelse)


# Loops


def _for(frame: Returning, statement: ir.For) -> None:
    over = frame.evaluate(statement.iterator)
    apart = frame.solver.index.unrolls(statement) and any(rows.of_atom(frame, atom) for atom in frame.each(over))
    if apart and (given := rows.of_value(frame, over)) is not None and given.whole:
        for index, item in enumerate(given.items, 1):
            _turn(frame, statement, rows.Pass(item, index), frame.go_on)
        frame.execute(statement.orelse)
        return

    def once() -> Effects:
        frame.iterating = statement.node
        start, groups = frame.within(lambda: rows.passes(frame, over) if apart else rows.joined(frame, over))
        entered, ends, arms = frame.env, list[Environment | None](), list[Effects]()
        for each in (each for group in groups for each in group):
            frame.env = dict(entered) if entered is not None and each.item.atoms else None
            arms.append(frame.within(lambda each=each: _turn(frame, statement, each, frame.execute))[0])  # type: ignore[misc]
            ends.append(frame.env)
        frame.env = frame.merge(ends)
        return (*start, *rows.any_of(arms))

    _loop(frame, once, statement.orelse)


def _turn(frame: Frame, statement: ir.For, each: rows.Pass, run: Callable[[ir.Statements], None]) -> None:
    """Run the body of a loop with one item."""
    outer = frame.row
    frame.row = outer * frame.solver.limits.rows + each.row if each.row else outer
    assignments.assign(frame, statement.target, each.item)
    run(statement.body)
    frame.row = outer


def _while(frame: Frame, statement: ir.While) -> None:
    def once() -> Effects:
        effects, outcome = frame.within(lambda: branches.test(frame, statement.test))
        if not outcome.may_hold:
            frame.env = None
        return (*effects, *frame.effects_of(statement.body))

    _loop(frame, once, statement.orelse)


def _loop(frame: Frame, once: Callable[[], Effects], orelse: ir.Statements) -> None:
    """A body that runs any number of times: gone through `once` and again until its variables are stable."""
    entered = frame.env
    if entered is None:
        return
    effects: Effects = ()
    loop = Loop()
    while True:
        loop = Loop()
        frame.loops.append(loop)
        frame.env = dict(entered)
        effects = once()
        frame.loops.pop()
        again = frame.merge((entered, frame.env, *loop.continues))
        if again is None or again == entered:
            break
        entered = again
    if effects:
        frame.emit(Repeat(effects))
    frame.env = dict(entered)
    frame.execute(orelse)
    frame.env = frame.merge((frame.env, *loop.breaks))


# Leaving


def _leave(frame: Returning, statement: ir.Leave) -> None:
    value = frame.evaluate(statement.value) if statement.value is not None else value_of(ir.Constant("None"))
    if frame.env is None:
        return
    if statement.kind in ("break", "continue"):
        if frame.loops:
            loop = frame.loops[-1]
            (loop.breaks if statement.kind == "break" else loop.continues).append(frame.env)
    elif statement.kind == "return":
        frame.give(value)
        frame.leave()
    else:
        frame.flush()
    exits = statement.kind == "raise" and any(_is_exit(atom) for atom in frame.each(value))
    frame.emit(Leave("exit" if exits else statement.kind, bool(frame.trying) and statement.kind == "raise"))
    frame.env = None


def _is_exit(atom: Atom) -> bool:
    """Whether an error is the one that ends the program."""
    return atom == _EXIT or (isinstance(atom, Instance) and atom.site.kind == _EXIT)


def _assert(frame: Frame, statement: ir.Assert) -> None:
    for operand in statement.operands:
        frame.evaluate(operand)


STATEMENTS: Mapping[type, Callable[[Any, Any], None]] = {
    ir.Do: _do, ir.Assign: _assign, ir.Annotated: _annotated, ir.Delete: assignments.delete, ir.Define: _define,
    ir.DefineClass: definitions.define_class, ir.ImportModule: modules.import_module,
    ir.ImportNames: modules.import_names, ir.If: _if, ir.For: _for, ir.While: _while, ir.With: withs.execute,
    ir.Try: _try, ir.Match: _match, ir.Leave: _leave, ir.Assert: _assert, ir.Main: _main,
}  # fmt: skip

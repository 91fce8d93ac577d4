"""Tests: how they may end, and what variables are in each of their arms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from detlint.domain.atoms import Atom, Choice, Instance
from detlint.domain.outcomes import Outcome, both, truth
from detlint.domain.slots import Attribute
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter import assignments, containers, kinship, operators
from detlint.interpreter.frames import Environment, Frame, Key
from detlint.interpreter.operators import Judge
from detlint.ir import nodes as ir

_ISINSTANCE = ir.Global("isinstance")


def test(frame: Frame, expression: ir.Expression) -> Outcome:
    """Evaluate a test: whether it may hold and may fail."""
    if isinstance(expression, ir.Operation) and expression.operator == "not":
        return test(frame, expression.operands[0]).inverted()
    if isinstance(expression, ir.Operation) and expression.operator in ("and", "or"):
        return _joined(frame, expression)
    if isinstance(expression, ir.Compare):
        return _compared(frame, expression)
    return operators.truth_of(frame, frame.evaluate(expression), -1, assignments.path_of(frame, expression))


def _joined(frame: Frame, expression: ir.Operation) -> Outcome:
    """`a and b`, `a or b`: what comes after one that decides is not evaluated."""
    wanted = expression.operator == "and"
    outcomes: list[Outcome] = []

    def following(operand: ir.Expression) -> Outcome:
        outcome = test(frame, operand)
        return outcome if wanted else outcome.inverted()

    return (
        _in_turn(frame, expression.operands, following, outcomes)
        if wanted
        else (_in_turn(frame, expression.operands, following, outcomes).inverted())
    )


def _in_turn(
    frame: Frame, operands: Sequence[ir.Expression], following: Callable[[ir.Expression], Outcome],
    outcomes: list[Outcome],
) -> Outcome:  # fmt: skip
    """All of some tests, each of which is evaluated only where those before it hold."""
    for operand in operands:
        before = both(outcomes)
        if not before.may_hold:
            break
        effects, outcome = frame.within(lambda operand=operand: following(operand))  # type: ignore[misc]
        frame.branch(before, effects, ())
        outcomes.append(outcome)
    return both(outcomes)


def _compared(frame: Frame, expression: ir.Compare) -> Outcome:
    """A comparison, or a chain: each operand once, and no more of these once one fails."""
    values = [frame.evaluate(expression.operands[0])]

    def following(operand: ir.Expression) -> Outcome:
        operator = expression.operators[len(values) - 1]
        values.append(right_side(frame, operator, operand))
        return operators.judged(frame, operator, values[-2], values[-1], expression.node)

    return _in_turn(frame, expression.operands[1:], following, [])


def right_side(frame: Frame, operator: str, operand: ir.Expression) -> Value:
    """What a comparison has on its right: not the keys of dicts, but these dicts, which tell what they surely have."""
    if operator in ("in", "not in") and isinstance(operand, ir.Call) and isinstance(operand.function, ir.Attribute):
        asked = operand.function
        dicts = _quiet(frame, asked.value) if asked.name == "keys" and not operand.arguments else NOTHING
        atoms = frame.each(dicts)
        if atoms and all(isinstance(atom, Instance) and atom.site.kind == containers.DICT for atom in atoms):
            return dicts
    return frame.evaluate(operand)


def enter(frame: Frame, expression: ir.Expression, env: Environment | None, may: bool, holds: bool) -> Environment:
    """Go into the arm where a test holds, or fails, if it may; what its variables are there alone."""
    frame.env = dict(env) if env is not None and may else None
    if may and env is not None:
        narrow(frame, expression, holds)
        return {key: value for key in _variables_asked(frame, expression) if (value := frame.get(key)) is not None}
    return {}


def leave(
    frame: Frame, outcome: Outcome, env: Environment | None, arms: Sequence[tuple[Environment, Environment | None]]
) -> None:
    """Go on after both arms of a test: what they were told of variables, and did not change, is told of these no more.

    Of each arm, what variables were there alone, and what they are at its end.
    """
    frame.env = frame.merge_arms(outcome, arms[0][1], arms[1][1])
    entered = [arm for arm, may in zip(arms, (outcome.may_hold, outcome.may_fail), strict=True) if may]
    if env is None or frame.env is None or any(end is None for _, end in entered):
        return
    for key in dict.fromkeys(key for told, _ in entered for key in told):
        before = env.get(key)
        if before is not None and all(end and end.get(key) is told.get(key, before) for told, end in entered):
            frame.env[key] = before


def _variables_asked(frame: Frame, expression: ir.Expression) -> Iterator[Key]:
    """The variables and paths that a test asks about."""
    if isinstance(expression, ir.Operation) and expression.operator.isalpha():
        for operand in expression.operands:
            yield from _variables_asked(frame, operand)
    elif isinstance(expression, ir.Compare):
        yield from _variables_asked(frame, expression.operands[0])
    elif isinstance(expression, ir.Call) and expression.function == _ISINSTANCE and len(expression.arguments) == 2:
        yield from _variables_asked(frame, expression.arguments[0].value)
    elif (key := assignments.path_of(frame, expression)) is not None:
        yield key


def narrow(frame: Frame, expression: ir.Expression, holds: bool) -> None:
    """Let a test hold, or fail: what it asks about is what lets it."""
    if frame.env is None:
        return
    if isinstance(expression, ir.Operation) and expression.operator == "not":
        narrow(frame, expression.operands[0], not holds)
    elif isinstance(expression, ir.Operation) and expression.operator in ("and", "or"):
        if (expression.operator == "and") == holds:
            for operand in expression.operands:
                narrow(frame, operand, holds)
    elif isinstance(expression, ir.Compare) and len(expression.operators) == 1:
        right = _quiet(frame, expression.operands[1])
        if right.atoms:
            _narrow(frame, expression.operands[0], operators.judge(frame, expression.operators[0], right), holds)
    elif isinstance(expression, ir.Call) and expression.function == _ISINSTANCE and len(expression.arguments) == 2:
        asked, kinds = (argument.value for argument in expression.arguments)
        _, of = frame.apart(kinds)
        _narrow(frame, asked, lambda value: kinship.instance(frame, value, of), holds)
    else:
        _narrow(frame, expression, truth, holds)


def _quiet(frame: Frame, expression: ir.Expression) -> Value:
    """The value of a constant or a variable, without doing anything."""
    if isinstance(expression, ir.Constant):
        return value_of(expression)
    key = assignments.path_of(frame, expression)
    return (frame.get(key) if key is not None else None) or NOTHING


def _narrow(frame: Frame, expression: ir.Expression, judge: Judge, holds: bool) -> None:
    key = assignments.path_of(frame, expression)
    if key is None or frame.env is None:
        return
    old = frame.get(key)
    if old is None and isinstance(expression, ir.Attribute) and isinstance(key, tuple) and len(key) == 2:
        base = _quiet(frame, expression.value)
        if base.atoms:
            old = frame.tables.attribute(frame, base, expression.name)
            frame.cells.setdefault(key, assignments.object_cells(frame, base, Attribute(expression.name)))
    if old is None:
        return
    resolved = frame.resolve(old)
    frame.env[key] = _where(resolved, judge, holds)  # also where all are left: it must not depend on what came later


def _where(value: Value, judge: Judge, holds: bool) -> Value:
    """What a value is where a test of it holds, or fails."""
    atoms: set[Atom] = set()
    for atom in value.atoms:
        if isinstance(atom, Choice):
            default, other = (_where(part, judge, holds) for part in (atom.default, atom.other))
            if default.atoms and other.atoms:
                atoms.add(Choice(atom.option, default, other))
            else:
                atoms |= default.atoms | other.atoms
        elif _may(judge(value_of(atom)), holds):
            atoms.add(atom)
    return value.of(atoms)


def _may(outcome: Outcome, holds: bool) -> bool:
    return outcome.may_hold if holds else outcome.may_fail

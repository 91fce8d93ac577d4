"""Tests: how they may end, and what variables are in each of their arms."""

from __future__ import annotations

from collections.abc import Callable

from detlint.domain.atoms import Atom, Choice, Constant
from detlint.domain.outcomes import EITHER, NEVER, Outcome, chosen, either, is_none, truth
from detlint.domain.slots import Attribute
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter import assignments, containers
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_NONE = ir.Constant("None")
Judge = Callable[[Value], Outcome]


def test(frame: Frame, expression: ir.Expression) -> Outcome:
    """Evaluate a test: whether it may hold and may fail."""
    if isinstance(expression, ir.Operation) and expression.operator == "not":
        return test(frame, expression.operands[0]).inverted()
    if isinstance(expression, ir.Operation) and expression.operator in ("and", "or"):
        return _joined(frame, expression)
    if isinstance(expression, ir.Compare) and len(expression.operators) == 1:
        return _compared(frame, expression)
    return truth(frame.resolve(frame.evaluate(expression)))


def _joined(frame: Frame, expression: ir.Operation) -> Outcome:
    outcomes = [test(frame, operand) for operand in expression.operands]
    if any(outcome == NEVER for outcome in outcomes):
        return NEVER
    if expression.operator == "or":
        outcomes = [outcome.inverted() for outcome in outcomes]
    open_ones = [outcome for outcome in outcomes if outcome.may_fail]
    if any(not outcome.may_hold for outcome in outcomes):
        found = Outcome(False, True)
    elif not open_ones:
        found = Outcome(True, False)
    else:
        found = open_ones[0] if len(open_ones) == 1 else EITHER
    return found.inverted() if expression.operator == "or" else found


def _compared(frame: Frame, expression: ir.Compare) -> Outcome:
    left, right = (frame.resolve(frame.evaluate(operand)) for operand in expression.operands)
    operator = expression.operators[0]
    if operator in ("is", "is not", "==", "!="):
        if not left.atoms or not right.atoms:
            return NEVER
        judge = _judge(expression, right)
        if judge is not None:
            found = judge(left)
            return found.inverted() if operator in ("is not", "!=") else found
    if operator in ("in", "not in"):
        found = containers.contains(frame, left, right)
        return found.inverted() if operator == "not in" else found
    return EITHER


def _judge(expression: ir.Compare, right: Value) -> Judge | None:
    """What a comparison asks of its left side, where the right one is a constant."""
    if expression.operands[1] == _NONE:
        return is_none
    constant = next(iter(right.atoms)) if len(right.atoms) == 1 else None
    return (lambda value: equals(value, constant)) if isinstance(constant, Constant) else None


def equals(value: Value, constant: Constant) -> Outcome:
    """Whether a value equals a constant."""
    return either([_equals(atom, constant) for atom in value.atoms]) if value.atoms else NEVER


def _equals(atom: Atom, constant: Constant) -> Outcome:
    if isinstance(atom, Constant):
        same = atom == constant
        numbers = {atom.kind, constant.kind} <= {"int", "float", "True", "False"} and atom.kind != constant.kind
        return EITHER if numbers else Outcome(same, not same)
    if isinstance(atom, Choice):
        return chosen(atom, equals(atom.default, constant), equals(atom.other, constant))
    return EITHER


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
        operator = expression.operators[0]
        if operator in ("is", "is not", "==", "!="):
            right = frame.resolve(_quiet(frame, expression.operands[1]))
            judge = _judge(expression, right)
            if judge is not None:
                _narrow(frame, expression.operands[0], judge, holds == (operator in ("is", "==")))
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
    atoms: set[Atom] = set()
    for atom in frame.each(resolved):
        if isinstance(atom, Choice):
            atoms |= _part(atom, judge, holds)
        elif _may(judge(value_of(atom)), holds):
            atoms.add(atom)
    frame.env[key] = resolved.of(atoms)  # also where all are left: what is narrowed must not depend on what came later


def _part(atom: Choice, judge: Judge, holds: bool) -> set[Atom]:
    """The parts of a choice for which a test may hold, or fail."""
    default, other = _may(judge(atom.default), holds), _may(judge(atom.other), holds)
    if default and other:
        return {atom}
    return set(atom.default.atoms if default else atom.other.atoms if other else ())


def _may(outcome: Outcome, holds: bool) -> bool:
    return outcome.may_hold if holds else outcome.may_fail

"""Blocks that do nothing but convert and compute: they fail only where what comes of it is no number or text."""

from __future__ import annotations

from detlint.domain.atoms import Choice, Constant
from detlint.domain.values import Value
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir
from detlint.ir.uses import Uses

_NAMES = (ir.Local, ir.Global)
_SETTLED = ("int", "float", "str", "True", "False")


def succeeds(frame: Frame, statements: ir.Statements) -> bool:
    """Whether a block that has run surely did not fail, options at their defaults."""
    uses = frame.solver.index.uses(frame.file)
    given = _given(uses, frame.function.qualified, statements)
    if not given:
        return False
    values = [frame.within(lambda part=part: frame.evaluate(part))[1] for part in given]  # type: ignore[misc]
    return all(_is_settled(frame, value) for value in values)


def _given(uses: Uses, function: str, statements: ir.Statements) -> list[ir.Expression] | None:
    """What a block gives values, if that is all it does."""
    found: list[ir.Expression] = []
    for statement in statements:
        inner: list[ir.Expression] | None = None
        if isinstance(statement, ir.If) and _converts(uses, function, statement.test):
            arms = _given(uses, function, statement.body), _given(uses, function, statement.orelse)
            inner = None if None in arms else [each for arm in arms for each in arm or ()]
        elif isinstance(statement, ir.Do) and _converts(uses, function, statement.value):
            inner = [statement.value]
        elif isinstance(statement, ir.Assign) and statement.operator == "=":
            names = all(isinstance(target, _NAMES) for target in statement.targets)
            converts = names and not isinstance(statement.value, ir.Attribute)
            inner = list(statement.targets) if converts and _converts(uses, function, statement.value) else None
        if inner is None:
            return None
        found += inner
    return found


def _converts(uses: Uses, function: str, expression: ir.Expression) -> bool:
    """Whether an expression but looks at values, computes with them, and calls functions of libraries."""
    parts: tuple[ir.Expression, ...] | None = None
    if isinstance(expression, ir.Call) and uses.named(expression.function, function):
        parts = tuple(argument.value for argument in expression.arguments)
    elif isinstance(expression, (ir.Operation, ir.Compare)):
        parts = expression.operands
    elif isinstance(expression, ir.Conditional):
        parts = (expression.test, expression.body, expression.orelse)
    elif isinstance(expression, ir.Attribute):
        parts = (expression.value,)
    elif isinstance(expression, (*_NAMES, ir.Captured, ir.Constant)):
        parts = ()
    return parts is not None and all(_converts(uses, function, part) for part in parts)


def _is_settled(frame: Frame, value: Value) -> bool:
    """Whether a value is a text or a number; nothing yet is no other."""
    return all(
        _is_settled(frame, atom.default)
        if isinstance(atom, Choice)
        else isinstance(atom, Constant) and atom.kind in _SETTLED
        for atom in frame.each(value)
    )

"""Expressions that show the attributes of an owner as a dict: `vars(owner)` and `owner.__dict__`."""

from __future__ import annotations

from detlint.ir import nodes as ir

_VARS = ir.Global("vars")


def shown_by(expression: ir.Expression) -> ir.Expression | None:
    """The owner whose attributes an expression shows, by its text alone; None where it shows none."""
    if isinstance(expression, ir.Attribute) and expression.name == "__dict__":
        return expression.value
    if isinstance(expression, ir.Call) and expression.function == _VARS and len(expression.arguments) == 1:
        argument = expression.arguments[0]
        return None if argument.star or argument.keyword else argument.value
    return None

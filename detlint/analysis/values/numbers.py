"""Numbers that a file writes down: constants of libraries, limits of types, and arithmetic on literals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from detlint.catalogue import Catalogue
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_OPERATIONS: Mapping[str, Callable[..., object]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
    "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_GROWING = ("**", "<<")  # their results may be too long to keep
_LARGEST = 1 << 64


class Numbers:
    """The numbers of a file that are the same wherever it runs."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.named, self.limits, self.asking = _tables(module.catalogue)

    def of(self, node: s.Attribute, name: str) -> float | None:
        """Return the number that a named attribute always is, such as `numpy.iinfo(numpy.uint32).max`, or None."""
        call = node.value
        if name in self.named:
            return self.named[name]
        if not isinstance(call, s.Call) or len(call.arguments) != 1 or call.arguments[0].star:
            return None
        if self.asking.isdisjoint(self.module.callee(call)):
            return None
        found = {self.limits.get((name, node.attribute)) for name in self.module.names(call.arguments[0].value)}
        return found.pop() if len(found) == 1 else None


def folded(name: str, operands: Sequence[object]) -> float | None:
    """Return the result of an operator on two numbers; None for anything else, and for large powers and shifts."""
    numbers = [each for each in operands if isinstance(each, (int, float)) and not isinstance(each, bool)]
    if len(numbers) != 2 or len(operands) != 2 or name not in _OPERATIONS:
        return None
    if name in _GROWING and not (abs(numbers[0]) <= _LARGEST and 0 <= numbers[1] <= 64):
        return None
    try:
        made = _OPERATIONS[name](*numbers)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return made if isinstance(made, (int, float)) else None


@cache
def _tables(catalogue: Catalogue) -> tuple[Mapping[str, float], Mapping[tuple[str, str], float], frozenset[str]]:
    """Return constants by name, limits by the names of type and attribute, and the calls that return limits."""
    named: dict[str, float] = {}
    limits: dict[tuple[str, str], float] = {}
    for row in catalogue.rows("program", "number"):
        for name in row.list("names"):
            if row.text("value"):
                named[name] = _number(row.text("value"))
            for attribute in row.list("limits"):
                limits[name, attribute] = _number(row.text(attribute))
    return named, limits, catalogue.names("program", "number", key="calls")


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)

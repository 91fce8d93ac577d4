"""Operators, comparisons, tests and conversions of objects of the project, by the methods of their classes."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain.atoms import Atom, ClassRef, Instance
from detlint.domain.given import Given
from detlint.domain.outcomes import EITHER, HOLDS, NEVER, Outcome, truth
from detlint.domain.values import NOTHING, Value
from detlint.interpreter import classes
from detlint.interpreter.frames import Frame

_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_UNARY = {"-": "__neg__", "~": "__invert__", "+": "__pos__"}
_TRUTH = ("__bool__", "__len__")
_SHOWN = ("__format__", "__str__", "__repr__")
_COMPARED = {
    "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"),
}  # fmt: skip
"""The method of the left operand, and that of the right one where the left one has none."""


def asked(
    frame: Frame, value: Value, names: Sequence[str], given: tuple[Value, ...] | Given = (), node: int = -1
) -> tuple[Value, list[Atom]]:
    """What the first of some methods gives that each object of the project has, and the atoms that have none."""
    found, rest = NOTHING, []
    arguments = given if isinstance(given, Given) else Given(given)
    for atom in frame.each(value):
        method = _method(frame, atom, names)
        if method is None:
            rest.append(atom)
        else:
            found = frame.join(found, frame.tables.call(frame, method, arguments, node))
    return found, rest


def _method(frame: Frame, atom: Atom, names: Sequence[str]) -> Value | None:
    """The first of some methods that an object of the project has, bound to it; nothing for one that may come."""
    if not isinstance(atom, Instance) or not isinstance(atom.site.kind, ClassRef):
        return None
    around = classes.order(frame, atom.site.kind)
    for name in names:
        value, owner = classes.lookup(frame, around, name)
        if isinstance(owner, ClassRef) or owner == classes.PENDING:
            return classes.bound(value, atom)[0]
    return None


def has_own(frame: Frame, *values: Value) -> bool:
    """Whether something among values may be an object of a class of the project."""
    return any(
        isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef)
        for value in values
        for atom in frame.each(value)
    )


def operated(frame: Frame, operator: str, operands: list[Value], node: int) -> tuple[Value, list[Value]]:
    """What an operator makes of operands by a method of theirs, and what is left of these."""
    if not has_own(frame, *operands):
        return NOTHING, operands
    if operator == "f-string":
        return NOTHING, [_shown(frame, operand, node) for operand in operands]
    if len(operands) == 1:
        if operator == "not":
            judged(frame, frame.resolve(operands[0]), node)
        names = [_UNARY[operator]] if operator in _UNARY else []
        found, rest = asked(frame, operands[0], names, (), node)
        return found, [operands[0].of(rest)]
    name = _ARITHMETIC.get(operator.removesuffix("="))
    if name is None or not all(operand.atoms for operand in operands):
        return NOTHING, operands
    left, right = operands
    in_place = [f"__i{name}__"] if operator.endswith("=") else []
    found, rest = asked(frame, left, [*in_place, f"__{name}__"], (right,), node)
    if not rest:
        return found, [NOTHING, right]
    more, others = asked(frame, right, [f"__r{name}__"], (left.of(rest),), node)
    return frame.join(found, more), [left.of(rest), right.of(others)]


def _shown(frame: Frame, value: Value, node: int) -> Value:
    """A value as an f-string has it."""
    found, rest = asked(frame, value, _SHOWN, (), node)
    return frame.join(found, value.of(rest))


def compared(frame: Frame, operator: str, left: Value, right: Value, node: int) -> tuple[list[Outcome], Value, Value]:
    """How a comparison comes out by methods of its operands, and what is left of these."""
    if not left.atoms or not right.atoms or not has_own(frame, left, right):
        return [], left, right
    if operator in ("in", "not in"):
        found, rest = asked(frame, right, ("__contains__",), (left,), node)
        return _outcomes(frame, found, operator == "not in", len(rest), right), left, right.of(rest)
    if operator not in _COMPARED:
        return [], left, right
    outcomes: list[Outcome] = []
    for each, inverted in ((operator, False), ("==", True))[: 1 + (operator == "!=")]:
        mine, theirs = _COMPARED[each]
        found, rest = asked(frame, left, (mine,), (right,), node)
        outcomes += _outcomes(frame, found, inverted, len(rest), left)
        left = left.of(rest)
        if rest:
            found, rest = asked(frame, right, (theirs,), (left,), node)
            outcomes += _outcomes(frame, found, inverted, len(rest), right)
            right = right.of(rest)
    return outcomes, left, right


def _outcomes(frame: Frame, found: Value, inverted: bool, left: int, asked_of: Value) -> list[Outcome]:
    if left == len(frame.each(asked_of)):
        return []
    outcome = truth(frame.resolve(found))
    return [outcome.inverted() if inverted else outcome]


def judged(frame: Frame, value: Value, node: int) -> tuple[list[Outcome], list[Atom]]:
    """Whether objects of the project are true, as they say themselves, and the atoms that do not say it."""
    if not has_own(frame, value):
        return [], frame.each(value)
    found, rest = asked(frame, value, _TRUTH, (), node)
    return _outcomes(frame, found, False, len(rest), value), rest


def is_true(frame: Frame, atom: Instance) -> Outcome:
    """Whether an object is true that is not asked: it is where neither its class nor a base of this tells."""
    around = classes.order(frame, atom.site.kind) if isinstance(atom.site.kind, ClassRef) else (atom.site.kind,)
    if classes.PENDING in around:
        return NEVER
    libraries = frame.solver.libraries
    plain = all(isinstance(each, ClassRef) or libraries.is_of(each.name, "true") for each in around)
    asks = any(classes.binds(frame, each, name) for each in around if isinstance(each, ClassRef) for name in _TRUTH)
    return HOLDS if plain and not asks else EITHER

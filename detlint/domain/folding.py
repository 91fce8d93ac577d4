"""What functions make of texts and numbers that are known, and of options at their defaults."""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from detlint.domain import taints as t
from detlint.domain.atoms import CUT, NOT_NONE, Atom, Choice, Constant, TupleOf
from detlint.domain.values import NOTHING, Value, value_of
from detlint.ir.lower_expressions import constant

LONGEST = 1_000
"""Characters of a text that is put together."""
_MOST = 256
"""Values that operands have together: what is made of more is more than is kept."""
_LARGEST = 4_096  # bits of a number that is worked out
_ERRORS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)
_READ: Mapping[str, Callable[[str], object]] = {
    "None": lambda _: None, "True": lambda _: True, "False": lambda _: False, "str": str,
    "int": lambda digits: int(digits, 0), "float": float, "bytes": lambda text: text.encode("latin-1"),
}  # fmt: skip


def known(atom: Atom) -> bool:
    """Whether an atom is a constant of which the value is known."""
    return isinstance(atom, Constant) and atom.kind in _READ


def read(atom: Constant) -> Any:
    """The value of a constant."""
    return _READ[atom.kind](atom.value)


def folded(function: Callable[..., object], values: Sequence[Value], otherwise: Atom = NOT_NONE) -> Value:
    """What a function makes of one of each of `values`; `otherwise` where it refuses them, or they are not known.

    Of an option it makes what it makes of its default unless the user sets it. Of too many together it is not asked.
    """
    if prod(len(value.atoms) for value in values) > _MOST:
        return value_of(CUT)
    found: set[Atom] = set()
    for atoms in product(*(value.atoms for value in values)):
        choice = next((atom for atom in atoms if isinstance(atom, Choice)), None)
        if choice is not None:
            parts = [_with(atoms, choice, set_) for set_ in (False, True)]
            default, other = (_differing(folded(function, part, otherwise), part) for part in parts)
            if default.atoms and other.atoms:
                found.add(Choice(choice.option, default, other))
        else:
            found.update(_applied(function, atoms, otherwise))
    return Value(frozenset(found)) if found else NOTHING


def _differing(made: Value, parts: Sequence[Value]) -> Value:
    """What is made of some values differs where these do."""
    taints, certain = made.taints, made.certain
    for part in parts if made.atoms else ():
        taints, certain = taints | t.kept(part.taints), certain | t.kept(part.certain)
    return made.with_taints(taints, certain)


def _with(atoms: Sequence[Atom], choice: Choice, set_: bool) -> list[Value]:
    """Atoms where an option is set, or is not."""
    return [
        (atom.other if set_ else atom.default) if isinstance(atom, Choice) and atom.option == choice.option
        else value_of(atom)
        for atom in atoms
    ]  # fmt: skip


def _applied(function: Callable[..., object], atoms: Sequence[Atom], otherwise: Atom) -> frozenset[Atom]:
    """What a function makes of atoms: a constant, or a tuple of constants."""
    constants = [atom for atom in atoms if isinstance(atom, Constant) and atom.kind in _READ]
    if len(constants) == len(atoms):
        try:
            return frozenset((_made(function(*map(read, constants)), otherwise),))
        except _ERRORS:
            pass
    return frozenset((otherwise,))


def _made(value: object, otherwise: Atom) -> Atom:
    if isinstance(value, (str, bytes)) and len(value) > LONGEST:
        return otherwise
    if isinstance(value, (list, tuple)):
        return TupleOf(tuple(value_of(_made(each, NOT_NONE)) for each in value))
    if isinstance(value, int) and value.bit_length() > _LARGEST:
        return otherwise
    return constant(value) if value is None or isinstance(value, (bool, int, float, str, bytes)) else otherwise


def _power(base: Any, exponent: Any) -> object:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * max(exponent, 0) > _LARGEST:
        raise OverflowError
    return base**exponent


def _shifted(number: int, places: int) -> int:
    if places > _LARGEST:
        raise OverflowError
    return number << places


def _times(left: Any, right: Any) -> object:
    for text, count in ((left, right), (right, left)):
        if isinstance(text, (str, bytes)) and isinstance(count, int) and len(text) * count > LONGEST:
            raise OverflowError
    return left * right


OPERATORS: Mapping[str, Callable[..., object]] = {
    "+": op.add, "-": op.sub, "*": _times, "/": op.truediv, "//": op.floordiv, "%": op.mod, "**": _power,
    "<<": _shifted, ">>": op.rshift, "&": op.and_, "|": op.or_, "^": op.xor,
}  # fmt: skip
"""Those of two operands, but for comparisons."""
SIGNS: Mapping[str, Callable[..., object]] = {"-": op.neg, "+": op.pos, "~": op.invert}
"""Those of one operand."""
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": op.eq, "!=": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge,
    "in": lambda item, whole: item in whole, "not in": lambda item, whole: item not in whole,
}  # fmt: skip
"""Those that ask for what two constants are."""

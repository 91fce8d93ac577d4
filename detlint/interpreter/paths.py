"""Paths of `pathlib`: what they have, and what lies beneath them."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.domain.atoms import Atom, Bound, Choice, Instance, LibraryRef, PathTo
from detlint.domain.given import Given
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter import classes
from detlint.interpreter.frames import Frame
from detlint.interpreter.steps import CallStep

_KIND = "pathlib.Path"
_DIVIDE = "__truediv__"


def attribute(frame: Frame, path: PathTo, name: str) -> Value:
    """An attribute of a path: by its model, else a method."""
    for model in classes.models(frame, _KIND):
        if name in model.properties:
            return model.properties[name](CallStep(frame, -1), value_of(path), Given())
    return value_of(Bound(LibraryRef(f"{_KIND}.{name}"), path))


def beneath(frame: Frame, operator: str, operands: Sequence[Value]) -> tuple[Value, list[Value]]:
    """What lies beneath the paths that the first of two operands may be, and what is left of the operands."""
    if operator not in ("/", "/=") or len(operands) != 2 or not operands[1].atoms:
        return NOTHING, list(operands)
    left, right = operands
    atoms = frame.each(left)
    paths = [atom for atom in atoms if _is_path(atom)]
    if not paths:
        return NOTHING, list(operands)
    found = NOTHING
    for model in classes.models(frame, _KIND):
        found = model.methods[_DIVIDE](CallStep(frame, -1), left.of(paths), Given((right,)))
    return found, [left.of(atom for atom in atoms if atom not in paths), right]


def _is_path(atom: Atom) -> bool:
    """Whether an atom is a path, unless the user sets an option."""
    if isinstance(atom, Choice):
        return any(map(_is_path, atom.default.atoms))
    return isinstance(atom, PathTo) or (isinstance(atom, Instance) and atom.site.kind == LibraryRef(_KIND))

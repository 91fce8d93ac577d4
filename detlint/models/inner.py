"""What a value holds under a name: entries of dicts, and what the calls that made objects of libraries were given."""

from __future__ import annotations

from detlint.domain.atoms import NONE, Atom, Constant, Instance, LibraryRef
from detlint.domain.dicts import or_else
from detlint.domain.slots import Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, NULL, UNKNOWN, Value, under


def inner(step: Step, value: Value | None, name: str) -> Value:
    """What a value holds under a name: None where that is absent, unknown where nobody tells.

    Without a value it is the object whose method is called, and the name that of something that it has.
    """
    found = NOTHING
    if value is None:
        known = isinstance(step.receiver, Instance)
        return step.read(step.receiver, Attribute(name)) if known else UNKNOWN  # type: ignore[arg-type]
    for atom in step.each(value):
        found = step.join(found, _held(step, atom, name))
    return found


def _held(step: Step, atom: Atom, name: str) -> Value:
    if atom == NONE:
        return NULL
    entries = step.entries(atom)
    if entries is not None:
        return or_else(under(entries, Constant("str", name), step.join), NULL, step.join)
    if not isinstance(atom, Instance) or not isinstance(atom.site.kind, LibraryRef):
        return UNKNOWN
    given = step.kept(atom, name)
    return step.join(given, step.read(atom, Attribute(name))) if given.atoms else UNKNOWN

"""Lookups of names within a value: entries of dicts, and arguments of the calls that made objects of libraries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from detlint.link.state.mappings import entries, has_surely, is_mapping
from detlint.link.state.objects import HIDDEN, OPEN, Objects
from detlint.link.state.values import NONE, UNKNOWN, Atom, Constant, Library, Object, Value, constant, each, join
from detlint.semantics.values import UNKNOWN as NO_DEFAULT
from detlint.semantics.values import parse_signature


def inner(objects: Objects, signatures: Mapping[str, str], value: Value, names: list[str]) -> Value:
    """Return what a value holds under a name, what that holds under the next, and so on; None if one is absent."""
    slot = ".".join(names)
    owners = [atom for atom in value if isinstance(atom, Object) and slot in objects.slots(atom)]
    if len(names) > 1 and len(owners) == len(value):  # an attribute of a part of a library's object, set from outside
        return join(objects.slots(atom)[slot] for atom in owners)
    for name in names:
        value = join(_inner(objects, signatures, atom, name) for atom in each(value))
    return value


def _inner(objects: Objects, signatures: Mapping[str, str], atom: Atom, name: str) -> Value:
    if atom == Constant(None):
        return NONE
    if is_mapping(atom):
        held, slot = entries(objects, atom), f"[{name!r}]"
        rest = UNKNOWN if "[]" in held else frozenset()
        if slot not in held:
            return rest or NONE
        return held[slot] | rest if has_surely(objects, atom, slot) else held[slot] | rest | UNKNOWN
    if not isinstance(atom, Object) or atom.order == -1:
        return UNKNOWN
    if not isinstance(atom.kind, Library):
        return objects.attribute(atom, name) or UNKNOWN
    slots, kept = objects.slots(atom), f"({name})"
    rest = UNKNOWN if OPEN in slots else frozenset()
    if kept in slots:
        return slots[kept] | slots.get(name, frozenset()) | rest
    if HIDDEN in slots or "(0)" in slots:
        return UNKNOWN
    return (_defaults(signatures.get(atom.kind.name, "")).get(name) or UNKNOWN) | slots.get(name, frozenset()) | rest


@cache
def _defaults(signature: str) -> dict[str, Value]:
    """Return the parameters of a signature, with their default values."""
    parameters = parse_signature(signature)
    return {name: NONE if default is NO_DEFAULT else constant(default) for name, default, _ in parameters}

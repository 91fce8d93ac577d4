"""Kinds of items in a set: what decides the position of an item, and whether items can be sorted."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Kind(Enum):
    """What decides the position of an item in a set; several kinds of salted hashes, by what can be sorted."""

    TEXT = "text"  # a hash that is salted in each process: that of a `str`
    BYTES = "bytes"  # the same, of `bytes`
    PATH = "path"  # the same, of a path
    TUPLE = "tuple"  # the same, of a tuple; its parts can be compared with those of one from the same expression
    MIXED = "mixed"  # the same, of items that may or may not be comparable with the others
    APART = "apart"  # the same, of items that cannot be compared with the others
    IDENTITY = "identity"  # its address
    STABLE = "stable"  # a hash that is the same in each process
    UNKNOWN = "unknown"


ALIKE = frozenset((Kind.TEXT, Kind.BYTES, Kind.PATH, Kind.TUPLE))  # hashes are salted, and the items can be sorted
SALTED = ALIKE | {Kind.MIXED, Kind.APART}


def joined(kinds: Iterable[Kind]) -> Kind:
    """Return the kind of items of several kinds: one that varies beats an unknown one, and that a stable one."""
    given = list(kinds)
    found = set(given)
    if Kind.IDENTITY in found:
        return Kind.IDENTITY
    if found & SALTED:
        if found & {Kind.MIXED, Kind.UNKNOWN} or given.count(Kind.TUPLE) == len(given) > 1:
            return Kind.MIXED
        return found.pop() if len(found) == 1 else Kind.APART
    return Kind.UNKNOWN if Kind.UNKNOWN in found or not found else Kind.STABLE


def tuple_of(parts: Iterable[Kind]) -> Kind:
    """Return the kind of a tuple whose parts have these kinds."""
    found = set(parts)
    if Kind.IDENTITY in found or not found & SALTED:
        return joined(found or {Kind.STABLE})
    if Kind.APART in found:
        return Kind.APART
    return Kind.TUPLE if found <= ALIKE | {Kind.STABLE} else Kind.MIXED

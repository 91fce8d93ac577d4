"""Versions of libraries, and how tests of them come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any

from packaging.version import InvalidVersion, Version

from detlint.link.state.truth import EITHER, Truth
from detlint.link.state.values import Atom, Constant, Library, Value, each, join, only, single

_ATTRIBUTE = ".__version__"
_AS_VERSION = ".parsed"  # also where an attribute follows, as `base_version`
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def installed(distribution: str) -> Value:
    """Return the version, as a text, of a distribution that is installed."""
    return single(Library(f"{distribution}{_ATTRIBUTE}"))


def parsed(value: Value) -> Value:
    """Return a version that compares as one; texts that are written down stay as they are."""
    known = ((_library(atom), atom) for atom in each(value))
    return join(single(Library(f"{name}{_ATTRIBUTE}{_AS_VERSION}") if name else atom) for name, atom in known)


def compared(left: Value, operator: str, right: Value, torch: Version) -> Truth | None:
    """Return how a comparison of a library's version with a text comes out; None where it is no such comparison.

    `torch` is the version that is analysed. Any other library counts as current, and so as newer than what code names.
    """
    if operator not in _OPERATORS:
        return None
    if _library(only(right)):
        left, operator, right = right, FLIPPED[operator], left
    version, text = only(left), only(right)
    library, named = _library(version), text.value if isinstance(text, Constant) else None
    if not isinstance(version, Library) or not library or not isinstance(named, str):
        return None
    compares = _OPERATORS[operator]
    if version.name.endswith(_ATTRIBUTE):
        return _certain(compares(str(torch), named)) if library == "torch" else EITHER
    try:
        given = Version(named)
    except InvalidVersion:
        return EITHER
    return _certain(compares(torch, given) if library == "torch" else operator in (">", ">="))


def _library(atom: Atom | None) -> str:
    """Return the library whose version an atom is; "" if it is none."""
    name = atom.name if isinstance(atom, Library) and atom.receiver is None else ""
    library, _, rest = name.partition(_ATTRIBUTE)
    return library if name.endswith(_ATTRIBUTE) or rest.startswith(_AS_VERSION) else ""


def _certain(holds: bool) -> Truth:
    return Truth(holds, not holds)

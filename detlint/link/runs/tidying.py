"""Cleaning up what following programs leaves in the process: values and events of texts that no longer exist."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from detlint.link.language import evaluate, functions, passes
from detlint.link.libraries import loaders
from detlint.link.state import entropy, mappings, objects, records, truth, values
from detlint.programs import events
from detlint.support.interned import Interned

_MODULES: tuple[ModuleType, ...] = (records, events, values)  # what is made from the others comes first
_CACHED: tuple[Any, ...] = (
    entropy.entropy_in,
    evaluate._of_library,
    functions._has_variables,
    loaders._draws_of,
    mappings.key,
    objects.gives_method,
    objects.given_to,
    objects.within,
    objects._has_none,
    passes._makes,
    passes._begins,
    passes.trains,
    truth.truth,
    truth.is_none,
    truth._is_part,
    values.single,
    values.order,
    values._constant,
    values._ordered,
    values.widened,
)
_HELD = 3  # references to an unused object: from the table, from the code that looks at it, and from the count itself


def tidy() -> None:
    """Release the objects that only the tables of their classes hold. Call this while no program is followed. It does
    nothing unless references are counted, as in CPython.
    """
    if sys.implementation.name != "cpython":
        return
    for cached in _CACHED:
        cached.cache_clear()
    for module in _MODULES:
        kinds = {id(kind): kind for kind in vars(module).values() if isinstance(kind, Interned)}
        for kind in kinds.values():
            _let_go(kind._made)


def _let_go(made: dict[object, Any]) -> None:
    """Release the unused objects of a class, the last ones first, as these may be made from others."""
    keys = list(made)
    while keys:  # a finished key must not hold anything any more
        key = keys.pop()
        found = made[key]
        if sys.getrefcount(found) <= _HELD:
            del made[key]

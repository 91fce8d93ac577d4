"""Common parts of the roles of the table of programs: the signature of a role, and what several of them ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import UNKNOWN, Library, Object, Tuple, Value, Wrapped, each, join

if TYPE_CHECKING:
    from detlint.link.state.run import Run
else:
    Run = Any

Role = Callable[[Any, Row, Library, Arguments, Place], Value]


def items_of(run: Run, value: Value) -> Value:
    """Return the items of a value that can be read without iterating over it; unknown for others."""
    found = []
    for atom in each(value):
        if isinstance(atom, Wrapped):
            found.append(atom.items)
        elif isinstance(atom, Tuple):
            found.append(join(atom.items))
        elif isinstance(atom, Object):
            found.append(run.held(atom))
        else:
            found.append(UNKNOWN)
    return join(found)

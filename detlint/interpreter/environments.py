"""Variables and access paths: the keys of what a frame holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from detlint.domain.atoms import AllocationSite
from detlint.domain.slots import Cell
from detlint.domain.values import Value

Path = tuple[Any, ...]
"""An access path: the key of a variable, then slots."""
Key = str | Path
"""A variable (one of the module begins with a dot) or an access path."""
Environment = dict[Key, Value]
"""What variables and access paths hold; and under `own(key)`, which is no path, what of that was given here."""
OWN = "="


@dataclass
class Loop:
    """The variables where a loop is left, and where its next pass is begun, before its body ends."""

    breaks: list[Environment] = field(default_factory=list)
    continues: list[Environment] = field(default_factory=list)


def own(key: Key) -> Path:
    """Where an environment has what a key was given here."""
    return (OWN, key)


def begins(path: Path, key: Key) -> bool:
    """Whether an access path begins with a variable or with another path."""
    if isinstance(key, tuple):
        return path[: len(key)] == key
    return bool(path[0] == key)


def seen_as(cell: Cell) -> object:
    """What a write of a cell is known by to callers: a variable by its owner, another slot of whatever object."""
    return cell[1] if isinstance(cell[0], AllocationSite) else cell

"""Records of plain data, of which a run makes hundreds of thousands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen, slots, eq=True):
        """A dataclass that nobody changes: the type checker sees to it, for at run time that makes it twice as dear."""
        return dataclass(slots=slots, eq=eq, unsafe_hash=frozen and eq)


__all__ = ["record"]

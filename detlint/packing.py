"""Objects that processes hand to each other by the thousand."""

from __future__ import annotations

from typing import Any


class Packed:
    """The base of frozen dataclasses with slots that are pickled often.

    They are made anew from their fields: what dataclasses do of themselves asks for the names of all fields each time.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type[Packed], tuple[object, ...]]:
        kind: Any = type(self)
        return kind, tuple([getattr(self, name) for name in kind.__match_args__])

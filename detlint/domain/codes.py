"""Names for pieces of code that no edit elsewhere changes."""

from __future__ import annotations

from msgspec import Struct


class Code(Struct, frozen=True, order=True, tag=True, cache_hash=True, gc=False):
    """A numbered node of a function of a file; `node` is -1 for all of the function."""

    file: str
    function: str
    node: int


FAR = 10**7
"""More than a function has nodes: added to the node of what is made, it tells which item of a loop makes it."""

"""What functions do to generators, in order, as terms: a program's states are these terms, run."""

from __future__ import annotations

from msgspec import Struct

from detlint.domain.atoms import AllocationSite, Node, Option
from detlint.domain.codes import Code
from detlint.ir.nodes import Leaving

TORCH = "torch"
NUMPY = "numpy"
PYTHON = "python"
Stream = str | AllocationSite
"""Whatever draws: a global generator, by its library, or an object with one of its own."""
GENERATORS = (TORCH, NUMPY, PYTHON)
SEEDABLE = (*GENERATORS, "dgl")  # also those of other libraries, which nothing but a function of theirs seeds


class _Effect(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """What all effects share."""


class Draw(_Effect, frozen=True):
    """A draw from a stream."""

    stream: Stream
    code: Code


class Seed(_Effect, frozen=True):
    """Streams are seeded: with a value that is the same in each run, with entropy, or with either (None)."""

    streams: tuple[Stream, ...]
    code: Code
    fixed: bool | None = True


class Invoke(_Effect, frozen=True):
    """A call of one of `nodes`; of one that is found by its name only where it is a `guess`."""

    nodes: tuple[Node, ...]
    code: Code
    guess: bool = False


class Import(_Effect, frozen=True):
    """The top level of a file, at the first time in a program."""

    file: str


class Main(_Effect, frozen=True):
    """The `__main__` block, in the program that its file starts."""

    node: Node


class Branch(_Effect, frozen=True):
    """One of two arms: `body` where the user sets the option, with `set` False where not; without an option either."""

    option: Option | None
    set: bool
    body: Effects
    orelse: Effects


class Repeat(_Effect, frozen=True):
    """A loop's body, any number of times."""

    body: Effects


class Leave(_Effect, frozen=True):
    """The way ends: at the end of the function, of the loop ("break", "continue"), or at an error."""

    how: Leaving


Effect = Draw | Seed | Invoke | Import | Main | Branch | Repeat | Leave
Effects = tuple[Effect, ...]

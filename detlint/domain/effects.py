"""What functions do to generators, in order, as terms: a program's states are these terms, run."""

from __future__ import annotations

from typing import Literal

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
    """A draw from a stream: by `what`, which sets weights or is another library's own.

    It is `aside` where it decides nothing but the shape of an "example", as for tracing, or a "seed".
    """

    stream: Stream
    code: Code
    what: str = ""
    weights: bool = False
    of_library: bool = False
    aside: Literal["", "example", "seed"] = ""


class Seed(_Effect, frozen=True):
    """Streams are seeded by `what`: with a value that is the same in each run, with entropy, None, or who knows.

    `restores` for a state that was saved, `guessed` where nothing but the name of what is called says that it may seed.
    The seed `surely` comes of these `draws`, or may.
    """

    streams: tuple[Stream, ...]
    code: Code
    how: Literal["fixed", "entropy", "none", "unsure"] = "fixed"
    what: str = ""
    restores: bool = False
    guessed: bool = False
    draws: tuple[Code, ...] = ()
    surely: bool = True


class SetSwitch(_Effect, frozen=True):
    """A switch gets a word: see SWITCHES in `detlint.programs.events`."""

    name: str
    word: str
    code: Code


class Made(_Effect, frozen=True):
    """A loader is made, with or without a generator and a function that seeds its workers."""

    code: Code
    generator: bool
    worker_init: bool


class Mark(_Effect, frozen=True):
    """A step that says what the program is for ("trains", "restores"), or by which it is not well known ("unsure")."""

    kind: str
    code: Code


class Apart(_Effect, frozen=True):
    """What happens in another process, which begins as this one is: in a worker with `seeded` streams.

    `base` is what a loader draws to seed those, where anything in the body draws from them.
    """

    body: Effects
    seeded: tuple[Stream, ...] = ()
    base: Draw | None = None


class Spawn(_Effect, frozen=True):
    """A new process is started, which runs one of `nodes` from the beginning."""

    nodes: tuple[Node, ...]
    code: Code


class Restoring(_Effect, frozen=True):
    """A body after which streams are what they were before it; in it, switches have `within`."""

    streams: tuple[Stream, ...]
    body: Effects
    within: tuple[tuple[str, str], ...] = ()


class Scope(_Effect, frozen=True):
    """What a context manager does around a body: what leaves it goes on after that."""

    body: Effects


class Invoke(_Effect, frozen=True):
    """A call of one of `nodes`; of one that is found by its name only where it is a `guess`."""

    nodes: tuple[Node, ...]
    code: Code
    guess: bool = False


class Around(_Effect, frozen=True):
    """A generator function that manages a context: `body` happens where it yields."""

    call: Invoke
    body: Effects


class Yield(_Effect, frozen=True):
    """Where a generator function yields."""


class Import(_Effect, frozen=True):
    """The top level of a file, at the first time in a program."""

    file: str


class Main(_Effect, frozen=True):
    """The `__main__` block, in the program that its file starts."""

    node: Node


class Branch(_Effect, frozen=True):
    """One of two arms: `body` where the user sets the option, with `set` False where not; without an option either.

    `others` are options that decide as well. Where one is set it is either arm, unless that is `sure`.
    """

    option: Option | None
    set: bool
    body: Effects
    orelse: Effects
    sure: bool = True
    others: tuple[Option, ...] = ()


class Repeat(_Effect, frozen=True):
    """A loop's body, any number of times."""

    body: Effects


class Leave(_Effect, frozen=True):
    """The way ends: at the end of the function, of the loop ("break", "continue"), at an error, or of the program.

    An error is `caught` within a `try` that may take it.
    """

    how: Leaving | Literal["exit"]
    caught: bool = False


Effect = (
    Draw | Seed | SetSwitch | Made | Mark | Apart | Spawn | Restoring | Scope | Invoke | Around | Yield | Import | Main
    | Branch | Repeat | Leave
)  # fmt: skip
Effects = tuple[Effect, ...]

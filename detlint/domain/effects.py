"""What functions do to generators, in order, as terms: a program's states are these terms, run."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from detlint.domain.atoms import AllocationSite, Instance, Node, Option
from detlint.domain.codes import Code
from detlint.ir.nodes import Leaving

Stream = str | AllocationSite
"""Whatever draws: a global generator, by its library, or an object with one of its own."""

COPIES = frozenset(("forks", "copies", "asks"))
"""The kinds of launchers that run a function in a copy of the process, or in this one as if it were one."""


class _Effect(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """What all effects share."""


class Draw(_Effect, frozen=True):
    """A draw from a stream: by `what`, which sets weights, that may be `missing` alone, or is another library's own.

    It is `aside` where it decides nothing but the shape of an "example", as for tracing, or a "seed", and may happen
    or not `where` something says so that is not seen.
    """

    stream: Stream
    code: Code
    what: str = ""
    weights: bool = False
    of_library: bool = False
    aside: Literal["", "example", "seed"] = ""
    where: str = ""
    missing: bool = False


class Seed(_Effect, frozen=True):
    """Streams are seeded by `what`: with a value that is the same in each run, with entropy, None, or who knows.

    `restores` for a state that was saved, `guessed` where nothing but the name of what is called says that it may seed.
    The value of a fixed one may be `drawn` itself, in which case it is as good as these draws; `perhaps` of others.
    What puts back a state that was `saved` by some calls gives the word that the stream had there.
    """

    streams: tuple[Stream, ...]
    code: Code
    how: Literal["fixed", "entropy", "none", "unsure"] = "fixed"
    what: str = ""
    restores: bool = False
    guessed: bool = False
    drawn: tuple[Code, ...] = ()
    perhaps: tuple[Code, ...] = ()
    saved: tuple[Code, ...] = ()


class Save(_Effect, frozen=True):
    """The state of a stream is saved."""

    stream: Stream
    code: Code


class SetSwitch(_Effect, frozen=True):
    """A switch gets a word: see SWITCHES in `detlint.programs.events`."""

    name: str
    word: str
    code: Code


class Listed(_Effect, frozen=True):
    """A switch that lists names has another one, or has it no more where it is not `there`."""

    switch: str
    name: str
    there: bool = True


class Made(_Effect, frozen=True):
    """A loader is made, with or without a generator and a function that seeds its workers."""

    code: Code
    generator: bool
    worker_init: bool


class Mark(_Effect, frozen=True):
    """A step that says what the program is for ("trains", "restores"), or by which it is not well known ("unsure").

    The latter is a call of what is not known, and counts where a generator is unsure.
    """

    kind: str
    code: Code


class Apart(_Effect, frozen=True):
    """What happens in another process, which begins as this one is: in a worker with `seeded` streams.

    These are seeded as another is that they are `like`, and only `perhaps` where there may be no workers. `base` is
    what a loader draws to seed those, where anything in the body draws from them. Where the program has processes
    spawned, the body is what `spawned` starts. One that `forks` begins Python's own generator anew, from entropy.
    """

    body: Effects
    seeded: tuple[Stream, ...] = ()
    base: Draw | None = None
    like: str = ""
    perhaps: bool = False
    spawned: Spawn | None = None
    forks: bool = False


class Spawn(_Effect, frozen=True):
    """A new process is started, which runs one of `nodes` from the beginning, or that of an `actor` goes on to.

    One that is `pickled` is given the function itself if this is of the script, and imports none of that.
    """

    nodes: tuple[Node, ...]
    code: Code
    actor: Instance | None = None
    pickled: bool = False


class Later(_Effect, frozen=True):
    """What the program does when it ends: of several, the last one first."""

    body: Effects


class Restoring(_Effect, frozen=True):
    """A body after which streams are what they were before it; in it, switches have `within`."""

    streams: tuple[Stream, ...]
    body: Effects
    within: tuple[tuple[str, str], ...] = ()


class Scope(_Effect, frozen=True):
    """What a context manager does around a body: what leaves it goes on after that."""

    body: Effects


class Invoke(_Effect, frozen=True):
    """A call of one of `nodes`; of one that is found by its name only where it is a `guess`.

    With `beside` nothing in it counts that it does to global generators, of which the settings tell.
    """

    nodes: tuple[Node, ...]
    code: Code
    guess: bool = False
    beside: bool = False


class Dispatch(_Effect, frozen=True):
    """A call of one of several things; `several` where more than one of these are the project's."""

    arms: tuple[Effects, ...]
    code: Code
    several: bool


class Around(_Effect, frozen=True):
    """A generator function that manages a context: `body` happens where it yields."""

    call: Invoke
    body: Effects


class Enter(_Effect, frozen=True):
    """A generator function that manages a context runs up to where it yields, and leaves the context for later."""

    call: Invoke


class Yield(_Effect, frozen=True):
    """Where a generator function yields."""


class At(_Effect, frozen=True):
    """A call that somebody asks about: in which states do programs come there?"""

    code: Code


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


class First(_Effect, frozen=True):
    """What a function of `code` does where a program first gets there; later it does so or `orelse`."""

    code: Code
    body: Effects
    orelse: Effects


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
    Draw | Seed | Save | SetSwitch | Listed | Made | Mark | Apart | Spawn | Later | Restoring | Scope | Invoke
    | Dispatch | Around | Enter | Yield | At | Import | Main | Branch | First | Repeat | Leave
)  # fmt: skip
Effects = tuple[Effect, ...]

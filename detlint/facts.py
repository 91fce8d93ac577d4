"""What one file tells the others: the effects of its functions on the global generators, in program order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from detlint.finding import Place

GENERATORS = ("torch", "numpy", "python")
TOP = ""  # the name of a file's top level among its functions


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw from a global generator; `what` is the qualified name of the consumer."""

    generator: str
    what: str
    place: Place
    order: int


@dataclass(frozen=True, slots=True)
class Seed:
    """A call that seeds generators; `certain` is False for one that only looks like it."""

    generators: tuple[str, ...]
    what: str
    place: Place
    order: int
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a function, by qualified name, that may belong to the project."""

    target: str
    place: Place
    order: int


@dataclass(frozen=True, slots=True)
class Import:
    """An import of a module, whose top level then runs."""

    target: str
    order: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Exactly one of the arms runs."""

    arms: tuple[Effects, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """The body runs any number of times, none included."""

    body: Effects


@dataclass(frozen=True, slots=True)
class Exit:
    """The function is left here."""


Effect = Draw | Seed | Invoke | Import | Branch | Loop | Exit
Effects = tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one file: effects by qualified function name (TOP for its top level).

    `guarded` says whether it has a `__main__` block, `acts` whether its top level does more than define,
    `lasting` whether it trains, saves or reads a command line. `spawned` are the functions of the file that it starts
    new processes with.
    """

    module: str
    path: str
    functions: Mapping[str, Effects]
    guarded: bool
    acts: bool
    lasting: bool
    spawned: tuple[str, ...] = ()

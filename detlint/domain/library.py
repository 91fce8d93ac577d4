"""What a model of a library is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from detlint.domain.atoms import Instance
from detlint.domain.given import Given
from detlint.domain.step import Step
from detlint.domain.values import Value

Called = Callable[[Step, Given], Value]
Method = Callable[[Step, Value, Given], Value]
Hook = Callable[[Step, Instance, Given], Value]


class Class(Struct, frozen=True):
    """A class of a library.

    `made` runs where an object is made, `called` where it is called, `iterated` gives an item of it, `attribute` an
    attribute by name; `methods` get what they are called on. `bases` are classes whose model goes on where this ends.
    """

    name: str
    made: Hook | None = None
    called: Hook | None = None
    iterated: Hook | None = None
    attribute: Callable[[Step, Instance, str], Value | None] | None = None
    methods: Mapping[str, Method] = {}
    bases: tuple[str, ...] = ()


class Library(Struct, frozen=True):
    """The model of a library: what its functions and classes do, by names below `name`."""

    name: str
    functions: Mapping[str, Called] = {}
    classes: tuple[Class, ...] = ()

"""What a model of a library is made of, and what the interpreter asks of all models together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from detlint.domain.atoms import Instance
from detlint.domain.effects import Stream
from detlint.domain.given import Given
from detlint.domain.step import Step
from detlint.domain.values import Value

Called = Callable[[Step, Given], Value]
Method = Callable[[Step, Value, Given], Value]
FIELD = "dataclasses.field"
"""The class of what stands for a field in the body of a class, whichever library has it, where a factory makes it."""
Hook = Callable[[Step, Instance, Given], Value]


class Class(Struct, frozen=True):
    """A class of a library.

    `made` runs where an object is made, `called` where it is called, `iterated` gives an item of it, `attribute` an
    attribute by name, `part` what it may hold under a name besides; `methods` get what they are called on, `properties`
    what they are read of. `bases` are classes whose model goes on where this ends.
    """

    name: str
    made: Hook | None = None
    called: Hook | None = None
    iterated: Hook | None = None
    attribute: Callable[[Step, Instance, str], Value | None] | None = None
    part: Callable[[Step, Instance, str], Value] | None = None
    methods: Mapping[str, Method] = {}
    properties: Mapping[str, Method] = {}
    bases: tuple[str, ...] = ()


class Library(Struct, frozen=True):
    """The model of a library: what its functions and classes do, by names below `name`."""

    name: str
    functions: Mapping[str, Called] = {}
    classes: tuple[Class, ...] = ()


class Libraries(Protocol):
    """All that is known of libraries: their models, and the tables of facts.

    `step.owner` is what a method is called on, `step.receiver` the object among what that may be.
    """

    @property
    def functions(self) -> Mapping[str, Called]:
        """The functions of models, by qualified name."""
        ...

    @property
    def classes(self) -> Mapping[str, Class]:
        """The classes of models, by qualified name."""
        ...

    @property
    def decided(self) -> Mapping[str, frozenset[str | int]]:
        """The parameters that decide what something of a library does, by its last name: their names and places."""
        ...

    @property
    def deciding(self) -> frozenset[str]:
        """The constants that decide so, as texts."""
        ...

    @property
    def naming(self) -> frozenset[str]:
        """The last names of methods that give a command line an option."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """Every name that the tables speak of: what a star import can bring."""
        ...

    @property
    def packages(self) -> frozenset[str]:
        """The names of the packages that the tables speak of."""
        ...

    @property
    def followed(self) -> frozenset[str]:
        """The names of which settings tell what a call of theirs does to generators."""

    @property
    def wholes(self) -> Mapping[str, frozenset[str]]:
        """What the tables know as a whole, also where a project is the library that defines it: by last name."""
        ...

    @property
    def same_path(self) -> frozenset[str]:
        """The last names of functions and methods that give the path that they are given, in another form."""
        ...

    def canonical(self, name: str) -> str:
        """The one name of what can be imported from several places."""
        ...

    def has_method(self, name: str) -> bool:
        """Whether the tables speak of a method of a class, which may be that of a base of its."""
        ...

    def call(self, step: Step, name: str, given: Given) -> Value:
        """Call a function, a method or a class of a library, which no model speaks of."""
        ...

    def construct(self, step: Step, made: Instance, name: str, given: Given) -> None:
        """Run the constructor of a library's class on an object of a class that derives from it."""
        ...

    def call_object(self, step: Step, made: Instance, name: str, given: Given) -> Value | None:
        """Call an object of a library's class, or of one that derives from it; None where nothing is known of that."""
        ...

    def called(self, step: Step, made: Instance, given: Value) -> None:
        """Do what follows a call of an object, which gave something."""
        ...

    def iterate(self, step: Step, made: Instance, name: str) -> Value | None:
        """An item of such an object, and what going over it does; None where nothing is known of that."""
        ...

    def is_whole(self, made: Instance) -> bool:
        """Whether what is taken of an object stands for the object itself."""
        ...

    def get(self, step: Step, name: str) -> Value | None:
        """What a name of a library stands for, where that is more than the name."""
        ...

    def constant(self, name: str) -> Value | None:
        """The number or the object that a name of a library stands for, wherever a program runs."""
        ...

    def set(self, step: Step, name: str, value: Value) -> None:
        """Put a value in the place of something of a library, as a switch."""
        ...

    def context(self, step: Step, made: Instance, name: str) -> tuple[tuple[Stream, ...], tuple[tuple[str, str], ...]]:
        """The streams that a context puts back, and the switches that are set within it."""
        ...

    def leave(self, step: Step, made: Instance, name: str) -> None:
        """Leave a context of a library."""
        ...

    def decorates(self, name: str) -> bool:
        """Whether it is known what something of a library does as a decorator."""
        ...

    def given_to(self, kind: str, name: str) -> str:
        """The method of a name that decorators of libraries give to a "function" or a "type", if they do."""
        ...

    def takes_class(self, name: str) -> bool:
        """Whether a method of a library is given the class that it is taken from."""
        ...

    def seeds(self, name: str) -> bool:
        """Whether something of a library seeds a generator."""
        ...

    def is_of(self, name: str, kind: str) -> bool:
        """Whether the tables tell that a class is of a kind."""
        ...

    def is_configuration(self, name: str) -> bool:
        """Whether the objects of a class are nodes of a configuration, all fields of which a user may set."""
        ...

    def speaks_of(self, name: str) -> bool:
        """Whether the tables speak of something of a library, so that it has it."""
        ...

    def are_apart(self, name: str, other: str) -> bool:
        """Whether an object that was made of a class is certainly none of another."""
        ...

    def named(self, step: Step, method: str) -> None:
        """Call a method of what is not known: what its name says that it does."""
        ...

    def told_by_name(self, method: str) -> str:
        """The method of a library that one of a name is, whatever has it; "" for any other."""
        ...

    def call_unknown(self, step: Step, name: str, given: Given, *, method: bool) -> None:
        """Call something, or a `method`, of which nothing but the name is known: what that says that it does."""
        ...

    def call_given(self, step: Step, method: str, given: Given) -> None:
        """Perhaps call the functions that a method of something unknown is given; not one that tensors have."""
        ...

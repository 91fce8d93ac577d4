"""Abstract values, one by one: what a variable may refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from detlint.domain.codes import Code
from detlint.ir.nodes import Constant as Constant

if TYPE_CHECKING:
    from detlint.domain.values import Value


class _Atom(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """What all atoms share."""


class Unknown(_Atom, frozen=True):
    """Anything at all."""


class NotNone(_Atom, frozen=True):
    """Anything but None, and nothing that can be called."""


class Cut(_Atom, frozen=True):
    """More than is kept: anything that cannot be called, or where it `calls`, anything. It absorbs every such atom."""

    calls: bool = False


class LibraryRef(_Atom, frozen=True):
    """Something of a library, by qualified name."""

    name: str


class ModuleRef(_Atom, frozen=True):
    """A module of the project, by its file."""

    file: str


class ClassRef(_Atom, frozen=True):
    """A class of the project, by its file and qualified name."""

    file: str
    name: str


class FunctionRef(_Atom, frozen=True):
    """A function of the project; one within a function by the context in which that one was called."""

    file: str
    name: str
    within: Context | None = None


GIVEN = "="
"""Ends the name of an option that is a parameter of a function which something unknown may give."""


class Option(_Atom, frozen=True):
    """What the user of a program decides: an option of its command line; or what nobody knows, see GIVEN."""

    name: str
    code: Code

    @property
    def is_parameter(self) -> bool:
        """Whether it is a parameter that something unknown may give: none of both ways is the usual one then."""
        return self.name.endswith(GIVEN)


class Choice(_Atom, frozen=True):
    """`default` unless the user sets an option, else `other`."""

    option: Option
    default: Value
    other: Value


class AllocationSite(_Atom, frozen=True):
    """Where objects of a kind are made, in which context; without a code all of the kind. `empty` ones get no items.

    `part` tells the objects apart that one call makes, as those are that a document consists of.
    """

    kind: ClassRef | LibraryRef
    code: Code | None
    context: Context | None = None
    empty: bool = False
    part: str = ""


class Instance(_Atom, frozen=True):
    """The objects of a site; of a configuration object a version, by the assignment that made it."""

    site: AllocationSite
    version: Code | None = None


class TupleOf(_Atom, frozen=True):
    """A tuple that is written down."""

    items: tuple[Value, ...]


class DictOf(_Atom, frozen=True):
    """The entries of a dict by their keys, in their order, and what it may have under other keys.

    A `rest` that is nothing yet says that there may be other keys later, so that none is absent.
    """

    entries: tuple[tuple[Constant, Value], ...] = ()
    rest: Value | None = None


class Absent(_Atom, frozen=True):
    """What stands under a key that a dict does not have."""


class IteratorOver(_Atom, frozen=True):
    """A generator or another iterator, by its items; `rows` are these in their order, where they are told apart."""

    items: Value
    rows: tuple[Value, ...] = ()


class GeneratorCall(_Atom, frozen=True):
    """A call of a generator function, which does what it does where something goes over what it gives."""

    node: Node
    code: Code


class Bound(_Atom, frozen=True):
    """A method of a receiver."""

    function: FunctionRef | LibraryRef
    receiver: Atom


class Wrapped(_Atom, frozen=True):
    """A function behind `staticmethod`, `classmethod` or `property`; a property may have one that sets it.

    That of a partial call in a class is of the kind "partialmethod".
    """

    kind: Literal["staticmethod", "classmethod", "property", "partialmethod"]
    function: FunctionRef
    setter: FunctionRef | None = None


class PartialCall(_Atom, frozen=True):
    """A function with some of its arguments given, so many by position: the heap has them by the site."""

    function: Atom
    site: AllocationSite
    count: int
    keywords: tuple[str, ...]


class SuperOf(_Atom, frozen=True):
    """What `super()` gives in a method of a class."""

    klass: ClassRef
    receiver: Atom


class StateSnapshot(_Atom, frozen=True):
    """The state of a generator, saved by a call."""

    stream: str
    code: Code


class PathTo(_Atom, frozen=True):
    """A path of `pathlib`, by its text."""

    text: str


class Formal(_Atom, frozen=True):
    """Whatever the caller gave for a parameter."""

    name: str


Atom = (
    Unknown
    | NotNone
    | Cut
    | Constant
    | Choice
    | LibraryRef
    | ModuleRef
    | FunctionRef
    | ClassRef
    | Instance
    | TupleOf
    | DictOf
    | Absent
    | IteratorOver
    | GeneratorCall
    | Bound
    | Wrapped
    | PartialCall
    | SuperOf
    | StateSnapshot
    | PathTo
    | Formal
)
NONE = Constant("None")
TRUE = Constant("True")
FALSE = Constant("False")
UNKNOWN_ATOM = Unknown()
NOT_NONE = NotNone()
ABSENT = Absent()
CUT = Cut()
CUT_ALL = Cut(calls=True)
CALLABLE = (FunctionRef, ClassRef, LibraryRef, ModuleRef, Instance, Bound, Wrapped, PartialCall, SuperOf)
"""What chooses callees where it is called or asked for an attribute."""
CHOSEN = (Absent, Constant, NotNone, Unknown, ClassRef, FunctionRef, LibraryRef, PathTo)
"""What options choose between."""


class Context(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """What a call of a function is told apart by: its receiver, and a flat atom for some of its parameters."""

    receiver: Atom | None = None
    given: tuple[tuple[str, Atom | Option], ...] = ()


PLAIN = Context()


class Node(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """A function in a context: what is evaluated."""

    function: FunctionRef
    context: Context = PLAIN

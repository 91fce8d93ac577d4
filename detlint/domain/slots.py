"""Where a heap keeps values: the slots of objects, classes, modules and of the variables that functions share."""

from __future__ import annotations

from msgspec import Struct

from detlint.domain.atoms import PLAIN, AllocationSite, ClassRef, Context, FunctionRef, Instance, ModuleRef, Node
from detlint.ir.nodes import Constant


class _Slot(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """What all slots share."""


class Attribute(_Slot, frozen=True):
    """An attribute, or a variable of a module or class."""

    name: str


class Key(_Slot, frozen=True):
    """An item of a container under a constant key or at an index."""

    key: Constant


class AnyKey(_Slot, frozen=True):
    """An item under a key that is not known."""


class Items(_Slot, frozen=True):
    """All items of a container, whatever they are under."""


class Contents(_Slot, frozen=True):
    """What a container is made with: a list with items that are told apart, as a tuple; a dict with entries."""


class Keys(_Slot, frozen=True):
    """The keys under which a dict gets something later, and whether any may be absent later."""


class Captured(_Slot, frozen=True):
    """A variable of a function that functions within it share."""

    name: str


class Argument(_Slot, frozen=True):
    """The default of a parameter, or what a library's object was made with."""

    name: str


class Base(_Slot, frozen=True):
    """A base of a class; of a version of an object, what it was made from."""

    index: int


Slot = Attribute | Key | AnyKey | Items | Contents | Keys | Captured | Argument | Base
Owner = AllocationSite | Instance | ClassRef | ModuleRef | FunctionRef | Node
Cell = tuple[Owner, Slot]
ANY_KEY = AnyKey()
ITEMS = Items()
CONTENTS = Contents()
KEYS = Keys()
LOADED = Argument("")
"""What a module has once some program runs it."""
FILLED = Argument("filled")
"""Whether a container that is made of another surely has an item."""


def shared_cells(function: FunctionRef, context: Context | None, name: str) -> tuple[Cell, Cell]:
    """The cells of a variable that functions within a function share: in a context of that one, and in all."""
    return (Node(function, context or PLAIN), Captured(name)), (function, Captured(name))

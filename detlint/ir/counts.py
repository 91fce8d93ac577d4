"""What is counted in the text of a file, and what it shares with all nodes of the intermediate representation."""

from __future__ import annotations

from itertools import count

from msgspec import Struct

_NUMBERS = count()


class IrNode(Struct, frozen=True, tag=lambda _: next(_NUMBERS), gc=False, array_like=True, omit_defaults=True):
    """What all nodes share: they never change, and are packed as arrays that begin with the number of their kind."""


class Counts(IrNode, frozen=True):
    """How often the text of a file calls a name, uses it as a value and decorates with it; the attributes it stores.

    `spelled` are its texts that may be names of options, but for those of attributes that it only asks for, and the
    keywords of calls; `counting` the variables and attributes that are assigned anew from what they were; `imports`
    what it may import, at its top level or in a function: modules and names in them, each with its leading dots
    counted; `assigned` how often variables, and attributes after a dot, are given None or False, and how often
    something else.
    """

    called: dict[str, int]
    used: dict[str, int]
    decorating: dict[str, int]
    stored: tuple[str, ...]
    spelled: tuple[str, ...] = ()
    counting: tuple[str, ...] = ()
    imports: tuple[tuple[int, str], ...] = ()
    assigned: dict[str, tuple[int, int]] = {}

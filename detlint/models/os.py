"""os, os.path and glob: listings of directories come in the order of the file system."""

from __future__ import annotations

from detlint.domain import taints as t
from detlint.domain.atoms import NOT_NONE
from detlint.domain.given import Given
from detlint.domain.library import Library
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.taints import Taint
from detlint.domain.values import NOTHING, SOMETHING, Value, value_of


def listing(step: Step, given: Given) -> Value:
    """A new list of texts, in an order that the file system decides: see os.listdir in the library reference."""
    made = step.make("builtins.list")
    step.fill(made, ANY_KEY, SOMETHING)
    taints = frozenset((Taint("order", step.code, "sequence"),))
    return Value(frozenset((made,)), taints, taints)


def text(step: Step, given: Given) -> Value:
    """A text that is made of the arguments and nothing else: what differs in them differs in it."""
    found = NOTHING
    taints = certain = t.NONE
    for each in given.each:
        taints |= each.taints
        certain |= each.certain
    for each in given.each:
        found = step.join(found, value_of(NOT_NONE)) if each.atoms else found
    return Value(found.atoms, taints, certain) if found.atoms else found


LIBRARY = Library("os", {"listdir": listing, "scandir": listing})
GLOB = Library("glob", {"glob": listing, "iglob": listing})
PATH = Library("os.path", {"splitext": text})

"""Places where an arbitrary order comes to matter, or leaves the known code."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.questions import Carrier, Flow
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

LEAVING = frozenset(("returned", "yielded", "kept", "handed", "passed", "goes"))


@record(frozen=True, slots=True)
class Leak:
    """A place where an arbitrary order matters.

    `kind` says what the order decides: "numbers" of the items, "first": which item is taken, "position": which one is
    at an index, "paired": what `zip` pairs them with, "draws": which random numbers are drawn, "array", "writes",
    "dataset", "state": where items are in an array, a file, a data set or an optimizer's state, "sums": the order in
    which they are added up, "trains": the order in which a model learns from them, "alike": which of the items that a
    key ranks equal comes first, "ranked" if that is known to matter. Or it says how the value leaves the known code,
    its order unchanged: "returned", "yielded", "kept" in an attribute, "handed" to a method of self, "passed"
    elsewhere. `to` is where other files take it up; with the kind "goes" it leaves in no other way. The leak exists
    only if the functions that take the parameters in `through` return the value.
    """

    node: s.Node
    kind: str
    to: Carrier | None = None
    through: tuple[Carrier, ...] = ()


def sure(leaks: Iterable[Leak]) -> list[Leak]:
    """Return the leaks that do not depend on a function of another file."""
    return [leak for leak in leaks if not leak.through]


def carriers(leaks: Iterable[Leak]) -> tuple[Carrier, ...]:
    """Return what carries an order to other files."""
    return tuple(dict.fromkeys(leak.to for leak in sure(leaks) if leak.to is not None))


def given_back(module: Module, leaks: Iterable[Leak]) -> tuple[Flow, ...]:
    """Return what becomes of an order if functions of other files return it."""
    found = (
        Flow(each.through[0], module.place(each.node), each.kind, each.to, each.through)
        for each in leaks
        if each.through
    )
    return tuple(dict.fromkeys(found))


def elsewhere(module: Module, node: s.Node, use: s.Node, message: str) -> list[tuple[s.Node, str]]:
    """Return the note on a use to add to a finding at `node`; empty if both are on the same line."""
    return [] if module.place(use).line == module.place(node).line else [(use, message)]

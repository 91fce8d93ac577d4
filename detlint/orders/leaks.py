"""Places where an arbitrary order comes to matter, or leaves the code that is known."""

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

    `kind` says what the order decides: "numbers" of the items, "first": which item is taken, "position": which one
    stands at an index, "paired": what stands beside them in `zip`, "draws": what is drawn at random, "array",
    "writes", "dataset", "state": where items stand in an array, a file, a data set or an optimizer's state, "sums": the
    order in which they are added up, "trains": in which a model learns from them, "alike": which of those comes first
    that a key ranks alike, "ranked" where it is known to matter. Or it says how the value leaves the known code, its
    order as it is: "returned", "yielded", "kept" in an attribute, "handed" to a method of self, "passed" elsewhere.
    `to` is where other files take it up; of kind "goes" it leaves by that alone. It is so only if the functions that
    take the parameters `through` which it comes give them back.
    """

    node: s.Node
    kind: str
    to: Carrier | None = None
    through: tuple[Carrier, ...] = ()


def sure(leaks: Iterable[Leak]) -> list[Leak]:
    """Those that rest on no function of another file."""
    return [leak for leak in leaks if not leak.through]


def carriers(leaks: Iterable[Leak]) -> tuple[Carrier, ...]:
    """What carries an order to other files."""
    return tuple(dict.fromkeys(leak.to for leak in sure(leaks) if leak.to is not None))


def given_back(module: Module, leaks: Iterable[Leak]) -> tuple[Flow, ...]:
    """What becomes of an order if functions of other files give it back."""
    found = (
        Flow(each.through[0], module.place(each.node), each.kind, each.to, each.through)
        for each in leaks
        if each.through
    )
    return tuple(dict.fromkeys(found))


def elsewhere(module: Module, node: s.Node, use: s.Node, message: str) -> list[tuple[s.Node, str]]:
    """What to tell of a use beside a finding at `node`: nothing, if it stands on the same line."""
    return [] if module.place(use).line == module.place(node).line else [(use, message)]

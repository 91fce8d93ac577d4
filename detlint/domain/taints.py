"""What may differ between two runs of a program, as it rides on values."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from detlint.domain.codes import Code

Kind = Literal["order", "entropy", "drawn", "from", "filled"]
"""Where a difference comes from. "drawn" is a number of a generator, which differs where nothing seeds that.

"from" is whatever a parameter has; "filled" marks a container that got an item.
"""
Form = Literal["sequence", "item", "number"]
"""What differs: the order of a sequence, which item of it something is, or a number."""
FORMS: tuple[Form, ...] = get_args(Form)


class Taint(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """Something that may differ between runs: made at `source`, and of a parameter's taints, by its name.

    `was` is the form that a parameter's taint has where the function is entered.
    """

    kind: Kind
    source: Code | str
    form: Form
    was: Form | None = None


Taints = frozenset[Taint]
NONE: Taints = frozenset()
FILLED: Taints = frozenset((Taint("filled", "", "sequence"),))


def of_parameter(name: str) -> Taints:
    """The taints of a parameter that is not known yet: one of each form."""
    return frozenset(Taint("from", name, form, form) for form in FORMS)


def known(taints: Taints) -> Taints:
    """Those of which the source is known: a use of no others can be told."""
    return frozenset(taint for taint in taints if taint.source != "") if taints else taints


def items(taints: Taints) -> Taints:
    """The taints of an item of what has `taints`."""
    return _reformed(taints, "sequence", "item")


def gathered(taints: Taints) -> Taints:
    """The taints of a sequence to which what has `taints` is added, one after the other."""
    return _reformed(taints, "item", "sequence")


def ordered(taints: Taints) -> Taints:
    """The taints of a sequence that is put in an order of its own."""
    return frozenset(t for t in taints if t.form != "sequence") if taints else taints


def kept(taints: Taints) -> Taints:
    """The taints that an item of a container has itself: that of its position is the container's."""
    return frozenset(t for t in taints if t.form != "item") if taints else taints


def _reformed(taints: Taints, old: Form, new: Form) -> Taints:
    if not any(t.form == old for t in taints):
        return taints
    return frozenset(Taint(t.kind, t.source, new, t.was) if t.form == old else t for t in taints)


def filled_in(taints: Taints, given: dict[str, Taints]) -> Taints:
    """Taints with those of parameters replaced by what is `given` for these."""
    if not any(t.kind == "from" for t in taints):
        return taints
    found = set[Taint]()
    for taint in taints:
        if taint.kind == "from":
            had = given.get(str(taint.source), NONE)
            found.update(Taint(t.kind, t.source, taint.form, t.was) for t in had if t.form == taint.was)
        else:
            found.add(taint)
    return frozenset(found)

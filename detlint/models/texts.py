"""Methods of texts: what they make of those that are known, and of options at their defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import TupleOf
from detlint.domain.folding import folded
from detlint.domain.given import Given
from detlint.domain.step import Step
from detlint.domain.values import SOMETHING, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known, Role

_MOST_PARTS = 16  # of a text that is split
_WIDTH = re.compile(r"[0-9]{4}")  # after a colon, which would make a text too long


def changed(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a method of texts makes of one, and of its arguments."""
    text, given = _called(step, args.given)
    if given.keywords or given.open:
        return _differing(SOMETHING, step, args.given)
    method = getattr(str, name.rpartition(".")[2])
    splits: set[bool] = set()

    def change(text: object, *parts: object) -> object:
        found = method(text, *parts)
        if isinstance(found, list | tuple) and len(found) > _MOST_PARTS:
            raise ValueError
        splits.add(isinstance(found, list))
        return found

    found = folded(change, [text, *map(step.resolve, given.positional)])
    return _differing(_listed(step, found) if True in splits else found, step, args.given)


def formatted(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`text.format(...)`."""
    text, given = _called(step, args.given)
    names, count = tuple(given.keywords), len(given.positional)

    def put_in(text: object, *parts: object) -> object:
        if _WIDTH.search(str(text).partition(":")[2]):
            raise ValueError
        return str(text).format(*parts[:count], **dict(zip(names, parts[count:], strict=True)))

    found = SOMETHING if given.open else folded(put_in, [text, *map(step.resolve, given.each)])
    return _differing(found, step, args.given)


def _called(step: Step, given: Given) -> tuple[Value, Given]:
    """The text that a method is called on, and its arguments: the first of these is the text where it is a function."""
    if step.receiver is not None:
        return value_of(step.receiver), given
    return step.resolve(given.first), given.without_first()


def _listed(step: Step, value: Value) -> Value:
    """The list that a text is split into: of one way to split it one to which something may be added."""
    atoms = step.each(value)
    if len(atoms) != 1 or not isinstance(atoms[0], TupleOf):
        return value
    made = step.make("builtins.list")
    step.keep_rows(made, atoms[0].items)
    return value_of(made)


def _differing(found: Value, step: Step, given: Given) -> Value:
    """A text in which differs what differs in what it is made of."""
    taints, certain = step.owner.taints, step.owner.certain
    for each in given.each if found.atoms else ():
        taints, certain = taints | each.taints, certain | each.certain
    return found.with_taints(taints, certain) if found.atoms else found


ROLES: Mapping[str, Role] = {"text": changed, "formats": formatted}

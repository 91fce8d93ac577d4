"""What makes callables of others: methods, attributes and items that are looked up when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Constant, DictOf, Instance, LibraryRef, TupleOf
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.slots import Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known, Role


def later(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What calls a function with these arguments, as one, and with others."""
    packed = value_of(TupleOf(args.given.positional))
    return step.partial(value_of(LibraryRef(row.text("calls"))), Given((packed,), args.given.keywords))


def partial(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A function with some of its arguments given."""
    given = args.given
    return step.partial(given.first, Given(given.positional[1:], given.keywords, given.open))


def refers(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What gives its argument when it is called, or calls it with others."""
    called = value_of(LibraryRef(row.text("calls")))
    if row.text("given") == "all":
        return step.partial(called, args.given)
    return step.partial(called, Given((args.first(row.text("parameter")),)))


def method_called(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`methodcaller(name, ...)(owner)`."""
    names, owners = _names_and_owner(step, args.given)
    if not names:
        return UNKNOWN
    return step.call_with(_looked_up(step, names[0], owners), Given(names[1:], args.given.keywords))


def attributes_read(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`attrgetter(*names)(owner)`."""
    names, owners = _names_and_owner(step, args.given)
    return _one_or_all([_looked_up(step, each, owners) for each in names])


def items_read(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`itemgetter(*keys)(owner)`."""
    keys, owners = _names_and_owner(step, args.given)
    return _one_or_all([step.item(owners, key) for key in keys])


def _names_and_owner(step: Step, given: Given) -> tuple[tuple[Value, ...], Value]:
    names, owner = (*given.positional, UNKNOWN, UNKNOWN)[:2]
    return next((atom.items for atom in step.each(names) if isinstance(atom, TupleOf)), ()), owner


def _one_or_all(found: list[Value]) -> Value:
    if not all(value.atoms for value in found):
        return NOTHING
    return found[0] if len(found) == 1 else value_of(TupleOf(tuple(found)))


def _looked_up(step: Step, name: Value, owners: Value) -> Value:
    """The attribute of a name that may be dotted."""
    found = NOTHING
    for atom in step.each(name):
        if isinstance(atom, Constant) and atom.kind == "str":
            found = step.join(found, reduce(step.attribute, atom.value.split("."), owners))
        else:
            found = step.join(found, UNKNOWN)
    return found


def signature(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What tells the parameters of a function or of a class by name."""
    found = NOTHING
    for atom in step.each(args.given.first):
        names = step.parameters(atom)
        if names is None:
            found = step.join(found, UNKNOWN)
            continue
        made = step.make(row.text("gives"))
        told = step.make_dict(DictOf(tuple((Constant("str", each), SOMETHING) for each in names)))
        for each in row.list("tables"):
            step.fill(made, Attribute(each), told)
        found = step.join(found, value_of(made))
    return found


def _table(step: Step, made: Instance, name: str) -> Value | None:
    """What a signature holds besides tables of parameters is not known."""
    return None if step.read(made, Attribute(name)).atoms else UNKNOWN


INSPECT = Library("inspect", classes=tuple(Class(name, attribute=_table) for name in ("Signature", "FullArgSpec")))
ROLES: Mapping[str, Role] = {
    "signature": signature, "later": later, "partial": partial, "refers": refers, "method-called": method_called,
    "attributes-read": attributes_read, "items-read": items_read,
}  # fmt: skip

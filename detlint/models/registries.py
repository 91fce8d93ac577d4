"""Registries of libraries: what functions and classes are kept in, most by a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, Bound, ClassRef, Constant, FunctionRef, Instance, LibraryRef, PartialCall
from detlint.domain.given import Given
from detlint.domain.slots import ANY_KEY, ITEMS, Key, Slot
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, Value, value_of
from detlint.models.arguments import Arguments
from detlint.models.holders import FIRST

if TYPE_CHECKING:
    from detlint.models.known import Known, Role

_KEPT = (FunctionRef, ClassRef, PartialCall)


def registers(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A decorator that adds to a registry, itself made by a call or not."""
    given = args.given
    made = [value for value in given.each if any(isinstance(atom, _KEPT) for atom in step.each(value))]
    rest = [value for value in given.positional if value not in made]
    key = given.keywords.get("name", rest[0] if rest else None)
    if not made:
        function: Atom = LibraryRef(name)
        if step.receiver is not None:
            function = Bound(LibraryRef(name), step.receiver)
        named = {} if key is None or not row.text("keyed") else {"name": key}
        return step.partial(value_of(function), Given((), named))
    for owner in _owners(step):
        for atom in (atom for value in made for atom in step.each(value)):
            for slot in _slots(step, atom, key) if row.text("keyed") else [FIRST if row.text("first") else ANY_KEY]:
                step.fill(owner, slot, value_of(atom))
    return made[0]


def _owners(step: Step) -> list[Instance]:
    """The registries that a method is called on."""
    atoms = [step.receiver] if step.receiver is not None else step.each(step.owner)
    return [atom for atom in atoms if isinstance(atom, Instance)]


def _slots(step: Step, atom: Atom, key: Value | None) -> list[Slot]:
    """Where a registry keeps something: by the name that it is given, else by its own."""
    names = step.attribute(value_of(atom), "__name__") if key is None else key
    found = step.each(names)
    if any(isinstance(each, Constant) and each.kind == "None" for each in found):
        return _slots(step, atom, None)
    return [Key(each) if isinstance(each, Constant) else ANY_KEY for each in found]


def builds(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a registry makes by the name that a configuration gives."""
    found = NOTHING
    for owner in _owners(step):
        found = step.join(found, step.call_with(step.read(owner, ITEMS), Given(open=True)))
    return found


def gets(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What a registry has under a name."""
    return step.by_key(args.given.first, lambda key: _under(step, key))


def _under(step: Step, key: Value) -> Value:
    found = NOTHING
    for owner in _owners(step):
        for atom in step.each(key):
            if isinstance(atom, Constant):
                found = step.join(found, step.join(step.read(owner, Key(atom)), step.read(owner, ANY_KEY)))
            else:
                found = step.join(found, step.read(owner, ITEMS))
    return found


ROLES: Mapping[str, Role] = {"registers": registers, "builds": builds, "gets": gets}

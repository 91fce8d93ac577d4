"""Fields of classes: their defaults and what makes these, and what lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, ClassRef, Constant, Instance, LibraryRef, TupleOf
from detlint.domain.given import Given
from detlint.domain.library import FIELD, Class, Library
from detlint.domain.slots import Argument, Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

_MISSING = LibraryRef("dataclasses.MISSING")

if TYPE_CHECKING:
    from detlint.models.known import Known


def field(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """What the body of a class has for a field: its default, or what stands for a factory."""
    default = args.given.value("default", 0)
    if default is not None:
        return SOMETHING if default == value_of(Constant("...")) else default
    made = step.make(FIELD)
    factories = [args.given.keywords[each] for each in ("default_factory", "factory") if each in args.given.keywords]
    for factory in factories:
        step.fill(made, Argument("factory"), factory)
    return value_of(made) if factories else UNKNOWN


def listed(step: Step, given: Given) -> Value:
    """The fields of a class, or of that of an object, in their order."""
    found = NOTHING
    for atom in step.each(given.first):
        klass = atom.site.kind if isinstance(atom, Instance) else atom
        names = step.parameters(klass) if isinstance(klass, ClassRef) else None
        if names is None or not isinstance(klass, ClassRef):
            found = step.join(found, UNKNOWN)
            continue
        held = step.fields(klass)
        fields = tuple(_listed(step, name, step.each(held.get(name, value_of(_MISSING)))) for name in names)
        found = step.join(found, value_of(TupleOf(fields)))
    return found


def _listed(step: Step, name: str, held: list[Atom]) -> Value:
    """One field: its name, and its default or what makes one."""
    made = step.make("dataclasses.Field", part=f":{name}")
    step.fill(made, Attribute("name"), value_of(Constant("str", name)))
    for atom in held:
        factory = isinstance(atom, Instance) and atom.site.kind == LibraryRef(FIELD)
        maker = step.read(atom, Argument("factory")) if factory and isinstance(atom, Instance) else value_of(_MISSING)
        step.fill(made, Attribute("default"), value_of(_MISSING if factory else atom))
        step.fill(made, Attribute("default_factory"), maker)
    return value_of(made)


def _part(step: Step, made: Instance, name: str) -> Value | None:
    """What a field has besides is not known."""
    return None if step.read(made, Attribute(name)).atoms else UNKNOWN


LIBRARY = Library("dataclasses", {"fields": listed}, (Class("Field", attribute=_part),))

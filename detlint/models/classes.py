"""Classes as values: made by calls, called by their metaclass, and what has attributes by names that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, Choice, ClassRef, Constant, Instance, LibraryRef, TupleOf
from detlint.domain.dicts import or_else, present
from detlint.domain.outcomes import EITHER, FAILS, HOLDS, NEVER, Outcome, chosen, either, told
from detlint.domain.slots import ANY_KEY, ITEMS
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, NULL, SOMETHING, UNKNOWN, Value, under, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

_LEFT_OUT = LibraryRef("argparse.SUPPRESS")
_DICT = LibraryRef("builtins.dict")
_PARTS = 3  # of `type(name, bases, attributes)`, and of a field that is listed


def allocated(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A new object of a class, which nothing initialises yet."""
    found = NOTHING
    for atom in step.each(args.given.first):
        found = step.join(found, value_of(step.allocate(atom)) if isinstance(atom, ClassRef) else UNKNOWN)
    return found


def instantiated(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An object of a class, made as `type` does."""
    given = args.given
    rest = given.without_first()
    found = NOTHING
    for atom in step.each(given.first):
        found = step.join(found, step.instantiate(atom, rest) if isinstance(atom, ClassRef) else UNKNOWN)
    return found


def kind_of(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The class of an object, or a new one of a name, bases and attributes."""
    given = args.given.positional
    if len(given) == _PARTS:
        return step.define(given[1], lambda name: _held(step, given[2], name))
    found = NOTHING
    for atom in step.each(args.given.first):
        found = step.join(found, value_of(atom.site.kind) if isinstance(atom, Instance) else UNKNOWN)
    return found


def _held(step: Step, mapping: Value, name: str) -> Value:
    """What a dict has under a name."""
    held = step.mapping(mapping)
    return NOTHING if held is None else present(under(held, Constant("str", name), step.join))


def of_fields(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A class whose fields are listed, by name, type and default."""
    listed = args.given.positional[1] if len(args.given.positional) > 1 else UNKNOWN

    def default(name: str) -> Value:
        found = NOTHING
        for atom in step.each(listed):
            items = step.read(atom, ITEMS) if isinstance(atom, Instance) else value_of(atom)
            for item in step.each(items):
                parts = item.items if isinstance(item, TupleOf) else ()
                if len(parts) == _PARTS and Constant("str", name) in step.each(parts[0]):
                    found = step.join(found, parts[_PARTS - 1])
        return found

    return step.define(NOTHING, default)


def named_tuple(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A class of tuples whose items have names."""
    return step.define(value_of(LibraryRef("typing.NamedTuple")), lambda name: NOTHING)


def derived(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A list of the classes that derive from one."""
    made = step.make("builtins.list")
    if isinstance(step.receiver, ClassRef):
        step.fill(made, ANY_KEY, step.derived(step.receiver))
    return value_of(made)


def replaced(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Copies of objects of classes of fields, in which some fields are others."""
    given = args.given
    owner = value_of(step.receiver) if step.receiver is not None else given.first
    found = NOTHING
    for atom in step.each(owner):
        own = isinstance(atom, Instance) and isinstance(atom.site.kind, ClassRef)
        copied = step.copied(atom, given.keywords) if own and isinstance(atom, Instance) else UNKNOWN
        found = step.join(found, copied)
    return found


def got(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """The attribute of a name, or the default where the object may lack it."""
    given = args.given.positional
    if len(given) < 2:
        return UNKNOWN

    def look_up(names: Value) -> Value:
        found = NOTHING
        for atom in step.each(names):
            if isinstance(atom, Constant) and atom.kind == "str":
                for owner in step.each(given[0]):
                    found = step.join(found, _got(step, given[0].of((owner,)), atom.value, given[2:]))
            else:
                found = step.join(found, UNKNOWN)
        return found

    return step.by_key(given[1], look_up)


def _got(step: Step, owner: Value, name: str, default: tuple[Value, ...]) -> Value:
    """An attribute, or the default where the owner may lack it."""
    outcome, found = step.has(owner, name), NOTHING
    if outcome.may_hold:
        found = step.attribute(owner, name)
    else:
        for atom in owner.atoms:
            if isinstance(atom, Instance) and _is_of_library(atom):  # who made it may have given it
                found = step.join(found, step.read(atom, ANY_KEY) if default else UNKNOWN)
    held = step.mapping(owner) if any(map(_shows_entries, owner.atoms)) and not hasattr(dict, name) else None
    if default and held is not None:
        return or_else(under(held, Constant("str", name), step.join), default[0], step.join)
    return step.join(found, default[0]) if default and outcome.may_fail else found


def _is_of_library(atom: Instance) -> bool:
    """Whether an object is of a library's class, which says what it has; a dict has its entries."""
    return isinstance(atom.site.kind, LibraryRef) and atom.site.kind != _DICT


def _shows_entries(atom: Atom) -> bool:
    """Whether an atom is a dict, whose entries are its attributes where it has any."""
    return isinstance(atom, Instance) and atom.site.kind == _DICT


def has(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """Whether an object has an attribute."""
    given = args.given.positional
    found = NOTHING
    for atom in step.each(given[1]) if len(given) > 1 else ():
        if not isinstance(atom, Constant) or atom.kind != "str":
            return SOMETHING
        for owner in step.each(given[0]):
            found = step.join(found, told(_has(step, given[0].of((owner,)), owner, atom.value)))
    return found


def _has(step: Step, value: Value, owner: Atom, name: str) -> Outcome:
    """Whether an owner has an attribute: an option that is left out where the user does not set it, if set."""
    outcome = step.has(value, name)
    if outcome != HOLDS or not isinstance(owner, Instance) or isinstance(owner.site.kind, ClassRef):
        return outcome
    outcomes = []
    for atom in step.each(step.attribute(value, name)):
        if isinstance(atom, Choice):
            outcomes.append(chosen(atom, FAILS, HOLDS) if _LEFT_OUT in atom.default.atoms else HOLDS)
        else:
            outcomes.append(EITHER if atom == _LEFT_OUT else HOLDS)
    return either(outcomes) if outcomes else NEVER


def put(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An attribute of a name is set."""
    given = args.given.positional
    if len(given) == _PARTS:
        names = step.each(given[1])
        for atom in names:
            text = atom.value if isinstance(atom, Constant) and atom.kind == "str" else ""
            step.put(given[0], text, given[2], sure=bool(text) and len(names) == 1)
    return NULL

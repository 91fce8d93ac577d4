"""Dicts and other mappings: how they are made, and their methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import NONE, Atom, Constant, DictOf, Instance, IteratorOver, LibraryRef, ModuleRef, TupleOf
from detlint.domain.dicts import laid, or_else, present, put, put_anywhere, put_under, shown
from detlint.domain.given import Given
from detlint.domain.library import Class, Library
from detlint.domain.slots import ITEMS
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, NULL, SOMETHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known, Role

# How they are made


def made(step: Step, given: Given) -> Value:
    """A dict of a mapping or of pairs, and of keywords; a mapping that is given alone is copied."""
    if given.positional and not given.keywords and not given.open:
        return copied(step.on_argument(0), given.first)
    held = _held(step, given, DictOf())
    return NOTHING if held is None else _ordered_as(step.make_dict(held), given.positional)


def _held(step: Step, given: Given, begun: DictOf) -> DictOf | None:
    """The entries of what a dict is made of; None where that is nothing yet."""
    held = begun
    for place, value in enumerate(given.positional):
        more = _pairs_of(step, value, place)
        if more is None:
            return None
        held = laid(held, more, step.join)
    for name, value in given.keywords.items():
        held = put(held, Constant("str", name), value)
    if given.positional:
        held = laid(held, DictOf(), step.join)
    return put_anywhere(held, UNKNOWN, step.join) if given.open else held


def _pairs_of(step: Step, value: Value, place: int = -1) -> DictOf | None:
    """The entries of mappings, or of pairs of a key and a value; None where these are nothing yet."""
    found = NOTHING
    for atom in step.each(value):
        own = step.entries(atom) is not None
        held = step.mapping(value.of((atom,)), place) if own else _paired(step, atom)
        if held is None:
            return None
        found = step.join(found, value_of(held))
    return next((atom for atom in found.atoms if isinstance(atom, DictOf)), None)


def _paired(step: Step, atom: Atom) -> DictOf | None:
    """The entries of what gives pairs."""
    held, turns = DictOf(), step.turns(atom)
    for pair in turns.items:
        key, item = (step.item(pair, value_of(Constant("int", str(index)))) for index in (0, 1))
        if not key.atoms:
            return None
        held = put_under(held, step.keys(key), item, step.join)
    if turns.rest.atoms:
        held = put_anywhere(held, step.item(turns.rest, value_of(Constant("int", "1"))), step.join)
    return held


def copied(step: Step, value: Value) -> Value:
    """Another container of the same items: of each dict another dict, of which something may be taken out."""
    found = NOTHING
    for atom in step.each(value):
        held = step.entries(atom) if isinstance(atom, Instance) else None
        if held is None and isinstance(atom, Constant):
            continue
        if held is None:
            held = _paired(step, atom)
        if held is not None:
            found = step.join(found, step.make_dict(held, atom))
    return _ordered_as(found, (value,))


def _ordered_as(made: Value, parts: tuple[Value, ...]) -> Value:
    """A dict with what differs in the order of what it is made of."""
    taints, certain = made.taints, made.certain
    for part in parts if made.atoms else ():
        taints, certain = taints | part.taints, certain | part.certain
    return made.with_taints(taints, certain)


def copy(step: Step, given: Given) -> Value:
    """What `copy` makes: of a dict another one, of anything else what there is."""
    found = NOTHING
    for atom in step.each(given.first):
        held = step.on_argument(0).entries(atom)
        if held is not None and isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = step.join(found, step.make_dict(held, atom))
        else:
            found = step.join(found, given.first.of((atom,)))
    return found.with_taints(given.first.taints, given.first.certain)


def with_default(step: Step, given: Given) -> Value:
    """A dict that has what a factory makes under each key that it was not given."""
    factory = given.first
    held = _held(step, Given(given.positional[1:], given.keywords, given.open), DictOf())
    if held is None:
        return NOTHING
    none = all(atom == NONE for atom in step.each(factory))
    return step.make_dict(held if none else put_anywhere(held, step.call(factory), step.join))


def chained(step: Step, given: Given) -> Value:
    """A mapping of several, which shows an entry of the first one that has it."""
    held = DictOf()
    for place, value in reversed(list(enumerate(given.positional))):
        more = step.mapping(value, place)
        if more is None:
            return NOTHING
        held = laid(held, more, step.join)
    return step.make_dict(put_anywhere(held, UNKNOWN, step.join) if given.open else held)


def counter(step: Step, given: Given) -> Value:
    """A dict of numbers."""
    for value in given.positional:
        step.iterate(value)
    return step.make_dict(DictOf((), SOMETHING))


def from_keys(step: Step, owner: Value, given: Given) -> Value:
    """A dict that has one value under each of some keys."""
    value = given.value("value", 1)
    held = DictOf()
    for atom in step.each(given.first):
        turns = step.turns(atom)
        for key in turns.items:
            held = put_under(held, step.keys(key), NULL if value is None else value, step.join)
        if turns.rest.atoms:
            held = put_anywhere(held, NULL if value is None else value, step.join)
    return step.make_dict(held)


# Their methods


def _owners(step: Step, owner: Value) -> list[Instance | ModuleRef]:
    """The dicts that a method is called on; a module is shown as one."""
    atoms = [step.receiver] if step.receiver is not None else step.each(owner)
    return [atom for atom in atoms if isinstance(atom, (Instance, ModuleRef))]


def got(step: Step, owner: Value, given: Given) -> Value:
    """What a dict has under a key, or the default."""
    default = given.value("default", 1)
    found = NOTHING
    for atom in _owners(step, owner):
        held = step.entry(atom, given.first)
        found = step.join(found, or_else(held, NULL if default is None else default, step.join))
    return found


def popped(step: Step, owner: Value, given: Given) -> Value:
    """What a dict has under a key, or the default; it is there no more."""
    default = given.value("default", 1)
    found = NOTHING
    for atom in _owners(step, owner):
        held = step.entry(atom, given.first)
        found = step.join(found, present(held) if default is None else or_else(held, default, step.join))
    step.take(given.first)
    return found


def popped_last(step: Step, owner: Value, given: Given) -> Value:
    """An entry of a dict, which is there no more."""
    step.take(UNKNOWN)
    return UNKNOWN


def got_or_put(step: Step, owner: Value, given: Given) -> Value:
    """What a dict has under a key, or else the default, which it has from there on."""
    default = given.value("default", 1) or NULL
    found = NOTHING
    for atom in _owners(step, owner):
        found = step.join(found, or_else(step.entry(atom, given.first), default, step.join))
    step.store(given.first, found)
    return found


def updated(step: Step, owner: Value, given: Given) -> Value:
    """A dict takes over the entries of another."""
    held = _held(step, given, DictOf())
    for key, value in held.entries if held is not None else ():
        step.store(value_of(key), value)
    if held is not None and held.rest is not None:
        step.store(UNKNOWN, held.rest)
    return NULL


def item(step: Step, owner: Value, given: Given) -> Value:
    """What a dict itself has under a key."""
    found = NOTHING
    for atom in _owners(step, owner):
        found = step.join(found, present(step.entry(atom, given.first)))
    return found


def put_item(step: Step, owner: Value, given: Given) -> Value:
    """A dict gets an entry."""
    if len(given.positional) > 1:
        step.store(given.first, given.positional[1])
    return NULL


def pairs(step: Step, owner: Value, given: Given) -> Value:
    """The keys and values."""
    return _listed(step, owner, lambda key, value: value_of(TupleOf((key, value))))


def keys(step: Step, owner: Value, given: Given) -> Value:
    """The keys."""
    return _listed(step, owner, lambda key, value: key)


def values(step: Step, owner: Value, given: Given) -> Value:
    """The values."""
    return _listed(step, owner, lambda key, value: value)


def _listed(step: Step, owner: Value, show: Callable[[Value, Value], Value]) -> Value:
    """What a view of a dict shows, one after the other."""
    atoms: set[Atom] = set()
    for atom in _owners(step, owner):
        held = step.entries(atom)
        if held is None:
            continue
        rows = tuple(show(shown(key), present(value)) for key, value in held.entries)
        if isinstance(atom, ModuleRef):
            items = show(SOMETHING, reduce(step.join, (value for _, value in held.entries), NOTHING))
        else:
            items = show(SOMETHING, step.read(atom, ITEMS))
        atoms.add(IteratorOver(items, rows))
        if held.rest is not None and held.rest.atoms:
            atoms.add(IteratorOver(items))
    return Value(frozenset(atoms), owner.taints, owner.certain)


def cleared(step: Step, owner: Value, given: Given) -> Value:
    """All that was in it is gone."""
    step.empty()
    return NULL


def copy_of(step: Step, owner: Value, given: Given) -> Value:
    """Another dict of the same items."""
    return copied(step, owner.of(_owners(step, owner)))


_METHODS = {
    "get": got, "pop": popped, "setdefault": got_or_put, "update": updated, "items": pairs, "keys": keys,
    "values": values, "clear": cleared, "copy": copy_of, "__getitem__": item, "__setitem__": put_item,
    "fromkeys": from_keys, "popitem": popped_last,
}  # fmt: skip


def begun(step: Step, made: Instance, given: Given) -> Value:
    """An object of a class that derives from a dict has what that is made of."""
    held = _held(step, given, DictOf())
    if held is not None:
        step.begin(made, held)
    return value_of(made)


# What else is shown as one


def attributes(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`vars(owner)`: the attributes of an object as they are now, without one the variables of the function."""
    if not args.given.positional:
        return variables(known, step, row, name, args)
    found = NOTHING
    for atom in step.each(args.given.first):
        held = step.shown(atom)
        other = value_of(atom) if isinstance(atom, ModuleRef) else UNKNOWN
        found = step.join(found, other if held is None else step.make_dict(held, atom))
    return found


def variables(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`locals()`: of a top level the module."""
    held = step.local_variables()
    return value_of(step.file) if held is None else step.make_dict(held)


def names(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """`globals()`: the module, which has the names."""
    return value_of(step.file)


ROLES: Mapping[str, Role] = {"vars": attributes, "as-dict": attributes, "locals": variables, "globals": names}
LIBRARY = Library("builtins", {"dict": made}, (Class("dict", made=begun, methods=_METHODS),))
COLLECTIONS = Library(
    "collections",
    {
        "OrderedDict": made, "UserDict": made, "defaultdict": with_default, "ChainMap": chained, "Counter": counter,
    },
    tuple(Class(name, bases=("builtins.dict",)) for name in ("OrderedDict", "UserDict", "defaultdict", "Counter")),
)  # fmt: skip
COPY = Library("copy", {"copy": copy, "deepcopy": copy})

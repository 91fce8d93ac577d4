"""Containers: the slots of their items, and the taints that items have by their positions."""

from __future__ import annotations

from detlint.domain import taints as t
from detlint.domain.atoms import ABSENT, Atom, Constant, DictOf, Instance, IteratorOver, LibraryRef, TupleOf
from detlint.domain.outcomes import EITHER, Outcome
from detlint.domain.slots import ANY_KEY, CONTENTS, ITEMS, Key, Slot
from detlint.domain.values import NOTHING, Value, is_member, told, value_of
from detlint.interpreter import classes
from detlint.interpreter.frames import Frame

MAPPING = LibraryRef("builtins.dict")


def is_container(kind: LibraryRef) -> bool:
    """Whether the heap has the items of a kind of object: a list, a set, a tuple or a dict."""
    return kind.name.startswith("builtins.") and kind.name.islower()


def slots_of(frame: Frame, key: Value) -> list[Slot]:
    """The slots of an item under a key: one for each that it may be."""
    found: dict[Slot, None] = {}
    for atom in frame.each(key):
        if is_member(atom):
            atom = Constant("...", told(atom))
        found[Key(atom) if isinstance(atom, Constant) else ANY_KEY] = None
    return list(found)


def at(frame: Frame, value: Value, index: int | None) -> Value:
    """The item at an index; without one, any."""
    resolved = frame.resolve(value)
    found = NOTHING
    for atom in frame.each(resolved):
        if isinstance(atom, TupleOf) and index is not None:
            found = frame.join(found, atom.items[index] if index < len(atom.items) else NOTHING)
        elif isinstance(atom, IteratorOver) and atom.rows and index is not None:
            found = frame.join(found, atom.rows[index] if index < len(atom.rows) else NOTHING)
        elif index is not None and isinstance(atom, Instance) and classes.is_named_tuple(frame, atom):
            found = frame.join(found, frame.read((atom.site, Key(Constant("int", str(index))))))
        elif index is not None and isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
            found = frame.join(found, keyed(frame, atom, Key(Constant("int", str(index)))))
        else:
            found = frame.join(found, frame.tables.iterate(frame, value_of(atom)))
    return tainted(found, value)


def tainted(item: Value, container: Value) -> Value:
    """An item with the taints that it has by its position in a container."""
    if not container.taints or not item.atoms:
        return item
    taints = frozenset(x for x in t.items(container.taints) if x.kind != "filled")
    return item.with_taints(item.taints | taints, item.certain | t.items(container.certain))


def entries(frame: Frame, atom: Instance) -> DictOf:
    """All that a dict is known to have."""
    held = [a for a in frame.each(frame.read((atom.site, CONTENTS))) if isinstance(a, DictOf)]
    names = dict.fromkeys(key for each in held for key, _ in each.entries)
    rest = frame.solver.lattice.all(each.rest for each in held if each.rest is not None)
    rest = frame.join(rest, frame.read((atom.site, ANY_KEY)))
    return DictOf(tuple((key, keyed(frame, atom, Key(key))) for key in names), rest if rest.atoms else None)


def entry(frame: Frame, atom: Instance, key: Constant) -> Value:
    """What a container has under a key, absent where it may have nothing."""
    found = frame.join(frame.read((atom.site, Key(key))), frame.read((atom.site, ANY_KEY)))
    for made in frame.each(frame.read((atom.site, CONTENTS))):
        if isinstance(made, DictOf):
            other = value_of(ABSENT) if made.rest is None else frame.join(made.rest, value_of(ABSENT))
            found = frame.join(found, dict(made.entries).get(key, other))
    return found


def has(frame: Frame, atom: Atom, key: Atom) -> Outcome:
    """Whether a dict has a key: what it was made with says so, and what is kept in it later perhaps."""
    if not isinstance(atom, Instance) or atom.site.kind != MAPPING or not isinstance(key, Constant):
        return EITHER
    if not frame.read((atom.site, CONTENTS)).atoms:
        return EITHER
    atoms = entry(frame, atom, key).atoms
    return Outcome(bool(atoms - {ABSENT}), ABSENT in atoms)


def keyed(frame: Frame, atom: Instance, slot: Slot) -> Value:
    """What a container has in a slot."""
    if not (isinstance(atom.site.kind, LibraryRef) and is_container(atom.site.kind)):
        return frame.tables.iterate(frame, value_of(atom))
    if isinstance(slot, Key):
        found = entry(frame, atom, slot.key)
        return found.of(found.atoms - {ABSENT}) if ABSENT in found.atoms else found
    return frame.read((atom.site, ITEMS))


def under(frame: Frame, value: Value, key: Value) -> Value:
    """What the containers that a value may be have under a key."""
    found = NOTHING
    for atom in frame.each(value):
        if isinstance(atom, Instance):
            for slot in slots_of(frame, key):
                found = frame.join(found, keyed(frame, atom, slot))
    return found

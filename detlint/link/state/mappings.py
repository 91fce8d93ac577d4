"""Mappings: dicts, those that `**kwargs` gathers, and the attributes of an object as `vars(owner)` shows them."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from zlib import crc32

from detlint.link.state.keywords import REST
from detlint.link.state.objects import OPEN, UNNAMED, Objects
from detlint.link.state.values import (
    FAR,
    NONE,
    UNKNOWN,
    Atom,
    Class,
    Constant,
    Keywords,
    Library,
    Object,
    Tuple,
    Value,
    each,
    only,
    order,
    single,
)

VARS = "builtins.vars"
DICT, LIST = Library("builtins.dict"), Library("builtins.list")
COPIED = "dataclasses.asdict"  # has the effect of a copy of an object's `vars`


def written_items(objects: Objects, atom: Atom) -> Sequence[Value] | None:
    """Return the items of a tuple, or of a list that was written down and not extended; None for anything else."""
    if isinstance(atom, Tuple):
        return atom.items
    slots = objects.slots(atom) if isinstance(atom, Object) and atom.kind == LIST else {"[]": UNKNOWN}
    return None if slots.keys() & {"[]", OPEN} else list(slots.values())


def mapped(atom: Atom) -> Object | None:
    """Return the object whose attributes a mapping shows; None for any other atom."""
    owner = atom.receiver if isinstance(atom, Library) and atom.name == VARS else None
    return owner if isinstance(owner, Object) else None


def is_mapping(atom: Atom) -> bool:
    """Return whether an atom is a dict, one that `**kwargs` gathered, or the `vars` of an object."""
    plain = isinstance(atom, Object) and atom.kind == DICT
    return plain or isinstance(atom, Keywords) or mapped(atom) is not None


def shown(objects: Objects, owner: Object) -> dict[str, Value]:
    """Return the attributes of an object by the slots that a dict has for them; "[]" stands for unknown names."""
    stored = objects.slots(owner)
    found = _fields(objects, owner) | {name: value for name, value in stored.items() if name.isidentifier()}
    unnamed = {"[]": UNKNOWN} if stored.keys() & {OPEN, UNNAMED} or not found else {}
    return {f"[{name!r}]": value for name, value in found.items()} | unnamed


def _fields(objects: Objects, owner: Object) -> dict[str, Value]:
    """Return the fields that the class of an object declares, with their defaults."""
    infos = [objects.classes.get(kind) for kind in objects.ancestry(owner.kind) if isinstance(kind, Class)]
    return {name: info.attributes.get(name, UNKNOWN) for info in reversed(infos) if info for name in info.fields}


def entries(objects: Objects, atom: Atom) -> dict[str, Value]:
    """Return what a mapping holds, by the slots that a dict has for it; "[]" stands for unknown keys."""
    if isinstance(atom, Keywords):
        return {"[]" if name == REST else f"[{name!r}]": value for name, value in atom.items}
    owner = mapped(atom)
    if owner is not None:
        return shown(objects, owner)
    if not isinstance(atom, Object):
        return {"[]": UNKNOWN}
    slots = objects.slots(atom)
    held = {name: value for name, value in slots.items() if name.startswith("[")}
    known = atom.kind == DICT or held
    return held if known and OPEN not in slots else held | {"[]": UNKNOWN}


def lay(held: dict[str, Value], slot: str, value: Value, sure: bool) -> None:
    """Add an entry to a mapping that is being built; one that is surely there replaces the one before it."""
    if sure:
        held.pop(perhaps(slot), None)
    elif slot not in held:
        held[perhaps(slot)] = UNKNOWN
    held[slot] = value if sure and slot != "[]" else held.get(slot, value) | value


def lay_all(objects: Objects, held: dict[str, Value], value: Value) -> None:
    """Add all entries of a mapping, as `lay` does."""
    for atom in each(value):
        for slot, item in entries(objects, atom).items():
            lay(held, slot, item, len(value) == 1 and has_surely(objects, atom, slot))


def united(run: Any, values: Sequence[Value], in_place: bool) -> Value | None:
    """Return `left | right` of mappings: a new dict, or the left one with all entries; None for anything else."""
    left, right = map(only, values) if len(values) == 2 else (None, None)
    if not isinstance(left, Object) or left.kind != DICT or right is None or not is_mapping(right):
        return None
    objects, held = run.program.objects, dict[str, Value]()
    for value in values:
        lay_all(objects, held, value)
    if in_place:
        for slot, item in held.items():
            run.put_item(left, slot, item)
        return single(left)
    number = crc32(f"{left.path}:{left.order % FAR}:{order(right)[:2]}".encode(errors="replace"))
    made = Object(DICT, run.frame.path, left.order % FAR + FAR * (1 + number))
    for slot, item in held.items():
        objects.store(made, slot, item)
    run.frame.dicts |= {made}
    return single(made)


def perhaps(slot: str) -> str:
    """Return the slot by which a mapping records that it may lack this one."""
    return f"?{slot}"


def may_be_empty(objects: Objects, container: Atom) -> bool:
    """Return whether a list, set or dict has no item that is surely there; it may also be filled later."""
    slots = objects.slots(container)
    return not any(slot.startswith("[") and perhaps(slot) not in slots for slot in slots)


def hangs_on_option(objects: Objects, atom: Atom, slot: str) -> bool:
    """Return whether a dict has an entry only if an option is set."""
    return isinstance(atom, Object) and objects.stored(atom, perhaps(slot)) == NONE


def may_lack(objects: Objects, atom: Atom, slot: str) -> Value:
    """Return what an entry that a dict has on some paths only may be besides what it holds; empty for other entries."""
    held = objects.stored(atom, perhaps(slot)) if isinstance(atom, Object) else None
    return frozenset() if held is None or held == NONE else held


def has_surely(objects: Objects, atom: Atom, slot: str) -> bool:
    """Return whether a mapping that may have an entry certainly has it."""
    owner = mapped(atom)
    if owner is not None:
        return is_namespace(owner) or key(slot) in _fields(objects, owner)
    plain = isinstance(atom, Object) and atom.kind == DICT and objects.stored(atom, perhaps(slot)) is None
    return plain or isinstance(atom, Keywords)


@cache
def key(slot: str) -> object:
    """Return the key that a slot is named after; None for the slot of unknown keys.

    Each slot is parsed only once, as the parser leaves dead cycles behind.
    """
    return literal_eval(slot[1:-1]) if slot[1] in "'\"" else None


def show(objects: Objects, owner: Object, held: Mapping[str, Value], sure: bool = False) -> None:
    """Run `vars(owner).update(held)`: entries of a mapping become attributes, for `sure` or perhaps."""
    for slot, value in held.items():
        set_shown(objects, owner, Constant(key(slot)), value, sure)


def set_shown(objects: Objects, owner: Object, key: Atom | None, value: Value, sure: bool = False) -> None:
    """Run `vars(owner)[key] = value`, for `sure` or perhaps."""
    name = key.value if isinstance(key, Constant) else None
    if isinstance(name, str):
        put = objects.replace if sure and is_namespace(owner) else objects.store
        put(owner, name, value)
    else:
        objects.store(owner, OPEN, UNKNOWN)


def is_namespace(atom: Atom) -> bool:
    """Return whether an object holds the arguments of a command line, which are one object in a program."""
    return isinstance(atom, Object) and isinstance(atom.kind, Library) and atom.kind.name == "argparse.Namespace"

"""The attributes of an object as a mapping: `vars(owner)`, `owner.__dict__` and what copies them."""

from __future__ import annotations

from detlint.link.objects import OPEN, UNNAMED, Objects
from detlint.link.values import UNKNOWN, Atom, Class, Constant, Library, Object, Value

VARS = "builtins.vars"
COPIED = "dataclasses.asdict"  # does to an object what a copy of its `vars` does


def mapped(atom: Atom) -> Object | None:
    """The object whose attributes a mapping shows, if it is such a mapping."""
    owner = atom.receiver if isinstance(atom, Library) and atom.name == VARS else None
    return owner if isinstance(owner, Object) else None


def shown(objects: Objects, owner: Object) -> dict[str, Value]:
    """The attributes of an object by the slots that a dict keeps them in; "[]" stands for names that are not known."""
    stored = objects.slots(owner)
    infos = [objects.classes.get(kind) for kind in objects.ancestry(owner.kind) if isinstance(kind, Class)]
    fields = {name: info.attributes.get(name, UNKNOWN) for info in reversed(infos) if info for name in info.fields}
    found = fields | {name: value for name, value in stored.items() if name.isidentifier()}
    unnamed = {"[]": UNKNOWN} if stored.keys() & {OPEN, UNNAMED} or not found else {}
    return {f"[{name!r}]": value for name, value in found.items()} | unnamed


def set_shown(objects: Objects, owner: Object, key: Atom | None, value: Value) -> None:
    """`vars(owner)[key] = value`."""
    name = key.value if isinstance(key, Constant) else None
    if isinstance(name, str):
        objects.store(owner, name, value)
    else:
        objects.store(owner, OPEN, UNKNOWN)

"""Loops over what is written down: the rounds that are gone through one by one."""

from __future__ import annotations

from detlint import facts as f
from detlint.link.mappings import entries, key
from detlint.link.objects import Objects
from detlint.link.values import UNKNOWN, Library, Object, Tuple, Value, Wrapped, constant, only, single

_MOST = 40  # rounds
_SET = 3  # arguments of setattr
_SETTERS = (f.Global("setattr"), f.Library("builtins.setattr"))


def rounds(objects: Objects, node: f.Loop, iterated: Value) -> list[Value]:
    """The items of a loop one by one, where each does something of its own: the body calls it, or sets what it names.

    Empty where they are not known, or do the same as far as it matters.
    """
    atom = only(iterated)
    if isinstance(atom, Tuple):
        found = list(atom.items)
    elif isinstance(atom, Object) and atom.kind == Library("builtins.list"):
        slots = objects.slots(atom)
        found = [slots[name] for name in sorted(slots)]
    elif isinstance(atom, Wrapped) and _is_of_items(node.iterator):
        held = [slot for source in atom.sources for slot in entries(objects, source).items()]
        found = [single(Tuple((_named(slot), value))) for slot, value in held]
    else:
        return []
    return found if 0 < len(found) <= _MOST and _tells_apart(node) else []


def _named(slot: str) -> Value:
    name = key(slot)
    return UNKNOWN if name is None else constant(name)


def _is_of_items(iterator: f.Expression) -> bool:
    """Whether a loop is over the items of a mapping."""
    called = iterator.function if isinstance(iterator, f.Call) else None
    return isinstance(called, f.Member) and called.name == "items"


def _tells_apart(node: f.Loop) -> bool:
    """Whether the body of a loop calls what it goes through, or sets the attributes that this names."""
    elements = node.target.elements if isinstance(node.target, f.Display) else (node.target,)
    targets = [each for each in elements if isinstance(each, (f.Local, f.Global))]
    calls = [each.value for each in f.walk(node.body) if isinstance(each, f.Do) and isinstance(each.value, f.Call)]
    return any(_chooser(call) in targets for call in calls)


def _chooser(call: f.Call) -> f.Expression:
    """What a call depends on: the name of the attribute that it sets, or what it calls."""
    sets = call.function in _SETTERS and len(call.arguments) == _SET
    return call.arguments[1].value if sets else call.function

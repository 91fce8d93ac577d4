"""Loops over what is written down: the rounds that are gone through one by one."""

from __future__ import annotations

from detlint import facts as f
from detlint.link.mappings import DICT, entries, key, mapped
from detlint.link.objects import Objects
from detlint.link.values import UNKNOWN, Library, Object, Tuple, Value, Wrapped, constant, only, single

_MOST = 400  # rounds, as many as a large program has options
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
        found = list(objects.slots(atom).values())
    elif isinstance(atom, Wrapped) and _is_of_items(node.iterator):
        held = [slot for source in atom.sources for slot in entries(objects, source).items()]
        found = [single(Tuple((_named(slot), value))) for slot, value in held]
    elif atom is not None and (mapped(atom) is not None or (isinstance(atom, Object) and atom.kind == DICT)):
        found = [_named(slot) for slot in entries(objects, atom)]
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
    """Whether all that the body of a loop does is to call what it goes through, or to set what this names."""
    elements = node.target.elements if isinstance(node.target, f.Display) else (node.target,)
    targets = [each for each in elements if isinstance(each, (f.Local, f.Global))]
    steps = [each for each in f.walk(node.body) if not isinstance(each, f.Branch)]
    return bool(steps) and all(_chooser(step) in targets for step in steps)


def _chooser(step: f.Statement) -> f.Expression:
    """What a step depends on: what it calls, the name of the attribute that it sets, or the key of the entry."""
    if isinstance(step, f.Bind) and len(step.targets) == 1 and isinstance(step.targets[0], f.Item):
        return step.targets[0].key
    call = step.value if isinstance(step, f.Do) else None
    if not isinstance(call, f.Call):
        return None
    if call.function in _SETTERS and len(call.arguments) == _SET:
        return call.arguments[1].value
    if isinstance(call.function, (f.Member, f.Library)) and call.arguments:  # as of `setdefault`
        return call.arguments[0].value
    return call.function

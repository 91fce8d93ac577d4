"""The entries of dicts: put, laid over each other, and absent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from detlint.domain.atoms import ABSENT, Atom, Choice, Constant, DictOf
from detlint.domain.values import NOTHING, SOMETHING, Value, is_member, together, told, under, value_of

Join = Callable[[Value, Value], Value]
_MEMBER: Literal["..."] = "..."  # the kind of what stands for a member of an enumeration


def known_by(key: Atom) -> Atom:
    """What an entry is known by under a key: a constant stands for a member of an enumeration."""
    return Constant(_MEMBER, told(key)) if is_member(key) else key


def shown(key: Constant) -> Value:
    """A key, as who goes over a dict gets it."""
    return SOMETHING if key.kind == _MEMBER else value_of(key)


def put(held: DictOf, key: Constant, value: Value) -> DictOf:
    """A dict with another entry, or one in the place of that which it has."""
    if any(name == key for name, _ in held.entries):
        return DictOf(tuple((name, value if name == key else old) for name, old in held.entries), held.rest)
    return DictOf((*held.entries, (key, value)), held.rest)


def put_anywhere(held: DictOf, value: Value, join: Join) -> DictOf:
    """A dict with an entry under a key that is not known."""
    return DictOf(held.entries, value if held.rest is None else join(held.rest, value))


def put_under(held: DictOf, keys: Iterable[Atom], value: Value, join: Join, *, perhaps: bool = False) -> DictOf:
    """A dict with an entry under one of some keys: one that is known is there, of several each may be."""
    known = list(keys)
    for key in known:
        if not isinstance(key, Constant):
            held = put_anywhere(held, value, join)
        else:
            held = put(held, key, value if len(known) == 1 and not perhaps else join(under(held, key, join), value))
    return held


def laid(held: DictOf, more: DictOf, join: Join) -> DictOf:
    """A dict with the entries of another, which take the place of its own where they are there, by keys."""
    found = held
    for key, value in more.entries:
        found = put(found, key, or_else(value, under(held, key, join), join))
    found = DictOf(tuple(sorted(found.entries, key=lambda each: told(each[0]))), found.rest)
    if more.rest is None:
        return found
    rest = more.rest
    sure = {key for key, value in more.entries if present(value) == value}
    entries = tuple((key, value if key in sure else join(value, rest)) for key, value in found.entries)
    return put_anywhere(DictOf(entries, held.rest), rest, join)


def entrywise(a: Value, b: Value, choose: Join) -> Value | None:
    """What two dicts give entry by entry; None where one of them is anything else."""
    one, two = next(iter(a.atoms), None), next(iter(b.atoms), None)
    if not (isinstance(one, DictOf) and isinstance(two, DictOf)) or a == b:
        return None
    return a.of((together(one, two, choose),))


def may_be_absent(value: Value) -> bool:
    """Whether a value may be absent."""
    return any(
        atom == ABSENT or (isinstance(atom, Choice) and (may_be_absent(atom.default) or may_be_absent(atom.other)))
        for atom in value.atoms
    )


def present(value: Value) -> Value:
    """A value without the absence of one."""
    if not may_be_absent(value):
        return value
    atoms: set[Atom] = set()
    for atom in value.atoms:
        if isinstance(atom, Choice):
            default, other = present(atom.default), present(atom.other)
            both = default.atoms and other.atoms
            atoms |= {Choice(atom.option, default, other)} if both else default.atoms | other.atoms
        elif atom != ABSENT:
            atoms.add(atom)
    return value.of(atoms)


def or_else(value: Value, default: Value, join: Join) -> Value:
    """A value, or the default where it may be absent."""
    if not may_be_absent(value):
        return value
    rest = {atom for atom in value.atoms if atom != ABSENT and not isinstance(atom, Choice)}
    found = value.of(rest) if rest else NOTHING
    if ABSENT in value.atoms:
        found = _either(found, default, join)
    for atom in value.atoms:
        if isinstance(atom, Choice):
            parts = or_else(atom.default, default, join), or_else(atom.other, default, join)
            found = _either(found, _choice(atom, *parts, join), join)
    return found


def _either(a: Value, b: Value, join: Join) -> Value:
    return b if not a.atoms else a if not b.atoms else join(a, b)


def _choice(atom: Choice, default: Value, other: Value, join: Join) -> Value:
    """A choice of two values, where both are something."""
    if not default.atoms or not other.atoms or default == other:
        return _either(default, other, join)
    chosen: Atom = Choice(atom.option, default, other)
    return value_of(chosen)

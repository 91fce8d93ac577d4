"""Abstract values and their join."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct

from detlint.domain import taints as t
from detlint.domain.atoms import (
    ABSENT,
    NONE,
    NOT_NONE,
    UNKNOWN_ATOM,
    Atom,
    Choice,
    Constant,
    DictOf,
    Formal,
    Instance,
    IteratorOver,
    LibraryRef,
    TupleOf,
)  # fmt: skip
from detlint.domain.taints import Kind, Taints


class Value(Struct, frozen=True, tag=True, cache_hash=True, gc=False):
    """What something may be: its atoms, the taints that it may have, and those that it surely has.

    No atoms: nothing yet, or never anything.
    """

    atoms: frozenset[Atom]
    taints: Taints = t.NONE
    certain: Taints = t.NONE

    @property
    def neutral(self) -> bool:
        """Whether it is None or an empty display: a place for what comes later."""
        return not self.taints and all(a is NONE or a == NONE or is_empty(a) for a in self.atoms)

    def with_taints(self, taints: Taints, certain: Taints) -> Value:
        """The same atoms with other taints."""
        if taints == self.taints and certain == self.certain:
            return self
        return Value(self.atoms, taints, certain)

    def of(self, atoms: Iterable[Atom]) -> Value:
        """Other atoms with the same taints."""
        return Value(frozenset(atoms), self.taints, self.certain)


NOTHING = Value(frozenset())
UNKNOWN = Value(frozenset((UNKNOWN_ATOM,)))
SOMETHING = Value(frozenset((NOT_NONE,)))
NULL = Value(frozenset((NONE,)))
COMPOUND = (Choice, TupleOf, DictOf, IteratorOver)
"""The atoms that are made of values."""
_WITH_VALUES = (*COMPOUND, Value)
_KEPT = 1 << 15  # answers about values that are remembered


def is_empty(atom: Atom) -> bool:
    """Whether an atom is a container that was made without items."""
    return isinstance(atom, Instance) and atom.site.empty


def is_container(atom: Atom) -> bool:
    """Whether the heap has the items of an atom: a list, a set, a tuple or a dict."""
    kind = atom.site.kind if isinstance(atom, Instance) else None
    return isinstance(kind, LibraryRef) and kind.name.startswith("builtins.") and kind.name.islower()


def is_member(atom: Atom) -> bool:
    """Whether an atom is a member of an enumeration: the one object of its site, which the text of the class names."""
    code = atom.site.code if isinstance(atom, Instance) else None
    return code is not None and code.node == -1 and code.function != ""


def value_of(*atoms: Atom) -> Value:
    """A value of these atoms, without taints."""
    return Value(frozenset(atoms))


def possible(value: Value) -> Value:
    """A value without what is certain, in its parts as well."""
    return _certain_as(value, lambda _: t.NONE)


def surely(value: Value) -> Value:
    """A value that surely has all that it may have, in its parts as well."""
    return _certain_as(value, t.known)


def _certain_as(value: Value, change: Callable[[Taints], Taints]) -> Value:
    atoms = value.atoms
    if not value.taints and not has_parts(atoms):
        return value
    if has_parts(atoms):
        atoms = frozenset(mapped(atom, lambda part: _certain_as(part, change)) for atom in atoms)
    return Value(atoms, value.taints, change(value.taints))


def tainted(value: Value) -> bool:
    """Whether a value, or a part of it, may differ between runs, whatever parameters are given."""
    if any(taint.kind not in ("from", "filled") for taint in value.taints):
        return True
    return any(tainted(part) for atom in value.atoms for part in parts(atom))


def kinds_of(value: Value) -> frozenset[Kind]:
    """The kinds of the taints of a value and of its parts."""
    inner = (kinds_of(part) for atom in value.atoms for part in parts(atom))
    return frozenset(taint.kind for taint in value.taints).union(*inner)


@lru_cache(_KEPT)
def has_parts(atoms: frozenset[Atom]) -> bool:
    """Whether one of some atoms is made of values."""
    return any(isinstance(atom, COMPOUND) for atom in atoms)


def parts(atom: Atom) -> tuple[Value, ...]:
    """The values that an atom is made of."""
    if isinstance(atom, TupleOf):
        return atom.items
    if isinstance(atom, Choice):
        return (atom.default, atom.other)
    if isinstance(atom, DictOf):
        values = tuple(value for _, value in atom.entries)
        return values if atom.rest is None else (*values, atom.rest)
    return (atom.items, *atom.rows) if isinstance(atom, IteratorOver) else ()


@lru_cache(_KEPT)
def has_formal(value: Value) -> bool:
    """Whether a value has a parameter in it, or a part with the taints of one."""
    return any(isinstance(atom, Formal) for atom in value.atoms) or any(
        any(taint.kind == "from" for taint in part.taints) or has_formal(part)
        for atom in value.atoms
        for part in parts(atom)
    )


def mapped(atom: Atom, change: Callable[[Value], Value]) -> Atom:
    """An atom with its parts changed."""
    if isinstance(atom, TupleOf):
        return TupleOf(tuple(change(item) for item in atom.items))
    if isinstance(atom, IteratorOver):
        return IteratorOver(change(atom.items), tuple(change(row) for row in atom.rows))
    if isinstance(atom, Choice):
        return Choice(atom.option, change(atom.default), change(atom.other))
    if isinstance(atom, DictOf):
        entries = tuple((key, change(value)) for key, value in atom.entries)
        return DictOf(entries, None if atom.rest is None else change(atom.rest))
    return atom


def together(a: DictOf, b: DictOf, join: Callable[[Value, Value], Value]) -> DictOf:
    """A dict of what two have under each key; what one of them lacks is absent, or what it may have under any key."""
    one, two = dict(a.entries), dict(b.entries)
    keys = list(one) if list(one) == list(two) else sorted({*one, *two}, key=told)
    entries = tuple((key, join(under(a, key, join), under(b, key, join))) for key in keys)
    rest = [each.rest for each in (a, b) if each.rest is not None]
    return DictOf(entries, join(rest[0], rest[-1]) if rest else None)


def under(held: DictOf, key: Constant, join: Callable[[Value, Value], Value]) -> Value:
    """What a dict has under a key."""
    found = next((value for name, value in held.entries if name == key), None)
    if found is not None:
        return found
    if held.rest is None:
        return value_of(ABSENT)
    return join(value_of(ABSENT), held.rest) if held.rest.atoms else NOTHING  # its keys are still to come


def made_of(made: Value, sources: Iterable[Value]) -> Value:
    """What is made of some values in a way that is not known: where a number among these differs, it differs."""
    if not made.atoms:
        return made
    taints, certain = made.taints, made.certain
    for source in sources:
        taints, certain = taints | t.numbers(source.taints), certain | t.numbers(source.certain)
    return made.with_taints(taints, certain)


@lru_cache(_KEPT)
def depth(atom: Atom) -> int:
    """How deep tuples, dicts and iterators stand in each other."""
    if not isinstance(atom, COMPOUND):
        return 0
    return (not isinstance(atom, Choice)) + max(
        (depth(inner) for part in parts(atom) for inner in part.atoms), default=0
    )


def told(part: object) -> str:
    """A part of a value as a text that no run of Python changes, which the order of a set would."""
    if isinstance(part, frozenset):
        return f"{{{', '.join(sorted(map(told, part)))}}}"
    if isinstance(part, tuple):
        return f"({', '.join(map(told, part))})"
    return _told(part) if isinstance(part, Struct) else repr(part)


@lru_cache(_KEPT)
def _told(part: Struct) -> str:
    if not isinstance(part, _WITH_VALUES):
        return repr(part)
    fields = (f"{name}={told(getattr(part, name))}" for name in part.__struct_fields__)
    return f"{type(part).__name__}({', '.join(fields)})"


def constants(value: Value) -> list[Constant] | None:
    """The constants that a value is one of; None where it may be something else."""
    found = [atom for atom in value.atoms if isinstance(atom, Constant)]
    return found if len(found) == len(value.atoms) else None

"""Abstract values and their join."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from detlint.domain import taints as t
from detlint.domain.atoms import (
    ABSENT,
    CALLABLE,
    CHOSEN,
    CUT,
    CUT_ALL,
    NONE,
    NOT_NONE,
    UNKNOWN_ATOM,
    Atom,
    Choice,
    Constant,
    DictOf,
    Instance,
    IteratorOver,
    TupleOf,
)  # fmt: skip
from detlint.domain.limits import Limits
from detlint.domain.taints import Taint, Taints


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
_MEMO = 10_000  # results that are remembered: nearly all that are asked for again are asked for soon
_ALL: frozenset[Atom] = frozenset((CUT_ALL,))
COMPOUND = (Choice, TupleOf, DictOf, IteratorOver)
"""The atoms that are made of values."""
_WITH_VALUES = (*COMPOUND, Value)


def is_empty(atom: Atom) -> bool:
    """Whether an atom is a container that was made without items."""
    return isinstance(atom, Instance) and atom.site.empty


def is_member(atom: Atom) -> bool:
    """Whether an atom is a member of an enumeration: the one object of its site, which the text of the class names."""
    code = atom.site.code if isinstance(atom, Instance) else None
    return code is not None and code.node == -1 and code.function != ""


def value_of(*atoms: Atom) -> Value:
    """A value of these atoms, without taints."""
    return Value(frozenset(atoms))


class LimitReachedError(Exception):
    """A limit was met where it decides what is called: the order of work might show."""


class Lattice:
    """Joins values within limits.

    `strict` raises LimitReachedError where a limit would cut what chooses callees.
    """

    def __init__(self, limits: Limits, strict: bool = False) -> None:
        self.limits = limits
        self.strict = strict
        self._joined: dict[tuple[Value, Value], Value | None] = {}  # None: the first of the two
        self._bounded: dict[Value, Value] = {}
        self._each: dict[frozenset[Atom], list[Atom]] = {}

    def join(self, a: Value, b: Value) -> Value:
        """The least value that is both; `a` itself where that says as much."""
        if a is b or not b.atoms:
            return a
        if not a.atoms:
            return b
        key = (a, b)
        found = self._joined.get(key, NOTHING)
        if found is NOTHING:
            if len(self._joined) > _MEMO:
                self._joined.clear()
            joined = self._join(a, b)
            found = self._joined[key] = None if joined == a else joined
        return a if found is None else found

    def bounded(self, value: Value) -> Value:
        """A value as it is kept: cut where it is nested too deep, its taints without sources where these are many."""
        found = self._bounded.get(value)
        if found is None:
            if len(self._bounded) > _MEMO:
                self._bounded.clear()
            if len(value.taints) > self.limits.taints:
                value = value.with_taints(*self._few(value.taints, value.certain))
            deep = any(depth(atom) > self.limits.nesting for atom in value.atoms if isinstance(atom, COMPOUND))
            found = self._bounded[value] = self.shallow(value, self.limits.nesting) if deep else value
        return found

    def shallow(self, value: Value, levels: int) -> Value:
        """A value with what is nested deeper than so many levels unknown."""
        atoms: set[Atom] = set()
        for atom in value.atoms:
            if not isinstance(atom, COMPOUND):
                atoms.add(atom)
            elif levels == 0:
                atoms.add(UNKNOWN_ATOM)
            else:
                atoms.add(mapped(atom, lambda part: self.shallow(part, levels - 1)))
        return value.of(atoms)

    def each(self, value: Value) -> list[Atom]:
        """The atoms of a value in an order that no run of Python changes, as that of a set is changed by its hashes."""
        if len(value.atoms) < 2:
            return list(value.atoms)
        found = self._each.get(value.atoms)
        if found is None:
            found = self._each[value.atoms] = sorted(value.atoms, key=told)
        return found

    def all(self, values: Iterable[Value]) -> Value:
        """The join of all of `values`."""
        found = NOTHING
        for value in values:
            found = self.join(found, value)
        return found

    def _join(self, a: Value, b: Value) -> Value:
        atoms = a.atoms | b.atoms
        taints = a.taints | b.taints
        if a.neutral:
            certain = b.certain
        elif b.neutral:
            certain = a.certain
        else:
            certain = a.certain & b.certain
        if len(atoms) > len(a.atoms):
            atoms = self.kept(atoms)
        return self.bounded(Value(atoms, taints, certain))

    def kept(self, atoms: frozenset[Atom]) -> frozenset[Atom]:
        """Atoms within limits: those that are made of parts are one each."""
        if any(isinstance(atom, COMPOUND) for atom in atoms):
            atoms = self._together(atoms)
        if CUT_ALL in atoms:
            return _ALL
        if len(atoms) <= min(self.limits.atoms, self.limits.callables) and CUT not in atoms:
            return atoms
        calling = frozenset(atom for atom in atoms if isinstance(atom, CALLABLE))
        if len(calling) > self.limits.callables:
            if self.strict:
                raise LimitReachedError
            return _ALL
        if CUT in atoms or len(atoms) - len(calling) > self.limits.atoms:
            return calling | {CUT}
        return atoms

    def _together(self, atoms: frozenset[Atom]) -> frozenset[Atom]:
        """Atoms with one choice an option, one tuple a length, one dict, and one iterator a number of rows."""
        groups: dict[object, list[Atom]] = {}
        for atom in atoms:
            if isinstance(atom, Choice):
                groups.setdefault(atom.option, []).append(atom)
            elif isinstance(atom, TupleOf):
                groups.setdefault(len(atom.items), []).append(atom)
            elif isinstance(atom, DictOf):
                groups.setdefault(DictOf, []).append(atom)
            elif isinstance(atom, IteratorOver):
                groups.setdefault((IteratorOver, len(atom.rows)), []).append(atom)
        found: set[Atom] = {atom for atom in atoms if not isinstance(atom, COMPOUND)}
        for group in groups.values():
            joined: Atom = group[0]
            for other in group[1:]:
                joined = self._merged(joined, other)
            found.add(joined)
        choices = [atom for atom in found if isinstance(atom, Choice)]
        return self._apart(found, choices) if choices else frozenset(found)

    def _apart(self, atoms: set[Atom], choices: list[Choice]) -> frozenset[Atom]:
        """Atoms with what they are anyhow in both parts of each choice, so that one value has one form.

        A choice between the same is none.
        """
        anyhow: set[Atom] = {atom for atom in atoms if isinstance(atom, CHOSEN)}
        for choice in choices:
            anyhow |= {atom for atom in choice.default.atoms & choice.other.atoms if isinstance(atom, CHOSEN)}
        left = choices
        again = True
        while again:
            again = False
            for choice in left:
                if choice.default.atoms | anyhow == choice.other.atoms | anyhow:
                    left = [each for each in left if each is not choice]
                    anyhow |= choice.default.atoms
                    again = True
                    break
        rest: set[Atom] = {atom for atom in atoms if not isinstance(atom, (Choice, *CHOSEN))}
        if not left:
            return frozenset(rest | anyhow)
        for choice in left:
            parts = (part.of(part.atoms | anyhow) for part in (choice.default, choice.other))
            rest.add(Choice(choice.option, *parts))
        rest |= {atom for atom in anyhow if not isinstance(atom, CHOSEN)}
        return frozenset(rest)

    def _merged(self, a: Atom, b: Atom) -> Atom:
        if isinstance(a, Choice) and isinstance(b, Choice):
            return Choice(a.option, self.join(a.default, b.default), self.join(a.other, b.other))
        if isinstance(a, TupleOf) and isinstance(b, TupleOf):
            return TupleOf(tuple(self.join(x, y) for x, y in zip(a.items, b.items, strict=True)))
        if isinstance(a, DictOf) and isinstance(b, DictOf):
            return self._either_dict(a, b)
        assert isinstance(a, IteratorOver) and isinstance(b, IteratorOver)
        rows = tuple(self.join(x, y) for x, y in zip(a.rows, b.rows, strict=True))
        return IteratorOver(self.join(a.items, b.items), rows)

    def _either_dict(self, a: DictOf, b: DictOf) -> DictOf:
        """A dict that has the entries of either; what one of them lacks may be absent."""
        one, two = dict(a.entries), dict(b.entries)
        keys = list(one) if list(one) == list(two) else sorted({*one, *two}, key=told)
        missing = [value_of(ABSENT) if d.rest is None else self.join(d.rest, value_of(ABSENT)) for d in (a, b)]
        entries = tuple((key, self.join(one.get(key, missing[0]), two.get(key, missing[1]))) for key in keys)
        rest = [d.rest for d in (a, b) if d.rest is not None]
        return DictOf(entries, self.all(rest) if rest else None)

    def _few(self, taints: Taints, certain: Taints) -> tuple[Taints, Taints]:
        """Taints with one that has no source for those of a kind and form of which there are too many."""
        groups: dict[tuple[str, str], list[Taint]] = {}
        for taint in taints:
            if taint.kind != "from":
                groups.setdefault((taint.kind, taint.form), []).append(taint)
        most = self.limits.taints
        many = [key for key, group in groups.items() if len(group) > most or any(x.source == "" for x in group)]
        for key in many:
            if key[0] == "filled":
                continue
            gone = frozenset(groups[key])
            kind, form = groups[key][0].kind, groups[key][0].form
            taints = (taints - gone) | {Taint(kind, "", form)}
            certain -= gone
        return taints, certain


def made_of(made: Value, sources: Iterable[Value]) -> Value:
    """What is made of some values in a way that is not known: where a number among these differs, it differs."""
    if not made.atoms:
        return made
    taints, certain = made.taints, made.certain
    for source in sources:
        taints, certain = taints | t.numbers(source.taints), certain | t.numbers(source.certain)
    return made.with_taints(taints, certain)


def possible(value: Value) -> Value:
    """A value without what is certain, in its parts as well."""
    return _certain_as(value, lambda _: t.NONE)


def surely(value: Value) -> Value:
    """A value that surely has all that it may have, in its parts as well."""
    return _certain_as(value, t.known)


def _certain_as(value: Value, change: Callable[[Taints], Taints]) -> Value:
    if not value.taints and not any(isinstance(atom, COMPOUND) for atom in value.atoms):
        return value
    atoms = value.atoms
    if any(isinstance(atom, COMPOUND) for atom in atoms):
        atoms = frozenset(mapped(atom, lambda part: _certain_as(part, change)) for atom in atoms)
    return Value(atoms, value.taints, change(value.taints))


def tainted(value: Value) -> bool:
    """Whether a value, or a part of it, may differ between runs, whatever parameters are given."""
    if any(taint.kind not in ("from", "filled") for taint in value.taints):
        return True
    return any(tainted(part) for atom in value.atoms if isinstance(atom, COMPOUND) for part in parts(atom))


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


def depth(atom: Atom) -> int:
    """How deep tuples, choices and iterators stand in each other."""
    if not isinstance(atom, COMPOUND):
        return 0
    return 1 + max((depth(inner) for part in parts(atom) for inner in part.atoms), default=0)


def told(part: object) -> str:
    """A part of a value as a text that no run of Python changes, which the order of a set would."""
    if isinstance(part, frozenset):
        return f"{{{', '.join(sorted(map(told, part)))}}}"
    if isinstance(part, tuple):
        return f"({', '.join(map(told, part))})"
    if isinstance(part, Struct) and isinstance(part, _WITH_VALUES):
        fields = (f"{name}={told(getattr(part, name))}" for name in part.__struct_fields__)
        return f"{type(part).__name__}({', '.join(fields)})"
    return repr(part)


def constants(value: Value) -> list[Constant] | None:
    """The constants that a value is one of; None where it may be something else."""
    found = [atom for atom in value.atoms if isinstance(atom, Constant)]
    return found if len(found) == len(value.atoms) else None

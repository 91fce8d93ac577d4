"""The join of values, within limits."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.domain.atoms import (
    CALLABLE,
    CUT,
    CUT_ALL,
    UNKNOWN_ATOM,
    Atom,
    Choice,
    DictOf,
    IteratorOver,
    TupleOf,
)
from detlint.domain.choices import laid_out, leaves, options_of
from detlint.domain.limits import Limits
from detlint.domain.taints import Taint, Taints
from detlint.domain.values import (
    COMPOUND,
    NOTHING,
    Value,
    depth,
    has_parts,
    is_container,
    mapped,
    possible,
    together,
    told,
)

_MEMO = 10_000  # results that are remembered: nearly all that are asked for again are asked for soon
_ALL: frozenset[Atom] = frozenset((CUT_ALL,))


class LimitReachedError(Exception):
    """A limit was met where it decides what is called: the order of work might show."""


class Lattice:
    """Joins values within limits.

    Where a limit cuts what chooses callees it is `met`; where work is `strict`, that raises LimitReachedError.
    """

    def __init__(self, limits: Limits, strict: bool = False) -> None:
        self.limits = limits
        self.strict = strict
        self.met = False
        self._joined: dict[tuple[Value, Value], Value | None] = {}  # None: the first of the two
        self._bounded: dict[Value, Value] = {}
        self._stored: dict[Value, Value] = {}
        self._kept: dict[frozenset[Atom], frozenset[Atom]] = {}
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

    def stored(self, value: Value) -> Value:
        """A value as tables and the heap have it while it grows: bounded, and without what is certain."""
        found = self._stored.get(value)
        if found is None:
            if len(self._stored) > _MEMO:
                self._stored.clear()
            found = self._stored[value] = self.bounded(possible(value))
        return found

    def bounded(self, value: Value) -> Value:
        """A value as it is kept: cut where it is nested too deep, its taints without sources where these are many."""
        found = self._bounded.get(value)
        if found is None:
            if len(self._bounded) > _MEMO:
                self._bounded.clear()
            if len(value.taints) > self.limits.taints:
                value = value.with_taints(*self._few(value.taints, value.certain))
            found = value
            if has_parts(value.atoms):
                if any(depth(atom) > self.limits.nesting for atom in value.atoms):
                    found = self.shallow(value, self.limits.nesting)
                found = self._in_form(found)
            self._bounded[value] = self._bounded[found] = found
        return found

    def _in_form(self, value: Value) -> Value:
        """A value whose parts, and it itself, have one form."""
        parts = {mapped(atom, self.bounded) if isinstance(atom, COMPOUND) else atom for atom in value.atoms}
        return value.of(self.kept(frozenset(parts)))

    def shallow(self, value: Value, levels: int) -> Value:
        """A value with what is nested deeper than so many levels unknown."""
        atoms: set[Atom] = set()
        for atom in value.atoms:
            if not isinstance(atom, COMPOUND):
                atoms.add(atom)
            elif levels == 0 and not isinstance(atom, Choice):
                atoms.add(UNKNOWN_ATOM)
            else:
                left = levels - (not isinstance(atom, Choice))  # of which there are few
                atoms.add(mapped(atom, lambda part, left=left: self.shallow(part, left)))  # type: ignore[misc]
        return value.of(atoms)

    def meet(self) -> None:
        """Note that a limit decides what is called: an order of work might show."""
        if self.strict:
            raise LimitReachedError
        self.met = True

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
        found = self._kept.get(atoms)
        if found is None:
            if len(self._kept) > _MEMO:
                self._kept.clear()
            found = self._kept[atoms] = self._within(atoms)
        return found

    def _within(self, atoms: frozenset[Atom]) -> frozenset[Atom]:
        if has_parts(atoms):
            atoms = self._together(atoms)
        every = {atom for leaf in leaves(Value(atoms)) for atom in leaf.atoms}
        if CUT_ALL in every:
            return _ALL
        if len(every) <= min(self.limits.atoms, self.limits.callables) and CUT not in every:
            return atoms
        calling = frozenset(atom for atom in every if isinstance(atom, CALLABLE) and not is_container(atom))
        if len(calling) > self.limits.callables:
            self.meet()
            return _ALL
        if CUT in every or len(every) - len(calling) > self.limits.atoms:
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
        if any(isinstance(atom, Choice) for atom in found):
            value = Value(frozenset(found))
            options = sorted(set(options_of(value)), key=repr)
            if len(options) > self.limits.options:
                self.meet()  # an option that decides nothing in the end may have taken the place of another one
            return laid_out(value, options[: self.limits.options], self.all).atoms
        return frozenset(found)

    def _merged(self, a: Atom, b: Atom) -> Atom:
        if isinstance(a, Choice) and isinstance(b, Choice):
            return Choice(a.option, self.join(a.default, b.default), self.join(a.other, b.other))
        if isinstance(a, TupleOf) and isinstance(b, TupleOf):
            return TupleOf(tuple(self.join(x, y) for x, y in zip(a.items, b.items, strict=True)))
        if isinstance(a, DictOf) and isinstance(b, DictOf):
            return together(a, b, self.join)
        assert isinstance(a, IteratorOver) and isinstance(b, IteratorOver)
        rows = tuple(self.join(x, y) for x, y in zip(a.rows, b.rows, strict=True))
        return IteratorOver(self.join(a.items, b.items), rows)

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

"""What is gone through item by item: what is written down, as far as its items differ by more than numbers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from detlint.domain.atoms import Atom, Constant, Instance, IteratorOver, TupleOf
from detlint.domain.effects import Branch, Effects
from detlint.domain.slots import ANY_KEY, CONTENTS, ITEMS
from detlint.domain.values import NOTHING, Value, value_of
from detlint.interpreter import containers
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_NUMBERS = ("int", "float")


class Rows(Struct, frozen=True):
    """The items of something in their order; where it is not `whole` there may be others."""

    items: tuple[Value, ...]
    whole: bool = True


class Pass(Struct, frozen=True):
    """One way through a loop: with an item, which is the `row`-th of what is written down; 0 for any other."""

    item: Value
    row: int = 0


def of_value(frame: Frame, value: Value) -> Rows | None:
    """The items of a value in their order; None where it is not one thing that is written down."""
    atoms = frame.each(value)
    found = of_atom(frame, atoms[0]) if len(atoms) == 1 else None
    if found is None:
        return None
    return Rows(tuple(containers.tainted(item, value) for item in found.items), found.whole)


def of_atom(frame: Frame, atom: Atom) -> Rows | None:
    """The items of an atom in their order, if it is written down."""
    found: tuple[Value, ...] = ()
    whole = True
    if isinstance(atom, TupleOf):
        found = atom.items
    elif isinstance(atom, IteratorOver):
        found = atom.rows
    elif isinstance(atom, Instance) and atom.site.kind in (containers.LIST, containers.SET):
        found = tuple(containers.keyed(frame, atom, slot) for slot in containers.places(count(frame, atom)))
        whole = not frame.read((atom.site, ANY_KEY)).atoms
        if atom.site.kind == containers.SET and not all(map(_is_plain, found)):
            return None  # what is done in no order
    elif isinstance(atom, Instance) and atom.site.kind == containers.DICT:
        turns = containers.turns(frame, atom)
        found, whole = turns.items, not turns.rest.atoms
    return Rows(found, whole) if 0 < len(found) <= frame.solver.limits.rows else None


def _is_plain(item: Value) -> bool:
    return all(isinstance(atom, Constant) for atom in item.atoms)


def each_way(frame: Frame, value: Value) -> list[tuple[Value, ...]]:
    """The items of what a value may be, in their order, for each that is written down; none for any other."""
    found: dict[tuple[Value, ...], None] = {}
    for atom in frame.each(value):
        rows = of_atom(frame, atom)
        if rows is not None:
            found[tuple(containers.tainted(item, value) for item in rows.items)] = None
        if rows is None or not rows.whole:
            found[()] = None
    return list(found)


def listed(frame: Frame, atom: Atom) -> tuple[Value, ...] | None:
    """The items of a tuple or list that is written down, in their order; None of anything else."""
    if isinstance(atom, TupleOf):
        return atom.items
    if not (isinstance(atom, Instance) and atom.site.kind == containers.LIST) or frame.read((atom.site, ANY_KEY)).atoms:
        return None
    number = count(frame, atom)
    known = number or atom.site.empty  # of numbers alone nobody asks
    return tuple(containers.keyed(frame, atom, slot) for slot in containers.places(number)) if known else None


def count(frame: Frame, atom: Instance) -> int:
    """How many items a list is made with, as far as that is known and they are not numbers alone."""
    display = frame.solver.index.display(atom.site)
    numbers = isinstance(display, ir.Display) and all(
        isinstance(element, ir.Constant) and element.kind in _NUMBERS for element in display.elements
    )
    return 0 if numbers else containers.count(frame, atom)


def passes(frame: Frame, value: Value) -> list[list[Pass]]:
    """The ways through a loop over a value: for each that it may be, what is written down; for any other one way."""
    found: list[list[Pass]] = []
    rest: list[Atom] = []
    resolved = frame.resolve(value)
    atoms = frame.solver.lattice.each(resolved)
    for atom in atoms:
        rows = of_atom(frame, atom)
        if rows is not None:
            found.append([Pass(containers.tainted(item, value), index) for index, item in enumerate(rows.items, 1)])
        if rows is None or not rows.whole:
            rest.append(atom)
    if sum(map(len, found)) > frame.solver.limits.rows:
        return joined(frame, resolved.with_taints(value.taints, value.certain))
    if rest or not atoms:
        found += joined(frame, resolved.of(rest).with_taints(value.taints, value.certain))
    return found


def joined(frame: Frame, value: Value) -> list[list[Pass]]:
    """One way through a loop over a value, with any item."""
    return [[Pass(frame.tables.iterate(frame, value))]]


def any_of(arms: Sequence[Effects]) -> Effects:
    """The effects of any one of some ways."""
    rest: Effects = ()
    for arm in reversed(arms):
        rest = (Branch(None, True, arm, rest),) if rest and arm else arm or rest
    return rest


def keep(frame: Frame, made: Instance, items: tuple[Value, ...]) -> None:
    """Keep the items of a list that is made here in their places."""
    for slot, item in zip(containers.places(len(items)), items, strict=True):
        frame.fill((made.site, slot), item)
        frame.fill((made.site, ITEMS), item)
    frame.fill((made.site, CONTENTS), value_of(TupleOf(items)) if items else NOTHING)

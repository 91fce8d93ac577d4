"""The laws of abstract values: joins come to the same in any order, only grow, and limits absorb."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from detlint.domain import taints as t
from detlint.domain.atoms import (
    NONE,
    NOT_NONE,
    UNKNOWN_ATOM,
    AllocationSite,
    Atom,
    Choice,
    Constant,
    FunctionRef,
    Instance,
    IteratorOver,
    LibraryRef,
    Option,
    TupleOf,
)  # fmt: skip
from detlint.domain.codes import Code
from detlint.domain.lattice import Lattice
from detlint.domain.limits import Limits
from detlint.domain.taints import Taint
from detlint.domain.values import NOTHING, Value, depth

FEW = Limits(atoms=3, callables=4, nesting=2, taints=2)
CODES = [Code("a.py", "f", number) for number in range(4)]
OPTIONS = [Option(name, CODES[0]) for name in ("--seed", "--fast")]
LIST = LibraryRef("builtins.list")
TAINTS = [Taint(kind, code, form) for kind in ("order",) for code in CODES for form in t.FORMS]
FLAT: list[Atom] = [
    UNKNOWN_ATOM, NOT_NONE, NONE, *(Constant("int", digit) for digit in "01234"),
    *(FunctionRef("a.py", name) for name in "fghijk"),
    *(Instance(AllocationSite(LIST, code, None, empty)) for code in CODES for empty in (True, False)),
]  # fmt: skip
taints = st.frozensets(st.sampled_from([*TAINTS, *t.FILLED]), max_size=4)


@st.composite
def values(draw: st.DrawFn, levels: int = 3) -> Value:
    atoms: set[Atom] = set(draw(st.lists(st.sampled_from(FLAT), max_size=4)))
    kind = draw(st.sampled_from(["", "", "choice", "tuple", "iterator"])) if levels else ""
    if kind == "choice":
        atoms.add(Choice(draw(st.sampled_from(OPTIONS)), draw(values(levels - 1)), draw(values(levels - 1))))
    elif kind == "tuple":
        atoms.add(TupleOf(tuple(draw(values(levels - 1)) for _ in range(draw(st.integers(0, 2))))))
    elif kind == "iterator":
        atoms.add(IteratorOver(draw(values(levels - 1))))
    may, sure = draw(taints), draw(taints)
    return Value(frozenset(atoms), may, may & sure - t.FILLED) if atoms else NOTHING


VALUES = values()


def where(value: Value, chosen: Mapping[Option, bool]) -> set[Atom]:
    """What a value is where the user chooses so."""
    found: set[Atom] = {atom for atom in value.atoms if not isinstance(atom, Choice)}
    for atom in value.atoms:
        if isinstance(atom, Choice):
            found |= where(atom.other if chosen[atom.option] else atom.default, chosen)
    return found


def kept(lattice: Lattice, *each: Value) -> Value:
    found = NOTHING
    for value in each:
        found = lattice.join(found, lattice.bounded(value))
    return found


@settings(deadline=None, max_examples=150)
@given(VALUES, VALUES, VALUES)
def test_joins_come_to_the_same_in_any_order(a: Value, b: Value, c: Value) -> None:
    lattice = Lattice(FEW)
    first = kept(lattice, a, b, c)
    for order in ((a, c, b), (b, a, c), (c, b, a), (a, a, b, c, a)):
        assert kept(lattice, *order) == first


@settings(deadline=None, max_examples=150)
@given(VALUES, VALUES)
def test_a_join_holds_all_that_either_holds_and_is_not_certain_of_more(a: Value, b: Value) -> None:
    lattice = Lattice(Limits())
    joined = kept(lattice, a, b)
    for set_ in product((False, True), repeat=len(OPTIONS)):
        chosen = dict(zip(OPTIONS, set_, strict=True))
        plain = {atom for value in (a, b) for atom in where(value, chosen) if depth(atom) == 0}
        assert plain <= where(joined, chosen)
    for value in (lattice.bounded(a), lattice.bounded(b)):
        if value.atoms and not value.neutral:
            assert joined.certain <= value.certain
    assert lattice.join(joined, lattice.bounded(a)) == joined


@settings(deadline=None, max_examples=100)
@given(st.lists(VALUES, max_size=12))
def test_a_value_grows_a_few_times_only(each: list[Value]) -> None:
    lattice = Lattice(FEW)
    found, grown = NOTHING, 0
    for value in (*each, *each):
        joined = lattice.join(found, lattice.bounded(value))
        grown += joined != found
        found = joined
    again = found
    for value in each:
        again = lattice.join(again, lattice.bounded(value))
    assert again == found and len(found.atoms) <= FEW.atoms + FEW.callables + 8
    assert all(depth(atom) <= FEW.nesting for atom in found.atoms)


@given(taints, taints)
def test_the_taints_of_parameters_are_replaced_in_their_form(had: t.Taints, other: t.Taints) -> None:
    entered = t.of_parameter("x")
    assert t.filled_in(entered, {"x": had}) == had
    assert t.filled_in(t.ordered(entered), {"x": had}) == t.ordered(had)
    assert t.filled_in(t.gathered(t.items(entered)), {"x": had}) == t.gathered(t.items(had))
    assert t.filled_in(entered | other, {"x": had}) == had | other
    assert t.filled_in(entered, {"y": had}) == frozenset()

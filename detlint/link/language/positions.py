"""The positions of items in what is made from tuples and lists that are written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.rounds import are_words, called_items
from detlint.link.state.mappings import LIST, written_items
from detlint.link.state.objects import Objects
from detlint.link.state.values import UNKNOWN, Atom, Function, Object, Tuple, Value, Wrapped, exact, only, single

if TYPE_CHECKING:
    from detlint.link.language.evaluate import Evaluator
    from detlint.link.state.run import Run
else:
    Evaluator = Run = Any

_MOST = 8  # items that are evaluated one by one
_MADE = (Object, Function, Wrapped)


def in_place(run: Evaluator, node: f.Each, iterated: Value) -> Value | None:
    """Return the results of a comprehension over a few words or objects, each in its place; None for anything else."""
    items = _turns(run.program.objects, node, iterated)
    if not items:
        return None
    found = []
    for item in items:
        run.assign(node.clauses[0][0], item)
        found.append(run.value(node.element))
    return single(Tuple(tuple(found))) if node.kind == "generator" else _listed(run, found, run.frame.path, node.order)


def _turns(objects: Objects, node: f.Each, iterated: Value) -> Sequence[Value]:
    """Return the items of a comprehension to evaluate one by one; empty if there are none."""
    if node.kind not in ("list", "generator") or node.tests or len(node.clauses) > 1:
        return ()
    atom = only(iterated)
    if isinstance(atom, Wrapped) and isinstance(node.clauses[0][1], f.Call):
        called = node.clauses[0][1].function
        whole = isinstance(called, f.Library) and called.name in objects.gone_through - {"builtins.reversed"}
        atom = only(atom.sources) if whole else None
    items = () if atom is None else written_items(objects, atom) or ()
    return items if _tell_apart(items) else ()


def _tell_apart(items: Sequence[Value]) -> bool:
    """Return whether some items are a few words, or a few objects."""
    return are_words(items) or _are_made(items)


def _are_made(items: Sequence[Value]) -> bool:
    """Return whether some items are a few, not all equal, and one is an object or a tuple with an object or a word."""
    return 1 < len(items) <= _MOST and len(set(items)) > 1 and any(_is_made(atom) for item in items for atom in item)


def _is_made(atom: Atom) -> bool:
    if isinstance(atom, Tuple):
        return any(
            isinstance(inner, _MADE) or isinstance(exact(item), (str, bool)) for item in atom.items for inner in item
        )
    return isinstance(atom, _MADE)


def told_apart(objects: Objects, value: Value) -> Sequence[Value]:
    """Return the items that a value lists, if they are a few words, functions or objects; empty otherwise."""
    atom = only(value)
    items = () if atom is None else written_items(objects, atom) or ()
    return items if _tell_apart(items) else called_items(objects, value)


def side_by_side(run: Run, values: Sequence[Value]) -> Value | None:
    """Return the rows of several lists of one length, one of which has functions or objects; None for anything else.

    A list that has one known item for all its positions is taken to be as long as the others.
    """
    objects = run.program.objects
    listed = [written_items(objects, atom) if (atom := only(value)) is not None else None for value in values]
    lengths = {len(items) for items in listed if items is not None}
    if len(lengths) != 1 or not any(told_apart(objects, value) for value in values):
        return None
    number = lengths.pop()
    rows = []
    for value, items in zip(values, listed, strict=True):
        atom = only(value)
        if items is not None:
            rows.append(items)
        elif isinstance(atom, Object) and atom.kind == LIST:
            rows.append([run.held(atom)] * number)
        else:
            return None
    return single(Tuple(tuple(single(Tuple(row)) for row in zip(*rows, strict=True))))


def called_in_turn(run: Run, function: Value, sources: Sequence[Value], place: Place) -> Value | None:
    """Call a function with the items of some sources in turn; return the results, None if these are unknown."""
    if len(sources) == 1:
        rows = [[item] for item in told_apart(run.program.objects, sources[0])]
    else:
        together = only(side_by_side(run, sources) or UNKNOWN)
        found = [only(row) for row in together.items] if isinstance(together, Tuple) else []
        rows = [list(row.items) for row in found if isinstance(row, Tuple)]
    return single(Tuple(tuple(run.call_value(function, row, {}, place) for row in rows))) if rows else None


def pairs_of(atom: Wrapped) -> Sequence[Value]:
    """Return the pairs that two lists make side by side, if these are known one by one; empty otherwise."""
    told = only(atom.sources)
    rows = told.items if isinstance(told, Tuple) else ()
    return rows if all(isinstance(only(row), Tuple) for row in rows) else ()


def kept_in_place(run: Run, name: str, value: Value, path: str, order: int) -> Value | None:
    """Return a tuple or list of another's items; None if these are unknown or in another order."""
    atom = only(value)
    items = None if atom is None else written_items(run.program.objects, atom)
    if items is None or name not in ("builtins.tuple", "builtins.list"):
        return None
    return single(Tuple(tuple(items))) if name == "builtins.tuple" else _listed(run, items, path, order)


def _listed(run: Run, items: Sequence[Value], path: str, order: int) -> Value:
    """Return a list that holds some items in their positions."""
    made = run.container("list", path, order)
    for index, item in enumerate(items):
        run.program.objects.store(made, f"[{index}]", item)
    return single(made)

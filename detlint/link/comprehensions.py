"""Comprehensions: what they hold, a dict by its keys where these are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint import facts as f
from detlint.link.mappings import entries, key, mapped
from detlint.link.values import (
    UNKNOWN,
    Atom,
    Constant,
    Keywords,
    Library,
    Object,
    Tuple,
    Value,
    Wrapped,
    constant,
    each,
    exact,
    only,
    single,
)

if TYPE_CHECKING:
    from detlint.link.evaluate import Evaluator as Run
else:
    Run = Any

_SEQUENCES = {"list": "builtins.list", "set": "builtins.set", "generator": "builtins.list", "dict": "builtins.dict"}
_MOST = 40  # items that are gone through one by one


def comprehension(run: Run, node: f.Each) -> Value:
    """What a comprehension makes, and what making it does."""
    if node.kind == "dict" and len(node.clauses) == 1:
        ((target, iterator),) = node.clauses
        iterated = run.value(iterator)
        items = run.iterate(iterated)
        apart = _apart(run, iterator, iterated)
        if apart:
            return _dict(run, node, apart)
        run.assign(target, items)
    else:
        for target, iterator in node.clauses:
            run.assign(target, run.iterate(run.value(iterator)))
    for test in (*node.tests, node.key):
        run.value(test)
    made = Object(Library(_SEQUENCES[node.kind]), run.frame.path, node.order)
    run.program.objects.store(made, "[]", run.value(node.element))
    return single(made)


def _dict(run: Run, node: f.Each, items: list[Value]) -> Value:
    """A dict of which the items that it is made from are known: what a filter may let through is there."""
    made, objects = run.container("dict", run.frame.path, node.order), run.program.objects
    for item in items:
        run.assign(node.clauses[0][0], item)
        if any(run.test(test).expected is False for test in node.tests):
            continue
        name = exact(run.value(node.key))
        objects.store(made, "[]" if name is None else f"[{name!r}]", run.value(node.element))
    return single(made)


def _apart(run: Run, iterator: f.Expression, iterated: Value) -> list[Value]:
    """What is iterated over, one by one; empty where it is not known, or too much."""
    atom, method = only(iterated), _method(iterator)
    objects = run.program.objects
    found: list[Value] = []
    if isinstance(atom, Wrapped) and method in ("items", "keys"):
        held = [slot for source in each(atom.sources) for slot in entries(objects, source).items()]
        names = [(_named(slot), value) for slot, value in held]
        found = [single(Tuple((name, value))) if method == "items" else name for name, value in names]
    elif atom is not None and _is_mapping(atom):
        found = [_named(slot) for slot in entries(objects, atom)]
    elif isinstance(atom, Tuple):
        found = list(atom.items)
    elif isinstance(atom, Object) and run.is_container(atom):
        found = list(objects.slots(atom).values())
    found = [item for value in found for item in _split(value)]
    return found if 0 < len(found) <= _MOST else []


def _is_mapping(atom: Atom) -> bool:
    table = isinstance(atom, Object) and atom.kind == Library("builtins.dict")
    return table or isinstance(atom, Keywords) or mapped(atom) is not None


def _split(value: Value) -> list[Value]:
    """The constants that a value may be, each by itself."""
    return [single(a) for a in each(value)] if all(isinstance(a, Constant) for a in value) else [value]


def _named(slot: str) -> Value:
    name = key(slot)
    return UNKNOWN if name is None else constant(name)


def _method(iterator: f.Expression) -> str:
    """The method of a mapping whose result is iterated over."""
    called = iterator.function if isinstance(iterator, f.Call) else None
    return called.name if isinstance(called, f.Member) else ""

"""Comprehensions: what they hold, and the keys of a dict where these are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from detlint.facts import facts as f
from detlint.link.language.positions import in_place
from detlint.link.language.rounds import are_words, calls_them, written
from detlint.link.state.mappings import perhaps
from detlint.link.state.otherwise import iterate_otherwise
from detlint.link.state.values import (
    UNKNOWN,
    Constant,
    Library,
    Object,
    Value,
    each,
    exact,
    join,
    single,
)

if TYPE_CHECKING:
    from detlint.link.language.evaluate import Evaluator as Run
else:
    Run = Any

_SEQUENCES = {"list": "builtins.list", "set": "builtins.set", "generator": "builtins.list", "dict": "builtins.dict"}
_MOST = 40  # items that are evaluated one by one


def comprehension(run: Run, node: f.Each) -> Value:
    """Evaluate a comprehension; return what it makes."""
    rounds: Sequence[Value] = ()
    for target, iterator in node.clauses:
        iterated = run.value(iterator)
        start, items = run.state, run.iterate(iterated)
        iterate_otherwise(run, iterator, start)
        if len(node.clauses) == 1:
            listed = written(run.program.objects, iterator, iterated)
            in_turn = in_place(run, node, iterated)
            if in_turn:
                return in_turn
            apart = not node.tests and calls_them(node.element, target, listed)
            rounds = listed if apart else _apart(listed, node.kind)
        run.assign(target, rounds[0] if rounds else items)
    if node.kind == "dict" and rounds:
        return _dict(run, node, rounds)
    for test in (*node.tests, node.key):
        run.value(test)
    found = run.value(node.element)
    for item in rounds[1:]:
        run.assign(node.clauses[0][0], item)
        for test in node.tests:
            run.value(test)
        found = join((found, run.value(node.element)))
    made = Object(Library(_SEQUENCES[node.kind]), run.frame.path, node.order)
    run.program.objects.store(made, "[]", found)
    if node.tests:
        run.program.objects.store(made, perhaps("[]"), UNKNOWN)
    return single(made)


def _dict(run: Run, node: f.Each, items: Sequence[Value]) -> Value:
    """Return a dict made from known items; an item that a filter may let through is in it."""
    made, objects = run.container("dict", run.frame.path, node.order), run.program.objects
    for item in items:
        run.assign(node.clauses[0][0], item)
        if any(run.test(test).expected is False for test in node.tests):
            continue
        name = exact(run.value(node.key))
        objects.store(made, "[]" if name is None else f"[{name!r}]", run.value(node.element))
    return single(made)


def _apart(items: Sequence[Value], kind: str) -> Sequence[Value]:
    """Return the items to evaluate one by one: for a dict those written down, else a few words; empty for others."""
    if kind != "dict":
        return items if are_words(items) else ()
    found = [item for value in items for item in _split(value)]
    return found if 0 < len(found) <= _MOST else ()


def _split(value: Value) -> list[Value]:
    """Return each constant that a value may be, by itself; the value itself if it may be anything else."""
    return [single(a) for a in each(value)] if all(isinstance(a, Constant) for a in value) else [value]

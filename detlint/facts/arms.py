"""Branches that hold what findings are about, which a program may or may not take."""

from __future__ import annotations

from collections.abc import Container
from functools import cache

from detlint.catalogue import Catalogue
from detlint.orders.listings import Listings
from detlint.questions import Taken
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import compares_texts


def arms(module: Module) -> frozenset[s.Block]:
    """Return the innermost branches of functions that hold a listing, an operation without a fixed order, or a call
    that seeds from the operating system.
    """
    names, methods = _operations(module.catalogue)
    calls = [
        *module.calls_to(names),
        *(c for c in module.calls_like(words=methods) if last_word(c.function) in methods and not module.callee(c)),
        *(c for c, _ in Listings(module).found()),
    ]
    return frozenset(arm for call in calls if (arm := _around(call)) is not None)


def taken(module: Module, call: s.Call, known: Container[s.Block]) -> Taken | None:
    """Return the question of whether programs reach a call; None unless one of the `known` branches decides that."""
    arm = _around(call)
    if arm is None or arm not in known:
        return None
    choice = arm.parent
    named = isinstance(choice, s.If) and compares_texts(choice.test)
    return Taken(module.place(arm.statements[0]), *module.point(call)[:2], named=named)


def _around(call: s.Call) -> s.Block | None:
    """Return the innermost branch around a call in its function; None if there is none."""
    below: s.Node = call
    for around in call.ancestors():
        if isinstance(around, s.If) and (below is around.body or below is around.orelse):
            inside = any(isinstance(each, s.Function) for each in around.ancestors())
            return below if inside and isinstance(below, s.Block) else None
        if isinstance(around, s.Function):
            return None
        below = around
    return None


@cache
def _operations(catalogue: Catalogue) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the operations in rules and of what reseeds, and the methods that no other library has."""
    rows = [row for row in catalogue.rows("ops", "op") if row.text("rule")]
    reseeding = catalogue.names("randomness", "entropy", kind="reseeds")
    return (
        reseeding.union(name for row in rows for name in row.list("names")),
        frozenset(method for row in rows for method in row.list("methods")),
    )

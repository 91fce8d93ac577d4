"""Branches that hold what findings ask about: whether a program takes them."""

from __future__ import annotations

from functools import cache

from detlint.catalogue import Catalogue
from detlint.orders.listings import Listings
from detlint.questions import Taken
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def arms(module: Module) -> frozenset[s.Block]:
    """The innermost branches of functions that hold a listing, or an operation without a fixed order."""
    names, methods = _operations(module.catalogue)
    calls = [
        *module.calls_to(names),
        *(c for c in module.calls_like(words=methods) if last_word(c.function) in methods and not module.callee(c)),
        *(c for c, _ in Listings(module).found()),
    ]
    return frozenset(arm for call in calls if (arm := _arm(call)) is not None)


def taken(module: Module, call: s.Call) -> Taken | None:
    """The open question whether programs get to a call; None where no branch of a function decides it, or a name does.

    Models and data sets are chosen by name: which one is the default says little of the others.
    """
    arm = _arm(call)
    return None if arm is None else Taken(module.place(arm.statements[0]), *module.point(call)[:2])


def _arm(call: s.Call) -> s.Block | None:
    below: s.Node = call
    for around in call.ancestors():
        if isinstance(around, s.If) and (below is around.body or below is around.orelse):
            inside = any(isinstance(each, s.Function) for each in around.ancestors())
            return below if inside and isinstance(below, s.Block) and not _compares_texts(around.test) else None
        if isinstance(around, s.Function):
            return None
        below = around
    return None


def _compares_texts(test: s.Expression) -> bool:
    return any(isinstance(node, s.Constant) and isinstance(node.value, str) for node in s.walk(test))


@cache
def _operations(catalogue: Catalogue) -> tuple[frozenset[str], frozenset[str]]:
    """The names of operations that rules speak of, and methods that no other library has."""
    rows = [row for row in catalogue.rows("ops", "op") if row.text("rule")]
    return (
        frozenset(name for row in rows for name in row.list("names")),
        frozenset(method for row in rows for method in row.list("methods")),
    )

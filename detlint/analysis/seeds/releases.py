"""Which of two groups of releases of a library a file is written for, by how many values it takes from methods."""

from __future__ import annotations

from collections.abc import Iterable

from detlint.analysis.seeds.generators import kept_as
from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_ONE = 1


def is_newer(module: Module, row: Row) -> bool | None:
    """Return whether a file is written for a row's `newer` releases; None where it shows neither kind, or both.

    `newer` and `older` hold `method=number`: how many values a call of the method returns. The first method that shows
    anything decides.
    """
    newer, older = ([each.partition("=")[::2] for each in row.list(key)] for key in ("newer", "older"))
    for method in dict.fromkeys(method for method, _ in newer):
        numbers = {_taken(module, call) for call in _calls(module, method)} - {None}
        new = any(method == each and int(number) in numbers for each, number in newer)
        old = any(method == each and int(number) in numbers for each, number in older)
        if new or old:
            return new if new is not old else None
    return None


def _calls(module: Module, method: str) -> Iterable[s.Call]:
    calls = module.calls_like(words={method})
    return (c for c in calls if isinstance(c.function, s.Attribute) and c.function.attribute == method)


def _taken(module: Module, call: s.Call) -> int | None:
    """Return how many values a file takes from the result of a call, or None where that does not show."""
    if _is_given(module, call):
        return _ONE
    target = next(iter(kept_as(call)), None) if isinstance(call.parent, s.Assign) else None
    if isinstance(target, s.Collection):
        return len(target.elements) if target.rest is None else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    if not isinstance(target, s.Name) or scope is None:
        return None
    reads = list(module.reads(scope, target.id))
    if any(isinstance(read.parent, (s.Subscript, s.Assign, s.Starred, s.For)) for read in reads):
        return None
    return _ONE if any(_is_given(module, read) for read in reads) else None


def _is_given(module: Module, value: s.Expression) -> bool:
    """Return whether a value is an argument of a call, but not of a builtin such as `print`, which takes anything."""
    call = value.parent.parent if isinstance(value.parent, s.Argument) else None
    return isinstance(call, s.Call) and not any(name.startswith("builtins.") for name in module.callee(call))

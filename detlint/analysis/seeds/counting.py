"""Loops that number their iterations."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

_COUNTS = {"builtins.range": False, "builtins.enumerate": True}  # whether it yields an item besides the number


@record(frozen=True, slots=True)
class Count:
    """A loop, and the name of the number of its iteration."""

    loop: s.For
    index: str


def counted(module: Module, node: s.Node) -> Count | None:
    """Return the one loop around `node` in its function, if it numbers its iterations by a name bound once in it."""
    loops: list[s.Node] = []
    child = node
    for around in node.ancestors():
        if isinstance(around, (s.Function, s.Lambda, s.Class)):
            break
        if isinstance(around, (s.While, s.Comprehension)) or (isinstance(around, s.For) and child is around.body):
            loops.append(around)
        child = around
    loop = loops[0] if len(loops) == 1 else None
    index = _index(module, loop) if isinstance(loop, s.For) else None
    if index is None or not isinstance(loop, s.For):
        return None
    scope = index.scope.find(index.id)
    bound = [] if scope is None else [binding.node for binding in scope.bindings[index.id]]
    inside = sum(any(each is around for around in s.walk(loop)) for each in bound)
    return Count(loop, index.id) if inside == 1 else None


def _index(module: Module, loop: s.For) -> s.Name | None:
    names = module.callee(loop.iterator) if isinstance(loop.iterator, s.Call) else frozenset()
    paired = _COUNTS.get(next(iter(names), "")) if len(names) == 1 else None
    target = loop.target
    if paired and isinstance(target, s.Collection) and target.rest != 0:
        target = target.elements[0]
    elif paired is not False:
        return None
    return target if isinstance(target, s.Name) else None

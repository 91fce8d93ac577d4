"""Fixes that give what has no order of its own one: sorted, or in the order in which it was put together."""

from __future__ import annotations

from detlint import edits
from detlint import syntax as s
from detlint.finding import Fix
from detlint.model import Module

_LISTS = frozenset(("builtins.list", "builtins.tuple"))
_ITERATE = _LISTS | frozenset(
    f"builtins.{name}" for name in ("enumerate", "zip", "map", "filter", "iter", "str.join", "sorted", "max", "min")
)


def sorted_where_taken(module: Module, node: s.Expression, key: str = "") -> Fix | None:
    """`sorted(...)`, with a `key` function, around what is gone through; None where it is used in other ways too."""
    if not _is_iterated(module, node):
        return None
    more = f", key={key}" if key else ""
    around = _call_around(node)
    if around is not None and module.callee(around) == {"builtins.list"} and len(around.arguments) == 1:
        changes = [edits.replaced(module, around.function, "sorted")]
        changes += [] if not more else [edits.wrapped(module, node, "", more)[1]]
    else:
        changes = list(edits.wrapped(module, node, "sorted(", f"{more})"))
    return edits.fix("Sort it", *changes)


def in_first_order(module: Module, node: s.Expression) -> Fix | None:
    """`dict.fromkeys(items)` in the place of `set(items)`: each item once, in the order in which they come."""
    made = isinstance(node, s.Call) and module.callee(node) <= {"builtins.set", "builtins.frozenset"}
    if not isinstance(node, s.Call) or not made or len(node.arguments) != 1 or not _is_iterated(module, node):
        return None
    change = edits.replaced(module, node.function, "dict.fromkeys")
    return edits.fix("Keep the order in which the items come", change)


def _is_iterated(module: Module, node: s.Expression) -> bool:
    """Whether an expression is only gone through, from one item to the next, where it stands."""
    parent = node.parent
    if isinstance(parent, (s.For, s.Clause)):
        return parent.iterator is node
    if isinstance(parent, s.Starred):
        return isinstance(parent.parent, s.Collection) and parent.parent.kind != "set"
    call = _call_around(node)
    if call is None or not isinstance(parent, s.Argument) or parent.keyword or parent.star:
        return False
    names = module.callee(call)
    joins = isinstance(call.function, s.Attribute) and call.function.attribute in ("join", "extend")
    return joins or (bool(names) and names <= _ITERATE)


def _call_around(node: s.Expression) -> s.Call | None:
    call = node.parent.parent if isinstance(node.parent, s.Argument) else None
    return call if isinstance(call, s.Call) else None

"""Sorting by a key that ranks items equal, which leaves these in the order in which they come."""

from __future__ import annotations

from detlint.semantics.model import Module
from detlint.tree import syntax as s

_TAKING = frozenset(("builtins.max", "builtins.min"))
_COUNTING = frozenset(("collections.Counter",))


def ranks_alike(module: Module, call: s.Call) -> str:
    """Return what a call does with items that its `key` ranks equal: "passes" on their order, takes the "first", or "".

    A longest or most frequent item is not "first" if only its rank may be asked for, as by `len(max(...))`.
    """
    if not has_alike_key(module, call):
        return ""
    names = module.callee(call)
    if names == {"builtins.sorted"}:
        return "passes"
    if not names or not names <= _TAKING or isinstance(call.parent, (s.Argument, s.Subscript)):
        return ""
    key = next(a.value for a in call.arguments if a.keyword == "key")
    return "first" if isinstance(key, s.Attribute) or not _is_only_measured(module, call) else ""


def _is_only_measured(module: Module, call: s.Call) -> bool:
    """Return whether nothing but the length of what a call takes is asked for, or what becomes of it is not known."""
    assign = call.parent
    target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    if not isinstance(target, s.Name) or scope is None:
        return True
    return all(_is_measured(module, read) for read in module.reads(scope, target.id))


def _is_measured(module: Module, read: s.Name) -> bool:
    outer = read.parent.parent if isinstance(read.parent, s.Argument) else None
    return isinstance(outer, s.Call) and module.callee(outer) == {"builtins.len"}


def has_alike_key(module: Module, call: s.Call) -> bool:
    """Return whether a call has a `key` that is known to rank different items equal: their length or their count."""
    given = next((a.value for a in call.arguments if a.keyword == "key"), None)
    if isinstance(given, s.Lambda):
        parameters, statements = given.function.parameters, given.function.body.statements
        leave = statements[-1] if statements else None
        if len(parameters) != 1 or not isinstance(leave, s.Leave) or len(leave.values) != 1:
            return False
        return _is_rank_of(module, leave.values[0], parameters[0].name)
    if isinstance(given, s.Attribute):
        return given.attribute == "count" or (given.attribute in ("get", "__getitem__") and counts(module, given.value))
    return given is not None and module.names(given) == {"builtins.len"}


def _is_rank_of(module: Module, node: s.Expression, item: str) -> bool:
    """Return whether an expression is the length or the count of `item`."""
    if isinstance(node, s.Operation) and node.operator in ("-", "neg") and len(node.operands) == 1:
        return _is_rank_of(module, node.operands[0], item)
    if isinstance(node, s.Subscript):
        return len(node.indices) == 1 and _is(node.indices[0], item) and counts(module, node.value)
    if not isinstance(node, s.Call) or not node.arguments or not _is(node.arguments[0].value, item):
        return False
    if module.callee(node) == {"builtins.len"}:
        return True
    function = node.function
    if not isinstance(function, s.Attribute):
        return False
    return function.attribute == "count" or (function.attribute == "get" and counts(module, function.value))


def _is(node: s.Expression, name: str) -> bool:
    return isinstance(node, s.Name) and node.id == name


def counts(module: Module, node: s.Expression) -> bool:
    """Return whether an expression is a `Counter`."""
    values = module.values(node) or []
    return bool(values) and all(isinstance(v, s.Call) and module.callee(v) == _COUNTING for v in values)

"""Fixes that give an unordered value an order: sorted, or that in which its items were put together."""

from __future__ import annotations

from dataclasses import replace

from detlint.editing import edits
from detlint.finding import Edit, Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_SETS = frozenset(("builtins.set", "builtins.frozenset"))
_TAKING = {"join": "joined-by", "extend": "extended-by"}  # the builtin types that have such a method


def sorted_where_taken(module: Module, node: s.Expression, key: str = "") -> Fix | None:
    """Return a fix that puts `sorted(...)`, with a `key`, around what is only iterated over; else None."""
    if not is_iterated(module, node) or not module.is_builtin("sorted", node):
        return None
    around = _call_around(node)
    if around is not None and module.callee(around) == {"builtins.list"} and len(around.arguments) == 1:
        changes = [edits.replaced(module, around.function, "sorted")]
        changes += [edits.last(module, around, f"key={key}")] if key else []
    else:
        changes = list(edits.wrapped(module, node, f"sorted({{it}}, key={key})" if key else "sorted({it})"))
    return edits.fix("Sort it", *changes)


def in_first_order(module: Module, node: s.Expression) -> Fix | None:
    """Return a fix that replaces `set(items)` or `{...}` by `dict.fromkeys(items)`, which keeps the order, or None."""
    changes: list[Edit | None] = []
    if not is_iterated(module, node) or not module.is_builtin("dict", node):
        return None
    if isinstance(node, s.Call) and len(node.arguments) == 1:
        made = module.callee(node)
        changes = [edits.replaced(module, node.function, "dict.fromkeys")] if made and made <= _SETS else []
    elif isinstance(node, (s.Collection, s.Comprehension)):
        changes = [edits.listed(module, node, "dict.fromkeys")]
    return edits.fix("Keep the order in which the items come", *changes) if changes else None


def listing_sorted(module: Module, call: s.Call, kind: str, *, paths: bool) -> Fix | None:
    """Return a fix that sorts a listing of names or `paths` anywhere, and one of entries where it is iterated over.

    `kind` is as in `Listings.found`. What is not known to be a `pathlib` path is compared as a string. The fix is
    unsafe if it replaces an iterator that more than one loop may draw from by a list.
    """
    if kind == "entries":
        return sorted_where_taken(module, call, key="lambda entry: entry.name")
    if kind in ("walk", "files"):
        return _walk_sorted(module, call, kind)
    if kind not in ("list", "iterator"):
        return None
    around = call.parent.parent if isinstance(call.parent, s.Argument) else None
    if isinstance(around, s.Call) and module.callee(around) == {"builtins.next"}:
        return None
    fix = sorted_where_taken(module, call, key="" if paths else "str")
    if fix is not None or not module.is_builtin("sorted", call):
        return fix
    fix = edits.fix("Sort it", *edits.wrapped(module, call, "sorted({it})" if paths else "sorted({it}, key=str)"))
    once = kind == "list" or _is_taken_once(module, call)
    return fix if fix is None or once else replace(fix, safety=Safety.UNSAFE)


def _walk_sorted(module: Module, call: s.Call, kind: str) -> Fix | None:
    """Return a fix that sorts a walk's folders and files where a loop takes them, or the walk if it ignores folders.

    For "files" the folders are sorted already. A loop that reads the folders may drop some, which `sorted` around the
    walk would undo.
    """
    loop = call.parent
    target = loop.target if isinstance(loop, s.For) and loop.iterator is call else None
    if not isinstance(loop, s.For) or not isinstance(target, s.Collection) or len(target.elements) < 3:
        return None
    folders, files = target.elements[1:3]
    if not isinstance(folders, s.Name) or not isinstance(files, s.Name) or folders.id == files.id:
        return None
    read = {part.id for part in s.walk(loop.body) if isinstance(part, s.Name)}
    upward = any(each.keyword in (None, "topdown") for each in call.arguments[1:])  # a star has no keyword
    changes: list[Edit | None] = []
    lines = [f"{files.id}.sort()"] if files.id in read else []
    if kind == "walk" and folders.id not in read and (upward or folders.id.startswith("_")):
        changes += edits.wrapped(module, call, "sorted({it})") if module.is_builtin("sorted", call) else [None]
    elif kind == "walk" and upward:
        return None
    elif kind == "walk":
        lines = [f"{folders.id}.sort()", *lines]
    if lines:
        changes.append(edits.ahead(module, loop.body.statements[0], *lines))
    return edits.fix("Sort it", *changes)


def _is_taken_once(module: Module, call: s.Call) -> bool:
    """Return whether an iterator is kept under a local name whose only use iterates over it, once."""
    assign = call.parent
    target = assign.targets[0] if isinstance(assign, s.Assign) and len(assign.targets) == 1 else None
    scope = target.scope.find(target.id) if isinstance(target, s.Name) else None
    if not isinstance(target, s.Name) or scope is None or scope.kind != "function":
        return False
    reads = module.reads(scope, target.id)
    again = [a for read in reads for a in read.ancestors() if isinstance(a, (s.For, s.While, s.Comprehension))]
    loops = [a for a in again if not any(child is a for child in assign.ancestors())] if assign else []
    alone = len(reads) == 1 and len(scope.bindings[target.id]) == 1 and is_iterated(module, reads[0])
    return alone and all(_goes_through(loop, reads[0]) for loop in loops)


def _goes_through(loop: s.Node, node: s.Expression) -> bool:
    """Return whether a loop iterates over `node`, which it then evaluates once."""
    if isinstance(loop, s.For):
        return any(part is node for part in s.walk(loop.iterator))
    return isinstance(loop, s.Comprehension) and any(part is node for part in s.walk(loop.clauses[0].iterator))


def is_called(node: s.Expression) -> bool:
    """Return whether a loop over `node` calls the items themselves."""
    around = node.parent
    loop = around.parent if isinstance(around, s.Clause) else around
    if not isinstance(around, (s.For, s.Clause)) or not isinstance(around.target, s.Name) or loop is None:
        return False
    name = around.target.id
    calls = (part.function for part in s.walk(loop) if isinstance(part, s.Call))
    return any(isinstance(called, s.Name) and called.id == name for called in calls)


def is_iterated(module: Module, node: s.Expression) -> bool:
    """Return whether an expression is only iterated over where it stands, from one item to the next."""
    parent = node.parent
    if isinstance(parent, (s.For, s.Clause)):
        return parent.iterator is node
    if isinstance(parent, s.Starred):
        return isinstance(parent.parent, s.Collection) and parent.parent.kind != "set"
    call = _call_around(node)
    if call is None or not isinstance(parent, s.Argument) or parent.keyword or parent.star:
        return False
    names = module.callee(call)
    return (bool(names) and names <= module.python("functions", "iterates")) or _takes_items(module, call.function)


def _takes_items(module: Module, method: s.Expression) -> bool:
    """Return whether a method is that of a string or a list which iterates over its argument."""
    if not isinstance(method, s.Attribute) or method.attribute not in _TAKING:
        return False
    kinds = module.types(method.value)
    return bool(kinds) and kinds <= module.python("types", _TAKING[method.attribute])


def _call_around(node: s.Expression) -> s.Call | None:
    call = node.parent.parent if isinstance(node.parent, s.Argument) else None
    return call if isinstance(call, s.Call) else None

"""What lists of modules hold: the expressions that a file puts into them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

if TYPE_CHECKING:
    from detlint.semantics.model import Module

_DEPTH = 4
_ADDED = {"append": 0, "insert": 1, "extend": 0}  # which argument they put into the list
_PASSING = {"builtins.enumerate": 1, "builtins.zip": 0, "builtins.reversed": None}  # at which index items begin


def possible_items(module: Module, node: s.Expression) -> list[s.Expression] | None:
    """Return what an item of a list may be, where `node` is `layers[i]` or the target of a loop; None if unknown."""
    found: list[s.Expression] = []
    lists = _lists(module, node)
    for container in lists:
        items = _items(module, container, _DEPTH)
        if items is None:
            return None
        found += items
    return found if lists else None


def _lists(module: Module, node: s.Expression) -> list[s.Expression]:
    """Return the lists of which an expression is an item, for each of its bindings; none if one is of another kind."""
    if isinstance(node, s.Subscript):
        return [] if any(isinstance(index, s.Slice) for index in node.indices) else [node.value]
    found: list[s.Expression] = []
    for binding in (reaching(node) or ()) if isinstance(node, s.Name) else ():
        value = binding.value if binding.kind in ("for", "comprehension") else None
        container = None if value is None else _looped_over(module, value, binding.path)
        if container is None:
            return []
        found.append(container)
    return found


def _looped_over(module: Module, iterator: s.Expression, path: tuple[int, ...]) -> s.Expression | None:
    """Return the list of which a loop gives an item at a path: in `for i, x in enumerate(layers)` that at 1."""
    names = module.callee(iterator) if isinstance(iterator, s.Call) else frozenset[str]()
    name = next(iter(names)) if len(names) == 1 else ""
    if isinstance(iterator, s.Call) and name in _PASSING:
        begin = _PASSING[name]
        given = [argument.value for argument in iterator.arguments if not argument.star]
        at = 0 if begin is None else path[0] - begin if path else -1
        rest = path if begin is None else path[1:]
        return _looped_over(module, given[at], rest) if 0 <= at < len(given) else None
    sliced = isinstance(iterator, s.Subscript) and all(isinstance(each, s.Slice) for each in iterator.indices)
    if isinstance(iterator, s.Subscript) and sliced:
        return _looped_over(module, iterator.value, path)
    return None if path else iterator


def _items(module: Module, container: s.Expression, depth: int) -> list[s.Expression] | None:
    """Return all that a file puts into a list: where it is made, and later."""
    values = module.values(container) if depth else None
    if not values:
        return None
    found: list[s.Expression] = []
    for value in values:
        items = _made_with(module, value, depth - 1)
        if items is None:
            return None
        found += items
    for item in _put_in(module, container, depth - 1):
        if item is None:
            return None
        found += item
    return [each for item in found for each in (module.values(item) or [item])]


def _made_with(module: Module, value: s.Expression, depth: int) -> list[s.Expression] | None:
    """Return what a list is made with; None if that is unknown."""
    if isinstance(value, s.Collection):
        return None if any(isinstance(each, s.Starred) for each in value.elements) else [*value.elements]
    if isinstance(value, s.Comprehension):
        return [value.elements[-1]]
    if isinstance(value, s.Operation) and value.operator in ("+", "*"):
        parts = [_items(module, each, depth) for each in value.operands if not isinstance(each, s.Constant)]
        return None if None in parts else [each for part in parts for each in part or ()]
    lists = module.python("functions", "lists-of-modules")
    if isinstance(value, s.Call) and module.callee(value) and module.callee(value) <= lists:
        given = [argument.value for argument in value.arguments]
        return _items(module, given[0], depth) if len(given) == 1 else None if given else []
    return None


def _put_in(module: Module, container: s.Expression, depth: int) -> Iterator[list[s.Expression] | None]:
    """Yield what is put into a list after it is made, a None for what is unknown."""
    for read in _reads(module, container):
        method = read.parent
        call = method.parent if isinstance(method, s.Attribute) else None
        if isinstance(method, s.Attribute) and isinstance(call, s.Call) and call.function is method:
            at = _ADDED.get(method.attribute, -1)
            if 0 <= at < len(call.arguments):
                given = call.arguments[at].value
                yield _items(module, given, depth) if method.attribute == "extend" else [given]
        elif isinstance(method, s.Assign) and method.operator == "+=" and method.value is not None:
            yield _items(module, method.value, depth)


def _reads(module: Module, container: s.Expression) -> list[s.Expression]:
    """Return all places that name the same list: a variable, or an attribute of the objects of a class."""
    if isinstance(container, s.Attribute):
        owner = module.owner(container.value)
        named = module.attributes(container.attribute)
        return [each for each in named if owner is not None and module.owner(each.value) is owner]
    scope = container.scope.find(container.id) if isinstance(container, s.Name) else None
    return [*module.reads(scope, container.id)] if scope is not None and isinstance(container, s.Name) else []

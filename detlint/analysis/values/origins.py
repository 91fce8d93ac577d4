"""Where an object comes from: the call that made it, through the methods, attributes and subscripts since."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

_DEPTH = 12


def origins(module: Module, node: s.Expression) -> list[s.Expression]:
    """Return the calls, or annotated parameters, that an object may come from; none where one is not known.

    For `table[table.x > 0].dropna()` it is `pd.read_csv(path)` where that made the table. The result of a function of
    the file comes from what that function returns.
    """
    found: dict[s.Expression, None] = {}
    return list(found) if _trace(module, node, found, set(), _DEPTH) else []


def comes_by(module: Module, node: s.Expression, methods: Collection[str], depth: int = _DEPTH) -> bool:
    """Return whether a call of one of some methods lies on the way from an object's origin to `node`."""
    if isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
        inner = node.function.value
        return node.function.attribute in methods or (depth > 0 and comes_by(module, inner, methods, depth - 1))
    if isinstance(node, (s.Attribute, s.Subscript)) and not module.values(node):
        return comes_by(module, node.value, methods, depth)
    values = module.values(node) if isinstance(node, (s.Name, s.Attribute)) else ()
    return depth > 0 and any(comes_by(module, value, methods, depth - 1) for value in values or () if value is not node)


def returned(module: Module, call: s.Call) -> Iterator[s.Expression]:
    """Yield what the function of the file that is called returns; nothing where a decorator may change that."""
    names = module.callee(call)
    function = module.functions.get(next(iter(names))) if len(names) == 1 else None
    for node in s.walk(function.body) if function is not None and not function.decorators else ():
        if isinstance(node, s.Leave) and node.kind == "return" and module.function_of(node) is function:
            yield from node.values


def _trace(
    module: Module, node: s.Expression, found: dict[s.Expression, None], seen: set[s.Expression], depth: int
) -> bool:
    if node in seen:
        return True
    seen.add(node)
    if depth == 0:
        return False
    if isinstance(node, s.Call):
        method = node.function
        if not isinstance(method, s.Attribute) or module.names(method.value):
            if given := list(returned(module, node)):
                return all(_trace(module, value, found, seen, depth - 1) for value in given)
            found[node] = None
            return bool(module.callee(node))
        return _trace(module, method.value, found, seen, depth - 1)
    if isinstance(node, (s.Name, s.Attribute)):
        values = module.values(node)
        if values and node not in values:
            return all(_trace(module, value, found, seen, depth - 1) for value in values)
        if isinstance(node, s.Name):
            if module.types(node):
                found[node] = None
                return True
            inner = _unpacked(node) or _receiver(node)
            return inner is not None and _trace(module, inner, found, seen, depth - 1)
    if isinstance(node, (s.Attribute, s.Subscript)):
        return _trace(module, node.value, found, seen, depth - 1)
    return False


def _unpacked(name: s.Name) -> s.Expression | None:
    """Return the call that a name is one value of: `make()` for `first, second = make()`; else None."""
    bindings = reaching(name) or []
    statement = bindings[0].node if len(bindings) == 1 and bindings[0].path else None
    return statement.value if isinstance(statement, s.Assign) and isinstance(statement.value, s.Call) else None


def _receiver(name: s.Name) -> s.Expression | None:
    """Return the object whose method takes the lambda that has this parameter: `x` for `x.map(lambda name: ...)`."""
    bindings = reaching(name) or []
    parameter = bindings[0].node if len(bindings) == 1 else None
    function = parameter.parent if isinstance(parameter, s.Parameter) else None
    argument = function.parent.parent if isinstance(function, s.Function) and function.parent is not None else None
    call = argument.parent if isinstance(argument, s.Argument) else None
    method = call.function if isinstance(call, s.Call) else None
    return method.value if isinstance(method, s.Attribute) else None

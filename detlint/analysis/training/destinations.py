"""Where a value goes: to a call of `backward()`, or only to places that do not take its gradient."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.training.contexts import function_around, named
from detlint.analysis.values.tensors import method_of
from detlint.semantics.index import asked_once, last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching

_COMPARED = ("<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in")
_MOST = 200  # values derived from one that are followed; beyond that nothing is known


def taken_back(module: Module, value: s.Expression) -> s.Call | None:
    """Return the first call of `backward` that takes the gradient of a value, or of what is computed from it."""
    return min(_followed(module, value)[0], key=lambda call: call.order, default=None)


def goes_back(module: Module, value: s.Expression) -> bool | None:
    """Return whether a value goes to a call of `backward()`; None where it goes where the file does not show."""
    found, lost = _followed(module, value)
    return True if found else None if lost else False


@asked_once
def _followed(module: Module, value: s.Expression) -> tuple[tuple[s.Call, ...], bool]:
    """Return the calls that take the gradient of a value, and whether it also goes where that is not known."""
    found: list[s.Call] = []
    queue, seen, lost = [value], {value}, False
    while queue and len(seen) < _MOST:
        statement: s.Node | None = None
        below: s.Node = queue.pop()
        for outer in below.ancestors():
            if isinstance(outer, s.Call) and takes_back(module, outer):
                found.append(outer)
            if _drops(module, outer, below):
                break
            if isinstance(outer, (s.Function, s.Statement)) or _yields(outer):
                statement = outer
                break
            below = outer
        for read in _next(module, statement, below) if statement is not None else ():
            if read is None:
                lost = True
            elif read not in seen:
                seen.add(read)
                queue.append(read)
    return tuple(found), lost or bool(queue)


def takes_back(module: Module, call: s.Call) -> bool:
    """Return whether a call takes gradients, as `backward()` does."""
    names = named(module, "backward")
    return last_word(call.function) in names or bool(module.callee(call) & names)


def _drops(module: Module, outer: s.Node, below: s.Node) -> bool:
    """Return whether what is made of a value has no gradient: it is compared, an index, or its `item()` is taken ..."""
    if isinstance(outer, s.Operation):
        return outer.operator in _COMPARED
    if isinstance(outer, s.Subscript):
        return below is not outer.value
    if isinstance(outer, s.Call):
        return method_of(module, outer)[0] in named(module, "drops-gradient")
    return isinstance(outer, s.Attribute) and outer.attribute in named(module, "drops-gradient")


def _yields(node: s.Node) -> bool:
    return isinstance(node, s.Operation) and node.operator in ("yield", "yield from")


def _next(module: Module, statement: s.Node, part: s.Node) -> Iterator[s.Expression | None]:
    """Yield where a value that is a `part` of a statement is read after it; None stands for places not known."""
    if isinstance(statement, s.Assign):
        if part is statement.value:
            for target in statement.targets:
                yield from _kept(module, statement, target)
    elif isinstance(statement, s.Leave):
        yield from _given(module, statement) if statement.kind == "return" else ()
    elif isinstance(statement, s.For):
        yield from _names(module, statement.target) if part is statement.iterator else ()
    elif isinstance(statement, s.ExpressionStatement):
        call = statement.value
        if isinstance(call, s.Call) and part is call and not _is_of_library(module, call):
            yield from _reads(module, call.function.value if isinstance(call.function, s.Attribute) else call)
    elif not isinstance(statement, (s.If, s.While, s.Other)):
        yield None


def _is_of_library(module: Module, call: s.Call) -> bool:
    """Return whether a bare call is of a library's function, such as `print`, which keeps nothing."""
    names = module.callee(call)
    if isinstance(call.function, s.Attribute) and not module.names(call.function.value):
        return False
    return bool(names) and not any(name.startswith(f"{module.module}.") or name in module.classes for name in names)


def _kept(module: Module, assign: s.Assign, target: s.Expression) -> Iterator[s.Expression | None]:
    """Yield where a variable, attribute or container is read that an assignment gives a value, or a part of one."""
    if isinstance(target, s.Collection):
        for each in target.elements:
            yield from _kept(module, assign, each)
    elif isinstance(target, s.Name) and assign.operator == "=":
        yield from (read for read in _names(module, target) if _may_have(read, assign))
    else:
        yield from _reads(module, target.value if isinstance(target, s.Subscript) else target)


def _may_have(read: s.Name, assign: s.Assign) -> bool:
    bindings = reaching(read)
    return bindings is None or any(binding.value is assign.value for binding in bindings)


def _names(module: Module, target: s.Expression) -> Iterator[s.Name]:
    """Yield where the variables are read that a target binds."""
    for part in s.walk(target):
        scope = part.scope.find(part.id) if isinstance(part, s.Name) else None
        if isinstance(part, s.Name) and scope is not None:
            yield from module.reads(scope, part.id)


def _reads(module: Module, holder: s.Expression) -> Iterator[s.Expression | None]:
    """Yield where a variable is read, or an attribute in its class; None where other code may read it as well."""
    if isinstance(holder, s.Name) and not _is_receiver(module, holder):
        yield from _names(module, holder)
        bindings = reaching(holder)
        if bindings is None or any(isinstance(binding.node, s.Parameter) for binding in bindings):
            yield None  # a caller has it
        return
    if isinstance(holder, s.Attribute) and _is_receiver(module, holder.value):
        klass = module.class_of(holder)
        same = (each for each in module.attributes(holder.attribute) if not each.stored)
        yield from (each for each in same if module.class_of(each) is klass)
    yield None


def _is_receiver(module: Module, node: s.Expression) -> bool:
    """Return whether a name is the receiver of the method that it stands in."""
    function = function_around(node)
    first = function.parameters[0].name if function is not None and function.parameters else None
    return isinstance(node, s.Name) and node.id == first and module.class_of(node) is not None


def _given(module: Module, leave: s.Leave) -> Iterator[s.Expression | None]:
    """Yield the calls of the function that returns a value; None stands for calls elsewhere."""
    function = function_around(leave)
    if function is None or function.name.startswith("__") or function.name in named(module, "module-methods"):
        yield None
        return
    calls: list[s.Expression] = [*module.calls_to((module.qualified(function),))]
    if class_of(function) is not None:
        named_so = (each.parent for each in module.attributes(function.name) if not each.stored)
        calls = [call for call in named_so if isinstance(call, s.Call)]
    yield from calls or (None,)

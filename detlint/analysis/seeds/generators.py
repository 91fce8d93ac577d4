"""Generator objects: where they are kept, whether they are seeded later, and which ones a dataset draws from."""

from __future__ import annotations

from collections.abc import Container, Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching

ITEM_METHODS = ("__getitem__", "__getitems__", "__iter__", "__next__")


def alternatives(node: s.Expression) -> Iterator[s.Expression]:
    """Yield the parts of an expression that may be its value: both arms of a conditional, the operands of `or`."""
    if isinstance(node, s.Conditional):
        parts = [node.body, node.orelse]
    elif isinstance(node, s.Operation) and node.operator in ("or", "and"):
        parts = node.operands
    elif isinstance(node, s.NamedExpression):
        parts = [node.value]
    else:
        yield node
        return
    for part in parts:
        yield from alternatives(part)


def kept_as(call: s.Call) -> list[s.Expression]:
    """Return the names and attributes that a call's result is assigned to, perhaps as one of several alternatives."""
    for node in call.ancestors():
        if isinstance(node, s.Assign):
            return list(node.targets) if node.value is not None and call in alternatives(node.value) else []
    return []


def seeded_later(module: Module, call: s.Call) -> bool:
    """Return whether the generator that `call` makes is seeded by a method, or replaced under the same attribute."""
    methods = _seeding(module)
    if isinstance(call.parent, s.Attribute) and call.parent.attribute in methods:
        return True
    for target in kept_as(call):
        if isinstance(target, s.Attribute) and any(_replaces(a, target, call) for a in module.assignments):
            return True
        if any(_same(node.value, target) for method in methods for node in module.attributes(method)):
            return True
    return False


def _seeding(module: Module) -> frozenset[str]:
    return module.catalogue.names("randomness", "object", key="seeding")


def _replaces(assign: s.Assign, target: s.Attribute, call: s.Call) -> bool:
    value = assign.value
    if value is None or isinstance(value, s.Constant) or call in alternatives(value):
        return False
    return any(_same(other, target) for other in assign.targets)


def _same(node: s.Expression, target: s.Expression) -> bool:
    """Return whether two references may be the same variable: one name of one scope, or one attribute of any object."""
    if isinstance(node, s.Attribute) and isinstance(target, s.Attribute):
        return node.attribute == target.attribute
    if isinstance(node, s.Name) and isinstance(target, s.Name):
        return node.id == target.id and node.scope.find(node.id) is target.scope.find(target.id)
    return False


def item_code(module: Module, klass: s.Class) -> list[s.Function]:
    """Return the functions of this file that run when a dataset is asked for an item."""
    queue = [method for name in ITEM_METHODS if (method := module.method(klass, name)) is not None]
    found: list[s.Function] = []
    while queue:
        function = queue.pop(0)
        if function not in found:
            found.append(function)
            for call in _calls(function):
                queue += [module.functions[name] for name in module.callee(call) if name in module.functions]
                owner = module.owner(call.function)
                own = module.method(owner, "__call__") if owner is not None else None
                queue += [own] if own is not None else []
    return found


def _calls(function: s.Function) -> Iterator[s.Call]:
    return (node for node in s.walk(function.body) if isinstance(node, s.Call))


def calls_for_item(module: Module, klass: s.Class, names: Container[str]) -> Iterator[s.Call]:
    """Yield the calls of `names` that run when a dataset is asked for an item."""
    for function in item_code(module, klass):
        for call in _calls(function):
            callee = module.callee(call)
            if callee and all(name in names for name in callee):
                yield call


def held(module: Module, klass: s.Class) -> Iterator[tuple[s.Call, s.Expression]]:
    """Yield where a generator object is made once and where a dataset draws from it for an item.

    Yield nothing for a class that asks which worker it is in. A generator that is seeded by a method, or whose
    attribute is assigned something else that is no constant, is left out.
    """
    types = module.catalogue.names("randomness", "object", id="generators")
    aware = module.catalogue.names("randomness", "object", id="worker-aware")
    if any(not module.callee(c).isdisjoint(aware) for owner in module.family(klass) for c in _class_calls(owner)):
        return
    code = item_code(module, klass)
    for function in code:
        for node in s.walk(function.body):
            if isinstance(node, (s.Name, s.Attribute)) and not node.stored and _draws(node, _seeding(module)):
                for made in _makers(module, node):
                    kinds = module.types(made)
                    once = module.function_of(made) not in code
                    if kinds and kinds <= types and once and not seeded_later(module, made):
                        yield made, node


def _class_calls(klass: s.Class) -> Iterator[s.Call]:
    return (node for node in s.walk(klass.body) if isinstance(node, s.Call))


def _draws(node: s.Expression, methods: Container[str]) -> bool:
    """Return whether a method of the generator is called here, or the generator is passed to a call."""
    parent = node.parent
    if isinstance(parent, s.Attribute):
        call = parent.parent
        return isinstance(call, s.Call) and call.function is parent and parent.attribute not in methods
    return isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call)


def _makers(module: Module, node: s.Name | s.Attribute) -> Iterator[s.Call]:
    """Yield the calls in a constructor, a class body or at a file's top level that may have made a generator."""
    values: list[s.Expression] = []
    if isinstance(node, s.Name):
        scope = node.scope.find(node.id)
        bindings = reaching(node) if scope is not None and scope.kind == "module" else None
        values = [b.value for b in bindings or () if b.kind == "assign" and b.value is not None and not b.path]
    else:
        owner = module.owner(node.value)
        if owner is not None:
            values = module.attribute_values(owner, node.attribute)
    for value in values:
        function = module.function_of(value)
        if function is None or (function.name == "__init__" and class_of(function) is not None):
            yield from (part for part in alternatives(value) if isinstance(part, s.Call))

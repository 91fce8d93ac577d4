"""The kind of value that an expression stands for, by what its file does with it or takes it from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from detlint.analysis.sets.kinds import Kind, joined
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import reaching

Tables = Mapping[tuple[str, str], Mapping[str, Kind]]


def taken_as(module: Module, tables: Tables, node: s.Name, of_type: Callable[[str], Kind]) -> Kind:
    """Return the kind that a method of the value, or a function that it is the first argument of, tells.

    Otherwise that of the only class of the file whose objects have the attributes that are read. `tables` gives the
    kinds of the rows "element" by what these tell and how, `of_type` that of a class by its name.
    """
    scope, bindings = node.scope.find(node.id), reaching(node)
    attributes = set()
    for read in module.reads(scope, node.id) if scope is not None and bindings else ():
        parent = read.parent
        call = parent.parent if parent is not None else None
        if reaching(read) != bindings:
            continue
        if isinstance(parent, s.Attribute):
            attributes.add(parent.attribute)
        if not isinstance(call, s.Call):
            continue
        if isinstance(parent, s.Attribute) and call.function is parent:
            table, names = tables["taken", "methods"], frozenset((parent.attribute,))
        else:
            table = tables["taken", "names"]
            names = module.callee(call) if call.arguments and parent is call.arguments[0] else frozenset()
        if names and all(name in table for name in names):
            return joined(table[name] for name in names)
    found = [name for name, klass in module.classes.items() if attributes and _has(module, klass, attributes)]
    return of_type(found[0]) if len(found) == 1 else Kind.UNKNOWN


def _has(module: Module, klass: s.Class, attributes: set[str]) -> bool:
    """Return whether objects of a class have all of some attributes."""
    return all(
        module.attribute_assignments(klass, each) or module.method(klass, each) is not None for each in attributes
    )


def are_numbers(module: Module, tables: Tables, node: s.Expression) -> bool:
    """Return whether a loop over a collection puts its items, or all parts of each, into lists that become tensors."""
    loop = node.parent
    target = loop.target if isinstance(loop, (s.For, s.Clause)) and loop.iterator is node else None
    names = [each for each in s.walk(target) if isinstance(each, s.Name)] if target is not None else []
    return bool(names) and all(_is_collected(module, tables, name) for name in names)


def _is_collected(module: Module, tables: Tables, name: s.Name) -> bool:
    table, scope = tables["taken", "names"], name.scope.find(name.id)
    for read in module.reads(scope, name.id) if scope is not None else ():
        call = read.parent.parent if isinstance(read.parent, s.Argument) else None
        method = call.function if isinstance(call, s.Call) else None
        if isinstance(method, s.Attribute) and method.attribute == "append" and isinstance(method.value, s.Name):
            holder = method.value.scope.find(method.value.id)
            for other in module.reads(holder, method.value.id) if holder is not None else ():
                taker = other.parent.parent if isinstance(other.parent, s.Argument) else None
                names = module.callee(taker) if isinstance(taker, s.Call) else frozenset()
                if names and all(table.get(each) is Kind.STABLE for each in names):
                    return True
    return False


def may_be_column(module: Module, node: s.Expression) -> bool:
    """Return whether a value may be a column of a table, which may hold strings: an attribute, or an entry by key."""
    return not module.is_tensor(node) and any(map(_is_column, module.values(node) or [node]))


def column(module: Module, node: s.Subscript) -> Kind:
    """Return the kind that the file tells of the items of a table's column, by its key.

    They are numbers where its largest is calculated with: `max(data["user"]) + 1`, `data["user"].max() + 1`.
    """
    key = literal(node.indices[0]) if len(node.indices) == 1 else None
    same = (each for each in module.every(s.Subscript) if isinstance(key, str) and literal(each.indices[0]) == key)
    return Kind.STABLE if any(map(_is_calculated_with, same)) else Kind.UNKNOWN


def _is_calculated_with(node: s.Subscript) -> bool:
    call = node.parent.parent if isinstance(node.parent, (s.Argument, s.Attribute)) else None
    if not isinstance(call, s.Call) or last_word(call.function) not in ("max", "min"):
        return False
    around = call.parent
    return isinstance(around, s.Operation) and any(isinstance(literal(each), int) for each in around.operands)


def _is_column(node: s.Expression) -> bool:
    while isinstance(node, s.Call) and isinstance(node.function, s.Attribute):
        node = node.function.value  # what a method makes of it
    if isinstance(node, s.Subscript):
        key = node.indices[0]
        return not isinstance(key, s.Slice) and not isinstance(literal(key), int)
    return isinstance(node, s.Attribute)

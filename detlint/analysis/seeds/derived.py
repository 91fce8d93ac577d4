"""Classes of a file that derive from a library's class, and draw from a generator that this class gives them."""

from __future__ import annotations

from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def derived_from(module: Module, row: Row, made: s.Expression) -> frozenset[str]:
    """Return the bases, all in the row's `made`, of the class of this file that the call `made` instantiates.

    The result is empty unless the class reads the attribute `derived` of the row and sets it nowhere, and passes on its
    methods' `parameter` unchanged, with a default of None.
    """
    called = module.callee(made) if isinstance(made, s.Call) else frozenset()
    klass = module.classes.get(min(called)) if len(called) == 1 else None
    if klass is None:
        return frozenset()
    bases = frozenset(name for argument in klass.arguments for name in module.names(argument.value))
    inside = list(s.walk(klass))
    read = [node for node in inside if isinstance(node, s.Attribute) and node.attribute == row.text("derived")]
    plain = bool(read) and not any(node.stored for node in read) and _hands_on(module, row, klass, inside)
    return bases if bases <= row.set("made") and plain else frozenset()


def _hands_on(module: Module, row: Row, klass: s.Class, inside: list[s.Node]) -> bool:
    """Return whether the class passes seeds only through the parameter of its methods, which is None by default."""
    seed = row.text("parameter")
    given = [node.value for node in inside if isinstance(node, s.Argument) and node.keyword == seed]
    methods = [method for name in row.list("methods") if (method := module.method(klass, name)) is not None]
    taken = [each for method in methods for each in method.parameters if each.name == seed]
    defaults = all(isinstance(each.default, s.Constant) and each.default.value is None for each in taken)
    return len(taken) == len(methods) and defaults and all(isinstance(v, s.Name) and v.id == seed for v in given)

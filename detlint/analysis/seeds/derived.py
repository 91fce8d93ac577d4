"""Classes of a file that derive from a library's class, and draw from a generator that this gives them."""

from __future__ import annotations

from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def derived_from(module: Module, row: Row, made: s.Expression) -> frozenset[str]:
    """The classes `made` of a row from which the class of the file derives that a call makes an object of.

    None unless its code reads the attribute `derived` of the row and sets it nowhere, and the method's `parameter` is
    handed on as it is, with None for its default.
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
    """Whether the class gives seeds to nothing but by the parameter that its methods take, which is None by default."""
    seed = row.text("parameter")
    given = [node.value for node in inside if isinstance(node, s.Argument) and node.keyword == seed]
    methods = [method for name in row.list("methods") if (method := module.method(klass, name)) is not None]
    taken = [each for method in methods for each in method.parameters if each.name == seed]
    defaults = all(isinstance(each.default, s.Constant) and each.default.value is None for each in taken)
    return len(taken) == len(methods) and defaults and all(isinstance(v, s.Name) and v.id == seed for v in given)

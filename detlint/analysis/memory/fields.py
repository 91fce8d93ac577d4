"""Attributes of objects that hold uninitialised memory, and whether code of the file may reach them unseen."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from detlint.analysis.memory.uses import Use
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s

WALKING = ("walks", "inner", "applies", "loads")  # the keys of what reaches attributes without naming them


class Field:
    """What the code of a file does with the attributes of objects that hold uninitialised memory."""

    def __init__(self, module: Module, libraries: Iterable[str], allocations: Collection[s.Node]) -> None:
        self.module = module
        self.libraries = tuple(libraries)
        self.allocations = allocations

    def rows(self, key: str) -> frozenset[str]:
        """Return what the table of owners lists under a key for these libraries."""
        names = (self.module.catalogue.names("memory", "owner", key, library=library) for library in self.libraries)
        return frozenset[str]().union(*names)

    def walking(self) -> frozenset[str]:
        """Return the methods that give access to the attributes of an object without naming them."""
        return frozenset[str]().union(*map(self.rows, WALKING))

    def name(self, use: Use) -> str | None:
        """Return the attribute of `self` in which a use stores the memory, or None."""
        node = use.node
        if isinstance(node, s.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], s.Attribute):
            return node.targets[0].attribute if self.is_self(node.targets[0].value) else None
        if isinstance(node, s.Call) and isinstance(node.function, s.Attribute) and len(node.arguments) > 1:
            name = literal(node.arguments[0].value)
            if node.function.attribute in self.rows("registers") and self.is_self(node.function.value):
                return name if isinstance(name, str) else None
        return None

    def is_self(self, node: s.Expression) -> bool:
        """Return whether `node` is the first parameter of the function around it."""
        function = self.module.function_of(node)
        first = function.parameters[0].name if function is not None and function.parameters else None
        return isinstance(node, s.Name) and node.id == first

    def known(self, klass: s.Class) -> bool:
        """Return whether all of a class is in this file, except for bases that fill nothing."""
        for owner in self.module.family(klass):
            for argument in owner.arguments:
                names = self.module.names(argument.value)
                if not names or any(n not in self.module.classes and n not in self.rows("bases") for n in names):
                    return False
        return True

    def holds_nothing(self, target: s.Attribute) -> bool:
        """Return whether an assignment to the attribute leaves it unfilled: with None, or with uninitialised memory."""
        assign = target.parent
        if not isinstance(assign, s.Assign) or assign.value is None or assign.operator != "=":
            return False
        if isinstance(assign.value, s.Constant) and assign.value.value is None:
            return True
        return any(node in self.allocations for node in s.walk(assign.value))

    def reached(self, klass: s.Class, name: str) -> bool:
        """Return whether some code may reach the attribute without naming it as one."""
        methods, attributes, functions = self.walking(), self.rows("attributes"), self.rows("names")
        for node in self.module.nodes:
            if isinstance(node, s.Attribute):
                if node.attribute in attributes or (node.attribute in methods and not self.only_read(node)):
                    return True
            elif isinstance(node, s.Call) and self.module.callee(node) & functions:
                given = literal(node.arguments[1].value) if len(node.arguments) > 1 else None
                if not isinstance(given, str) or given == name:
                    return True
            elif isinstance(node, s.Constant) and node.value == name and not self.registers(node):
                return True
        return any(self.hands_on_self(owner) for owner in self.module.family(klass))

    def registers(self, node: s.Constant) -> bool:
        """Return whether a string is the name that a registering method gives an attribute."""
        call = node.parent.parent if node.parent is not None else None
        return (
            isinstance(call, s.Call)
            and isinstance(call.function, s.Attribute)
            and call.function.attribute in self.rows("registers")
        )

    def only_read(self, node: s.Attribute) -> bool:
        """Return whether `model.parameters()` is only passed to an optimizer or the like."""
        call = node.parent
        outer = call.parent.parent if isinstance(call, s.Call) and isinstance(call.parent, s.Argument) else None
        if not isinstance(outer, s.Call):
            return False
        names = self.module.callee(outer)
        return bool(names) and all(name.startswith(tuple(self.rows("readers"))) for name in names)

    def hands_on_self(self, klass: s.Class) -> bool:
        """Return whether the methods of a class pass the object on."""
        for node in s.walk(klass):
            if isinstance(node, s.Name) and not node.stored and self.is_self(node):
                parent = node.parent
                call = parent.parent if isinstance(parent, s.Argument) else None
                to_super = isinstance(call, s.Call) and self.module.callee(call) == {"builtins.super"}
                if not isinstance(parent, s.Attribute) and not to_super:
                    return True
        return False

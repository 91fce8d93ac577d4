"""The carriers of values from one file to another."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from detlint.catalogue import Catalogue
from detlint.orders.callers import is_property
from detlint.orders.parts import Out, Parts
from detlint.questions import Carrier
from detlint.semantics.libraries import KNOWN
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of

_STEPS = 2  # into a value that leaves a file


@cache
def _libraries(catalogue: Catalogue) -> frozenset[str]:
    """Return the top-level packages of the names that the tables know."""
    return KNOWN | {name.partition(".")[0] for name in catalogue.known_names if "." in name}


class Handing:
    """Names the carriers of one file."""

    def __init__(self, module: Module, parts: Parts) -> None:
        self.module = module
        self.parts = parts

    def held(self, node: s.Expression) -> tuple[Carrier, ...]:
        """Return the carriers that take the value of `node` to other files right where it is."""
        parent = node.parent
        found: list[Carrier | None] = []
        if isinstance(parent, s.Leave) and parent.kind == "return":
            function = self.module.function_of(parent)
            if function is not None and function.name != "<lambda>":
                found.append(self.result(function))
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            found.append(self.parameter(parent, parent.parent, self.parts.called(parent.parent)))
        elif isinstance(parent, s.Assign) and node is parent.value:
            for target in parent.targets:
                klass = self.module.class_of(target)
                if isinstance(target, s.Attribute) and klass is not None and self.module.is_self(target.value):
                    found.append(Carrier("attribute", self.module.qualified(klass), target.attribute))
                elif isinstance(target, s.Name) and target.scope.kind == "module":
                    found.append(Carrier("variable", f"{self.module.module}.{target.id}"))
        return tuple(each for each in found if each is not None and self.is_own(each.name))

    def left(self, out: Out) -> Carrier | None:
        """Return the carrier of a value that leaves the file within another one, or None."""
        node, found = out.node, None
        if len(out.path) > _STEPS:
            return None
        if isinstance(node, s.Argument) and isinstance(node.parent, s.Call):
            found = self.parameter(node, node.parent, self.parts.called(node.parent))
        elif isinstance(node, s.Name):
            found = Carrier("variable", f"{self.module.module}.{node.id}")
        elif isinstance(node, s.Attribute):
            klass = self.module.class_of(node)
            found = Carrier("attribute", self.module.qualified(klass), node.attribute) if klass is not None else None
        elif (function := self.module.function_of(node)) is not None:
            found = self.result(function)
        return replace(found, path=tuple(step.text for step in out.path)) if found is not None else None

    def result(self, function: s.Function) -> Carrier:
        """Return the carrier of what a function gives: an attribute of its objects, if it is a property."""
        klass = class_of(function)
        if klass is not None and is_property(self.module, function):
            return Carrier("attribute", self.module.qualified(klass), function.name)
        return Carrier("result", self.module.qualified(function))

    def is_own(self, name: str) -> bool:
        """Return whether a name may be one of the project's."""
        root, dot, _ = name.partition(".")
        return bool(dot) and (root not in _libraries(self.module.catalogue) or root == self.module.module.split(".")[0])

    def parameter(self, argument: s.Argument, call: s.Call, names: frozenset[str]) -> Carrier | None:
        """Return the parameter of a function of another file that takes an argument, or None."""
        part, name = self.parts.parameter(call, argument), next(iter(names)) if len(names) == 1 else ""
        return Carrier("parameter", name, part) if part and self.is_own(name) else None

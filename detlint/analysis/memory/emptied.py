"""Models whose parameters an in-place `to_empty` leaves without values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from detlint.analysis.memory.fields import Field
from detlint.analysis.memory.uses import Effect, Uses
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_CHOICES = (s.If, s.Conditional, s.For, s.While, s.Match, s.Try, s.Comprehension)
_FORWARD = "forward"


def emptied(module: Module, uses: Uses, call: s.Call, libraries: Iterable[str]) -> s.Name | None:
    """Return the name of the model that a statement `model.to_empty(...)` leaves without values.

    None where other code may know the model, or where its own code may fill it or has no parameters that it reads.
    """
    name = call.function.value if isinstance(call.function, s.Attribute) else None
    if not isinstance(name, s.Name) or not isinstance(call.parent, s.ExpressionStatement) or _has_hooks(module):
        return None
    if any(argument.keyword != "device" for argument in call.arguments) or _is_handed_on(module, uses, name, call):
        return None
    made = module.values(name) or []
    models = _Models(module, libraries)
    return name if made and all(isinstance(value, s.Call) and models.reads(value, call) for value in made) else None


def _has_hooks(module: Module) -> bool:
    """Return whether the file registers hooks, which may run whenever a model is called."""
    return any(
        node.attribute.startswith("register_") and "hook" in node.attribute for node in module.every(s.Attribute)
    )


def _is_handed_on(module: Module, uses: Uses, name: s.Name, call: s.Call) -> bool:
    """Return whether other code was given the model before, and may fill it under another name."""
    scope = name.scope.find(name.id)
    before = [node for node in module.reads(scope, name.id) if node.order < call.order] if scope is not None else []
    known = (Effect.NOTHING, Effect.READS)
    return scope is None or any(node is not name and uses.of(node, True).effect not in known for node in before)


class _Models:
    def __init__(self, module: Module, libraries: Iterable[str]) -> None:
        self.module = module
        self.field = Field(module, libraries, ())
        names = module.catalogue.names
        self.overridden = names("memory", "allocator", "overridden")
        self.layers = names("randomness", "consumer", weights="yes", kind="constructor")
        self.filling = names("memory", "filler", "methods") | names("program", "initialiser") | self.field.walking()

    def reads(self, made: s.Call, emptied: s.Call) -> bool:
        """Return whether the model that a call makes reads its parameters when called, and no other code knows them."""
        if not all(self.is_gone(argument.value, emptied) for argument in made.arguments):
            return False
        names = self.module.callee(made)
        if names and names <= self.layers:
            return True
        klass = self.module.classes.get(next(iter(names))) if len(names) == 1 else None
        return klass is not None and self.is_plain(klass) and self.reads_weights(klass)

    def is_gone(self, given: s.Expression, emptied: s.Call) -> bool:
        """Return whether the arguments that a model is made with are not used after it is emptied."""
        for node in s.walk(given):
            scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
            if not isinstance(node, (s.Name, s.Attribute)) or self.module.names(node):
                continue
            reads = self.module.reads(scope, node.id) if scope is not None and isinstance(node, s.Name) else None
            if reads is None or any(read.order > emptied.order for read in reads):
                return False
        return True

    def is_plain(self, klass: s.Class) -> bool:
        """Return whether all of a class is in this file, and it is emptied and called as modules are."""
        plain = not any(self.module.method(klass, name) for name in self.overridden)
        return plain and self.field.known(klass) and not any(map(self.field.hands_on_self, self.module.family(klass)))

    def reads_weights(self, klass: s.Class) -> bool:
        """Return whether a forward pass certainly reads parameters of a layer that is always made, and fills none."""
        kept = set(self.kept(klass))
        body = list(self.passed(klass))
        if not kept or any(self.may_fill(node) for node in body):
            return False
        return any(isinstance(n, s.Attribute) and n.attribute in kept and self.field.is_self(n.value) for n in body)

    def kept(self, klass: s.Class) -> Iterator[str]:
        """Yield the attributes in which a class always keeps a layer with weights."""
        function = self.module.method(klass, "__init__")
        for node in s.walk(function.body) if function is not None else ():
            if isinstance(node, s.Assign) and len(node.targets) == 1 and isinstance(node.value, s.Call):
                target, names = node.targets[0], self.module.callee(node.value)
                around = (each for each in node.ancestors() if self.module.function_of(each) is function)
                always = not any(isinstance(each, _CHOICES) for each in around)
                own = isinstance(target, s.Attribute) and self.field.is_self(target.value)
                if isinstance(target, s.Attribute) and own and always and names and names <= self.layers:
                    yield target.attribute

    def passed(self, klass: s.Class) -> Iterator[s.Node]:
        """Yield all nodes of the class's own code that a forward pass runs."""
        waiting, seen = [_FORWARD], set[str]()
        while waiting:
            name = waiting.pop()
            function = self.module.method(klass, name) if name not in seen else None
            seen.add(name)
            for node in s.walk(function.body) if function is not None else ():
                yield node
                if isinstance(node, s.Attribute) and self.field.is_self(node.value):
                    waiting.append(node.attribute)

    def may_fill(self, node: s.Node) -> bool:
        """Return whether a node in a forward pass may fill parameters: by its name, or because it is given them."""
        if isinstance(node, s.Attribute):
            return node.attribute in self.filling or node.attribute == "data" or node.stored
        if not isinstance(node, s.Argument):
            return False
        call = node.parent
        names = self.module.callee(call) if isinstance(call, s.Call) else frozenset[str]()
        inner = (each for each in s.walk(node.value) if isinstance(each, s.Attribute))
        own = any(self.field.is_self(each.value) for each in inner)
        torch = bool(names) and all(name.startswith("torch.") and ".init." not in name for name in names)
        return own and not torch

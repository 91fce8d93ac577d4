"""The lists that a loop fills with an item in each turn: directly, by key, or through functions that it calls."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, inside


class Gathering:
    """Answers about what the loops of one file gather."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._adding = module.python("methods", "takes-in")

    def lists(self, call: s.Call, loop: s.For | s.While) -> Iterator[s.Expression]:
        """Yield the lists that exist before a loop and to which a call in it adds."""
        yield from self._filled_by(call, loop)
        receiver = call.function.value if isinstance(call.function, s.Attribute) and self._adds(call) else None
        if receiver is not None and self.gathers(receiver, loop):
            yield receiver

    def handed(self, call: s.Call, loop: s.For | s.While) -> Iterator[s.Argument]:
        """Yield the arguments by which a call passes items of a loop to what may be a function of another file."""
        names = self.module.callee(call)
        if len(names) != 1 or not isinstance(loop, s.For) or not names.isdisjoint(self.module.functions):
            return
        if isinstance(call.function, s.Attribute) and not self.outside(call.function.value, loop):
            return
        items = {part.id for part in s.walk(loop.target) if isinstance(part, s.Name)}
        for argument in call.arguments:
            parts = (part for part in s.walk(argument.value) if isinstance(part, s.Name))
            if not argument.star and any(part.id in items for part in parts):
                yield argument

    def numbers(self, call: s.Call, loop: s.For | s.While) -> bool:
        """Return whether a function of the file, called with something of a loop, gives its argument a number.

        The number is how many items a mapping of its object holds, or a counter: `self.ids[word] = len(self.ids)`.
        """
        functions = [self.module.functions[name] for name in self.module.callee(call) if name in self.module.functions]
        if not functions or all(isinstance(a.value, s.Constant) for a in call.arguments):
            return False
        if isinstance(call.function, s.Attribute) and not self.outside(call.function.value, loop):
            return False
        return any(map(self.gives_numbers, functions))

    def gives_numbers(self, function: s.Function) -> bool:
        """Return whether a method gives its argument the next number."""
        assigns = [part for part in s.walk(function.body) if isinstance(part, s.Assign)]
        first = function.parameters[0].name if function.parameters and class_of(function) is not None else ""
        counted = {self.module.source(a.targets[0]) for a in assigns if a.operator == "+=" and _is_one(a.value)}
        for assign in assigns:
            target, value = assign.targets[0], assign.value
            holder = target.value if isinstance(target, s.Subscript) else None
            if not (isinstance(holder, s.Attribute) and _is(holder.value, first)) or value is None:
                continue
            length = isinstance(value, s.Call) and self.module.callee(value) == {"builtins.len"} and value.arguments
            held = value.arguments[0].value if isinstance(value, s.Call) and length else None
            if isinstance(held, s.Attribute) and _is(held.value, first):
                return True
            if isinstance(value, s.Attribute) and self.module.source(value) in counted:
                return True
        return False

    def _adds(self, call: s.Call) -> bool:
        """Return whether a method call adds something to a list that may differ each time."""
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        return method in self._adding and any(not isinstance(a.value, s.Constant) for a in call.arguments)

    def outside(self, node: s.Expression, loop: s.For | s.While) -> bool:
        """Return whether the object of a name or attribute exists before the loop begins."""
        while isinstance(node, (s.Attribute, s.Subscript)):
            if isinstance(node, s.Subscript):
                return False  # by key: each key's items may be its own
            node = node.value
        if not isinstance(node, s.Name):
            return False
        scope = node.scope.find(node.id)
        bindings = scope.bindings[node.id] if scope is not None else []
        return bool(bindings) and not any(inside(b.node, loop) for b in bindings if b.kind != "augment")

    def _filled_by(self, call: s.Call, loop: s.For | s.While) -> Iterator[s.Expression]:
        """Yield the lists to which a function of the file adds each time it is called with something of the loop."""
        functions = [self.module.functions[name] for name in self.module.callee(call) if name in self.module.functions]
        given = [a for a in call.arguments if not isinstance(a.value, s.Constant) and not a.star]
        if not given or (isinstance(call.function, s.Attribute) and not self.outside(call.function.value, loop)):
            return
        for function in functions:
            for part in s.walk(function.body):
                if isinstance(part, s.Call) and isinstance(part.function, s.Attribute) and self._adds(part):
                    yield from self._seen_outside(part.function.value, function, call, loop)

    def kept(self, function: s.Function) -> Iterator[tuple[s.Attribute, frozenset[str]]]:
        """Yield the lists of its object to which a method adds something, and the names that this speaks of."""
        first = function.parameters[0].name if function.parameters and class_of(function) is not None else ""
        for part in s.walk(function.body) if first else ():
            receiver = (
                part.function.value if isinstance(part, s.Call) and isinstance(part.function, s.Attribute) else None
            )
            own = isinstance(receiver, s.Attribute) and _is(receiver.value, first)
            if own and isinstance(part, s.Call) and isinstance(receiver, s.Attribute) and self._adds(part):
                given = (each for argument in part.arguments for each in s.walk(argument.value))
                yield receiver, frozenset(each.id for each in given if isinstance(each, s.Name))

    def _seen_outside(
        self, receiver: s.Expression, function: s.Function, call: s.Call, loop: s.For | s.While
    ) -> Iterator[s.Expression]:
        """Yield a list of a function as the calling loop sees it: an attribute of its object, or an argument."""
        holder = receiver.value if isinstance(receiver, s.Attribute) else receiver
        place = next((n for n, p in enumerate(function.parameters) if _is(holder, p.name)), None)
        if place is None:
            return
        method = class_of(function) is not None and not self.module.is_static(function)
        if isinstance(receiver, s.Attribute):
            if method and place == 0:
                yield receiver
            return
        by_place = [a.value for a in call.arguments if a.keyword is None and not a.star]
        named = [a.value for a in call.arguments if a.keyword == function.parameters[place].name]
        place -= 1 if method else 0
        found = named or by_place[place : place + 1] if place >= 0 else []
        yield from (each for each in found if self.outside(each, loop))

    def gathers(self, receiver: s.Expression, loop: s.For | s.While) -> bool:
        """Return whether a list that items are added to exists before the loop, or is one of several by a key.

        If the key is the item itself, each list gets only what belongs to that item.
        """
        keyed = entry_of(receiver)
        if keyed is None:
            return self.outside(receiver, loop)
        holder, key = keyed
        names = [part.id for part in s.walk(loop.target) if isinstance(part, s.Name)] if isinstance(loop, s.For) else []
        own = isinstance(key, s.Name) and key.id in names
        return not own and self.outside(holder, loop)


def _is_one(node: s.Expression | None) -> bool:
    return isinstance(node, s.Constant) and type(node.value) is int


def _is(node: s.Node, name: str) -> bool:
    return isinstance(node, s.Name) and node.id == name


def entry_of(node: s.Expression) -> tuple[s.Expression, s.Expression] | None:
    """Return the mapping and the key of `d[key]` or `d.setdefault(key, ...)`, or None."""
    if isinstance(node, s.Subscript) and len(node.indices) == 1:
        return node.value, node.indices[0]
    if isinstance(node, s.Call) and isinstance(node.function, s.Attribute) and node.function.attribute == "setdefault":
        return (node.function.value, node.arguments[0].value) if node.arguments else None
    return None

"""The touches of a file: what it does with memory that it is passed, that objects hold, or that it holds itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from detlint.analysis.memory.empty import LIBRARIES, allocations
from detlint.analysis.memory.fields import Field
from detlint.analysis.memory.uses import Effect, Uses
from detlint.facts.owners import NO_OBJECT, Owners
from detlint.facts.sweeps import Sweeps
from detlint.facts.touches import ALLOCATES, FILLS, HANDS, LOADS, LOOKS, OPEN, OTHERS, READS, Memory, Touch
from detlint.facts.ways import Way, Ways
from detlint.questions import Carrier
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of

_GO_ON = frozenset((Effect.READS, Effect.HANDED))


def memory(module: Module) -> Memory:
    """Return the touches of a file, each once, in an order that lines do not change, and the methods that it calls."""
    touched = _Touched(module)
    found = [
        *touched.of_classes(),
        *touched.of_attributes(),
        *touched.of_sweeps(),
        *touched.of_parameters(),
        *touched.of_results(),
        *touched.of_variables(),
    ]
    kept: dict[object, Touch] = {}
    for touch in found:
        place = touch.place if touch.kind == FILLS else None  # other kinds are recorded once
        kept.setdefault((touch.carrier, touch.kind, touch.within, touch.to, place), touch)
    called, needing, given = ("/".join(found) for found in (touched.called(), touched.needing(), touched.given()))
    return Memory(tuple(kept.values()), called, needing, given)


class _Touched:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.allocations = [call for call, _ in allocations(module, LIBRARIES)]
        self.field = Field(module, LIBRARIES, self.allocations)
        self.uses = Uses(module, LIBRARIES)
        self.ways = Ways(module, self.uses, self.field)
        self.owners = Owners(module, self.ways.is_own)
        self.calls = {call: name for call in module.calls if (name := self.ways.called(call))}
        self.sweeps = Sweeps(module, self.uses, self.field, self.ways, self.owners)

    def of_classes(self) -> Iterator[Touch]:
        """Yield a touch for each class with a base that is neither the project's nor known to fill nothing."""
        harmless = self.field.rows("bases")
        for name, klass in self.module.classes.items():
            for argument in klass.arguments:
                value = argument.value.value if isinstance(argument.value, s.Subscript) else argument.value
                names = self.module.names(value)
                if not names or any(each not in harmless and not self.ways.is_own(each) for each in names):
                    yield Touch(Carrier("class", name), OPEN)

    # Attributes

    def of_attributes(self) -> Iterator[Touch]:
        """Yield what is done with the attributes of objects."""
        for call in self.allocations:
            use = self.uses.of(call)
            name, klass = self.field.name(use), self.module.class_of(call)
            if name is not None and klass is not None:
                yield Touch(Carrier("attribute", self.module.qualified(klass), name), ALLOCATES)
        for node in self.module.every(s.Attribute):
            if not (isinstance(node.parent, s.Call) and node.parent.function is node) and not self._is_of_library(node):
                for owner in self.owners.of(node.value):
                    yield from self._of_attribute(node, owner)

    def _of_attribute(self, node: s.Attribute, owner: str) -> Iterator[Touch]:
        carrier = Carrier("attribute", owner, node.attribute)
        within = self._method(node) if owner and self.module.is_self(node.value) else ""
        if node.stored and not self._adds(node):
            if not self.field.holds_nothing(node) and not self._goes_on(node):
                kind = LOADS if not owner and (_is_tied(node) or _is_of_one(node)) else FILLS
                yield Touch(carrier, kind, self.module.place(node.parent or node), within)
            return
        use = self.uses.of(node)
        if use.effect is Effect.NOTHING or (not owner and use.effect in (Effect.READS, Effect.HANDED)):
            return
        ways = self.ways.of(use)
        if ways is None and use.effect in (Effect.FILLS, Effect.STORES) and self._goes_on(node):
            return
        if ways is None:
            copied = not owner and (
                _is_of_one(node) or (isinstance(use.node, s.Call) and self.sweeps.kind(use) == LOADS)
            )
            goes = owner and use.effect is Effect.ESCAPES and not isinstance(use.node.parent, s.ExpressionStatement)
            at = self.module.place(use.node) if goes else None
            yield Touch(carrier, HANDS if goes else LOADS if copied else FILLS, at, within)
        elif owner:
            yield from self._told(carrier, ways, within)

    def _goes_on(self, node: s.Attribute) -> bool:
        """Return whether what is written to an attribute comes of it, as for a moving average, or by another name."""
        statement = next(a for a in node.ancestors() if isinstance(a, s.Statement))
        text = self.module.source(node)
        inner = (each for each in s.walk(statement) if isinstance(each, s.Attribute) and each is not node)
        return any(
            not each.stored and self.module.source(each) == text and self.uses.of(each).effect in _GO_ON
            for each in inner
        )

    def _adds(self, node: s.Attribute) -> bool:
        return isinstance(node.parent, s.Assign) and node.parent.operator != "="

    def _method(self, node: s.Node) -> str:
        """Return the name of the method that contains a node; "" if there is none."""
        method = self.module.method_of(node)
        return "" if method is None else method.name

    def _told(self, carrier: Carrier, ways: Iterable[Way], within: str = "") -> Iterator[Touch]:
        for way in ways:
            if way.to != carrier:
                yield Touch(carrier, READS if way.reads else HANDS, self.module.place(way.node), within, way.to)

    def of_sweeps(self) -> Iterator[Touch]:
        """Yield what may fill the attributes of objects without naming them."""
        for carrier, kind, unless in self.sweeps.found():
            yield Touch(carrier, kind, to=unless)

    # Functions and variables

    def of_parameters(self) -> Iterator[Touch]:
        """Yield what functions do with their arguments, where they never write to them."""
        for name, function in self.module.functions.items():
            for parameter in function.parameters:
                ways = None if parameter.star else self.ways.of_parameter(function, parameter)
                if ways is not None and all(way.reads or way.to is not None for way in ways):
                    carrier = Carrier("parameter", name, parameter.name)
                    yield from self._told(carrier, ways)
                    if not ways:
                        yield Touch(carrier, LOOKS)

    def of_results(self) -> Iterator[Touch]:
        """Yield what is done with the results of the project's functions, where nothing writes to them."""
        for call, name in self.calls.items():
            ways = self.ways.of(self.uses.of(call))
            if ways is not None and all(way.reads or way.to is not None for way in ways):
                yield from self._told(Carrier("result", name), ways)

    def of_variables(self) -> Iterator[Touch]:
        """Yield what is done with the variables of modules."""
        nodes: list[s.Name | s.Attribute] = [*self.module.every(s.Name), *self.module.every(s.Attribute)]
        for node in nodes:
            if isinstance(node.parent, s.Call) and node.parent.function is node:
                continue
            if isinstance(node, s.Attribute) and (self.module.is_self(node.value) or self.module.types(node.value)):
                continue  # an attribute of an object
            names = self.module.names(node)
            name = next(iter(names)) if len(names) == 1 else ""
            defined = name in self.module.functions or name in self.module.classes
            if name and not defined and self.ways.is_own(name):
                carrier = Carrier("variable", name)
                ways = None if node.stored else self.ways.of(self.uses.of(node))
                if ways is None or any(way.to is None and not way.reads for way in ways):
                    yield Touch(carrier, FILLS)
                else:
                    yield from self._told(carrier, ways)

    # Methods

    def called(self) -> list[str]:
        """Return the methods that are called or passed on, each with the class of the object."""
        found: set[str] = set()
        for node in self.module.every(s.Attribute):
            parent = node.parent
            if node.stored or isinstance(parent, s.Attribute) or self._is_of_library(node):
                continue
            if isinstance(parent, (s.Call, s.Argument, s.Assign, s.Collection, s.Leave)):
                owners = [owner for owner in self.owners.of(node.value) if owner not in NO_OBJECT]
                found |= {f"{owner}:{node.attribute}" for owner in owners}
        for call in self.module.calls_to({"builtins.getattr"}):
            name = literal(call.arguments[1].value) if len(call.arguments) > 1 else None
            if isinstance(name, str):
                found |= {f"{owner}:{name}" for owner in self.owners.of(call.arguments[0].value)}
        return sorted(found)

    def given(self) -> list[str]:
        """Return the project's functions that are given objects, each with the class; any where one is passed on."""
        found: set[str] = set()
        for call, name in self.calls.items():
            given = (each.value for each in call.arguments if not isinstance(each.value, s.Constant))
            owners = {owner for value in given for owner in self.owners.within(value)}
            found |= {f"{name}:{owner}" for owner in owners or {OTHERS}}
        passed: list[s.Name | s.Attribute] = [*self.module.every(s.Name), *self.module.every(s.Attribute)]
        for node in passed:
            if not node.stored and isinstance(node.parent, (s.Argument, s.Assign, s.Collection, s.Leave)):
                found |= {f"{name}:" for name in self.module.names(node) if self.ways.is_own(name)}
        return sorted(found)

    def _is_of_library(self, node: s.Attribute) -> bool:
        names = self.module.names(node)
        return bool(names) and not any(self.ways.is_own(name) for name in names)

    def needing(self) -> list[str]:
        """Return the methods that cannot be called without an argument."""
        found = []
        for name, function in self.module.functions.items():
            own = function.parameters[1:] if class_of(function) is not None else ()
            if any(each.default is None and not each.star for each in own):
                found.append(name)
        return found


def _is_tied(node: s.Attribute) -> bool:
    """Return whether an object is given what another one has under the same name, as `head.weight = words.weight`."""
    value = node.parent.value if isinstance(node.parent, s.Assign) else None
    return isinstance(value, s.Attribute) and value.attribute == node.attribute


def _is_of_one(node: s.Attribute) -> bool:
    """Return whether an attribute is that of one of several objects: `layers[-1].weight`."""
    return isinstance(node.value, s.Subscript) and all(isinstance(literal(each), int) for each in node.value.indices)

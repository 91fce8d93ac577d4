"""What a file does with the order of values that other files give it: the flows that it reports to the project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from detlint.orders.callers import common_methods, maker
from detlint.orders.follow import Order
from detlint.orders.leaks import Leak
from detlint.orders.parts import Path, Step
from detlint.questions import CALLED, DERIVES, EACH, SORTED, Carrier, Flow
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of


def carried(module: Module) -> tuple[Flow, ...]:
    """Return the flows from each carrier that other files may fill, each once, in an order independent of lines."""
    flows = _Flows(module)
    found = [
        *flows.of_classes(),
        *flows.of_parameters(),
        *flows.of_turns(),
        *flows.of_results(),
        *flows.of_attributes(),
        *flows.of_names(),
    ]
    return tuple(dict.fromkeys(found))


_USES = frozenset(
    ("draws", "numbers", "array", "dataset", "trains", "state", "collective", "writes", "position", "first", "sums")
)


class _Flows:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.order = Order(module, apart=True)
        self._gathering = module.python("methods", "takes-in") | {"len", "open"}
        self._common = common_methods(module.catalogue)
        self._single = module.python("types", "plain") | module.python("types", "no-collection")

    def of_classes(self) -> Iterator[Flow]:
        """Yield the bases of each class, and what its constructor keeps where it declares fields."""
        for name, klass in self.module.classes.items():
            for base in self.module.bases(klass):
                if self.order.handing.is_own(base):
                    yield Flow(Carrier("class", name), self.module.place(klass), DERIVES, Carrier("class", base))
            if klass.decorators and self.module.method(klass, "__init__") is None:
                for place, field in enumerate(self.order.parts.fields(klass)):
                    kept = Carrier("attribute", name, field)
                    yield Flow(Carrier("parameter", name, field), self.module.place(klass), "kept", kept)
                    yield Flow(Carrier("parameter", name, f"#{place}"), self.module.place(klass), "kept", kept)

    def of_parameters(self) -> Iterator[Flow]:
        """Yield what functions do with what they are given."""
        for name, function in self.module.functions.items():
            for parameter in function.parameters:
                if not parameter.star and self._may_be_many(function, parameter):
                    carrier = Carrier("parameter", name, parameter.name)
                    yield from self._flows(carrier, self.order.leaks_of_parameter(function, parameter.name))
                    if not self.order.parts.is_first(function, parameter):
                        for read in self.module.reads(function.scope, parameter.name):
                            yield from self._within(carrier, read)

    def of_turns(self) -> Iterator[Flow]:
        """Yield what methods do with items that they are given one per call."""
        for name, function in self.module.functions.items():
            klass = class_of(function)
            if klass is None or len(function.parameters) < 2 or self.module.words.isdisjoint(self._gathering):
                continue
            numbers = self.order.loops.gathering.gives_numbers(function)
            writes = self.order.loops.writes_in_turn(function)
            kept = list(self.order.loops.gathering.kept(function))
            for parameter in function.parameters[1:]:
                source = Carrier("parameter", name, parameter.name, (EACH,))
                if numbers and self.module.reads(function.scope, parameter.name):
                    yield Flow(source, self.module.place(function), "numbers")
                if writes is not None:
                    yield Flow(source, self.module.place(writes), "writes")
                for held in (each for each, names in kept if parameter.name in names):
                    to = Carrier("attribute", self.module.qualified(klass), held.attribute)
                    yield Flow(source, self.module.place(held), "goes", to)

    def _may_be_many(self, function: s.Function, parameter: s.Parameter) -> bool:
        """Return whether a parameter may take something ordered, by its default and its annotation."""
        if isinstance(parameter.default, s.Constant) and parameter.default.value is not None:
            return False
        reads = self.module.reads(function.scope, parameter.name)
        return bool(reads) and not self._is_single(reads[0])

    def _is_single(self, node: s.Expression) -> bool:
        """Return whether an expression is known to be a number, a text or something else that is not a collection."""
        types = self.module.types(node)
        return bool(types) and types <= self._single

    def of_results(self) -> Iterator[Flow]:
        """Yield what is done with the results of functions of other files."""
        for call in self.module.calls:
            name = self._other(self.order.parts.called(call))
            if not name and (made := maker(self.module, call)) is not None:
                name = self._other(self.order.parts.called(made))
                name = f"{name}.{CALLED}" if name else ""
            if name:
                yield from self._flows(Carrier("result", name), self.order.leaks(call))
                for node in self._same(call):
                    yield from self._within(Carrier("result", name), node)

    def _same(self, node: s.Expression) -> Iterator[s.Expression]:
        """Yield an expression, and the reads of the name that it is bound to."""
        yield node
        parent = node.parent
        if isinstance(parent, s.Assign) and parent.value is node:
            for target in parent.targets:
                if isinstance(target, s.Name) and (scope := target.scope.find(target.id)) is not None:
                    yield from self.module.reads(scope, target.id)

    def _within(self, carrier: Carrier, node: s.Expression, depth: int = 2) -> Iterator[Flow]:
        """Yield what is done with what the value of an expression holds, down to a `depth` of steps."""
        for path in (*_taken(node), *self._called(node)):
            within = replace(carrier, path=(*carrier.path, *(step.text for step in path)))
            yield from self._flows(within, self.order.leaks_at(node, path))
            for inner in self.order.parts.of(node, path) if depth > 1 else ():
                if isinstance(inner, s.Expression):
                    yield from self._within(within, inner, depth - 1)

    def _called(self, node: s.Expression) -> Iterator[Path]:
        """Yield the step by which a method of an object is called whose class may be one of another file."""
        method, call = node.parent, node.parent.parent if node.parent is not None else None
        if not isinstance(method, s.Attribute) or not isinstance(call, s.Call) or call.function is not method:
            return
        if method.attribute not in self._common and not isinstance(call.parent, s.ExpressionStatement):
            yield from () if self.module.types(node) else [(Step("call", method.attribute),)]

    def of_attributes(self) -> Iterator[Flow]:
        """Yield what methods do with their objects' attributes, and other code with those of other files' objects."""
        for node in self.module.every(s.Attribute):
            if node.stored or (isinstance(node.parent, s.Call) and node.parent.function is node):
                continue
            for owner in () if self._is_single(node) else self._owners(node.value):
                carrier = Carrier("attribute", owner, node.attribute)
                if self.order.calls.sorts_in_place(node) or self.order.loops.is_sorted_into(node):
                    yield Flow(carrier, self.module.place(node), SORTED)
                else:
                    yield from self._flows(carrier, self.order.leaks(node))
                    yield from self._within(carrier, node)

    def _owners(self, node: s.Expression) -> Iterator[str]:
        """Yield the class of an object, if it is one of the project's."""
        klass = self.module.class_of(node) if self.module.is_self(node) else None
        if klass is not None:
            yield self.module.qualified(klass)
            return
        types = self.module.types(node)
        name = next(iter(types)) if len(types) == 1 else ""
        if name in self.module.classes or self.order.handing.is_own(name):
            yield name

    def of_names(self) -> Iterator[Flow]:
        """Yield what is done with the variables of other files."""
        nodes: list[s.Name | s.Attribute] = [*self.module.every(s.Name), *self.module.every(s.Attribute)]
        for node in nodes:
            called = isinstance(node.parent, s.Call) and node.parent.function is node
            if called or node.stored or isinstance(node.parent, s.Attribute):
                continue
            if isinstance(node, s.Attribute) and self.module.types(node.value):
                continue  # an attribute of an object
            name = self._other(self.module.names(node))
            if name and not self._is_single(node):
                yield from self._flows(Carrier("variable", name), self.order.leaks(node))
                for each in self._same(node):
                    yield from self._within(Carrier("variable", name), each)

    def _other(self, names: frozenset[str]) -> str:
        """Return the only name, if it may be one of the project; otherwise ""."""
        name = next(iter(names)) if len(names) == 1 else ""
        return name if self.order.handing.is_own(name) else ""

    def _flows(self, source: Carrier, leaks: Iterable[Leak]) -> Iterator[Flow]:
        """Yield what the leaks of a carrier mean for the project: uses, and what carries the order on."""
        for leak in leaks:
            target = leak.to if leak.to != source else None
            kind = "dataset" if leak.kind == "kept" and self._is_data(leak.node) else leak.kind
            if target is not None or (kind in _USES and not (kind == "position" and self._may_be_key(leak.node))):
                yield Flow(source, self.module.place(leak.node), kind, target, leak.through)

    def _may_be_key(self, node: s.Node) -> bool:
        """Return whether an index is not known to be a number, so that a mapping may be looked up."""
        if not isinstance(node, s.Subscript) or isinstance(node.indices[0], (s.Slice, s.Operation)):
            return False
        held, index = self.module.types(node.value), node.indices[0]
        if held and held <= {"builtins.list", "builtins.tuple"}:
            return False
        types = self.module.types(index)
        return not isinstance(literal(index), int) and not (types and types <= {"builtins.int"})

    def _is_data(self, node: s.Node) -> bool:
        """Return whether a dataset keeps the order."""
        klass = self.module.class_of(node)
        return klass is not None and self.module.is_a(klass, "dataset")


def _taken(node: s.Expression) -> Iterator[Path]:
    """Yield the steps by which something is taken from the value of an expression."""
    parent = node.parent
    if isinstance(parent, s.Subscript) and parent.value is node and len(parent.indices) == 1 and not parent.stored:
        key = literal(parent.indices[0])
        if isinstance(key, (str, int)):
            yield (Step("item" if isinstance(key, int) else "entry", key),)
    elif isinstance(parent, s.Attribute) and not parent.stored:
        call = parent.parent
        if not isinstance(call, s.Call) or call.function is not parent:
            yield (Step("attribute", parent.attribute),)
        elif parent.attribute == "get" and call.arguments and isinstance(key := literal(call.arguments[0].value), str):
            yield (Step("entry", key),)
        elif parent.attribute in ("items", "values"):
            yield (Step("entry"),)
    elif isinstance(parent, s.Assign) and parent.value is node:
        for target in parent.targets:
            yield from ((step,) for step in _places(target))
    elif isinstance(parent, (s.For, s.Clause)) and parent.iterator is node:
        if isinstance(parent.target, s.Collection):
            yield from ((Step("item"), step) for step in _places(parent.target))
        else:
            yield (Step("item"),)


def _places(target: s.Expression) -> Iterator[Step]:
    if isinstance(target, s.Collection):
        yield from (Step("item", place) for place in range(len(target.elements)))

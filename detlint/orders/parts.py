"""Where a value comes out again after it was put into a container, an object, or a function's result."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.orders.callers import callers
from detlint.orders.rebound import Live
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.support.records import record
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope, class_of

_DEPTH = 8
_READS = 30  # reads of a container that are followed, the first in the text
_ALL = ("values",)
_TAKING = ("get", "pop", "setdefault")


@record(frozen=True, slots=True)
class Step:
    """One step into a value: to an "item" of a sequence, an "entry" of a mapping, an "attribute", or what a method
    gives by a "call".

    `key` is its index, key or name, or None if that is not known or all are meant.
    """

    kind: str
    key: str | int | None = None

    def leads_to(self, kind: str, key: object) -> bool:
        """Return whether an access of this kind, whose key may be unknown (None), may reach this step."""
        return kind == self.kind and (key is None or self.key is None or key == self.key)

    @property
    def text(self) -> str:
        """The step as it is written in the path of a `Carrier`."""
        return f"{self.kind}:{'' if self.key is None else self.key}"


Path = tuple[Step, ...]


@record(frozen=True, slots=True)
class Out:
    """A value that leaves the function, with what is followed at `path` in it.

    `node` is the statement that returns it, the argument that passes it on, or the attribute or module variable that
    keeps it. `goes` says that the file itself takes it up too.
    """

    node: s.Node
    path: Path
    goes: bool = False


class Parts:
    """Follows values of one file to what they are put into and where they are taken out again."""

    def __init__(self, module: Module, live: Live, *, apart: bool = False) -> None:
        """Create the analysis. With `apart` no function of the file is entered, and none is left for its callers."""
        self.module = module
        self._apart = apart
        self.live = live
        self._kept = module.python("functions", "same-items")
        self._adding = module.python("methods", "takes-in")
        self._named = module.python("functions", "attributes-of-keywords")
        self.keyed = self._named | {"builtins.dict"}  # functions that keep their keyword arguments
        self._seen: set[tuple[s.Node, Path]] = set()

    def put(self, node: s.Expression) -> list[s.Expression | Out]:
        """Return where the value of `node` comes out of what it is put into; empty if it is put nowhere."""
        self._seen = set()
        return list(self._put(node, (), _DEPTH))

    def of(self, node: s.Expression, path: Path) -> list[s.Expression | Out]:
        """Return where the value at `path` in `node` comes out."""
        self._seen = set()
        return list(self._at(node, path, _DEPTH))

    def of_holder(self, holder: s.Expression, path: Path, node: s.Node) -> list[s.Expression | Out]:
        """Return where a value comes out that `node` puts at `path` into what a name or an expression holds."""
        self._seen = set()
        return list(self._held(holder, path, node, _DEPTH))

    def onward(self, node: s.Expression) -> list[s.Expression | Out]:
        """Return where an expression's value comes out after it is bound, returned, passed on or put into something."""
        self._seen = set()
        return list(self._onward(node, _DEPTH))

    def _onward(self, node: s.Expression, depth: int) -> Iterator[s.Expression | Out]:
        parent = node.parent
        if isinstance(parent, s.Assign) and node is parent.value and parent.operator == "=":
            for target in parent.targets:
                yield from self._unpacked(target, (), parent, depth)
        elif isinstance(parent, s.NamedExpression) and node is parent.value:
            yield parent
            yield from self._unpacked(parent.target, (), parent, depth)
        elif isinstance(parent, s.Leave) and parent.kind == "return":
            yield from self._left(parent, (), depth)
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            yield from self._entered(parent, parent.parent, self.called(parent.parent), (), depth)
        yield from self._put(node, (), depth)

    # Into containers

    def _put(self, node: s.Expression, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        parent = node.parent
        if isinstance(parent, s.Dictionary) and node in parent.values:
            key = parent.keys[parent.values.index(node)]
            yield from self._at(parent, (Step("entry", _key(key)), *path), depth)
        elif isinstance(parent, s.Collection) and parent.kind in ("tuple", "list"):
            yield from self._at(parent, (Step("item", parent.elements.index(node)), *path), depth)
        elif isinstance(parent, s.Comprehension) and node in parent.elements:
            kind = "entry" if parent.kind == "dict" and node is parent.elements[-1] else "item"
            if parent.kind in ("list", "generator") or kind == "entry":
                yield from self._at(parent, (Step(kind), *path), depth)
        elif isinstance(parent, s.Assign) and node is parent.value and parent.operator == "=":
            for target in parent.targets:
                if isinstance(target, s.Subscript):
                    step = Step("entry", _key(target.indices[0]) if len(target.indices) == 1 else None)
                    yield from self._held(target.value, (step, *path), parent, depth)
                elif isinstance(target, s.Attribute) and not self.module.is_self(target.value):
                    yield from self._held(target.value, (Step("attribute", target.attribute), *path), parent, depth)
        elif isinstance(parent, s.Operation) and parent.operator == "yield":
            yield from self._left(parent, (Step("item"), *path), depth)
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            yield from self._given(parent, parent.parent, path, depth)

    def _given(self, argument: s.Argument, call: s.Call, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        """Yield where a value comes out that a call puts into what it makes, or into the receiver of the method."""
        names = self.called(call)
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        if isinstance(call.function, s.Attribute) and method in ("append", "appendleft", "insert"):
            yield from self._held(call.function.value, (Step("item"), *path), call, depth)
        elif names and names <= self.keyed and argument.keyword:
            kind = "attribute" if names <= self._named else "entry"
            yield from self._at(call, (Step(kind, argument.keyword), *path), depth)
        elif len(names) == 1 and (klass := self.module.classes.get(next(iter(names)))) is not None:
            for attribute in self._attributes(klass, call, argument):
                yield from self._at(call, (Step("attribute", attribute), *path), depth)
                yield from self._read(klass, attribute, path, depth)

    def _attributes(self, klass: s.Class, call: s.Call, argument: s.Argument) -> Iterator[str]:
        """Yield the attributes in which an object keeps an argument of its constructor."""
        name = self.parameter(call, argument)
        made = self.module.method(klass, "__init__")
        if made is None:
            fields = self.fields(klass)
            if klass.decorators and name.startswith("#") and int(name[1:]) < len(fields):
                yield fields[int(name[1:])]
            elif klass.decorators and name in fields:
                yield name
            return
        if not made.parameters:
            return
        for read in self.module.reads(made.scope, name):
            assign = read.parent
            if isinstance(assign, s.Assign) and assign.value is read:
                kept = [
                    each for each in assign.targets if isinstance(each, s.Attribute) and self.module.is_self(each.value)
                ]
                yield from (each.attribute for each in kept)

    def fields(self, klass: s.Class) -> list[str]:
        """Return the fields that a class and its bases declare, in their order."""
        nodes = [node for each in reversed(self.module.family(klass)) for node in each.body.statements]
        declared = [node.targets[0] for node in nodes if isinstance(node, s.Assign) and node.annotation is not None]
        return [target.id for target in declared if isinstance(target, s.Name)]

    def parameter(self, call: s.Call, argument: s.Argument) -> str:
        """Return the parameter that takes an argument; of an unknown function its keyword, or its position as `#0`."""
        if argument.star:
            return ""
        if argument.keyword is not None:
            return argument.keyword
        place = [a for a in call.arguments if a.keyword is None].index(argument)
        signature = self.module.signature(self.called(call))
        return signature[place][0] if place < len(signature) else f"#{place}"

    # Out of them

    def _at(self, node: s.Expression, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        """Yield where a value comes out that is at `path` in `node`."""
        if not path:
            yield node
            return
        if depth == 0 or (node, path) in self._seen:
            return
        self._seen.add((node, path))
        parent, step = node.parent, path[0]
        if isinstance(parent, s.Subscript) and node is parent.value:
            if not parent.stored and len(parent.indices) == 1:
                yield from self._subscript(parent, path, depth)
        elif isinstance(parent, s.Attribute):
            if isinstance(parent.parent, s.Call) and parent.parent.function is parent:
                if step.leads_to("call", parent.attribute):
                    yield from self._at(parent.parent, path[1:], depth)
                yield from self._method(parent.attribute, parent.parent, path, depth)
            elif step.leads_to("attribute", parent.attribute) and not parent.stored:
                yield from self._at(parent, path[1:], depth)
        elif isinstance(parent, (s.For, s.Clause)) and node is parent.iterator:
            if step.kind == "item":
                yield from self._unpacked(parent.target, path[1:], parent, depth)
        elif isinstance(parent, s.Assign) and node is parent.value:
            if parent.operator == "=":
                for target in parent.targets:
                    yield from self._unpacked(target, path, parent, depth)
                yield from self._put(node, path, depth)
        elif isinstance(parent, s.NamedExpression) and node is parent.value:
            yield from self._at(parent, path, depth)
            yield from self._unpacked(parent.target, path, parent, depth)
        elif isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            yield from self._argument(parent, parent.parent, path, depth)
        elif isinstance(parent, s.Conditional) and node is not parent.test:
            yield from self._at(parent, path, depth)
        elif isinstance(parent, s.Operation) and parent.operator in ("+", "or", "and", "await"):
            yield from self._at(parent, _loose(path) if parent.operator == "+" else path, depth)
        elif (isinstance(parent, s.Operation) and parent.operator == "yield from") or (
            isinstance(parent, s.Leave) and parent.kind == "return"
        ):
            yield from self._left(parent, path, depth)
        else:
            yield from self._put(node, path, depth)

    def _subscript(self, node: s.Subscript, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        index, step = node.indices[0], path[0]
        if isinstance(index, s.Slice):
            if step.kind == "item":
                yield from self._at(node, _loose(path), depth)
        elif step.kind in ("item", "entry") and step.leads_to(step.kind, _key(index)):
            yield from self._at(node, path[1:], depth)

    def _method(self, method: str, call: s.Call, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        step, first = path[0], call.arguments[0].value if call.arguments else None
        if method == "copy":
            yield from self._at(call, path, depth)
        elif step.kind == "entry" and method in _ALL:
            yield from self._at(call, (Step("item"), *path[1:]), depth)
        elif step.kind == "entry" and method == "items":
            yield from self._at(call, (Step("item"), Step("item", 1), *path[1:]), depth)
        elif (step.kind == "entry" and method in _TAKING and step.leads_to("entry", _key(first))) or (
            step.kind == "item" and method == "pop"
        ):
            yield from self._at(call, path[1:], depth)

    def _argument(self, argument: s.Argument, call: s.Call, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        names, step = self.called(call), path[0]
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        place = call.arguments.index(argument)
        if names and names <= self._kept:
            yield from self._at(call, path if names == {"builtins.dict"} else _loose(path), depth)
        elif names == {"builtins.enumerate"} and step.kind == "item":
            yield from self._at(call, (Step("item"), Step("item", 1), *path[1:]), depth)
        elif names == {"builtins.zip"} and step.kind == "item":
            yield from self._at(call, (Step("item"), Step("item", place), *path[1:]), depth)
        elif not self._apart and names and all(n in self.module.functions or n in self.module.classes for n in names):
            yield from self._entered(argument, call, names, path, depth)
            yield from self._given(argument, call, path, depth)
        elif isinstance(call.function, s.Attribute) and method in ("extend", "update"):
            yield from self._held(call.function.value, _loose(path), call, depth)
        elif isinstance(call.function, s.Attribute) and method in self._adding:
            yield from self._given(argument, call, path, depth)
        else:
            yield Out(argument, path)

    def _entered(
        self, argument: s.Argument, call: s.Call, names: frozenset[str], path: Path, depth: int
    ) -> Iterator[s.Expression | Out]:
        wanted = self.parameter(call, argument)
        for name in sorted(names):
            klass = self.module.classes.get(name)
            function = self.module.functions.get(name) if klass is None else self.module.method(klass, "__init__")
            if function is not None and any(parameter.name == wanted for parameter in function.parameters):
                for read in self.module.reads(function.scope, wanted):
                    if any(b.kind == "parameter" for b in self.live(read)):
                        yield from self._at(read, path, depth - 1)

    def _left(self, node: s.Node, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        """Yield what the callers of a function in the file take from what it returns or yields."""
        function = self.module.function_of(node)
        if function is None or function.name == "<lambda>":
            return
        calls = () if self._apart else callers(self.module, function)
        for call in calls:
            yield from self._at(call, path, depth - 1)
        yield Out(node, path, bool(calls))

    def called(self, call: s.Call) -> frozenset[str]:
        """Return the qualified names of what is called, including methods of a base that `super()` finds."""
        names = self.module.callee(call)
        function = call.function
        if names or not (isinstance(function, s.Attribute) and isinstance(function.value, s.Call)):
            return names
        if self.module.callee(function.value) != {"builtins.super"}:
            return names
        klass = self.module.class_of(call)
        if klass is None:
            return names
        for base in self.module.ancestry(klass):
            known = self.module.classes.get(base)
            if known is None or function.attribute in known.scope.bindings:
                return frozenset((f"{base}.{function.attribute}",))
        return names

    # Names

    def _unpacked(self, target: s.Expression, path: Path, node: s.Node, depth: int) -> Iterator[s.Expression | Out]:
        """Yield where the value assigned to a target comes out."""
        if isinstance(target, s.Collection):
            if path and path[0].kind == "item" and not any(isinstance(e, s.Starred) for e in target.elements):
                for place, element in enumerate(target.elements):
                    if path[0].leads_to("item", place):
                        yield from self._unpacked(element, path[1:], node, depth)
        elif isinstance(target, s.Name):
            scope = target.scope.find(target.id)
            if scope is not None:
                yield from self._reads(scope, target, path, node, depth)
                if scope.kind == "module":
                    yield Out(target, path, goes=True)
        elif isinstance(target, s.Attribute) and self.module.is_self(target.value):
            yield from self._attribute(target, path, depth)

    def _reads(
        self, scope: Scope, target: s.Name, path: Path, node: s.Node, depth: int
    ) -> Iterator[s.Expression | Out]:
        giving = {node, target, *(a for a in target.ancestors() if isinstance(a, s.Collection))}
        for read in self.module.reads(scope, target.id):
            if any(b.node in giving for b in self.live(read)):
                yield from self._at(read, path, depth - 1)

    def _attribute(self, target: s.Attribute, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        """Yield what the methods of a class take from an attribute."""
        klass = self.module.class_of(target)
        if klass is not None:
            yield from self._read(klass, target.attribute, path, depth)
            yield Out(target, path, goes=True)

    def _read(self, klass: s.Class, name: str, path: Path, depth: int) -> Iterator[s.Expression | Out]:
        """Yield what methods take from an attribute of their object."""
        family = self.module.family(klass)
        for read in self.module.attributes(name):
            if not read.stored and self.module.is_self(read.value) and self.module.class_of(read) in family:
                yield from self._at(read, path, depth - 1)

    def _held(self, holder: s.Expression, path: Path, node: s.Node, depth: int) -> Iterator[s.Expression | Out]:
        """Yield what is taken from a container, a name or attribute, into which `node` put something."""
        if depth == 0:
            return
        if isinstance(holder, s.Subscript) and len(holder.indices) == 1:
            yield from self._held(holder.value, (Step("entry", _key(holder.indices[0])), *path), node, depth)
        elif isinstance(holder, s.Attribute) and self.module.is_self(holder.value):
            yield from self._attribute(holder, path, depth)
        elif isinstance(holder, s.Attribute):
            yield from self._held(holder.value, (Step("attribute", holder.attribute), *path), node, depth)
        elif isinstance(holder, s.Name) and (scope := holder.scope.find(holder.id)) is not None:
            last = max((part.order for part in s.walk(node)), default=node.order)
            loops = [a for a in node.ancestors() if isinstance(a, (s.For, s.While))]
            for read in self.module.reads(scope, holder.id)[:_READS]:
                after = read.order > last or any(a in loops for a in read.ancestors())
                if read is not holder and after and any(b.order < last for b in self.live(read)):
                    yield from self._at(read, path, depth - 1)
            if scope.kind == "module":
                yield Out(holder, path, goes=True)

    def is_first(self, function: s.Function, parameter: s.Parameter) -> bool:
        """Return whether a parameter is the object of a method."""
        return class_of(function) is not None and parameter is function.parameters[0]


def _key(node: s.Expression | None) -> str | int | None:
    """Return the constant that an index is, or None."""
    value = literal(node) if node is not None else None
    return value if isinstance(value, (str, int)) else None


def _loose(path: Path) -> Path:
    """Return a path into a sequence with its index made unknown."""
    return (Step("item"), *path[1:]) if path and path[0].kind == "item" else path

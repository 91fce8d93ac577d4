"""Code that may fill an object's attributes without naming them: walks over parameters, initialisers, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.memory.fields import WALKING, Field
from detlint.analysis.memory.uses import Effect, Use, Uses
from detlint.facts.owners import Owners
from detlint.facts.touches import FILLS, LOADS
from detlint.facts.ways import Ways
from detlint.questions import Carrier
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of

Sweep = tuple[Carrier, str, Carrier | None]  # the carrier, the kind, and a function that must not be the project's own
_WEIGHTS = "weights"
_OWN = "own"


class Sweeps:
    """The operations of one file that reach everything an object holds."""

    def __init__(self, module: Module, uses: Uses, field: Field, ways: Ways, owners: Owners) -> None:
        self.module = module
        self.uses = uses
        self.field = field
        self.ways = ways
        self.owners = owners
        self._relied: list[str] = []  # the functions that are harmless if they are the project's own
        self._paired = False  # whether a walk yields pairs of a name and a value
        self._names: set[str | None] = set()  # the ends of what a walk fills, such as "proj.weight"; None: not known

    def found(self) -> Iterator[Sweep]:
        """Yield what may fill attributes of objects other than by their names."""
        walks, inner, applies, loads = map(self.field.rows, WALKING)
        for node in self.module.every(s.Attribute):
            self._relied.clear()
            if node.attribute in walks | inner:
                kind = self._walked(node)
                if kind == FILLS and self._names and None not in self._names:
                    for name in sorted(map(str, self._names)):
                        holder, _, attribute = name.rpartition(".")
                        owners = self.owners.held(holder.rpartition(".")[2])
                        yield from ((Carrier("attribute", owner, attribute), kind, None) for owner in owners)
                    continue
                yield from self._of(node.value, "" if node.attribute in inner and kind == LOADS else kind, _WEIGHTS)
            elif node.attribute in applies:
                yield from self._of(node.value, LOADS if self._applies(node) else "", _WEIGHTS)
            elif node.attribute in loads and not _is_copied(node):
                yield from self._of(node.value, LOADS, _WEIGHTS)
            elif node.attribute in self.field.rows("attributes") and _is_written(node):
                yield from self._of(node.value, FILLS if self.module.is_self(node.value) else LOADS)
        for function in self.module.every(s.Function):
            if function.name in loads and class_of(function) is not None and function.parameters:
                yield Carrier("class", "", _WEIGHTS), LOADS, None
        yield from self._by_name()
        yield from self._handed()

    def _by_name(self) -> Iterator[Sweep]:
        """Yield what functions such as `setattr` and `getattr` fill, which take the name of an attribute."""
        for call in self.module.calls_to(self.field.rows("names")):
            self._relied.clear()
            given = call.arguments[1].value if len(call.arguments) > 1 else None
            name = literal(given) if given is not None else None
            object_ = call.arguments[0].value if call.arguments else None
            sets = not self.module.callee(call) <= {"builtins.getattr"}
            if sets and isinstance(given, s.Expression) and len(call.arguments) > 2:
                if isinstance(name, str):
                    yield from self._of(object_, FILLS, name=name)
                else:
                    yield from self._of(object_, LOADS)
            elif sets and (object_ is None or given is not None or _is_written(call)):
                yield from self._of(object_, LOADS)
            elif not sets:
                yield from self._gotten(call, object_, name)

    def _gotten(self, call: s.Call, object_: s.Expression | None, name: object) -> Iterator[Sweep]:
        """Yield what is done with an attribute that `getattr` reads; its name may be unknown."""
        use = self.uses.of(call)
        kind = self.kind(use)
        if kind:
            told = isinstance(name, str) or use.effect is not Effect.ESCAPES
            yield from self._of(object_, kind if told else LOADS, name=name)

    def _handed(self) -> Iterator[Sweep]:
        """Yield the classes whose methods pass their object to functions, which fill it unless they are harmless."""
        for argument in self.module.every(s.Argument):
            call, klass = argument.parent, self.module.class_of(argument)
            if klass is not None and isinstance(call, s.Call) and self.module.is_self(argument.value):
                self._relied.clear()
                names = self.module.callee(call)
                harmless = bool(names) and all(self._is_harmless(name) for name in names)
                carrier = Carrier("class", self.module.qualified(klass), _OWN)
                yield from self._told(carrier, "" if harmless else FILLS, FILLS)

    def _is_harmless(self, name: str) -> bool:
        """Return whether a function writes to no attribute of an object passed to it, or is the project's own."""
        root = name.partition(".")[0]
        if self.ways.is_own(name):
            self._relied.append(name)
            return True
        return root == "builtins" or (root == "torch" and ".init." not in name)

    def _told(self, carrier: Carrier, kind: str, foreign: str = LOADS) -> Iterator[Sweep]:
        """Yield the sweep of a carrier; for the kind "", those by the functions relied on, if not the project's.

        `foreign` says how those fill it.
        """
        if kind:
            yield carrier, kind, None
        for name in dict.fromkeys(self._relied) if not kind else ():
            yield carrier, foreign, Carrier("result", name)

    def _of(self, node: s.Expression | None, kind: str, part: str = "", name: object = "") -> Iterator[Sweep]:
        """Yield the sweeps of an object: of its attribute `name`, else of the given `part` of all that it holds."""
        owners = self.owners.of(node) if node is not None else [""]
        if isinstance(name, str) and name:
            found = [Carrier("attribute", owner, name) for owner in owners]
        elif node is not None and owners == [""] and (holder := self.owners.holder(node)):
            found = [Carrier("held", holder, part)]
        elif node is not None and owners == [""] and (function := self._given(node)):
            found = [Carrier("given", function, part)]
        else:
            found = [Carrier("class", owner, part) for owner in owners]
        for carrier in found:
            yield from self._told(carrier, kind)

    def _given(self, node: s.Expression) -> str:
        """Return the function of the file, no method, that an object is given to; "" where it comes from elsewhere."""
        scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
        bindings = scope.bindings[node.id] if scope is not None and isinstance(node, s.Name) else []
        around = bindings[0].node.parent if len(bindings) == 1 else None
        if not isinstance(around, s.Function) or not isinstance(bindings[0].node, s.Parameter) or around.decorators:
            return ""
        named = (name for name, function in self.module.functions.items() if function is around)
        return next(named, "") if class_of(around) is None else ""

    # Walks

    def _walked(self, node: s.Attribute) -> str:
        """Return how the items of a walk over parameters or modules are filled; "" if they are only read."""
        call = node.parent
        called = isinstance(call, s.Call) and call.function is node
        self._paired = node.attribute in self.field.rows("pairs")
        self._names.clear()
        return self._items(call, 4) if isinstance(call, s.Call) and called else ""

    def _items(self, node: s.Expression, depth: int) -> str:
        """Return how the items of an iterable expression are filled."""
        parent = node.parent
        if isinstance(parent, (s.For, s.Clause)) and parent.iterator is node:
            return self._target(parent.target)
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call) and depth:
            names = self.module.callee(parent.parent)
            if names and names <= self.module.python("functions", "same-items") | self.field.rows("wraps"):
                return self._items(parent.parent, depth - 1)
            harmless = bool(names) and all(map(self._is_harmless, names))
            unused = isinstance(parent.parent.parent, s.ExpressionStatement)
            harmless = harmless or (not names and last_word(parent.parent.function) in self.field.rows("clips"))
            return "" if harmless or not unused else LOADS
        if isinstance(parent, s.Assign) and parent.value is node and depth:
            names_ = [target for target in parent.targets if isinstance(target, s.Name)]
            scopes = [(name.id, name.scope.find(name.id)) for name in names_]
            reads = [read for id_, scope in scopes if scope is not None for read in self.module.reads(scope, id_)]
            return _gravest(self._items(read, depth - 1) for read in reads)
        return ""

    def _target(self, target: s.Expression) -> str:
        """Return how the variables of a loop are filled; add the names of the attributes to `_names`."""
        named = isinstance(target, s.Collection) and self._paired
        names = [node for node in s.walk(target) if isinstance(node, s.Name)][1 if named else 0 :]
        found = []
        for name in names:
            scope = name.scope.find(name.id)
            for read in self.module.reads(scope, name.id) if scope is not None else ():
                if any(each is target or each is target.parent for each in _around(read)):
                    found.append(self.kind(self.uses.of(read)))
                    if found[-1] == FILLS:
                        self._names.add(_named_by_test(read, target) if named else None)
        return _gravest(found)

    def kind(self, use: Use) -> str:
        """Return how a use fills memory: `LOADS` by copying values, `FILLS` otherwise; "" if it does not."""
        if use.effect in (Effect.FILLS, Effect.STORES):
            function = use.node.function if isinstance(use.node, s.Call) else None
            copied = isinstance(function, s.Attribute) and function.attribute in self.field.rows("copies")
            return LOADS if copied or isinstance(use.node, s.Assign) else FILLS
        if use.effect is Effect.ESCAPES and isinstance(use.node, s.Call) and use.argument is not None:
            names = self.module.callee(use.node)
            return "" if names and all(map(self._is_harmless, names)) else LOADS
        return ""

    def _applies(self, node: s.Attribute) -> bool:
        """Return whether an unknown function is applied to all modules."""
        call = node.parent
        if not isinstance(call, s.Call) or call.function is not node or not call.arguments:
            return False
        if self.module.names(node.value) and not self.module.types(node.value):
            return False  # of a class: `apply` of a function with its own gradient
        given = call.arguments[0].value
        sliced = isinstance(given, s.Subscript) and any(isinstance(index, s.Slice) for index in given.indices)
        if sliced or isinstance(given, (s.Lambda, s.Operation, s.Constant)):
            return False
        inner = given.arguments[0].value if isinstance(given, s.Call) and given.arguments else given
        names = self.module.names(inner)
        harmless = bool(names) and all(self._is_harmless(name) for name in names)
        function = self.module.function_of(node)
        local = (
            isinstance(inner, s.Name)
            and (scope := inner.scope.find(inner.id)) is not None
            and all(isinstance(binding.node, s.Function) for binding in scope.bindings.get(inner.id, ()))
        )
        own = isinstance(inner, s.Attribute) and function is not None and self.field.is_self(inner.value)
        return not (local or own or harmless)


def _is_written(node: s.Attribute | s.Call) -> bool:
    """Return whether something is put into a mapping, or another mapping in its place."""
    parent = node.parent
    if isinstance(parent, s.Attribute):
        return parent.attribute in ("update", "__setitem__", "setdefault")
    stored = isinstance(node, s.Attribute) and node.stored
    return stored or (isinstance(parent, s.Subscript) and parent.value is node and parent.stored)


def _is_copied(node: s.Attribute) -> bool:
    """Return whether an object loads the weights of another one: `target.load_state_dict(model.state_dict())`."""
    call = node.parent
    given = call.arguments[0].value if isinstance(call, s.Call) and call.arguments else None
    return isinstance(given, s.Call) and last_word(given.function) == "state_dict"


def _named_by_test(read: s.Name, target: s.Expression) -> str | None:
    """Return the end that a test around a parameter's use names, `if name.endswith("proj.weight"):`, or None."""
    first = target.elements[0] if isinstance(target, s.Collection) else None
    below: s.Node = read
    for around in read.ancestors():
        test = around.test if isinstance(around, s.If) and below is around.body else None
        method = test.function if isinstance(test, s.Call) and len(test.arguments) == 1 else None
        if isinstance(test, s.Call) and isinstance(method, s.Attribute) and method.attribute == "endswith":
            end, owner = literal(test.arguments[0].value), method.value
            same = isinstance(owner, s.Name) and isinstance(first, s.Name) and owner.id == first.id
            if same and isinstance(end, str) and "." in end:
                return end
        below = around
    return None


def _around(node: s.Node) -> Iterator[s.Node]:
    for each in node.ancestors():
        yield each
        if isinstance(each, s.Comprehension):
            yield from (clause for clause in each.clauses)


def _gravest(kinds: Iterator[str] | list[str]) -> str:
    """Return the gravest of some kinds: `FILLS` before `LOADS` before none."""
    found = set(kinds)
    return FILLS if FILLS in found else LOADS if LOADS in found else ""

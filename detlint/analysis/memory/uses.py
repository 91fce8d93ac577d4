"""What a use of uninitialised memory does: fill it, read it, look at its shape, or hand it on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from enum import Enum, auto

from detlint.analysis.values.conditions import applies
from detlint.catalogue import Row
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.support.records import record
from detlint.tree import syntax as s

_COMPARES = ("is", "is not")
_HANDS_ON = ("and", "or", "in", "not in", "await")


class Effect(Enum):
    """What happens to memory.

    NOTHING: only its shape, type or address matters. STORES: the places that an index names are written. ESCAPES: other
    code may fill it from here on. HANDED: as ESCAPES, and the other code takes it as it is: it is returned, kept, or
    passed to a call whose result is used. BINDS: it becomes the value of a plain name.
    """

    NOTHING = auto()
    FILLS = auto()
    STORES = auto()
    READS = auto()
    ESCAPES = auto()
    HANDED = auto()
    BINDS = auto()


@record(frozen=True, slots=True)
class Store:
    """A write to some places of memory: its node, their index, and the value written; None where not known."""

    node: s.Node
    index: tuple[s.Expression, ...] | None
    value: s.Expression | None


@record(frozen=True, slots=True)
class Use:
    """An effect and the node that has it; for BINDS that is the name.

    It concerns the `whole` memory, or else a part, at `index` where that is known. `then` is the use of what a storing
    method returns; `argument` passes the memory to a call that may do anything with it.
    """

    effect: Effect
    node: s.Node
    whole: bool = True
    index: tuple[s.Expression, ...] = ()
    store: Store | None = None
    value: s.Expression | None = None
    then: Use | None = None
    argument: s.Argument | None = None

    def of_part(self, indices: Sequence[s.Expression]) -> Use:
        """Return the same use, of the part that `indices` pick; the places of a view are not known."""
        store = self.store
        plain = bool(indices) and not any(isinstance(i, s.Slice) or literal(i) in (None, ...) for i in indices)
        if self.effect is Effect.FILLS:
            store = Store(self.node, tuple(indices) or None, self.value)
        elif store is not None:
            inner = store.index if plain else None
            store = replace(store, index=None if inner is None else (*indices, *inner))
        effect = Effect.STORES if self.effect is Effect.FILLS else self.effect
        return replace(self, effect=effect, whole=False, index=tuple(indices), store=store)


def covers_all(indices: Iterable[s.Expression]) -> bool:
    """Return whether an index picks every element: `[:]`, `[...]`, `[None]`, `[::-1]`."""
    for index in indices:
        if isinstance(index, s.Slice):
            step = 1 if index.step is None else literal(index.step)
            if index.lower is not None or index.upper is not None or step not in (1, -1):
                return False
        elif literal(index) not in (None, ...):
            return False
    return True


class Uses:
    """The uses of the memory of some libraries, judged by the tables of `memory.toml`."""

    def __init__(self, module: Module, libraries: Iterable[str]) -> None:
        self.module = module
        chosen = (*libraries, "python")

        def names(table: str, key: str = "names") -> frozenset[str]:
            found = (module.catalogue.names("memory", table, key, library=library) for library in chosen)
            return frozenset[str]().union(*found)

        self._inert = names("inert")
        self._inert_attributes = names("inert", "attributes")
        self._inert_methods = names("inert", "methods")
        self._views = names("view")
        self._view_attributes = names("view", "attributes")
        self._view_methods = names("view", "methods")
        self._joins = names("view", "joins")
        self._partial_views = names("view", "parts")
        self._fillers = self._by_name("filler", "names", chosen)
        self._filling_methods = self._by_name("filler", "methods", chosen)
        self._writers = self._by_name("writer", "names", chosen)
        self._writing_methods = self._by_name("writer", "methods", chosen)
        self._classes = names("array")
        self._readers = self._by_name("reader", "names", chosen)
        self._hiding = names("hiding") | names("hiding", "methods")
        self._takes_in = module.python("methods", "takes-in") | names("owner", "registers")

    def _by_name(self, table: str, key: str, libraries: Iterable[str]) -> dict[str, list[Row]]:
        """Return the rows of these libraries, by each of the names under a key."""
        found: dict[str, list[Row]] = {}
        for row in self.module.catalogue.rows("memory", table):
            for name in row.list(key) if row.text("library") in libraries else ():
                found.setdefault(name, []).append(row)
        return found

    def of(self, node: s.Expression, runs: bool = False) -> Use:
        """Return what the code around `node`, which holds uninitialised memory, does with it.

        `runs` says that calling it reads it, as for a module whose parameters are the memory.
        """
        parent = node.parent
        if isinstance(parent, s.Attribute):
            return self._attribute(parent, runs)
        if isinstance(parent, s.Subscript):
            if node is not parent.value:
                return self._read(parent)
            use = self._stored(parent) if parent.stored else self.of(parent)
            return use if covers_all(parent.indices) else use.of_part(parent.indices)
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            return self._argument(parent, parent.parent)
        if isinstance(parent, s.Call):
            return self._read(parent) if runs else Use(Effect.ESCAPES, parent)
        if isinstance(parent, s.Operation):
            return self._operation(parent)
        if isinstance(parent, (s.Assign, s.Collection)):
            joined = self._joined(parent)
            cut = joined is not None and isinstance(joined.parent, s.Subscript)
            return self._assigned(node, parent) if joined is None or cut else self.of(joined).of_part(())
        if isinstance(parent, s.ExpressionStatement):
            return Use(Effect.NOTHING, parent)
        if isinstance(parent, s.NamedExpression) and node is parent.value:
            use = self.of(parent, runs)
            return use if use.effect is Effect.READS else Use(Effect.ESCAPES, parent)
        if isinstance(parent, s.Leave) and parent.kind == "return":
            return Use(Effect.HANDED, parent)
        if isinstance(parent, s.Dictionary):
            return self._kept(parent)
        tested = isinstance(parent, (s.If, s.While)) or (isinstance(parent, s.Conditional) and node is parent.test)
        return Use(Effect.READS if tested else Effect.ESCAPES, parent or node)

    def _read(self, at: s.Expression) -> Use:
        """Return a read, or NOTHING where the result is unused or only its shape is asked for."""
        parent = at.parent
        if isinstance(parent, s.Attribute):
            method = isinstance(parent.parent, s.Call) and parent.parent.function is parent
            if parent.attribute in (self._inert_methods if method else self._inert_attributes):
                return Use(Effect.NOTHING, at)
        kept = isinstance(at, s.Call) and any(argument.keyword == "out" for argument in at.arguments)
        unused = isinstance(parent, s.ExpressionStatement) and not kept
        return Use(Effect.NOTHING if unused else Effect.READS, at)

    def _attribute(self, node: s.Attribute, runs: bool) -> Use:
        call = node.parent
        if isinstance(call, s.Call) and call.function is node:
            return self._method(node.attribute, call, runs)
        if node.stored:
            held = runs or node.attribute in self._view_attributes
            return self._stored(node) if held else Use(Effect.NOTHING, node)
        if node.attribute in self._inert_attributes:
            return Use(Effect.NOTHING, node)
        if node.attribute in self._view_attributes:
            return self._viewed(node, node.attribute in self._partial_views)
        return Use(Effect.ESCAPES, node)

    def _method(self, method: str, call: s.Call, runs: bool) -> Use:
        if method in self._inert_methods:
            return Use(Effect.NOTHING, call)
        for row in self._filling_methods.get(method, ()):
            return Use(Effect.FILLS, call, value=_passed(row.list("value"), call, call.arguments))
        if method in self._view_methods:
            return self._viewed(call, method in self._partial_views, runs)
        for owner in self._classes:
            if any(self._applies(row, call) for row in self._readers.get(f"{owner}.{method}", ())):
                return Use(Effect.READS, call) if method.endswith("_") else self._read(call)
        for row in self._writing_methods.get(method, ()):
            return replace(self._written(row, call, call.arguments), then=self.of(call))
        return Use(Effect.HANDED, call, whole=False) if method in self._hiding else self._given(call)

    def _applies(self, row: Row, call: s.Call) -> bool:
        return applies(self.module, call, row.list("when"), row.list("unless"))

    def _viewed(self, view: s.Expression, partial: bool, runs: bool = False) -> Use:
        """Return the use of a view, whose places are not those of the memory."""
        use = self.of(view, runs)
        return use.of_part(()) if partial or use.store is not None else use

    def _written(self, row: Row, call: s.Call, given: list[s.Argument]) -> Use:
        """Return the write of a call that takes an index; the row says which arguments are the index and the value."""

        index = _passed(row.list("index"), call, given)
        places = None if index is None else tuple(index.elements) if isinstance(index, s.Collection) else (index,)
        store = Store(call, places, _passed(row.list("value"), call, given))
        return Use(Effect.STORES, call, store=store, whole=False)

    def _argument(self, argument: s.Argument, call: s.Call) -> Use:
        names = self.module.callee(call)
        filling = names if names <= self._fillers.keys() else ()
        takes = [row.text("parameter") for name in filling for row in self._fillers[name]]
        if argument.keyword == "out" or any(self._is_given_for(each, argument, call) for each in takes):
            return Use(Effect.FILLS, call)
        if argument.star:
            return Use(Effect.ESCAPES, call)
        if self._changes_another(call):
            return Use(Effect.READS, call)
        if not names:
            return self._given(call, argument)
        first = call.arguments[0] is argument
        if names <= self._inert:
            return Use(Effect.NOTHING, call)
        if names <= self._views:
            partial = not names.isdisjoint(self._partial_views)
            return self._viewed(call, partial) if first or argument.keyword else Use(Effect.ESCAPES, call)
        if first and names <= self._writers.keys():
            return self._written(self._writers[min(names)][0], call, call.arguments[1:])
        acts = False
        for name in names:
            rows = [row for row in self._readers.get(name, ()) if self._is_read(row, argument, call)]
            row = next((row for row in rows if self._applies(row, call)), None)
            if row is None:
                return Use(Effect.HANDED, call, whole=False) if name in self._hiding else self._given(call, argument)
            acts = acts or bool(row.text("acts")) or name.endswith("_")
        return Use(Effect.READS, call) if acts else self._read(call)

    def _changes_another(self, call: s.Call) -> bool:
        """Return whether a method changes what it is called on, by the values that it is given: `x.add_(y)`."""
        method = call.function.attribute if isinstance(call.function, s.Attribute) else ""
        known = method in self._writing_methods or any(f"{owner}.{method}" in self._readers for owner in self._classes)
        return method.endswith("_") and known

    def _is_read(self, row: Row, argument: s.Argument, call: s.Call) -> bool:
        """Return whether what a row says of a reader is about this argument."""
        parameter = row.text("parameter")
        return parameter in ("", "first" * (argument is call.arguments[0])) or (
            parameter != "first" and self._is_given_for(parameter, argument, call)
        )

    def _is_given_for(self, parameter: str, argument: s.Argument, call: s.Call) -> bool:
        """Return whether an argument is passed for a parameter; where the call's are unknown, only the first is."""
        if argument.keyword is not None:
            return argument.keyword == parameter
        values = self.module.argument(call, parameter).values
        return argument.value in values if values else argument is call.arguments[0]

    def _given(self, call: s.Call, argument: s.Argument | None = None) -> Use:
        """Return the use of a call that may do anything with the memory: without a result, it is there to fill it."""
        function = call.function
        takes = isinstance(function, s.Attribute) and function.attribute in self._takes_in
        unused = isinstance(call.parent, s.ExpressionStatement) and not takes
        return Use(Effect.ESCAPES if unused else Effect.HANDED, call, argument=argument)

    def _kept(self, holder: s.Expression) -> Use:
        """Return the use of memory in a display: HANDED if that is returned, kept in an object, or passed to a call."""
        parent = holder.parent
        if isinstance(parent, (s.Collection, s.Dictionary)):
            return self._kept(parent)
        if isinstance(parent, s.Leave) and parent.kind == "return":
            return Use(Effect.HANDED, parent)
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            return self._given(parent.parent)
        kept = isinstance(parent, s.Assign) and not any(isinstance(t, (s.Name, s.Collection)) for t in parent.targets)
        return Use(Effect.HANDED if kept else Effect.ESCAPES, parent or holder)

    def _operation(self, node: s.Operation) -> Use:
        if node.operator in _COMPARES:
            return Use(Effect.NOTHING, node)
        if node.operator in ("yield", "yield from"):
            return Use(Effect.HANDED, node)
        return Use(Effect.ESCAPES, node) if node.operator in _HANDS_ON else self._read(node)

    def _joined(self, parts: s.Assign | s.Collection) -> s.Call | None:
        """Return the call that joins a list of arrays into one, of which the uninitialised array becomes a part."""
        call = parts.parent.parent if isinstance(parts.parent, s.Argument) else None
        first = isinstance(call, s.Call) and call.arguments[0] is parts.parent
        names = self.module.callee(call) if isinstance(call, s.Call) and first else frozenset[str]()
        return call if isinstance(call, s.Call) and names and names <= self._joins else None

    def _assigned(self, node: s.Expression, parent: s.Assign | s.Collection) -> Use:
        """Return the use of a value that is assigned, or of the target of an assignment."""
        if isinstance(parent, s.Assign):
            if node is not parent.value:
                return Use(Effect.READS, parent) if parent.operator != "=" else Use(Effect.NOTHING, parent)
            if parent.operator != "=":
                return Use(Effect.READS, parent)
            target = parent.targets[0] if len(parent.targets) == 1 else None
            if isinstance(target, (s.Attribute, s.Subscript)):
                return Use(Effect.HANDED, parent)
            return Use(Effect.BINDS, target) if isinstance(target, s.Name) else Use(Effect.ESCAPES, parent)
        assign = parent.parent
        if isinstance(assign, s.Assign) and assign.value is parent and len(assign.targets) == 1:
            target = assign.targets[0]
            if isinstance(target, s.Collection) and len(target.elements) == len(parent.elements):
                name = target.elements[parent.elements.index(node)]
                if isinstance(name, s.Name):
                    return Use(Effect.BINDS, name)
                return Use(Effect.HANDED, assign)
        return self._kept(parent) if isinstance(parent, s.Collection) else Use(Effect.ESCAPES, parent)

    def _stored(self, target: s.Attribute | s.Subscript) -> Use:
        """Return the use of a target: `x[i] = v` fills and `x[i] += v` reads what a subscript picks of the memory."""
        parent = target.parent
        if isinstance(parent, s.Assign) and parent.operator != "=":
            return Use(Effect.READS, parent)
        value = parent.value if isinstance(parent, s.Assign) else None
        return Use(Effect.FILLS, parent if isinstance(parent, s.Assign) else target, value=value)


def _passed(told: Collection[str], call: s.Call, given: Sequence[s.Argument]) -> s.Expression | None:
    """Return what a call passes for a parameter, by one of its names or its place among the arguments `given`."""
    named = [a.value for a in call.arguments if a.keyword in told]
    placed = [a.value for i, a in enumerate(given) if str(i) in told and a.keyword is None and not a.star]
    return next(iter(named + placed), None)

"""What a use of uninitialised memory does: fills it, reads it, looks at its shape, or hands it on."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from detlint.analysis.conditions import applies
from detlint.records import record
from detlint.semantics.model import Module
from detlint.tree import syntax as s

_COMPARES = ("is", "is not")
_HANDS_ON = ("and", "or", "in", "not in", "await", "yield")


class Effect(Enum):
    """What happens to memory.

    NOTHING: only its shape, type or address matters. ESCAPES: others may fill it from here on. BINDS: it becomes
    the value of a plain name.
    """

    NOTHING = auto()
    FILLS = auto()
    READS = auto()
    ESCAPES = auto()
    BINDS = auto()


@record(frozen=True, slots=True)
class Use:
    """An effect and the node that has it; for BINDS that is the name."""

    effect: Effect
    node: s.Node


class Uses:
    """Uses of the memory of some libraries, judged by the tables of `memory.toml`."""

    def __init__(self, module: Module, libraries: Iterable[str], joins: bool = False) -> None:
        """`joins` says that arrays stay unfilled in one that is joined of them, which may yet be cut."""
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
        self._joins = names("view", "joins") if joins else frozenset[str]()
        self._fillers = names("filler")
        self._filling_methods = names("filler", "methods")
        self._classes = names("array")
        self._readers = {
            name: row
            for row in module.catalogue.rows("memory", "reader")
            if row.text("library") in chosen
            for name in row.list("names")
        }

    def of(self, node: s.Expression, runs: bool = False) -> Use:
        """What the code around `node`, which holds uninitialised memory, does with it.

        `runs` says that calling it reads it, as for a module whose parameters are the memory.
        """
        parent = node.parent
        if isinstance(parent, s.Attribute):
            return self._attribute(parent, runs)
        if isinstance(parent, s.Subscript):
            if node is not parent.value:
                return self._read(parent)
            return self._stored(parent) if parent.stored else self.of(parent)
        if isinstance(parent, s.Argument) and isinstance(parent.parent, s.Call):
            return self._argument(parent, parent.parent)
        if isinstance(parent, s.Call):
            return self._read(parent) if runs else Use(Effect.ESCAPES, parent)
        if isinstance(parent, s.Operation):
            return self._operation(parent)
        if isinstance(parent, (s.Assign, s.Collection)):
            joined = self._joined(parent)
            return self._assigned(node, parent) if joined is None else self.of(joined)
        if isinstance(parent, s.ExpressionStatement):
            return Use(Effect.NOTHING, parent)
        if isinstance(parent, s.NamedExpression) and node is parent.value:
            use = self.of(parent, runs)
            return use if use.effect is Effect.READS else Use(Effect.ESCAPES, parent)
        tested = isinstance(parent, (s.If, s.While)) or (isinstance(parent, s.Conditional) and node is parent.test)
        return Use(Effect.READS if tested else Effect.ESCAPES, parent or node)

    def _read(self, at: s.Expression) -> Use:
        """A read, unless nothing is done with its result or only its shape is asked for."""
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
            inert = node.attribute in self._inert_attributes
            return Use(Effect.NOTHING, node) if inert else self._stored(node)
        if node.attribute in self._inert_attributes:
            return Use(Effect.NOTHING, node)
        if node.attribute in self._view_attributes:
            return self.of(node)
        return Use(Effect.ESCAPES, node)

    def _method(self, method: str, call: s.Call, runs: bool) -> Use:
        if method in self._inert_methods:
            return Use(Effect.NOTHING, call)
        if method in self._filling_methods:
            return Use(Effect.FILLS, call)
        if method in self._view_methods:
            return self.of(call, runs)
        for owner in self._classes:
            row = self._readers.get(f"{owner}.{method}")
            if row is not None and applies(self.module, call, row.list("when"), row.list("unless")):
                return Use(Effect.READS, call) if method.endswith("_") else self._read(call)
        return Use(Effect.ESCAPES, call)

    def _argument(self, argument: s.Argument, call: s.Call) -> Use:
        names = self.module.callee(call)
        if argument.keyword == "out" or (names and names <= self._fillers):
            return Use(Effect.FILLS, call)
        if argument.star or not names:
            return Use(Effect.ESCAPES, call)
        first = call.arguments[0] is argument
        if names <= self._inert:
            return Use(Effect.NOTHING, call)
        if names <= self._views:
            return self.of(call) if first or argument.keyword else Use(Effect.ESCAPES, call)
        acts = False
        for name in names:
            row = self._readers.get(name)
            if row is None or (row.text("parameter") == "first" and not first):
                return Use(Effect.ESCAPES, call)
            if not applies(self.module, call, row.list("when"), row.list("unless")):
                return Use(Effect.ESCAPES, call)
            acts = acts or bool(row.text("acts")) or name.endswith("_")
        return Use(Effect.READS, call) if acts else self._read(call)

    def _operation(self, node: s.Operation) -> Use:
        if node.operator in _COMPARES:
            return Use(Effect.NOTHING, node)
        return Use(Effect.ESCAPES, node) if node.operator in _HANDS_ON else self._read(node)

    def _joined(self, parts: s.Assign | s.Collection) -> s.Call | None:
        """The call that joins a list of arrays to one, of which what is uninitialised is then a part."""
        call = parts.parent.parent if isinstance(parts.parent, s.Argument) else None
        first = isinstance(call, s.Call) and call.arguments[0] is parts.parent
        names = self.module.callee(call) if isinstance(call, s.Call) and first else frozenset[str]()
        return call if isinstance(call, s.Call) and names and names <= self._joins else None

    def _assigned(self, node: s.Expression, parent: s.Assign | s.Collection) -> Use:
        """A value that is assigned, or the target of an assignment."""
        if isinstance(parent, s.Assign):
            if node is not parent.value:
                return Use(Effect.READS, parent) if parent.operator != "=" else Use(Effect.NOTHING, parent)
            if parent.operator != "=":
                return Use(Effect.READS, parent)
            target = parent.targets[0] if len(parent.targets) == 1 else None
            return Use(Effect.BINDS, target) if isinstance(target, s.Name) else Use(Effect.ESCAPES, parent)
        assign = parent.parent
        if isinstance(assign, s.Assign) and assign.value is parent and len(assign.targets) == 1:
            target = assign.targets[0]
            if isinstance(target, s.Collection) and len(target.elements) == len(parent.elements):
                name = target.elements[parent.elements.index(node)]
                if isinstance(name, s.Name):
                    return Use(Effect.BINDS, name)
        return Use(Effect.ESCAPES, parent)

    def _stored(self, target: s.Attribute | s.Subscript) -> Use:
        """`x[...] = v` fills, if only in part; `x[...] += v` reads."""
        parent = target.parent
        if isinstance(parent, s.Assign) and parent.operator != "=":
            return Use(Effect.READS, parent)
        return Use(Effect.FILLS, parent if isinstance(parent, s.Assign) else target)

"""DET401, DET402: memory that is read before it has been written, all of it or a part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from detlint.analysis.memory.coverage import Coverage, Gap
from detlint.analysis.memory.emptied import emptied
from detlint.analysis.memory.empty import allocations
from detlint.analysis.memory.fields import Field
from detlint.analysis.memory.following import Trail
from detlint.analysis.memory.locals import Local
from detlint.analysis.memory.unsaved import unsaved
from detlint.analysis.memory.uses import Effect, Store, Use, Uses
from detlint.analysis.memory.zeros import zeroed
from detlint.analysis.values.operations import operation
from detlint.catalogue import Row, Rule
from detlint.facts.ways import Ways
from detlint.finding import Finding
from detlint.questions import Carrier, Unfilled
from detlint.semantics.model import Module
from detlint.sources.source import is_test
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each allocation of the `libraries` that some path reads first; `exits` end a program."""
    found = dict(allocations(module, rule.data["libraries"]))
    if found:
        yield from _Memory(module, rule, found).findings()
    for call, klass, name in unsaved(module) if "torch" in rule.data["libraries"] else ():
        if call not in found and not is_test(module.path):
            carrier = Carrier("attribute", module.qualified(klass), name)
            asked = Unfilled(carrier, module.path, at=module.place(call), emptied=True)
            written = "it is filled again after `to_empty`"
            yield module.finding(
                rule, call, lowered=True, only_if=asked, call=module.short(call.function), written=written
            )


class _Memory:
    """The allocations of a file, each with its row, and what becomes of them."""

    def __init__(self, module: Module, rule: Rule, found: dict[s.Call, Row]) -> None:
        libraries = rule.data["libraries"]
        self.module = module
        self.rule = rule
        self.found = found
        self.uses = Uses(module, libraries)
        self.field = Field(module, libraries, found)
        self.ways = Ways(module, self.uses, self.field)
        self.coverage = Coverage(module)
        self.begun: dict[s.Call, Store] = {}
        self.trails: dict[s.Node, Trail] = {}
        self.bound: dict[tuple[Scope, str], dict[s.Node, s.Call]] = defaultdict(dict)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings for all allocations: those read where they are made, then those that names hold."""
        for call, row in self.found.items():
            yield from self._made(call, row)
        for (scope, name), events in self.bound.items():
            yield from self._held(scope, name, events)

    def _made(self, call: s.Call, row: Row) -> Iterator[Finding]:
        kind = row.text("kind")
        use = self.uses.of(call, kind == "module")
        gap = self.coverage.gap(call, [use.store]) if use.store is not None and use.then is not None else None
        if gap is not None and use.store is not None and use.then is not None:
            self.begun[call] = use.store
            use = use.then
            if use.effect is Effect.HANDED and self.shows(use, gap):
                yield self._finding(call, use.node, "handed on here", partly=True)
        if use.effect is Effect.READS:
            yield self._finding(call, use.node, "read here", partly=call in self.begun)
        elif use.effect is Effect.BINDS and isinstance(use.node, s.Name):
            statement = next(a for a in use.node.ancestors() if isinstance(a, s.Assign))
            self._bind(use.node, statement, call)
        elif kind == "resize" and isinstance(call.function, s.Attribute) and isinstance(call.function.value, s.Name):
            self._bind(call.function.value, call, call)
        elif kind == "module" and (model := emptied(self.module, self.uses, call, self.rule.data["libraries"])):
            self._bind(model, call, call)
        elif use.effect in (Effect.ESCAPES, Effect.HANDED) and call not in self.begun:
            yield from self._leaving(call, use)

    def _leaving(self, call: s.Call, use: Use) -> Iterator[Finding]:
        """Yield a finding for memory that leaves by a single carrier, if the project reads it before filling it."""
        ways = self.ways.of(use)
        handed = [way for way in ways or () if not way.reads]
        if len(handed) == 1 and handed[0].to is not None:
            node = handed[0].node
            kept = self._kept(call, node)
            self_made = kept == "parameter" and self._gives_others_values(call)
            question = Unfilled(handed[0].to, self.module.path, kept, self.module.place(node), self_made=self_made)
            yield self._finding(call, None, lowered=True, only_if=question)

    def _kept(self, call: s.Call, node: s.Node) -> str:
        """Return how a module keeps memory that is passed on at a node: "parameter", "buffer" or ""."""
        every: list[s.Node] = [*call.ancestors(), *s.walk(node)]
        for each in every:
            if isinstance(each, s.Call):
                if self.module.callee(each) & self.field.rows("parameters"):
                    told = self.module.argument(each, "requires_grad")
                    return "buffer" if told.given is not False or told.values else "parameter"
                method = each.function.attribute if isinstance(each.function, s.Attribute) else ""
                if method in self.field.rows("registers"):
                    return "buffer"
        return ""

    def _gives_others_values(self, call: s.Call) -> bool:
        """Return whether the class around an allocation makes weights that have values: layers, or other parameters."""
        klass = self.module.class_of(call)
        layers = self.module.catalogue.names("randomness", "consumer", weights="yes")
        parameters = self.field.rows("parameters")
        for each in s.walk(klass) if klass is not None else ():
            names = self.module.callee(each) if isinstance(each, s.Call) else frozenset()
            if names and names <= layers:
                return True
            if names & parameters and not any(node in self.found for node in s.walk(each)):
                return True
        return False

    def _bind(self, name: s.Name, event: s.Node, call: s.Call) -> None:
        scope = name.scope.find(name.id)
        if scope is not None and scope.kind in ("module", "function"):
            self.bound[scope, name.id][event] = call

    def _held(self, scope: Scope, name: str, events: dict[s.Node, s.Call]) -> Iterator[Finding]:
        runs = any(self.found[call].text("kind") == "module" for call in events.values())
        local = Local(
            self.module,
            self.uses,
            scope,
            name,
            events,
            runs,
            ends=self.exits,
            gap=self.coverage.gap,
            shows=self.shows,
            begun={call: store for call, store in self.begun.items() if call in events.values()},
        )
        found = local.reads()
        for call, read in found.items():
            message = "handed on here" if read.handed else "read here"
            message += "" if read.certain else "; not every path has filled it"
            yield self._finding(call, read.node, message, partly=read.partly, lowered=not read.certain)
        if not found and not runs and len(events) == 1:
            for event, call in events.items():
                yield from self._bound_elsewhere(scope, name, event, call)

    def _bound_elsewhere(self, scope: Scope, name: str, event: s.Node, call: s.Call) -> Iterator[Finding]:
        """Yield a finding for memory that a name holds and that nothing in its function reads or fills."""
        if call in self.begun or not isinstance(event, s.Assign):
            return
        if scope.kind == "function":
            target = next(n for t in event.targets for n in s.walk(t) if isinstance(n, s.Name) and n.id == name)
            yield from self._leaving(call, Use(Effect.BINDS, target))
        elif len(scope.bindings[name]) == 1:
            question = Unfilled(Carrier("variable", f"{self.module.module}.{name}"), self.module.path)
            yield self._finding(call, None, lowered=True, only_if=question)

    def shows(self, use: Use, gap: Gap) -> bool:
        """Return whether the code that a use passes memory on to finds the gap, as far as this file shows.

        That code may know a length behind which nothing is written, unless it gets nothing else. Or its purpose may be
        to fill the rest.
        """
        if use.effect is Effect.ESCAPES and gap is not Gap.MARKS:
            return False
        trail = self.trails.get(use.node) or Trail(self.module, self.uses, self.field, use)
        self.trails[use.node] = trail
        if trail.written:
            return False
        if gap is Gap.LENGTH:
            alone = isinstance(use.node, s.Leave) and not isinstance(use.node.values[0], (s.Collection, s.Dictionary))
            return use.whole and alone and (trail.read_whole or not trail.calls)
        return use.whole or gap is Gap.MARKS

    def exits(self, call: object) -> bool:
        """Return whether a call ends the program."""
        return isinstance(call, s.Call) and not self.module.callee(call).isdisjoint(self.rule.data["exits"])

    def _finding(
        self,
        call: s.Call,
        read: s.Node | None,
        message: str = "",
        *,
        partly: bool = False,
        lowered: bool = False,
        only_if: Unfilled | None = None,
    ) -> Finding:
        row = self.found[call]
        return self.module.finding(
            self.rule,
            call,
            related=[] if read is None else [(read, message)],
            lowered=lowered or partly,
            only_if=only_if,
            fix=zeroed(self.module, call, row),
            operation=operation(self.module, call, row),
            call=self.module.short(call.function),
            written="all of it is written" if partly or row.text("kind") == "masked" else "anything is written to it",
        )

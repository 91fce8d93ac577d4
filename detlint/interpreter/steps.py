"""The step of a model: what it may do, done in a frame."""

from __future__ import annotations

from collections.abc import Callable

from detlint.domain.atoms import Atom, ClassRef, Instance, LibraryRef
from detlint.domain.codes import Code
from detlint.domain.effects import Apart, Branch, Draw, Effect, Invoke, Leave, Restoring, Spawn, Stream
from detlint.domain.given import Given
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import ANY_KEY, ITEMS, Argument, Key, Slot
from detlint.domain.summaries import Use
from detlint.domain.values import NOTHING, UNKNOWN, Value
from detlint.interpreter import assignments, classes, contexts, modules, rows
from detlint.interpreter.frames import Frame
from detlint.interpreter.frames import Key as PathKey
from detlint.ir import nodes as ir


class CallStep:
    """The evaluation of one call of a library; `path` and `owner` are those of what a method is called on."""

    def __init__(
        self,
        frame: Frame,
        node: int,
        path: PathKey | None = None,
        owner: Value = NOTHING,
        receiver: Atom | None = None,
    ) -> None:
        self.frame = frame
        self.node = node
        self.path = path
        self.owner = owner
        self.receiver = receiver

    @property
    def code(self) -> Code:
        """Where the call stands."""
        return self.frame.code(self.node)

    @property
    def file(self) -> ir.File:
        """The file in which the call stands."""
        return self.frame.file

    def join(self, a: Value, b: Value) -> Value:
        """Either of two values."""
        return self.frame.join(a, b)

    def emit(self, effect: Effect) -> None:
        """Do something to generators."""
        self.frame.emit(effect)

    def sink(self, value: Value, use: Use) -> None:
        """Use a value in a way for which its taints matter."""
        self.frame.sink(value, self.code, use)

    def make(self, kind: str, empty: bool = False) -> Instance:
        """Make an object of a class of a library here."""
        return Instance(contexts.site(self.frame, LibraryRef(kind), self.node, empty=empty))

    def fill(self, owner: Instance, slot: Slot, value: Value) -> None:
        """Keep a value in a slot of an object."""
        self.frame.write((owner.site, slot), value)
        if slot == ANY_KEY or isinstance(slot, Key):
            self.frame.write((owner.site, ITEMS), value)

    def read(self, owner: Instance, slot: Slot) -> Value:
        """What a slot of an object has."""
        return self.frame.read((owner.site, slot))

    def become(self, value: Value) -> None:
        """What the method is called on is `value` from here on."""
        assignments.become(self.frame, self.path, self.owner, value)

    def iterate(self, value: Value) -> Value:
        """An item of a value, and what going over it does."""
        self.frame.iterating = self.node
        return self.frame.tables.iterate(self.frame, value)

    def rows(self, value: Value) -> list[tuple[Value, ...]]:
        """The items of what a value may be, in their order, for each that is written down; none for any other."""
        return rows.each_way(self.frame, value)

    def listed(self, atom: Atom) -> tuple[Value, ...] | None:
        """The items of a tuple or list that is written down, in their order; None of anything else."""
        return rows.listed(self.frame, atom)

    def spells(self, name: str) -> bool:
        """Whether the text of the project has a name among its texts, as that of an option, or among its keywords."""
        return name in self.frame.solver.index.spelled

    def keep_rows(self, made: Instance, items: tuple[Value, ...]) -> None:
        """Keep the items of a list that is made here in their places."""
        rows.keep(self.frame, made, items)

    def call(self, function: Value, *arguments: Value) -> Value:
        """Call a value."""
        return self.frame.tables.call(self.frame, function, Given(arguments), self.node)

    def call_with(self, function: Value, given: Given) -> Value:
        """Call a value with arguments by position and by keyword."""
        return self.frame.tables.call(self.frame, function, given, self.node)

    def perhaps(self, run: Callable[[], Value]) -> Value:
        """Do what may happen or not."""
        effects, found = self.frame.within(run)
        if effects:
            self.emit(Branch(None, True, effects, ()))
        return found

    def apart(self, run: Callable[[], Value], seeded: tuple[Stream, ...] = (), base: Draw | None = None) -> Value:
        """Do something in another process that begins as this one is; in a worker with `seeded` streams."""
        effects, found = self.frame.within(run)
        if effects:
            self.emit(Apart(effects, seeded, base))
        return found

    def restoring(self, streams: tuple[Stream, ...], run: Callable[[], Value]) -> Value:
        """Do something after which streams are what they were."""
        effects, found = self.frame.within(run)
        if effects:
            self.emit(Restoring(streams, effects))
        return found

    def spawn(self, function: Value, given: Given) -> None:
        """Start a process that runs a function from the beginning."""
        effects, _ = self.frame.within(lambda: self.call_with(function, given))
        nodes = tuple(node for effect in effects if isinstance(effect, Invoke) for node in effect.nodes)
        if nodes:
            self.emit(Spawn(nodes, self.code))

    def keep(self, owner: Instance, given: Given, places: tuple[str, ...]) -> None:
        """Keep what an object of a library is made with, by the names of parameters or by position."""
        for index, value in enumerate(given.positional):
            self.frame.write((owner.site, Argument(places[index] if index < len(places) else str(index))), value)
        for name, value in given.keywords.items():
            self.frame.write((owner.site, Argument(name)), value)
        if given.open:
            self.frame.write((owner.site, Argument("**")), UNKNOWN)

    def kept(self, owner: Instance, name: str) -> Value:
        """What an object of a library was given for a parameter, or at a position; nothing where it was given none."""
        found = self.frame.read((owner.site, Argument(name)))
        return found if found.atoms else self.frame.read((owner.site, Argument("**")))

    def leave(self) -> None:
        """End the program."""
        self.frame.flush()
        self.emit(Leave("exit", bool(self.frame.trying)))
        self.frame.env = None

    def module(self, name: str) -> Value:
        """Import a module by its absolute name."""
        return modules.named_module(self.frame, name)

    def concrete(self, value: Value) -> Value:
        """A value, with what callers gave in the place of parameters, and with the taints of that."""
        return self.frame.concrete(value)

    def method(self, owner: Instance, name: str, *arguments: Value) -> Value:
        """Call a method that the project may override."""
        kind = owner.site.kind
        if not isinstance(kind, ClassRef):
            return NOTHING
        value, found = classes.lookup(self.frame, classes.order(self.frame, kind), name)
        if not isinstance(found, ClassRef):
            return NOTHING
        return self.frame.tables.call(self.frame, classes.bound(value, owner)[0], Given(arguments), self.node)

    def fields(self, klass: ClassRef) -> dict[str, Value]:
        """What the body of a class of the project, and those of its bases, bind to anything but functions."""
        return classes.fields(self.frame, klass)

    def attribute(self, value: Value, name: str) -> Value:
        """An attribute of a value."""
        return self.frame.tables.attribute(self.frame, value, name)

    def arm(self, outcome: Outcome, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Run the arms that may be, and join what they give."""
        frame = self.frame
        if not outcome.may_fail:
            return then() if outcome.may_hold else NOTHING
        if not outcome.may_hold:
            return otherwise()
        body, first = frame.within(then)
        orelse, second = frame.within(otherwise)
        frame.branch(outcome, body, orelse)
        return frame.join(first, second)

    def each(self, value: Value) -> list[Atom]:
        """What a value may be, one by one."""
        return self.frame.each(value)

    def resolve(self, value: Value) -> Value:
        """A value, with what callers gave in the place of parameters."""
        return self.frame.resolve(value)

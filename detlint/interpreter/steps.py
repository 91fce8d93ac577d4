"""The step of a model: what it may do, done in a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from detlint.domain.atoms import Atom, Bound, ClassRef, Instance, LibraryRef, ModuleRef, Node
from detlint.domain.choices import opened
from detlint.domain.codes import Code
from detlint.domain.documents import Documents
from detlint.domain.effects import Apart, Branch, Draw, Effect, Effects, Invoke, Later, Leave, Restoring, Spawn, Stream
from detlint.domain.given import Given
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import Argument, Attribute, Slot
from detlint.domain.summaries import Flow, Use
from detlint.domain.taints import Kind, Taints
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, has_parts, value_of
from detlint.interpreter import (
    assignments,
    classes,
    commands,
    containers,
    contexts,
    fields,
    kinship,
    modules,
    partials,
    protocols,
)
from detlint.interpreter.container_steps import ContainerSteps
from detlint.interpreter.frames import Key as PathKey
from detlint.ir.uses import Uses

_NO_PATHS: Mapping[int | str, PathKey] = {}

_ACTOR = Argument("actor")  # what an object has that lives in a process of its own


class CallStep(ContainerSteps):
    """The evaluation of one call of a library.

    `path` and `owner` are those of what a method is called on, `paths` those of arguments.
    """

    @property
    def code(self) -> Code:
        """Where the call stands."""
        return self.frame.code(self.node)

    @property
    def uses(self) -> Uses:
        """Where the values of the file go, by its text."""
        return self.frame.solver.index.uses(self.frame.file)

    def on(self, owner: Value, path: PathKey | None) -> CallStep:
        """The same call, of a method of what is given first."""
        return CallStep(self.frame, self.node, path, owner, None, self.paths)

    @property
    def documents(self) -> Documents:
        """The documents of the project."""
        return self.frame.solver.documents

    @property
    def scripts(self) -> tuple[str, ...]:
        """The programs that the file may belong to in which the call stands."""
        return self.frame.solver.scripts.of(self.frame.file.path)

    def emit(self, effect: Effect) -> None:
        """Do something to generators."""
        self.frame.emit(effect)

    def sink(self, value: Value, use: Use) -> None:
        """Use a value in a way for which its taints matter: those that it surely has flow there."""
        for taint in self.certain(value, "order"):
            if taint.source != "":
                self.frame.flows[Flow(taint, self.code, use)] = None

    def certain(self, value: Value, *kinds: Kind) -> Taints:
        """The taints that a value surely has: asked for are those of some kinds."""
        if value.taints:
            self.frame.entry.asks.update(kinds)
        return value.certain

    def make(self, kind: str, empty: bool = False, part: str = "") -> Instance:
        """Make an object of a class of a library here: of several a `part`."""
        return Instance(contexts.site(self.frame, LibraryRef(kind), self.node, empty=empty, part=part))

    def hold(self, owner: Instance, slot: Slot, value: Value) -> None:
        """Give an object that is made here what a slot of it has: nobody holds anything of it yet."""
        self.frame.fill((owner.site, slot), value)

    @property
    def file(self) -> ModuleRef:
        """The module in which the call stands."""
        return ModuleRef(self.frame.file.path)

    def on_argument(self, place: int) -> CallStep:
        """The same call, as that of a method of an argument."""
        return CallStep(self.frame, self.node, self.paths.get(place), NOTHING, None, self.paths)

    def stored(self, owner: Instance) -> dict[str, Value]:
        """What the methods of an object's class store on it, by name."""
        names = classes.stored_names(self.frame, owner)
        return {name: self.frame.read((owner.site, Attribute(name))) for name in names}

    def become(self, value: Value) -> None:
        """What the method is called on is `value` from here on."""
        assignments.become(self.frame, self.path, self.owner, value)

    def change(self, argument: int | str, old: Value, new: Value) -> None:
        """What is given by position or by keyword is something else from here on."""
        if argument in self.paths:
            assignments.become(self.frame, self.paths[argument], old, new)

    def spells(self, name: str) -> bool:
        """Whether the text of the project has a name among its texts, as that of an option, or among its keywords."""
        return name in self.frame.solver.index.spelled

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

    def apart(
        self, run: Callable[[], Value], seeded: tuple[Stream, ...], base: Draw | None, *, like: str, perhaps: bool
    ) -> Value:
        """Do something in a worker of a loader, with `seeded` streams: see the effect."""
        effects, found = self.frame.within(run)
        if effects:
            self.emit(Apart(effects, seeded, base, like, perhaps))
        return found

    def restoring(self, streams: tuple[Stream, ...], run: Callable[[], Value]) -> Value:
        """Do something after which streams are what they were."""
        effects, found = self.frame.within(run)
        if effects:
            self.emit(Restoring(streams, effects))
        return found

    def within(self, switches: tuple[tuple[str, str], ...], run: Callable[[], Value]) -> Value:
        """Do something while switches have these words."""
        effects, found = self.frame.within(run)
        if effects:
            self.emit(Restoring((), effects, switches))
        return found

    def spawn(self, function: Value, given: Given, *, pickled: bool) -> None:
        """Start a process that runs a function from the beginning; that of an actor goes on to its methods."""
        for atom in self.frame.each(function):
            effects, _ = self.frame.within(lambda atom=atom: self.call_with(value_of(atom), given))  # type: ignore[misc]
            nodes = _invoked(effects)
            if nodes:
                self.emit(Spawn(nodes, self.code, self._actor(atom), pickled))

    def _actor(self, atom: Atom) -> Instance | None:
        """The actor that a method is of."""
        owner = atom.receiver if isinstance(atom, Bound) else None
        return owner if isinstance(owner, Instance) and self.frame.read((owner.site, _ACTOR)).atoms else None

    def fork(self, function: Value, given: Given, first: Callable[[], Value], kind: str) -> None:
        """Run a function in a process that begins as this one, `first` something else.

        One that "forks" is spawned where the program has that done, none that "copies" this one or "asks" another.
        """
        before, _ = self.frame.within(first)
        effects, _ = self.frame.within(lambda: self.call_with(function, given))
        nodes = _invoked(effects) if kind == "forks" else ()
        if before or effects:
            spawned = Spawn(nodes, self.code) if nodes else None
            self.emit(Apart((*before, *effects), spawned=spawned, forks=kind != "asks"))

    def at_end(self, function: Value, given: Given) -> None:
        """Call a value when the program ends."""
        effects, _ = self.frame.within(lambda: self.call_with(function, given))
        if effects:
            self.emit(Later(effects))

    def run_command(self, component: Value) -> None:
        """Run what a command line chooses: these functions and classes, or those that the file defines."""
        commands.run(self.frame, component, self.node)

    def allocate(self, klass: ClassRef, *, acts: bool = False) -> Instance:
        """Make an object of a class of the project here, of which no constructor is called; perhaps an actor."""
        made = Instance(contexts.site(self.frame, klass, self.node))
        if acts:
            self.frame.fill((made.site, _ACTOR), SOMETHING)
        return made

    def partial(self, function: Value, given: Given) -> Value:
        """A function with some of its arguments given."""
        return partials.made(self.frame, function, given, self.node)

    def enter(self, context: Value) -> Value:
        """What a context gives where it is entered."""
        return self.frame.tables.enter(self.frame, context, self.node)

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
        return self.frame.read((owner.site, Argument(name)))

    def leave(self) -> None:
        """End the program."""
        self.frame.flush()
        self.emit(Leave("exit", bool(self.frame.trying)))
        self.frame.env = None

    def module(self, name: str) -> Value:
        """Import a module by its absolute name."""
        return modules.named_module(self.frame, name)

    def module_at(self, path: str) -> Value:
        """Import the file at a path, from beside this one or from where programs start; unknown for another."""
        return modules.at(self.frame, path)

    def package(self) -> None:
        """Import all modules of the package whose file this is."""
        modules.enter_all(self.frame)

    def variable(self, name: str) -> Value:
        """What a name of the module means here."""
        return modules.global_variable(self.frame, name)

    def variables(self, module: ModuleRef) -> list[Value]:
        """The variables of a module."""
        if module.file == self.frame.file.path:
            return [modules.global_variable(self.frame, name) for name in modules.names(self.frame, self.frame.file)]
        names = modules.names(self.frame, self.frame.solver.files[module.file])
        return [modules.variable(self.frame, module.file, name) for name in names]

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

    def overrides(self, owner: Instance | ClassRef, name: str) -> bool:
        """Whether the project's text has a method of an object or a class."""
        kind = owner.site.kind if isinstance(owner, Instance) else owner
        if not isinstance(kind, ClassRef):
            return False
        return isinstance(classes.lookup(self.frame, classes.order(self.frame, kind), name)[1], ClassRef)

    def bases(self, owner: Instance) -> tuple[str, ...]:
        """The classes of libraries that the class of an object is or derives from."""
        kind = owner.site.kind
        around = classes.order(self.frame, kind) if isinstance(kind, ClassRef) else (kind,)
        return tuple(each.name for each in around if isinstance(each, LibraryRef))

    def ask(self, value: Value, *names: str) -> tuple[Value, list[Atom]]:
        """What the first of some methods gives that each object of the project has, and the atoms that have none."""
        return protocols.asked(self.frame, value, names, (), self.node)

    def version(self, owner: Instance, part: str, attributes: Mapping[str, Value]) -> Instance:
        """An object that is another one but for some attributes; `part` tells those apart that one call makes."""
        return assignments.version(self.frame, owner, attributes, part, self.node)

    def newest(self, owner: Instance, name: str) -> Value:
        """An attribute of an object as its version has it, else as that has which it was made from."""
        return assignments.newest(self.frame, owner, name)

    def is_configuration(self, atom: Atom) -> bool:
        """Whether an atom is a node of a configuration, all fields of which a user may set."""
        return classes.is_configuration(self.frame, atom)

    def binds(self, owner: Instance) -> tuple[str, ...]:
        """The names that the classes of the project bind that an object is of."""
        return classes.names_bound(self.frame, owner)

    def names_of(self, package: str) -> frozenset[str]:
        """The names that the text of the project takes from a package of a library."""
        return self.frame.solver.index.names_of(package)

    def names(self, method: str, keyword: str) -> frozenset[str]:
        """The texts that calls of a method in the project give it by a keyword or first."""
        return self.frame.solver.index.texts_given(method, keyword)

    def fields(self, klass: ClassRef) -> dict[str, Value]:
        """What the body of a class of the project, and those of its bases, bind to anything but functions."""
        return classes.fields(self.frame, klass)

    def parameters(self, atom: Atom) -> tuple[str, ...] | None:
        """What a call of a function or a class of the project may give, by name; None for anything else."""
        return fields.parameters(self.frame, atom)

    def attribute(self, value: Value, name: str) -> Value:
        """An attribute of a value."""
        self.frame.flush()
        return self.frame.tables.attribute(self.frame, value, name)

    def instantiate(self, klass: ClassRef, given: Given) -> Value:
        """Make an object of a class of the project, as `type` does."""
        return self.frame.tables.instantiate(self.frame, klass, given, self.node)

    def copied(self, made: Instance, fields: dict[str, Value]) -> Value:
        """Make an object of the class of another, with its fields but for those that are given."""
        return self.frame.tables.copied(self.frame, made, fields, self.node)

    def derived(self, klass: ClassRef) -> Value:
        """The classes that derive from a class of the project."""
        return self.frame.read((klass, classes.DERIVED))

    def define(self, bases: Value, attribute: Callable[[str], Value]) -> Value:
        """Make a class, as the text of the call says what it has; unknown where that does not."""
        return classes.define(self.frame, self.node, bases, attribute)

    def has(self, value: Value, name: str) -> Outcome:
        """Whether a value has an attribute."""
        return containers.shows(self.frame, value, name)

    def kin(self, value: Value, kinds: Value, *, derives: bool) -> Outcome:
        """Whether a value is an instance of some classes, or derives from them."""
        return (kinship.subclass if derives else kinship.instance)(self.frame, value, kinds)

    def put(self, value: Value, name: str, given: Value, *, sure: bool = False) -> None:
        """Give a value, which is the first argument, an attribute: for `sure`, or of several names perhaps this one."""
        path = self.paths.get(0) if sure else None
        if path is None or not assignments.to_version(self.frame, path, value, name, given, self.node):
            assignments.store(self.frame, value, name, given, self.node)

    def put_below(self, owner: Instance, way: tuple[str, ...], value: Value) -> None:
        """What a way of attributes leads to from what the method is called on, that of an owner, is a value now."""
        assignments.put_below(self.frame, self.path, way, owner, value)

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

    def resolve(self, value: Value) -> Value:
        """A value, with what callers gave in the place of parameters."""
        resolved = self.frame.resolve(value)
        return resolved.of(opened(resolved.atoms)) if has_parts(resolved.atoms) else resolved  # objects one by one


def _invoked(effects: Effects) -> tuple[Node, ...]:
    """The functions that some effects call, one or another of several."""
    found: dict[Node, None] = {}
    for effect in effects:
        if isinstance(effect, Invoke):
            found.update(dict.fromkeys(effect.nodes))
        elif isinstance(effect, Branch):
            found.update(dict.fromkeys((*_invoked(effect.body), *_invoked(effect.orelse))))
    return tuple(found)

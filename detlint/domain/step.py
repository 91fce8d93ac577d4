"""What a model may do while the interpreter evaluates a call of its library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from detlint.domain.atoms import Atom, ClassRef, DictOf, Instance, ModuleRef
from detlint.domain.codes import Code
from detlint.domain.documents import Documents
from detlint.domain.effects import Draw, Effect, Stream
from detlint.domain.given import Given, Turns
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import Slot
from detlint.domain.summaries import Use
from detlint.domain.taints import Kind, Taints
from detlint.domain.values import Value
from detlint.ir.uses import Uses


class Step(Protocol):
    """The evaluation of one call."""

    @property
    def code(self) -> Code:
        """Where the call stands."""
        ...

    @property
    def uses(self) -> Uses:
        """Where the values of the file go, by its text."""
        ...

    @property
    def documents(self) -> Documents:
        """The documents of the project."""
        ...

    @property
    def scripts(self) -> tuple[str, ...]:
        """The programs that the file may belong to in which the call stands."""
        ...

    @property
    def owner(self) -> Value:
        """What the method is called on; nothing for a function."""
        ...

    @property
    def receiver(self) -> Atom | None:
        """The one of what the method may be called on that is looked at here."""
        ...

    def join(self, a: Value, b: Value) -> Value:
        """Either of two values."""
        ...

    def by_key(self, key: Value, look_up: Callable[[Value], Value]) -> Value:
        """What is found under a key: under an option what its default names, for nobody knows what the user names."""
        ...

    def emit(self, effect: Effect) -> None:
        """Do something to generators."""
        ...

    def sink(self, value: Value, use: Use) -> None:
        """Use a value in a way for which its taints matter."""
        ...

    def certain(self, value: Value, *kinds: Kind) -> Taints:
        """The taints that a value surely has: asked for are those of some kinds."""
        ...

    def make(self, kind: str, empty: bool = False, part: str = "") -> Instance:
        """Make an object of a class of a library here: of several a `part`."""
        ...

    def hold(self, owner: Instance, slot: Slot, value: Value) -> None:
        """Give an object that is made here what a slot of it has: nobody holds anything of it yet."""
        ...

    def fill(self, owner: Instance, slot: Slot, value: Value) -> None:
        """Keep a value in a slot of an object."""
        ...

    def put_below(self, owner: Instance, way: tuple[str, ...], value: Value) -> None:
        """What a way of attributes leads to from what the method is called on, that of an owner, is a value now."""
        ...

    def read(self, owner: Instance, slot: Slot) -> Value:
        """What a slot of an object has."""
        ...

    def gets_item(self) -> None:
        """A list that the method is called on surely gets an item."""
        ...

    def awaits(self, owner: Instance, slot: Slot) -> bool:
        """Whether a slot of an object has something, or may have by the time that all is solved."""
        ...

    def entry(self, owner: Instance | ModuleRef, key: Value) -> Value:
        """What the dict that a method is called on has under a key, absent where it may have nothing."""
        ...

    def store(self, key: Value, value: Value) -> None:
        """Keep a value under a key of the container that a method is called on; perhaps, where it may be absent."""
        ...

    def take(self, key: Value) -> None:
        """What is under a key of the dict that a method is called on is there no more."""
        ...

    def mapping(self, value: Value, place: int = -1) -> DictOf | None:
        """What a value has that is one of some dicts, given at a place; None where it is nothing yet."""
        ...

    def make_dict(self, held: DictOf, source: Atom | None = None) -> Value:
        """Make a dict of certain entries; a copy of a `source` is told apart from those of others."""
        ...

    def shown(self, atom: Atom) -> DictOf | None:
        """The attributes of an object as a dict; None for anything else."""
        ...

    def local_variables(self) -> DictOf | None:
        """The variables of the function as they are here; None at a top level."""
        ...

    @property
    def file(self) -> ModuleRef:
        """The module in which the call stands."""
        ...

    def begin(self, made: Instance, held: DictOf) -> None:
        """Let an object of a class that derives from a dict have certain entries."""
        ...

    def empty(self) -> None:
        """The dict that a method is called on has nothing from here on."""
        ...

    def on_argument(self, place: int) -> Step:
        """The same call, as that of a method of an argument."""
        ...

    def turns(self, atom: Atom) -> Turns:
        """What going over an atom gives, as far as it is written down."""
        ...

    def partial(self, function: Value, given: Given) -> Value:
        """A function with some of its arguments given."""
        ...

    def stored(self, owner: Instance) -> dict[str, Value]:
        """What the methods of an object's class store on it, by name."""
        ...

    def become(self, value: Value) -> None:
        """What the method is called on is `value` from here on."""
        ...

    def change(self, argument: int | str, old: Value, new: Value) -> None:
        """What is given by position or by keyword is something else from here on."""
        ...

    def iterate(self, value: Value) -> Value:
        """An item of a value, and what going over it does."""
        ...

    def rows(self, value: Value) -> list[tuple[Value, ...]]:
        """The items of what a value may be, in their order, for each that is written down; none for any other."""
        ...

    def listed(self, atom: Atom) -> tuple[Value, ...] | None:
        """The items of a tuple or list that is written down, in their order; None of anything else."""
        ...

    def spells(self, name: str) -> bool:
        """Whether the text of the project has a name among its texts, as that of an option, or among its keywords."""
        ...

    def keep_rows(self, made: Instance, items: tuple[Value, ...]) -> None:
        """Keep the items of a list that is made here in their places."""
        ...

    def call(self, function: Value, *arguments: Value) -> Value:
        """Call a value."""
        ...

    def call_with(self, function: Value, given: Given) -> Value:
        """Call a value with arguments by position and by keyword."""
        ...

    def perhaps(self, run: Callable[[], Value]) -> Value:
        """Do what may happen or not."""
        ...

    def apart(
        self, run: Callable[[], Value], seeded: tuple[Stream, ...], base: Draw | None, *, like: str, perhaps: bool
    ) -> Value:
        """Do something in a worker of a loader, with `seeded` streams: see the effect."""
        ...

    def restoring(self, streams: tuple[Stream, ...], run: Callable[[], Value]) -> Value:
        """Do something after which streams are what they were."""
        ...

    def within(self, switches: tuple[tuple[str, str], ...], run: Callable[[], Value]) -> Value:
        """Do something while switches have these words."""
        ...

    def spawn(self, function: Value, given: Given, *, pickled: bool) -> None:
        """Start a process that runs a function from the beginning; that of an actor goes on to its methods."""
        ...

    def fork(self, function: Value, given: Given, first: Callable[[], Value], kind: str) -> None:
        """Run a function in a process that begins as this one, `first` something else.

        One that "forks" is spawned where the program has that done, none that "copies" this one or "asks" another.
        """
        ...

    def at_end(self, function: Value, given: Given) -> None:
        """Call a value when the program ends."""
        ...

    def run_command(self, component: Value) -> None:
        """Run what a command line chooses: these functions and classes, or those that the file defines."""
        ...

    def allocate(self, klass: ClassRef, *, acts: bool = False) -> Instance:
        """Make an object of a class of the project here, of which no constructor is called; perhaps an actor."""
        ...

    def enter(self, context: Value) -> Value:
        """What a context gives where it is entered."""
        ...

    def keep(self, owner: Instance, given: Given, places: tuple[str, ...]) -> None:
        """Keep what an object of a library is made with, by the names of parameters or by position."""
        ...

    def kept(self, owner: Instance, name: str) -> Value:
        """What an object of a library was given for a parameter, or at a position; nothing where it was given none."""
        ...

    def leave(self) -> None:
        """End the program."""
        ...

    def module(self, name: str) -> Value:
        """Import a module by its absolute name."""
        ...

    def module_at(self, path: str) -> Value:
        """Import the file at a path, from beside this one or from where programs start; unknown for another."""
        ...

    def package(self) -> None:
        """Import all modules of the package whose file this is."""
        ...

    def variable(self, name: str) -> Value:
        """What a name of the module means here."""
        ...

    def variables(self, module: ModuleRef) -> list[Value]:
        """The variables of a module."""
        ...

    def concrete(self, value: Value) -> Value:
        """A value, with what callers gave in the place of parameters, and with the taints of that."""
        ...

    def method(self, owner: Instance, name: str, *arguments: Value) -> Value:
        """Call a method that the project may override."""
        ...

    def overrides(self, owner: Instance | ClassRef, name: str) -> bool:
        """Whether the project's text has a method of an object or a class."""
        ...

    def bases(self, owner: Instance) -> tuple[str, ...]:
        """The classes of libraries that the class of an object is or derives from."""
        ...

    def ask(self, value: Value, *names: str) -> tuple[Value, list[Atom]]:
        """What the first of some methods gives that each object of the project has, and the atoms that have none."""
        ...

    def version(self, owner: Instance, part: str, attributes: Mapping[str, Value]) -> Instance:
        """An object that is another one but for some attributes; `part` tells those apart that one call makes."""
        ...

    def item(self, value: Value, key: Value) -> Value:
        """What a value has under a key."""
        ...

    def entries(self, atom: Atom) -> DictOf | None:
        """What a dict has; None for anything else."""
        ...

    def newest(self, owner: Instance, name: str) -> Value:
        """An attribute of an object as its version has it, else as that has which it was made from."""
        ...

    def is_configuration(self, atom: Atom) -> bool:
        """Whether an atom is a node of a configuration, all fields of which a user may set."""
        ...

    def binds(self, owner: Instance) -> tuple[str, ...]:
        """The names that the classes of the project bind that an object is of."""
        ...

    def names_of(self, package: str) -> frozenset[str]:
        """The names that the text of the project takes from a package of a library."""
        ...

    def names(self, method: str, keyword: str) -> frozenset[str]:
        """The texts that calls of a method in the project give it by a keyword or first."""
        ...

    def fields(self, klass: ClassRef) -> dict[str, Value]:
        """What the body of a class of the project, and those of its bases, bind to anything but functions."""
        ...

    def parameters(self, atom: Atom) -> tuple[str, ...] | None:
        """What a call of a function or a class of the project may give, by name; None for anything else."""
        ...

    def attribute(self, value: Value, name: str) -> Value:
        """An attribute of a value."""
        ...

    def instantiate(self, klass: ClassRef, given: Given) -> Value:
        """Make an object of a class of the project, as `type` does."""
        ...

    def copied(self, made: Instance, fields: dict[str, Value]) -> Value:
        """Make an object of the class of another, with its fields but for those that are given."""
        ...

    def derived(self, klass: ClassRef) -> Value:
        """The classes that derive from a class of the project."""
        ...

    def define(self, bases: Value, attribute: Callable[[str], Value]) -> Value:
        """Make a class, as the text of the call says what it has; unknown where that does not."""
        ...

    def has(self, value: Value, name: str) -> Outcome:
        """Whether a value has an attribute."""
        ...

    def kin(self, value: Value, kinds: Value, *, derives: bool) -> Outcome:
        """Whether a value is an instance of some classes, or derives from them."""
        ...

    def put(self, value: Value, name: str, given: Value, *, sure: bool = False) -> None:
        """Give a value, which is the first argument, an attribute: for `sure`, or of several names perhaps this one."""
        ...

    def arm(self, outcome: Outcome, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """Run the arms that may be, and join what they give."""
        ...

    def each(self, value: Value) -> list[Atom]:
        """What a value may be, one by one, with what callers gave in the place of parameters."""
        ...

    def keys(self, value: Value) -> list[Atom]:
        """What a value may be as a key, whatever the user sets."""
        ...

    def resolve(self, value: Value) -> Value:
        """A value, with what callers gave in the place of parameters."""
        ...

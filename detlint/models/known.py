"""What is known of libraries for one version of torch: their models, and the tables of facts by the names called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace
from packaging.version import Version

from detlint.catalogue import Catalogue, Row
from detlint.domain.atoms import FALSE, UNKNOWN_ATOM, Bound, ClassRef, FunctionRef, Instance, IteratorOver
from detlint.domain.effects import Mark, Stream
from detlint.domain.given import Given
from detlint.domain.library import Called, Class, Library
from detlint.domain.modes import TRAINS, trains
from detlint.domain.outcomes import HOLDS
from detlint.domain.slots import Attribute
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, made_of, value_of
from detlint.models import (
    autograd,
    configurations,
    devices,
    draws,
    holders,
    launchers,
    loaders,
    numbers,
    processes,
    replaced,
    seeds,
    switches,
    torch_nn,
    trainers,
)
from detlint.models.arguments import Arguments, arguments, named_in
from detlint.models.asides import Asides
from detlint.models.commands import CONSTANTS
from detlint.models.library_draws import LibraryDraws
from detlint.models.salted import Salted
from detlint.models.tables import Tables, conditions
from detlint.registered import UNREAD
from detlint.semantics import libraries

_TAKEN_FROM = (FunctionRef, ClassRef, Bound)  # what a method is given first that decorators of libraries gave them
_NONE_GIVEN = Given()
Role = Callable[["Known", Step, Row, str, Arguments], Value]


class Known(Tables):
    """All that is known of libraries. `roles` are the kinds of role that the tables give functions."""

    def __init__(
        self, catalogue: Catalogue, torch: Version, models: Iterable[Library], roles: Mapping[str, Role]
    ) -> None:
        super().__init__(catalogue)
        self.torch = torch
        self.functions: dict[str, Called] = {}
        self.classes: dict[str, Class] = {}
        for model in models:
            self.functions |= {f"{model.name}.{name}": called for name, called in model.functions.items()}
            self.classes |= {f"{model.name}.{klass.name}": klass for klass in model.classes}
        self._roles = roles
        checking = {"typing.TYPE_CHECKING": value_of(FALSE)}  # which is true where nothing runs
        self._constants = {**numbers.numbers(catalogue.rows("program", "number")), **CONSTANTS, **checking}
        self.functions |= numbers.tellers(catalogue.rows("program", "number"))
        self._asides = Asides(catalogue)
        self._draws = LibraryDraws(catalogue)
        self._salted = Salted(catalogue)

    # Calls

    def call(self, step: Step, name: str, given: Given) -> Value:
        """Call a function, a method or a class of a library, which no model speaks of."""
        if isinstance(step.receiver, Instance):
            owner, _, last = name.rpartition(".")
            if last in self.registering and self.is_module(owner):
                return torch_nn.registered(step, given)
            items = self._items(step, step.receiver, name)
            if items is not None:
                return items
        elif isinstance(step.receiver, _TAKEN_FROM):
            given = Given((step.owner.of((step.receiver,)), *given.positional), given.keywords, given.open)
        args = self.arguments(step, name, given)
        if name.endswith(".__setitem__"):
            if name in self.environment:
                switches.set_variable(self, step, given.first)
            return SOMETHING
        callback = self.find(self.callbacks, name)
        if callback is not None:
            launchers.call_back(step, callback, args)
        if name in self.drawing:
            step.sink(given.first, "draws")
        if name in self.exits:
            step.leave()
            return NOTHING
        role, consumer = self.find(self.roles, name), self.consumer(name)
        drawn = NOTHING
        if consumer is not None:
            drawn = self._consume(step, consumer, name, args)
        if role is not None and role.text("kind") in self._roles:
            return self._roles[role.text("kind")](self, step, role, name, args)
        switches.by_call(step, self.settings.get(name, ()), args)
        if consumer is not None:
            if consumer.text("numbers"):
                return drawn
        elif name in self.reseeders and seeds.reseed(step, self.reseeders[name], name, args):
            return seeds.entropy(step)
        elif name in self.seeders:
            seeds.seed(step, self.seeders[name], name, args)
        elif name in self.entropy:
            return seeds.entropy(step)
        elif name in self.undrawn:
            return self.made(step, name, given)
        elif (launcher := self.find(self.launchers, name)) is not None and not launcher.list("made"):
            return launchers.launch(self, step, launcher, args)
        elif name in self.salted and given.each:
            return self._salted.hashed(step, given.first)
        else:
            if launcher is None:
                self.other(step, name, given)
            else:
                launchers.perhaps_launch(self, step, launcher, args)
            drawing = self._draws.call(step, name, given)
            if drawing is not None:
                return drawing
        return made_of(self.make(step, name, given), (step.owner, *given.each))

    def _consume(self, step: Step, consumer: Row, name: str, args: Arguments) -> Value:
        """Draw what a consumer draws, or run what the program has put in the place of its initialisers.

        What seeds generators by an argument does so first.
        """
        if name in self.seeders:
            seeds.seed(step, self.seeders[name], name, args)
        aside = self._asides.kind(step, name)

        def drawn() -> Value:
            first, *others = self.catalogue.consumers(consumer, name)
            given = draws.consume(step, first, name, args, aside)
            for row in others:
                draws.consume(step, row, name, args, aside)
            return given

        return replaced.instead(self, step, name, args.given, drawn)

    def arguments(self, step: Step, name: str, given: Given) -> Arguments:
        """The arguments of a call."""
        row = self.consumer(name)
        own = row.text("signature") if row is not None else ""
        signature = self.catalogue.signatures.get(name, own)
        return arguments(step, given, signature)

    def kept(self, step: Step, made: Instance, name: str, *asked: str) -> Arguments:
        """The arguments that an object of a class was made with: those of its signature, and what else is `asked`."""
        places = arguments(step, Given(), self.catalogue.signatures.get(name, ""))
        names = dict.fromkeys((*places.defaults, *asked))
        named = {each: value for each in names if (value := step.kept(made, each)).atoms}
        opened = bool(step.kept(made, "**").atoms)
        return replace(places, given=Given((), named, opened))

    def make(self, step: Step, name: str, given: Given) -> Value:
        """What a call of a library's class makes; unknown for a function."""
        return self.made(step, name, given) if name.rpartition(".")[2][:1].isupper() else UNKNOWN

    def made(self, step: Step, name: str, given: Given) -> Value:
        """An object of a library's class, with what it was given."""
        made = step.make(name)
        self._keep(step, made, name, given)
        return value_of(made)

    def _keep(self, step: Step, made: Instance, name: str, given: Given) -> None:
        self._draws.keep(step, made, name, given)
        step.keep(made, given, arguments(step, Given(), self.catalogue.signatures.get(name, "")).places)
        if self.is_configuration(name):
            configurations.begun(step, made, given)

    def construct(self, step: Step, made: Instance, name: str, given: Given) -> None:
        """Run the constructor of a library's class on an object of a class that derives from it."""
        self._keep(step, made, name, given)
        args = self.arguments(step, name, given)
        consumer = self.consumer(name)
        if consumer is not None:
            self._consume(step, consumer, name, args)
        role = self.roles.get(name)
        if role is not None and role.text("kind") == "loader":
            loaders.note(step, args, made)
        elif role is not None and role.text("derived") and role.text("kind") in self._roles:
            self._roles[role.text("kind")](self, step, role, name, args)
        launcher = self.launchers.get(name)
        if launcher is not None:
            launchers.launch(self, step, launcher, args)

    def other(self, step: Step, name: str, given: Given) -> None:
        """A function of which no table speaks: it may seed by its name, and may call the functions that it is given."""
        root, last = name.partition(".")[0], name.rpartition(".")[2]
        self.named(step, last, given)
        if root in libraries.KNOWN:
            return
        if root == UNREAD or self.hints_at_seeding(last):
            seeds.perhaps(step, name, guessed=root != UNREAD)
        launchers.perhaps_call(step, given)

    def leave(self, step: Step, made: Instance, name: str) -> None:
        """Leave a context of a library: what a stack of contexts holds is left."""
        if name in self.stacks:
            processes.leave(step, made)

    def call_unknown(self, step: Step, name: str, given: Given, *, method: bool) -> None:
        """Call something, or a `method`, of which nothing but the name is known: what that says that it does."""
        step.emit(Mark("unsure", step.code))
        if method:
            self.named(step, name)
        if self.hints_at_seeding(name):
            seeds.perhaps(step, name)
        role = self.roles.get(f"torch.Tensor.{name}") if method else None  # what is not known may be a tensor
        if role is not None and role.text("kind") in self._roles.keys() - self.methods.get(name, ()):
            self._roles[role.text("kind")](self, step, role, name, self.arguments(step, name, given))

    def call_given(self, step: Step, method: str, given: Given) -> None:
        """Perhaps call the functions that a method of something unknown is given; not one that tensors have."""
        if f"torch.Tensor.{method}" not in self.roles:
            launchers.perhaps_call(step, given)

    def named(self, step: Step, method: str, given: Given = _NONE_GIVEN) -> None:
        """Do what the name of a method says that it does, whatever has it."""
        for kind in self.methods.get(method, ()):
            done = self._roles.get(f"method:{kind}")
            if done is not None:
                done(self, step, self.of_methods[method], method, self.arguments(step, method, given))
            elif kind != "opens":
                autograd.mark(step, kind)

    # Objects

    def call_object(self, step: Step, made: Instance, name: str, given: Given) -> Value | None:
        """Call an object of a library's class, or of one that derives from it; None where nothing is known of that."""
        if step.overrides(made, "forward"):
            return torch_nn.forward(step, made, given)
        consumer, role = self.layers.get(name), self.roles.get(name)
        if role is not None and role.text("called"):
            return holders.call(step, made, role.text("called"))
        launcher = self.launchers.get(f"{name}.__call__")
        if launcher is not None and given.positional:
            asked = self.kept(step, made, name, *_asked(launcher))
            return launchers.run_tasks(step, launcher, asked, given.first)
        if consumer is None:
            return None
        rows = self.catalogue.consumers(consumer, name)
        args = self.kept(step, made, name, *(each for row in rows for each in _asked(row)))
        args.given = Given((), {**args.given.keywords, **given.keywords}, args.given.open)
        for row in rows:
            mode = TRAINS if row.text("mode") == "train" else HOLDS
            step.arm(mode, lambda row=row: self._drawn(step, row, name, args), lambda: SOMETHING)  # type: ignore[misc]
        return SOMETHING

    def _drawn(self, step: Step, row: Row, name: str, args: Arguments) -> Value:
        """What an object of a library draws where the conditions of a row hold."""
        outcome = args.applies(row.list("when"), row.list("unless"))
        return step.arm(outcome, lambda: draws.draw(step, row, name), lambda: SOMETHING)

    def called(self, step: Step, made: Instance, given: Value) -> None:
        """Call what is hooked onto an object that was called and gave something."""
        autograd.called(step, made, given)

    def iterate(self, step: Step, made: Instance, name: str) -> Value | None:
        """An item of such an object, and what going over it does; None where nothing is known of that."""
        role, row = self.roles.get(name), self.iterated.get(name)
        if self._draws.is_whole(made):
            return value_of(made, UNKNOWN_ATOM)
        if self._draws.draws(name):
            self._draws.use(step, value_of(made))
        rows = self.catalogue.consumers(row, name) if row is not None else ()
        args = self.kept(step, made, name, *loaders.ASKED, *(each for row in rows for each in _asked(row)))
        for each in rows:
            self._drawn(step, each, name, args)
        iterated = self._roles.get(f"iterated:{role.text('kind')}") if role is not None else None
        if role is not None and iterated is not None:
            return iterated(self, step, role, name, args)
        return None if row is None else SOMETHING

    def _items(self, step: Step, made: Instance, method: str) -> Value | None:
        """What a method of an object of a library gives that goes over it, or takes an item out; None for others."""
        owner, _, last = method.rpartition(".")
        if last == "__iter__":
            items = self.iterate(step, made, owner)
            return value_of(IteratorOver(UNKNOWN if items is None else items))
        if last == "__getitem__" and method not in self.roles:
            return step.join(UNKNOWN, loaders.fetch_inner(self, step, made, {made}))
        return None

    def context(self, step: Step, made: Instance, name: str) -> tuple[tuple[Stream, ...], tuple[tuple[str, str], ...]]:
        """The streams that a context puts back, and the switches that are set within it."""
        role = self.roles.get(name)
        streams = role.list("generators") if role is not None and role.text("kind") == "scope" else ()
        return streams, (("device", "meta"),) if devices.is_undrawn(self, step, made) else ()

    def is_whole(self, made: Instance) -> bool:
        """Whether what is taken of an object stands for the object itself."""
        return self._draws.is_whole(made)

    def is_configuration(self, name: str) -> bool:
        """Whether the objects of a class are nodes of a configuration, all fields of which a user may set."""
        return name in self._configurations

    # Names

    def get(self, step: Step, name: str) -> Value | None:
        """What a name of a library stands for, where that is more than the name, as what a loader keeps."""
        owner, _, last = name.rpartition(".")
        if last == "training":
            return trains()
        row = self.roles.get(self.canonical(owner))
        if not isinstance(step.receiver, Instance):
            return None
        if row is not None and row.text("kind") == "trainer-cli" and last in trainers.HELD:
            return step.read(step.receiver, Attribute(last))
        if row is None and name.partition(".")[0] not in libraries.KNOWN:
            given = step.kept(step.receiver, last)  # as configurations hold it that are made of keywords
            return given if given.atoms else None
        if name.startswith("torch.nn."):
            return autograd.attribute(step.receiver, last, self.inner)
        return loaders.kept(step, step.receiver, last) if row is not None and last in row.list("keeps") else None

    def constant(self, name: str) -> Value | None:
        """The number or the object that a name of a library stands for, wherever a program runs."""
        return self._constants.get(self.canonical(name))

    def set(self, step: Step, name: str, value: Value) -> None:
        """Put a value in the place of something of a library, as a switch."""
        replaced.put(self, step, self.canonical(name), value)
        if f"{self.canonical(name)}.__setitem__" in self.environment:  # as `|=` does
            switches.set_variables(self, step, Given((value,)))
        switches.by_value(step, self.settings.get(self.canonical(name), ()), value)


def _asked(row: Row) -> list[str]:
    """The parameters that the conditions of a row speak of."""
    return list(map(named_in, conditions(row)))

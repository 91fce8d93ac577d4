"""What is known of libraries for one version of torch: their models, and the tables of facts by the names called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from packaging.version import Version

from detlint.catalogue import Catalogue, Row
from detlint.domain.atoms import UNKNOWN_ATOM, Bound, ClassRef, FunctionRef, Instance, IteratorOver
from detlint.domain.effects import Mark, Stream
from detlint.domain.given import Given
from detlint.domain.library import Called, Class, Library
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, made_of, value_of
from detlint.models import autograd, devices, draws, holders, launchers, loaders, numbers, processes, seeds, switches
from detlint.models.arguments import Arguments, arguments, named_in, parameters, words_of
from detlint.models.asides import Asides
from detlint.models.commands import CONSTANTS
from detlint.models.library_draws import LibraryDraws
from detlint.models.salted import Salted
from detlint.semantics import libraries

_TAKEN_FROM = (FunctionRef, ClassRef, Bound)  # what a method is given first that decorators of libraries gave them
Role = Callable[["Known", Step, Row, str, Arguments], Value]


class Known:
    """All that is known of libraries. `roles` are the kinds of role that the tables give functions."""

    def __init__(
        self, catalogue: Catalogue, torch: Version, models: Iterable[Library], roles: Mapping[str, Role]
    ) -> None:
        self.catalogue = catalogue
        self.torch = torch
        self.functions: dict[str, Called] = {}
        self.classes: dict[str, Class] = {}
        for model in models:
            self.functions |= {f"{model.name}.{name}": called for name, called in model.functions.items()}
            self.classes |= {f"{model.name}.{klass.name}": klass for klass in model.classes}
        self._roles = roles
        self._asides = Asides(catalogue)
        self._constants = {**numbers.numbers(catalogue.rows("program", "number")), **CONSTANTS}
        self.functions |= numbers.tellers(catalogue.rows("program", "number"))
        self._asides = Asides(catalogue)
        self._draws = LibraryDraws(catalogue)
        rows = catalogue.rows
        consumers = rows("randomness", "consumer")
        self.consumers = _by_name(r for r in consumers if r.text("kind") in ("call", "constructor"))
        for row in consumers:
            if row.text("kind") == "sample":
                names = (f"{name}.{method}" for name in row.list("names") for method in row.list("methods"))
                self.consumers |= dict.fromkeys(names, row)
        self._families = [row for row in consumers if row.list("families")]
        self.layers = _by_name(r for r in consumers if r.text("kind") == "forward")
        self.iterated = _by_name(r for r in consumers if r.text("kind") == "iteration")
        self.worker_seeds = _by_name(rows("randomness", "workers"))
        self.seeders = _by_name(rows("randomness", "seeder"))
        self.reseeders = _by_name(r for r in rows("randomness", "entropy") if r.text("kind") == "reseeds")
        values = _by_name(r for r in rows("randomness", "entropy") if r.text("kind") == "value")
        self.entropy = frozenset(name for name in values if not name.startswith("builtins."))
        self.salted = frozenset(name for name, row in values.items() if row.text("of") == "text")
        self._salted = Salted(catalogue)
        self.launchers = _by_name(rows("randomness", "launcher"))
        self.callbacks = _by_name(rows("randomness", "callback"))
        self.roles = _by_name(rows("program", "role"))
        self._inner = frozenset(name.rpartition(".")[2] for name in catalogue.names("program", "inner"))
        self.adding = frozenset(
            name.rpartition(".")[2] for name, row in self.roles.items() if row.text("kind") == "submodule"
        )
        self.applied = catalogue.names("program", "applied")
        self.undrawn = _by_name(rows("randomness", "undrawn"))
        self.exits = catalogue.names("program", "exit")
        self.settings: dict[str, list[Row]] = {}
        for row in rows("switches", "setting"):
            for name in (*row.list("names"), *row.list("calls")):
                self.settings.setdefault(name, []).append(row)
        held = catalogue.names("switches", "variables", id="held")
        self.environment = frozenset(f"{name}.__setitem__" for name in held)
        self.workspace = catalogue.row("switches", "environment", "cublas-workspace").text("variable")
        self.methods: dict[str, list[str]] = {}  # what a method of this name does, whatever its receiver
        for row in rows("program", "role"):
            for method in row.list("methods"):
                self.methods.setdefault(method, []).append(row.text("kind"))
        taken = (*self.launchers.items(), *self.roles.items())
        self._taken = {
            kind: {name.rpartition(".")[2]: name for name, row in taken if row.text("taken") == kind}
            for kind in ("function", "type")
        }
        self.decided, self.deciding = _decided(catalogue)
        stacking = (name for name, row in self.roles.items() if row.text("kind") in ("enters", "left-with"))
        self.stacks = frozenset(name.rpartition(".")[0] for name in stacking)
        self.drawing = catalogue.names("order", "use", kind="draws")  # from what has an order
        of_tensors = (
            (method, f"torch.Tensor.{method}")
            for method in catalogue.names("names", "methods", "methods", id="tensor-only")
        )
        self._telling = {method: name for method, name in of_tensors if name in self.consumers}
        self._hints = catalogue.names("randomness", "hint")
        self._apart = catalogue.names("randomness", "hint", key="apart")
        self._seeding = catalogue.names("randomness", "object", key="seeding")

    def canonical(self, name: str) -> str:
        """The one name of what can be imported from several places."""
        return self.catalogue.canonical(name)

    # Calls

    def call(self, step: Step, name: str, given: Given) -> Value:
        """Call a function, a method or a class of a library, which no model speaks of."""
        if isinstance(step.receiver, Instance):
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
        callback = self._find(self.callbacks, name)
        if callback is not None:
            launchers.call_back(step, callback, args)
        if name in self.drawing:
            step.sink(given.first, "draws")
        if name in self.exits:
            step.leave()
            return NOTHING
        role, consumer = self._find(self.roles, name), self.consumer(name)
        drawn = NOTHING
        if consumer is not None:
            drawn = draws.consume(step, consumer, name, args, self._asides.kind(step, name))
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
        elif (launcher := self._find(self.launchers, name)) is not None:
            return launchers.launch(self, step, launcher, args)
        elif name in self.salted and given.each:
            return self._salted.hashed(step, given.first)
        else:
            self.other(step, name, given)
            drawing = self._draws.call(step, name, given)
            if drawing is not None:
                return drawing
        return made_of(self.make(step, name, given), (step.owner, *given.each))

    def arguments(self, step: Step, name: str, given: Given) -> Arguments:
        """The arguments of a call."""
        family = self._family(name)
        signature = self.catalogue.signatures.get(name, "") if family is None else family.text("signature")
        return arguments(step, given, signature)

    def kept(self, step: Step, made: Instance, name: str, *asked: str) -> Arguments:
        """The arguments that an object of a class was made with: those of its signature, and what else is `asked`."""
        places = arguments(step, Given(), self.catalogue.signatures.get(name, ""))
        names = dict.fromkeys((*places.defaults, *asked))
        named = {each: value for each in names if (value := step.kept(made, each)).atoms}
        opened = bool(step.kept(made, "**").atoms)
        return Arguments(Given((), named, opened), places.defaults, places.places, step.resolve)

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

    def construct(self, step: Step, made: Instance, name: str, given: Given) -> None:
        """Run the constructor of a library's class on an object of a class that derives from it."""
        self._keep(step, made, name, given)
        args = self.arguments(step, name, given)
        consumer = self.consumer(name)
        if consumer is not None:
            draws.consume(step, consumer, name, args, self._asides.kind(step, name))
        role = self.roles.get(name)
        if role is not None and role.text("kind") == "loader":
            loaders.note(step, args)
        elif role is not None and role.text("derived") and role.text("kind") in self._roles:
            self._roles[role.text("kind")](self, step, role, name, args)
        launcher = self.launchers.get(name)
        if launcher is not None:
            launchers.launch(self, step, launcher, args)

    def other(self, step: Step, name: str, given: Given) -> None:
        """A function of which no table speaks: it may seed by its name, and may call the functions that it is given."""
        root, last = name.partition(".")[0], name.rpartition(".")[2]
        self.named(step, last)
        if root in libraries.KNOWN:
            return
        if self.hints_at_seeding(last):
            seeds.perhaps(step, name)
        launchers.perhaps_call(step, given)

    def leave(self, step: Step, made: Instance, name: str) -> None:
        """Leave a context of a library: what a stack of contexts holds is left."""
        if name in self.stacks:
            processes.leave(step, made)

    # What decorators give, and classes are

    def decorates(self, name: str) -> bool:
        """Whether it is known what something of a library does as a decorator."""
        return self.canonical(name) in self.roles

    def given_to(self, kind: str, name: str) -> str:
        """The method of a name that decorators of libraries give to a "function" or a "type", if they do."""
        return self._taken[kind].get(name, "")

    def takes_class(self, name: str) -> bool:
        """Whether a method of a library is given the class that it is taken from."""
        row = self.roles.get(self.canonical(name))
        return row is not None and row.text("taken") == "class"

    def is_of(self, name: str, kind: str) -> bool:
        """Whether the tables tell that a class is of a kind."""
        packages = self.catalogue.names("program", "class", key="packages", kind=kind)
        return name.partition(".")[0] in packages or name in self.catalogue.names("program", "class", kind=kind)

    def speaks_of(self, name: str) -> bool:
        """Whether the tables speak of something of a library, so that it has it."""
        tables = (self.consumers, self.roles, self.settings, self.seeders, self.launchers, self.catalogue.signatures)
        return any(name in table for table in tables)

    def are_apart(self, name: str, other: str) -> bool:
        """Whether an object that was made of a class is certainly none of another."""
        packages = self.catalogue.names("program", "class", key="packages", kind="apart")
        mine, others = (next((p for p in packages if each.startswith(f"{p}.")), None) for each in (name, other))
        return mine is not None and others is not None and mine != others

    def told_by_name(self, method: str) -> str:
        """The method of a library that one of a name is, whatever has it; "" for any other."""
        return self._telling.get(method, "")

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

    def call_given(self, step: Step, given: Given) -> None:
        """Perhaps call the functions that something is given which is not known."""
        launchers.perhaps_call(step, given)

    def named(self, step: Step, method: str) -> None:
        """Mark what the name of a method says that it does, whatever has it."""
        for kind in self.methods.get(method, ()):
            if kind != "opens":
                autograd.mark(step, kind)

    # Objects

    def call_object(self, step: Step, made: Instance, name: str, given: Given) -> Value | None:
        """Call an object of a library's class, or of one that derives from it; None where nothing is known of that."""
        consumer, role = self.layers.get(name), self.roles.get(name)
        if role is not None and role.text("called"):
            return holders.call(step, made, role.text("called"))
        if consumer is None:
            return None
        args = self.kept(step, made, name, *_asked(consumer))
        args.given = Given((), {**args.given.keywords, **given.keywords}, args.given.open)
        outcome = args.applies(consumer.list("when"), consumer.list("unless"))
        return step.arm(outcome, lambda: draws.draw(step, consumer, name), lambda: SOMETHING)

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
        args = self.kept(step, made, name, *loaders.ASKED, *(() if row is None else _asked(row)))
        if row is not None:
            outcome = args.applies(row.list("when"), row.list("unless"))
            step.arm(outcome, lambda: draws.draw(step, row, name), lambda: SOMETHING)
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
            return step.join(UNKNOWN, loaders.fetch_inner(self, step, made, frozenset()))
        return None

    def context(self, step: Step, made: Instance, name: str) -> tuple[tuple[Stream, ...], tuple[tuple[str, str], ...]]:
        """The streams that a context puts back, and the switches that are set within it."""
        role = self.roles.get(name)
        streams = role.list("generators") if role is not None and role.text("kind") == "scope" else ()
        return streams, (("device", "meta"),) if devices.is_undrawn(self, step, made) else ()

    def is_whole(self, made: Instance) -> bool:
        """Whether what is taken of an object stands for the object itself."""
        return self._draws.is_whole(made)

    # Names

    def get(self, step: Step, name: str) -> Value | None:
        """What a name of a library stands for, where that is more than the name, as what a loader keeps."""
        owner, _, last = name.rpartition(".")
        row = self.roles.get(owner)
        if not isinstance(step.receiver, Instance):
            return None
        if name.startswith("torch.nn."):
            return autograd.attribute(step, step.receiver, last, self._inner)
        return loaders.kept(step, step.receiver, last) if row is not None and last in row.list("keeps") else None

    def constant(self, name: str) -> Value | None:
        """The number or the object that a name of a library stands for, wherever a program runs."""
        return self._constants.get(self.canonical(name))

    def set(self, step: Step, name: str, value: Value) -> None:
        """Put a value in the place of something of a library, as a switch."""
        if f"{self.canonical(name)}.__setitem__" in self.environment:  # as `|=` does
            switches.set_variables(self, step, Given((value,)))
        switches.by_value(step, self.settings.get(self.canonical(name), ()), value)

    def consumer(self, name: str) -> Row | None:
        """The row of what draws when it is called, or makes something that does."""
        return self.consumers.get(name) or self._family(name)

    def _family(self, name: str) -> Row | None:
        """The row of the functions of a package whose names begin alike."""
        last = name.rpartition(".")[2]
        rows = (row for row in self._families if name.startswith(f"{row.text('package')}."))
        return next((row for row in rows if last.islower() and last.startswith(row.list("families"))), None)

    def _find(self, table: Mapping[str, Row], name: str) -> Row | None:
        """The row of a name; what every module has, a class of layers has too."""
        if name not in table and name.startswith("torch.nn."):
            return table.get(f"torch.nn.Module.{name.rpartition('.')[2]}")
        return table.get(name)

    def hints_at_seeding(self, name: str) -> bool:
        """Whether a function's name says that it may seed a global generator."""
        words = name.lower()
        apart = name in self._seeding or any(other in words for other in self._apart)
        return not apart and any(hint in words for hint in self._hints)


def _asked(row: Row) -> list[str]:
    """The parameters that the conditions of a row speak of."""
    return list(map(named_in, _conditions(row)))


def _decided(catalogue: Catalogue) -> tuple[dict[str, frozenset[str | int]], frozenset[str]]:
    """The parameters that decide what something of a library does, by its last name, and the constants that do so.

    A parameter is there by its name, and by its place where it may be given so.
    """
    found: dict[str, frozenset[str | int]] = {}
    words = set[str]()
    for row in (*catalogue.rows("randomness", "consumer"), *catalogue.rows("program", "role")):
        conditions = (*_conditions(row), *(loaders.DECIDE if row.text("kind") == "loader" else ()))
        words.update(word for each in conditions for word in words_of(each))
        names = frozenset(map(named_in, conditions))
        for name in row.list("names") if names else ():
            _, places = parameters(catalogue.signatures.get(name, ""))
            given = names | {places.index(each) for each in names if each in places}
            last = name.rpartition(".")[2]
            found[last] = found.get(last, frozenset()) | given
    return found, frozenset(words)


def _conditions(row: Row) -> tuple[str, ...]:
    return (*row.list("when"), *row.list("unless"))


def _by_name(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        for name in row.list("names"):
            found.setdefault(name, row)
    return found

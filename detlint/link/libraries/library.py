"""The effects of the functions and classes of libraries, as the tables of facts describe them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.catalogue import Row
from detlint.facts import facts as f
from detlint.finding import Place
from detlint.generators import COMPILED, ELSEWHERE, GENERATORS, SEEDABLE
from detlint.link.libraries import owning, stepping
from detlint.link.libraries.commands import of_command_line, run_command
from detlint.link.libraries.devices import Devices
from detlint.link.libraries.launching import launch, run_tasks
from detlint.link.roles.table import ROLES
from detlint.link.state.arguments import Arguments
from detlint.link.state.entropy import by_default, drawn, entropy_in, hashed, perhaps_seed, reseed, seeding
from detlint.link.state.truth import EITHER, truth
from detlint.link.state.values import (
    NONE,
    SOME,
    UNKNOWN,
    Atom,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Partial,
    Saved,
    Tuple,
    Unknown,
    Value,
    each,
    join,
    single,
)
from detlint.programs.events import (
    CHANCE,
    EVALUATES,
    MEETS,
    SEEDED,
    UNSEEDED,
    UNSURE,
    Drawn,
    Example,
    Marked,
    Perhaps,
    Seeded,
    State,
)


class Interpreter(Devices):
    """The whole interpreter, which runs an entry point."""

    # Calls

    def call_unknown(self, node: f.Call, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """Call something unknown, by the name of its method or by what its name suggests."""
        name = node.function.name if isinstance(node.function, (f.Member, f.Global, f.Local)) else ""
        self.note_seedless("", positional, keywords, node.place)
        if self.state is not None and any(self.state[generator] == UNSURE for generator in GENERATORS):
            self.note(Marked("unsure", node.place))
        if isinstance(node.function, f.Member):
            for kind in self.tables.methods.get(name, ()):
                if kind != "opens" and not (kind == EVALUATES and (positional or keywords)):
                    self.mark(kind, node.place)
            methods = self.program.methods_named(name)
            fits = len(methods) == 1 and self.takes(methods[0], positional, keywords)
            if fits and any(self.has_run(methods[0].path)):
                with self.guarded(""):
                    return self.call(methods[0], positional, keywords, node.place)
        if self.tables.hints_at_seeding(name):
            perhaps_seed(self, name, node.place, guessed=True)
        if isinstance(node.function, f.Member):  # a plain function may be a decorator
            self.perhaps_call(positional, keywords, node.place)
        return UNKNOWN

    def call_library(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call a function, a method or a class of a library."""
        name = function.name.removesuffix(".__init__")
        made = function.receiver if name != function.name else None
        self.note_seedless(name, positional, keywords, place)
        if self.stepping and function.receiver is not None:
            stepping.call(self, function, positional or keywords, place)
        if (wrapped := owning.wrapped(self, function, positional, keywords, place)) is not None:
            return wrapped
        if isinstance(made, Object):
            self.keep(made, name, positional, keywords)
        elif isinstance(function.receiver, Object) and name.endswith(".__getitem__") and name not in self.tables.roles:
            self.fetch_inner(function.receiver, place)
        elif isinstance(function.receiver, Object) and name.endswith(".__iter__"):
            self.iterate_library(function.receiver, name.removesuffix(".__iter__"))
        if made is None and not self.tables.speak_of(name):
            if name in self.tables.asked:
                self.mark_met(name, Arguments(self.program, name, positional, keywords), place)
            return self.call_other(function, positional, keywords, place)
        role, consumer = self.tables.find(self.tables.roles, name), self.tables.consumer(name)
        signature = "" if consumer is None else consumer.text("signature")
        given = Arguments(self.program, name, positional, keywords, signature, function.receiver)
        if name in self.tables.asked:
            self.mark_met(name, given, place)
        callback = self.tables.find(self.tables.callbacks, name)
        if callback is not None:
            self.call_back(callback, given, place)
        if role is not None and (made is None or role.text("derived")):
            if consumer is not None:
                self.consume(consumer, name, positional, given, place)
            named = function if made is None else Library(name, made)
            return ROLES[role.text("kind")](self, role, named, given, place)
        self.call_switches(name, given, place)
        launcher = self.tables.find(self.tables.launchers, name)
        if launcher is not None and launcher.list("made"):
            if not given.applies(launcher.list("when"), launcher.list("unless")):
                return self.call_other(function, positional, keywords, place)
            launch(self, launcher, function.receiver, given, place)
            return self.originated(function, positional, keywords, place) or UNKNOWN
        if consumer is not None:
            if name in self.tables.seeders:
                self.seed_by(self.tables.seeders[name], name, given, place)
            numbers = drawn(self, consumer, given)
            self.consume(consumer, name, positional, given, place)
            if numbers:
                return numbers
        elif name in self.tables.reseeders and self.reseeds(name, given):
            seeds = tuple(g for g in self.tables.reseeders[name].list("seeds") if g in GENERATORS)
            return reseed(self, seeds, name, place)
        elif name in self.tables.seeders:
            seeder = self.tables.seeders[name]
            self.seed_by(seeder, name, given, place)
            if seeder.text("gives"):
                return single(Library(seeder.text("gives")))
        elif launcher is not None:
            value = launch(self, launcher, function.receiver, given, place)
            if not launcher.text("makes"):
                return value
        elif name in self.tables.undrawn:
            return self.made_context(name, positional, keywords, place)
        return self.made_by(name, positional, keywords, place) if made is None else UNKNOWN

    def mark_met(self, name: str, given: Arguments, place: Place) -> None:
        """Mark a call that meets the conditions of rows that a file may leave open."""
        for row in self.tables.asked[name]:
            if given.applies(row.list("when"), (*row.list("unless"), *row.list("never"))):
                self.note(Marked(MEETS + row.id, place))

    def consume(self, row: Row, name: str, positional: Sequence[Value], given: Arguments, place: Place) -> None:
        """Record a call that draws, unless its numbers do not matter; call the program's replacement if it has one."""
        self.ask("node", self.node)
        inert = self.node.inert if self.node is not None and self.node.place == place else ""
        if self.state is not None and self.state["replaced"] and (own := self.replaced(name, self.state)):
            self.call_value(own, positional, {"**": UNKNOWN}, place)
        elif inert or self.is_meta(given.get("device")):
            for generator in row.list("generator"):
                if inert in ("example", "seed") and self.state is not None and generator in GENERATORS:
                    self.note(Example(generator, name, place, self.state[generator], inert == "seed"))
        else:
            for each in self.program.catalogue.consumers(row, name):
                if given.applies(each.list("when"), each.list("unless")):
                    self.draw(each, name, place)

    def made_by(self, name: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Return what a call of a library's class makes; unknown for a function."""
        if not name.rpartition(".")[2][:1].isupper():
            return UNKNOWN
        return self.made_context(name, positional, keywords, place)

    def made_context(self, name: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Return an object of a library's class, or a library's context, with the arguments that it was given."""
        made = Object(Library(name), *self.made_at(name, positional, keywords, place))
        self.keep(made, name, positional, keywords)
        self.made_sampler(made, place)
        stepping.make(self, made, Arguments(self.program, name, positional, keywords), place)
        return single(made)

    def call_other(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call a function without a row: its name may say that it seeds, and it may call its function arguments."""
        if function.name in self.tables.entropy:
            return by_default(self)
        if function.name in self.tables.salted and positional:
            self.ask("node", self.node)
            told = self.node is not None and self.node.place == place and self.node.inert == "salted"
            return hashed(self, positional[0], told)
        self.run_callbacks(function, positional, keywords, place)
        self.draw_by_library(function, positional, keywords, place)
        made = self.originated(function, positional, keywords, place)
        return made or self.made_by(function.name, positional, keywords, place)

    def call_library_object(
        self, made: Object, base: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value:
        """Call an object of a library's class: a layer, a container of layers, an application with commands."""
        role = self.tables.roles.get(base)
        if role is not None and role.text("called"):
            self.ask("calling", None)
            if made in self.calling:  # one call site made both the container and what is in it
                return UNKNOWN
            self.calling.add(made)
            options = role.text("called") == "by options"
            for item in self.program.objects.slots(made).values():
                for atom in each(item):
                    if isinstance(atom, (Object, Function)):
                        called: Value = single(atom)
                        self.call_value(of_command_line(self, called) if options else called, positional, {}, place)
            self.calling.discard(made)
            return UNKNOWN
        launcher = self.tables.launchers.get(f"{base}.__call__")
        if launcher is not None and positional:
            return run_tasks(self, launcher, self.kept(made, base, keywords), positional[0])
        consumer = self.tables.layers.get(base)
        if consumer is not None:
            given = self.kept(made, base, keywords)
            for row in self.program.catalogue.consumers(consumer, base):
                trains = row.text("mode") != "train" or (self.state is not None and self.state["layers"] == "train")
                replaced = bool(row.text("part")) and self.program.objects.stored(made, row.text("part")) is not None
                if trains and not replaced and given.applies(row.list("when"), row.list("unless")):
                    self.draw(row, base, place)
        commands = self.program.objects.stored(made, "commands")
        if commands is not None:
            return self.call_value(commands, [], {}, place)
        return UNKNOWN

    def decorates(self, atom: Atom) -> bool:
        """Return whether it is known what a decorator does."""
        if isinstance(atom, Library):
            return atom.name in self.tables.roles
        return super().decorates(atom)

    # Effects

    def replace(self, name: str, value: Value) -> None:
        """Replace an initialiser of torch by something else, or put the initialiser itself back."""
        if name in self.tables.replaceable and self.state is not None:
            names = set(self.state["replaced"].split()) - {name}
            if any(isinstance(atom, (Function, Partial)) for atom in value):
                names.add(name)
                self.program.objects.replace(Library(name), "", value)
            self.state = self.state.but(("replaced",), " ".join(sorted(names)))

    def replaced(self, name: str, state: State) -> Value:
        """Return the program's functions that a call of torch reaches, if these replace all that it draws by."""
        names, calls = state["replaced"].split(), self.tables.initialised.get(name, [name])
        for way in ([f"{name}.reset_parameters"], calls):
            if all(each in names for each in way):
                found = (self.program.objects.stored(Library(each), "") for each in way)
                return frozenset(atom for value in found for atom in value or ())
        return frozenset()

    def draw(self, row: Row, name: str, place: Place) -> None:
        """Record a draw from a global generator, or from several."""
        for generator in row.list("generator"):
            empty = self.state is not None and generator == "torch" and self.state["device"] == "meta"
            if self.state is not None and generator in GENERATORS and not empty:
                word, where, weights = self.state[generator], row.text("where"), row.text("weights")
                if word == ELSEWHERE:
                    continue
                if where:
                    self.note(Perhaps(generator, name, place, word, where))
                    continue
                self.note(Drawn(generator, name, place, word, bool(weights), missing=weights == "missing"))
                if word in CHANCE and self.is_likely():
                    self.add_drawn(generator)

    def seed(self, generators: tuple[str, ...], name: str, place: Place, certain: bool, restores: bool = False) -> None:
        """Record a call that seeds generators, or may, or that restores a saved state."""
        if generators and self.state is not None:
            generators = tuple(COMPILED[g] if self.state[g] == ELSEWHERE else g for g in generators)
            self.note(Seeded(generators, name, place, certain, restores))
            doubtful = [g for g in generators if not certain and self.state[g] != SEEDED]
            self.state = self.state.but(generators, SEEDED).but(doubtful, UNSURE)

    def reseeds(self, name: str, given: Arguments) -> bool:
        """Return whether a call seeds from the operating system; False if an argument may be an option."""
        optional = any(isinstance(atom, Option) for value in given.given.values() for atom in value)
        return not optional and given.applies(self.tables.reseeders[name].list("when"), ())

    def seed_by(self, row: Row, name: str, given: Arguments, place: Place) -> None:
        """Run a seeder of the tables, with the seed that it is given."""
        generators = tuple(g for g in row.list("seeds") if g in SEEDABLE)
        if not generators:
            return
        value = given.get(parameter) if (parameter := row.text("parameter")) and given.tells(parameter) else SOME
        words = {atom.word for atom in self.saved_in(value)}
        if words and self.state is not None:
            # it is restored as it was saved last: nothing changes if the current state is one of the saved ones
            changed = [g for g in generators if self.state[g] not in words]
            self.state = self.state.but(changed, words.pop() if len(words) == 1 else UNSURE)
            return
        unset, nothing = any(map(given.holds, row.list("unless"))), row.text("none") == "nothing"
        defaults = [atom.default for atom in value if isinstance(atom, Option)]
        if (nothing and value == NONE) or (unset and not defaults):
            return
        random, option = seeding(value - NONE if nothing else value)
        if random:
            reseed(self, generators, name, place, option)
            return
        takes_none = row.text("none") not in ("raises", "default")  # with None, it seeds from the operating system
        hidden = takes_none and None in defaults and not UNKNOWN.isdisjoint(value) and self.is_likely()
        if (unset or (takes_none and None in defaults)) and self.is_likely() and not hidden:
            option = next(atom.name for atom in each(value) if isinstance(atom, Option))
            with self.guarded(option):
                self.note(Seeded(generators, name, place, True))
            if self.state is not None and not (nothing or unset):
                self.state = self.state.but(generators, UNSEEDED)
            return
        told = value - NONE if self.is_chosen() else value  # set by an option, instead of None
        sure = not takes_none or (Constant(None) not in (told or value) and not hidden)
        self.seed(generators, name, place, sure and not entropy_in(value), restores=bool(row.text("restores")))

    def saved_in(self, value: Value, depth: int = 3) -> Iterator[Saved]:
        """Yield the saved states of generators that a value may be, or may contain."""
        for atom in value if depth else ():
            if isinstance(atom, Saved):
                yield atom
            elif isinstance(atom, Tuple):
                yield from self.saved_in(join(atom.items), depth - 1)
            elif self.is_container(atom):
                yield from self.saved_in(self.held(atom), depth - 1)

    def set_switch(self, name: str, value: Value) -> None:
        """Set an attribute of a library, which may be a switch."""
        self.replace(name, value)
        if name == "os.environ":  # as `|=` does
            self.call_library(Library("os.environ.update"), [value], {}, self.bound_place())
        read = any(isinstance(atom, Library) for atom in value)  # as when a switch is restored
        self.switch_by(name, EITHER if read else truth(value), self.bound_place())

    def set_environment(self, name: str, key: object, place: Place | None = None) -> None:
        """Set an environment variable, which may be a switch, by the call at `place` or by an assignment."""
        if name == "os.environ" and isinstance(key, str) and key in self.tables.variables:
            self.switch(self.tables.variables[key], "set", place or self.bound_place())

    def bound_place(self) -> Place:
        """Return the place of the assignment that is being run."""
        self.ask("statement", self.statement_place)
        return self.statement_place or Place(self.frame.path, 1, 1, 1, 1)

    def restored_by(self, context: Value) -> tuple[str, ...]:
        """Return the generators whose state a library's context manager restores."""
        names = (a.kind.name for a in each(context) if isinstance(a, Object) and isinstance(a.kind, Library))
        rows = [self.tables.roles[name] for name in names if name in self.tables.roles]
        return tuple(g for row in rows if row.text("kind") == "scope" for g in row.list("generators"))

    # Commands

    def commands(self) -> Value:
        """Return the functions that the script defines."""
        self.unrepeatable()
        variables = self.variables_of(self.script).values()
        return frozenset(a for value in variables for a in value if isinstance(a, Function) and a.path == self.script)

    def run_command(self, component: Value, place: Place) -> Value:
        """Run what a command line selects: one of these functions and classes, or of those that the script defines."""
        return run_command(self, component - {Unknown()} or self.commands(), place)

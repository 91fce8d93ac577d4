"""Draws of libraries other than torch from the global generators, if they are given no seed of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.generators import GENERATORS
from detlint.link.libraries import copying, owning
from detlint.link.libraries.loaders import Loaders
from detlint.link.state.arguments import Arguments, gives_no_seed
from detlint.link.state.entropy import mark_entropic
from detlint.link.state.values import (
    UNKNOWN,
    Atom,
    Constant,
    Library,
    Object,
    Option,
    Tuple,
    Value,
    each,
    settled,
    single,
)
from detlint.programs.events import SEEDLESS, Drawn, Marked

_DEPTH = 6  # levels of objects that hold others


class LibraryDraws(Loaders):
    """The part of the interpreter that records draws from the libraries' tables, which have a rule of their own."""

    def draw_by_library(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> None:
        """Record the draws of a library's function or method, and of the objects that it uses."""
        owner, name = function.receiver, function.name
        method = name.rpartition(".")[2]
        if self.copying:
            copying.call(self, function, place)
            copying.reached(self, [function], place)
        if not isinstance(owner, Object):
            given = Arguments(self.program, name, positional, keywords)
            for row in self.tables.library_draws.get(name, ()):
                if _draws_at_once(row, name) and gives_no_seed(row, given):
                    self.note_draw(row, name, place)
            if name in self.tables.library_users:
                for value in (*positional, *keywords.values()):
                    self.use(value, place)
        elif self.origin(owner) is not None:
            self.draw_from(owner, method, positional, keywords, place)
        elif isinstance(owner.kind, Library) and owner.kind.name.partition(".")[0] in self.tables.library_roots:
            if method in self.tables.library_uses:
                self.use(single(owner), place)
            elif method == "set_params":
                self.set_parameters(owner, keywords)

    def note_seedless(self, name: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> None:
        """Mark a call whose seed is None or entropy with options at their defaults."""
        given = {parameter: value for parameter, value in keywords.items() if parameter in self.seeds}
        if positional and name in self.tables.generators:
            given[self.tables.generators[name].text("parameter")] = positional[0]
        for parameter, value in given.items():
            if _is_none(value):
                self.note(Marked(SEEDLESS + parameter, place))
        mark_entropic(self, given, place)

    def draw_from(
        self, owner: Object, method: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> None:
        """Record the draws of a method of a library's object, or of what that object returns."""
        assert isinstance(owner.kind, Library)
        for row in self.tables.library_methods.get(method, ()):
            if owner.kind.name in row.set("made"):
                made = self.kept(owner, owner.kind.name)
                given = Arguments(self.program, f"{owner.kind.name}.{method}", positional, keywords)
                if made.applies(row.list("made_when"), row.list("made_unless")) and gives_no_seed(row, given):
                    self.note_draw(row, f"{owner.kind.name}(...).{method}", place)

    def use(self, value: Value, place: Place) -> None:
        """Record the draws of objects that are used: of those made without a seed, and those that they hold."""
        for made in self.held_by(value):
            assert isinstance(made.kind, Library)
            for row in self.tables.library_draws.get(made.kind.name, ()):
                parameter = row.text("parameter")
                changed = self.program.objects.stored(made, parameter) is not None
                if not changed and gives_no_seed(row, self.kept(made, made.kind.name)):
                    self.note_draw(row, made.kind.name, place)

    def held_by(self, value: Value) -> Iterator[Object]:
        """Yield the objects of libraries in a value, including those that they hold, down to `_DEPTH` levels."""
        waiting, seen = [(atom, _DEPTH) for atom in each(value)], set[Atom]()
        while waiting:
            atom, depth = waiting.pop(0)
            if atom in seen or not depth:
                continue
            seen.add(atom)
            held: Sequence[Value] = atom.items if isinstance(atom, Tuple) else ()
            if isinstance(atom, Object) and isinstance(atom.kind, Library):
                yield atom
                held = list(self.program.objects.slots(atom).values())
            waiting += [(inner, depth - 1) for value in held for inner in each(value)]

    def set_parameters(self, owner: Object, keywords: dict[str, Value]) -> None:
        """Run `set_params`, which may set the parameters of all that an object holds."""
        for made in list(self.held_by(single(owner))):
            for name, value in keywords.items():
                self.program.objects.store(made, f"({name.rpartition('__')[2] or name})", value)

    def note_draw(self, row: Row, name: str, place: Place) -> None:
        """Record a draw from the only generator that a row names."""
        (generator,) = row.list("generators")
        if self.state is not None and generator in GENERATORS:
            self.note(Drawn(generator, name, place, self.state[generator], False, of_library=True))

    def iterate_library(self, made: Object, base: str) -> None:
        """Iterate over an object of a library's class."""
        if base in self.tables.library_draws:
            self.use(single(made), self.here())
        super().iterate_library(made, base)

    def originated(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> Value | None:
        """Return what a call makes if its methods may draw, or what such a method returns; None for anything else."""
        found = self.origin(function)
        if found is not None:
            assert isinstance(found.kind, Library)
            if found.kind.name in self.tables.owners:
                given = Arguments(self.program, function.name, positional, keywords)
                return owning.call(self, found, function, given, place)
            return single(found) | UNKNOWN
        if function.receiver is None and function.name in self.tables.generator_makers:
            return copying.make(self, function.name, place)
        if function.receiver is not None or function.name not in self.tables.library_makers:
            return copying.information(self, function)
        made = Object(Library(function.name), *self.site(place))
        self.keep(made, function.name, positional, keywords)
        owning.make(self, made, place)
        return single(made)


def _is_none(value: Value) -> bool:
    atoms = [atom for atom in value if isinstance(atom, (Constant, Option)) and settled(atom) is None]
    return bool(value) and len(atoms) == len(value)


def _draws_at_once(row: Row, name: str) -> bool:
    """Return whether a call itself draws; a class may draw only when its object is used."""
    return not row.text("later") or not name.rpartition(".")[2][:1].isupper()

"""Recording of what functions look at and change while they run, for their records."""

from __future__ import annotations

from collections.abc import Callable

from detlint.link.state.program import Program
from detlint.link.state.records import Name, drawn, imported, located, starred, variable
from detlint.link.state.values import Class, Function, Library, Module, Object, Value

_DEFINED = frozenset((Function, Library, Module))


class Noting:
    """The part of a run that is recorded: modules, generators, and the surroundings of a call."""

    program: Program
    script: str
    search: list[str]
    imported: set[str]
    drawn: set[str]
    active: list[Name]
    loading: dict[str, None]
    doubts: int
    unlikely: int
    chosen: int

    def variable(self, path: str, name: str) -> Value | None:
        """Return a variable of a file, or None."""
        self.program.span.asked.add((path, name))
        found = self.program.environments[path].variables.get(name)
        self.watch_variable(path, name, found)
        record = self.program.objects.record
        if record is not None:
            record.looks[variable].setdefault((path, name), found)
        return found

    def watch_variable(self, path: str, name: str, found: Value | None) -> None:
        """Record that the running function looks at a variable of a file, and perhaps into what this holds.

        What a file defines or imports is not watched, as it seldom changes later.
        """
        if found is not None and _DEFINED.issuperset(map(type, found)):
            return
        watch = self.program.objects.watch
        kinds = set(map(type, found or ()))
        if kinds != {Class}:
            watch.look((path, name))
        if Object in kinds or Class in kinds:
            for atom in found or ():
                if type(atom) is Object or type(atom) is Class:
                    watch.look(atom)

    def stars(self, path: str) -> list[str]:
        """Return the libraries from which a file has imported all names."""
        found = self.program.environments[path].stars
        record = self.program.objects.record
        if record is not None:
            record.looks[starred].setdefault(path, tuple(found))
        return found

    def set_variable_of(self, path: str, name: str, value: Value) -> None:
        """Set a variable of a file from a function: in this program alone, unless files are being imported."""
        variables = self.program.environments[path].variables
        if variables.get(name) != value:
            self.program.objects.watch.change((path, name))
        if not self.loading:
            self.program.overwritten.setdefault((path, name), variables.get(name))
        variables[name] = value
        self.effect(Noting.set_variable_of, path, name, value)

    def has_run(self, path: str) -> tuple[bool, bool]:
        """Return whether a file was imported, and whether the program started with it."""
        found = path in self.imported, path == self.script
        record = self.program.objects.record
        if record is not None:
            record.looks[imported].setdefault(path, found)
        return found

    def find(self, name: str, importer: str) -> str | None:
        """Return the file of a module; None if there is none."""
        record = self.program.objects.record
        if record is not None:
            record.looks[located].setdefault((name, importer), located(self, (name, importer)))
        return self.program.imports.find(name, importer, self.script, self.search)

    def is_namespace(self, name: str, importer: str) -> bool:
        """Return whether a module is a folder without a file of its own."""
        record = self.program.objects.record
        if record is not None:
            record.looks[located].setdefault((name, importer), located(self, (name, importer)))
        return self.program.imports.is_namespace(name, importer, self.script, self.search)

    def is_likely(self) -> bool:
        """Return whether what is run now happens without an option that the user sets."""
        self.ask("unlikely", self.unlikely)
        return not self.unlikely

    def is_chosen(self) -> bool:
        """Return whether what is run now happens only with an option that the user sets."""
        self.ask("chosen", self.chosen)
        return bool(self.chosen)

    def is_certain(self) -> bool:
        """Return whether what is run now is known to happen."""
        self.ask("doubts", self.doubts)
        return not self.doubts

    def ask(self, name: str, value: object) -> None:
        """Record that the running function depends on something in the surroundings of its call."""
        if self.program.objects.record is not None:
            self.program.objects.record.ask(name, value)

    def was_drawn(self, generator: str) -> bool:
        """Return whether a generator was drawn from unseeded."""
        if self.program.objects.record is not None:
            self.program.objects.record.looks[drawn].setdefault(generator, generator in self.drawn)
        return generator in self.drawn

    def add_drawn(self, generator: str) -> None:
        """Record that a generator is drawn from unseeded."""
        if self.program.objects.record is not None:
            self.program.objects.record.make(drawn, generator)
        self.drawn.add(generator)
        self.effect(Noting.add_drawn, generator)

    def unrepeatable(self) -> None:
        """Stop recording the functions that are being run, because something happens that records do not cover."""
        self.program.objects.record = None

    def reach(self, name: Name) -> None:
        """Record that the current run depends on a function that is already active, from its outermost call on."""
        record = self.program.objects.record
        if record is not None:
            record.reach = min(record.reach, self.active.index(name))

    def effect(self, repeat: Callable[..., None], *given: object) -> None:
        """Record that the running function changes something outside itself, which `repeat` does again."""
        if self.program.objects.record is not None:
            self.program.objects.record.effects.append((repeat, *given))

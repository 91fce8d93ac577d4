"""What libraries beside torch draw from the global generators, where they are given no seed of their own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from detlint.catalogue import Catalogue, Row
from detlint.domain.atoms import UNKNOWN_ATOM, Atom, Instance, LibraryRef, TupleOf
from detlint.domain.effects import Draw
from detlint.domain.generators import GENERATORS
from detlint.domain.given import Given
from detlint.domain.outcomes import HOLDS
from detlint.domain.slots import ITEMS, Argument, Attribute
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments, arguments, named_in

_POSITIONAL = 3  # arguments by position among which no seed has ever been
_DEPTH = 6  # of objects that hold others
_HELD = Argument("*")  # all that an object of one of these libraries was made with


class LibraryDraws:
    """Draws that a rule of its own reports, not those on programs.

    A call draws itself, or what it makes draws when that is used, or by one of its methods.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._signatures = catalogue.signatures
        self._draws: dict[str, list[Row]] = {}  # of one global generator, by what makes the draw or what does it
        for row in catalogue.rows("libraries", "draw"):
            for name in row.list("names") if len(row.list("generators")) == 1 and not row.list("elements") else ():
                self._draws.setdefault(name, []).append(row)
        self._methods: dict[str, list[Row]] = {}
        for row in catalogue.rows("libraries", "method"):
            for method in row.list("methods") if len(row.list("generators")) == 1 else ():
                self._methods.setdefault(method, []).append(row)
        self._makers = catalogue.names("libraries", "method", "made")
        self._uses = catalogue.names("libraries", "use", "methods")
        self._users = catalogue.names("libraries", "use")
        self._roots = frozenset(name.partition(".")[0] for name in self._draws)

    def is_whole(self, made: Instance) -> bool:
        """Whether what is taken of an object, by attributes, subscripts and methods, draws as the object itself."""
        return isinstance(made.site.kind, LibraryRef) and made.site.kind.name in self._makers

    def keep(self, step: Step, made: Instance, name: str, given: Given) -> None:
        """Keep what an object of one of these libraries is made with."""
        if name.partition(".")[0] in self._roots:
            for value in given.each:
                step.fill(made, _HELD, value)

    def call(self, step: Step, name: str, given: Given) -> Value | None:
        """A call that may draw, or may use an object that does: what it makes whose methods may draw, if it does."""
        owner, method = step.receiver, name.rpartition(".")[2]
        if not isinstance(owner, Instance):
            args = self._arguments(step, name, given)
            for row in self._draws.get(name, ()):
                at_once = not row.text("later") or not method[:1].isupper()
                if at_once and _is_unseeded(row, args, len(given.positional)):
                    _draw(step, row, name)
            if name in self._users:
                for value in given.each:
                    self.use(step, value)
            if name not in self._makers:
                return None
            made = step.make(name)
            step.keep(made, given, args.places)
            return value_of(made)
        kind = owner.site.kind.name if isinstance(owner.site.kind, LibraryRef) else ""
        if self.is_whole(owner):
            self._draw_from(step, owner, kind, method, given)
            return value_of(owner, UNKNOWN_ATOM)
        if kind.partition(".")[0] in self._roots:
            if method in self._uses:
                self.use(step, value_of(owner))
            elif method == "set_params":
                self._set_parameters(step, owner, given)
        return None

    def use(self, step: Step, value: Value) -> None:
        """Objects are used: those draw that were made without a seed, and those that they hold."""
        for made in self._held_by(step, value):
            name = made.site.kind.name if isinstance(made.site.kind, LibraryRef) else ""
            for row in self._draws.get(name, ()):
                changed = step.read(made, Attribute(row.text("parameter"))).atoms
                if not changed and _is_unseeded(row, *self._kept(step, made, name, row)):
                    _draw(step, row, name)

    def draws(self, name: str) -> bool:
        """Whether an object of a class may draw when it is used."""
        return name in self._draws

    def _draw_from(self, step: Step, owner: Instance, kind: str, method: str, given: Given) -> None:
        """A method of what a function of a library made, or of what comes of that."""
        for row in self._methods.get(method, ()):
            if kind in row.set("made"):
                made, _ = self._kept(step, owner, kind, row)
                args = self._arguments(step, f"{kind}.{method}", given)
                fits = made.applies(row.list("made_when"), row.list("made_unless")) == HOLDS
                if fits and _is_unseeded(row, args, len(given.positional)):
                    _draw(step, row, f"{kind}(...).{method}")

    def _held_by(self, step: Step, value: Value) -> Iterator[Instance]:
        """The objects of libraries among a value and all that it holds."""
        waiting, seen = [(atom, _DEPTH) for atom in step.each(value)], set[Atom]()
        while waiting:
            atom, depth = waiting.pop(0)
            if atom in seen or not depth:
                continue
            seen.add(atom)
            held: tuple[Value, ...] = atom.items if isinstance(atom, TupleOf) else ()
            if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
                yield atom
                held = (step.read(atom, _HELD), step.read(atom, ITEMS))
            waiting += [(inner, depth - 1) for value in held for inner in step.each(value)]

    def _set_parameters(self, step: Step, owner: Instance, given: Given) -> None:
        """`set_params`, which may set those of whatever an object holds."""
        for made in list(self._held_by(step, value_of(owner))):
            for name, value in given.keywords.items():
                step.fill(made, Argument(name.rpartition("__")[2] or name), value)
            if given.open:
                step.fill(made, Argument("**"), UNKNOWN)

    def _arguments(self, step: Step, name: str, given: Given) -> Arguments:
        return arguments(step, given, self._signatures.get(name, ""))

    def _kept(self, step: Step, made: Instance, name: str, row: Row) -> tuple[Arguments, int]:
        """What an object was made with, as far as a row asks for it, and how much of that by position."""
        keys = ("when", "unless", "made_when", "made_unless")
        asked = [named_in(each) for key in keys for each in row.list(key)]
        asked += [each for each in (row.text("parameter"), *row.list("also")) if each]
        named = {each: value for each in asked if (value := step.kept(made, each)).atoms}
        opened = bool(step.read(made, Argument("**")).atoms)
        count = sum(bool(step.read(made, Argument(str(place))).atoms) for place in range(2 * _POSITIONAL))
        places = self._arguments(step, name, Given())
        return replace(places, given=Given((), named, opened)), count


def _draw(step: Step, row: Row, name: str) -> None:
    """A draw from the one generator that a row names."""
    (generator,) = row.list("generators")
    if generator in GENERATORS:
        step.emit(Draw(generator, step.code, name, of_library=True))


def _is_unseeded(row: Row, args: Arguments, by_position: int) -> bool:
    """Whether a call is certainly given no seed, and draws by its other arguments."""
    parameters = [name for name in (row.text("parameter"), *row.list("also")) if name]
    if any(args.holds(f"!{name}").may_fail for name in parameters):
        return False
    hidden = not (row.text("varargs") or args.defaults) and by_position > int(row.text("position") or _POSITIONAL)
    return not hidden and args.applies(row.list("when"), row.list("unless")) == HOLDS

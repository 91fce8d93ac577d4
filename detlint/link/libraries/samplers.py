"""Samplers that shuffle by the number of an epoch: where they are made and begin, and what may pass them the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from detlint.catalogue import Row
from detlint.facts import facts as f
from detlint.finding import Place
from detlint.link.language.modules import Modules
from detlint.link.language.passes import forget_taken
from detlint.link.language.scopes import nowhere
from detlint.link.libraries import copying, owning, stepping
from detlint.link.state.program import Program
from detlint.link.state.tables import Tables
from detlint.link.state.values import (
    FAR,
    NONE,
    Atom,
    Class,
    Constant,
    Function,
    Keywords,
    Library,
    Object,
    Option,
    Partial,
    Suspended,
    Tuple,
    Value,
    Wrapped,
    each,
    settled,
)
from detlint.programs.events import ANY, BEGUN, MADE, SEEDED_ONCE, TOLD, Drawing, Event, Sampler, Sampling
from detlint.semantics import libraries

TELLS = "set_epoch"
_TAKING = frozenset(("prepares", "hooks", "engine"))  # the roles of functions that set epochs themselves
_NEXT, _ITER = f.Library("builtins.next"), f.Library("builtins.iter")
_MOST = 500  # values that are searched


class Samplers(Modules):
    """The part of the interpreter that records what happens to samplers with an epoch."""

    def __init__(self, program: Program, script: str, tables: Tables) -> None:
        super().__init__(program, script)
        self.tables = tables
        self.seeds = tables.seeds
        self.sampling = False  # whether there are samplers
        self.owning = False  # whether there are library objects with generators of their own
        self.copying = False  # whether there are generator objects
        self.stepping = False  # whether there are objects that step in training

    def made_sampler(self, made: Object, place: Place) -> None:
        """Record an object that is made, if it is a sampler."""
        if self._identity(made) is not None:
            _sampling(self)
            self.effect(_sampling)
            self._note(MADE, made, place)

    def begin_sampler(self, made: Object) -> None:
        """Record that an iteration over an object begins, if that is a sampler that shuffles, or holds one."""
        if not self.sampling:
            return
        row, own = self._row(made), self._order_of(made)
        if own is not None:
            self._note(BEGUN, made, self.here(), self._flags(made))
        elif row is not None and all(_is_set(self.kept(made, row[0]).get(name)) for name in row[1].list("when")):
            self._note(BEGUN, made, self.here())
        for base in self.program.objects.library_bases(made.kind):
            role = self.tables.roles.get(base)
            batches = base in self.tables.batch_samplers
            if batches or (role is not None and role.text("kind") == "loader" and isinstance(made.kind, Class)):
                for name in ("sampler", "batch_sampler"):
                    for atom in each(self.kept(made, base).get(name)):
                        if isinstance(atom, Object):
                            self.begin_sampler(atom)

    def here(self) -> Place:
        """Return the place of the loop or the call that iterates."""
        self.ask("iterating", self.iterating)
        self.ask("node", self.node)
        if self.iterating is not None:
            return self.iterating
        return self.node.place if self.node is not None else Place(self.frame.path, 1, 1, 1, 1)

    def attend(
        self, node: f.Call, functions: Value, positional: Sequence[Value], keywords: Mapping[str, Value]
    ) -> None:
        """Record a call that may pass an epoch to samplers: a `set_epoch`, or something unknown given a sampler."""
        owning.attend(self, node, functions, positional, keywords)
        if self.stepping:
            stepping.attend(self, node, functions, positional, keywords)
        if not self.sampling:
            return
        if isinstance(node.function, f.Member) and node.function.name == TELLS:
            owners = [getattr(atom, "receiver", None) for atom in each(functions)]
            if not all(isinstance(owner, Object) for owner in owners) and _is_path(node.function.value):
                owners = list(each(self.value(node.function.value) - NONE))
            told = [(self._identity(owner) or _at(owner)) if isinstance(owner, Object) else ANY for owner in owners]
            for sampler in told or (Sampler(self.frame.path, node.order),):  # of an unknown object: recorded anyway
                self.note(Sampling(TOLD, sampler, node.place))
        elif node.function == _NEXT and any(getattr(a.value, "function", None) == _ITER for a in node.arguments):
            forget_taken(self)
        elif not all(map(self._is_followed, functions)):
            for made in self.among((*positional, *keywords.values())):
                if isinstance(made, Object):
                    self._note(TOLD, made, node.place)

    def sets(self, owners: Value, value: Value) -> None:
        """Record that attributes of objects are set from outside, which may change the epoch of samplers."""
        owning.sets(self, owners)
        if self.stepping:
            stepping.sets(self, owners)
        if self.copying:
            copying.reached(self, owners, nowhere(self.frame.path))
            copying.kept(self, value, nowhere(self.frame.path))
        for owner in each(owners) if self.sampling else ():
            if isinstance(owner, Object) and owner != self.frame.receiver:
                self._note(TOLD, owner, nowhere(self.frame.path))

    def _is_followed(self, function: Atom) -> bool:
        """Return whether it is known what a call of something does to a sampler."""
        if isinstance(function, Library):
            role = self.tables.find(self.tables.roles, function.name)
            if role is not None:
                return role.text("kind") not in _TAKING
            return function.name.partition(".")[0] in libraries.KNOWN or self.tables.speak_of(function.name)
        kind = function.kind if isinstance(function, Object) else None
        return isinstance(function, (Function, Class, Partial)) or isinstance(kind, Class)

    def among(self, values: Iterable[Value], *rest: Event) -> Iterator[Atom]:
        """Yield the atoms of values and what these hold; after `_MOST`, note what any of the `rest` may be.

        By default: that it is passed an epoch, or seeded.
        """
        waiting, seen = [atom for value in values for atom in each(value)], set[Atom]()
        while waiting and len(seen) < _MOST:
            atom = waiting.pop()
            if atom not in seen:
                seen.add(atom)
                yield atom
                waiting += [inner for value in self._held_by(atom) for inner in each(value)]
        place = nowhere(self.frame.path)
        for event in (rest or (Sampling(TOLD, ANY, place), Drawing(SEEDED_ONCE, ANY, place))) if waiting else ():
            self.note(event)

    def _held_by(self, atom: Atom) -> Iterator[Value]:
        if isinstance(atom, Object):
            yield from self.program.objects.slots(atom).values()
        elif isinstance(atom, Tuple):
            yield from atom.items
        elif isinstance(atom, Wrapped):
            yield atom.sources
        elif isinstance(atom, Keywords):
            yield from (value for _, value in atom.items)
        elif isinstance(atom, (Partial, Suspended)):
            yield from (*atom.positional, *(value for _, value in atom.keywords))
        elif isinstance(atom, Function):
            yield from (value for _, value in atom.captured)
            if isinstance(atom.receiver, Object):
                yield frozenset((atom.receiver,))

    def _note(self, kind: str, made: Object, place: Place, flags: tuple[str, ...] = ()) -> None:
        identity = self._identity(made)
        if identity is not None:
            self.note(Sampling(kind, identity, place, flags))

    # What is a sampler

    def _identity(self, made: Object) -> Sampler | None:
        """Return what identifies a sampler; None for other objects."""
        own = self._order_of(made)
        if own is not None:
            return replace(_at(made), home=own[0], owner=own[1])
        return None if self._row(made) is None else _at(made)

    def _row(self, made: Object) -> tuple[str, Row] | None:
        """Return the library's class that a sampler is of, and its row; None if there is none."""
        table = self.tables.samplers
        bases = self.program.objects.library_bases(made.kind)
        return next(((base, table[base]) for base in bases if base in table), None)

    def _order_of(self, made: Object) -> tuple[str, str] | None:
        """Return the class of the project that gives a sampler an order of its own; None if there is none."""
        kind, objects = made.kind, self.program.objects
        if not isinstance(kind, Class) or not (self._row(made) or any(map(self._tells, objects.ancestry(kind)))):
            return None
        begins = [a for a in objects.attribute(kind, "__iter__") or () if isinstance(a, Function)]
        return (begins[0].path, begins[0].qualified.rpartition(".")[0]) if len(begins) == 1 else None

    def _tells(self, klass: Class | Library) -> bool:
        """Return whether a class keeps the number of an epoch that is passed to it."""
        name = f"{klass.qualified}.{TELLS}" if isinstance(klass, Class) else ""
        if not isinstance(klass, Class) or name not in self.program.facts[klass.path].functions:
            return False
        method = self.program.function(Function(klass.path, name))
        first = f.Local(method.parameters[0].name) if method.parameters else None
        targets = (target for each in f.walk(method.body) if isinstance(each, f.Bind) for target in each.targets)
        return any(isinstance(target, f.Member) and target.value == first for target in targets)

    def _flags(self, made: Object) -> tuple[str, ...]:
        """Return the names of the attributes of a sampler that are set, with options at their defaults."""
        return tuple(sorted(name for name, value in self.program.objects.slots(made).items() if _is_set(value)))


def _sampling(run: Samplers) -> None:
    run.sampling = True


def _at(made: Object) -> Sampler:
    return Sampler(made.path, made.order % FAR)


def _is_path(node: f.Expression) -> bool:
    """Return whether an expression is a variable, or an attribute of one."""
    return isinstance(node, (f.Local, f.Global)) or (isinstance(node, f.Member) and _is_path(node.value))


def _is_set(value: Value) -> bool:
    """Return whether a flag is set with options at their defaults, in at least one of the calls that lead here."""
    known = [settled(atom) for atom in each(value) if isinstance(atom, (Constant, Option))]
    return len(known) == len(value) and True in known

"""Data loaders: what an iteration over one draws, in this process and in its workers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.libraries import copying
from detlint.link.libraries.samplers import Samplers
from detlint.link.state.arguments import Arguments
from detlint.link.state.run import UNGUARDED
from detlint.link.state.truth import is_none, truth
from detlint.link.state.values import (
    FAR,
    NONE,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Library,
    Object,
    Option,
    Value,
    each,
)
from detlint.programs.events import SEEDED, UNSURE, Apart, Called, Drawn, Event, Guarded, Loaded, Scope, merged

_ANSWERS = (None, False, True)
_PASSES = ("generator", "num_workers=0", "sampler", "batch_sampler")  # what one pass over a loader depends on


class Loaders(Samplers):
    """The part of the interpreter that iterates over data loaders and samplers."""

    def draw(self, row: Row, name: str, place: Place) -> None:
        """Record a draw from a global generator."""
        raise NotImplementedError

    def made_at(
        self, name: str, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> tuple[str, int]:
        """Return the allocation site of an object of a library's class, which also encodes whether using it draws."""
        path, order = self.site(place)
        row, role = self.tables.iterated.get(name) or self.tables.layers.get(name), self.tables.roles.get(name)
        rows = self.program.catalogue.consumers(row, name) if row is not None else ()
        conditions = tuple(asked for one in rows for asked in (*one.list("when"), *one.list("unless")))
        if role is not None and role.text("kind") == "loader":
            conditions = (*conditions, *_PASSES)
        if conditions:
            given = Arguments(self.program, name, positional, keywords)
            answers = (_ANSWERS.index(given.holds(condition)) for condition in conditions)
            order += FAR * reduce(lambda code, answer: len(_ANSWERS) * code + answer, answers, 0)
        return path, order

    def made_loader(self, given: Arguments, place: Place) -> None:
        """Record that a loader is made, with what its call is seen to pass to it."""
        values = (_seen(given.given.get(name, NONE)) for name in ("generator", "worker_init_fn"))
        generator, init = (Constant(None) not in value and is_none(value).usual is not True for value in values)
        self.note(Loaded(place, generator, init))

    def construct(self, klass: Class, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> Value:
        """Make an object of a class of the project, which may be a loader."""
        made = super().construct(klass, positional, keywords, place)
        for atom in made:
            if isinstance(atom, Object):
                self.made_sampler(atom, place)
        for base in self.program.objects.library_bases(klass):
            role = self.tables.roles.get(base)
            if role is not None and role.text("kind") == "loader":
                for atom in made:
                    if isinstance(atom, Object):
                        self.made_loader(self.kept(atom, base), place)
        return made

    def iterate_library(self, made: Object, base: str) -> None:
        """Iterate over an object of a library's class: a loader, a sampler, a data set."""
        role = self.tables.roles.get(base)
        given = self.kept(made, base)
        row = self.tables.iterated.get(base)
        place = self.here()
        self.begin_sampler(made)
        for drawing in self.program.catalogue.consumers(row, base) if row is not None else ():
            if given.applies(drawing.list("when"), drawing.list("unless")):
                self.draw(drawing, base, place)
        if role is not None and role.text("kind") == "loader":
            self.iterate_loader(role, base, given, place)
        elif role is not None and role.text("kind") == "dataset":
            for slot in self.program.objects.slots(made).values():
                self.fetch(slot, place)

    def iterate_loader(self, role: Row, base: str, given: Arguments, place: Place) -> None:
        """Run a pass over a loader: its sampler here, its data set here or in workers seeded from torch's generator."""
        for name in ("sampler", "batch_sampler"):
            self.iterate(given.get(name))
        for atom in each(given.get("dataset")):
            if isinstance(atom, Object):
                self.begin_sampler(atom)
        start = self.state
        if start is None:
            return
        number = given.get("num_workers")
        workers = truth(number)
        if workers.expected is False:
            self.fetch_batch(given, place)
            return
        if workers.expected is None and all(isinstance(atom, (Constant, Option)) for atom in number):  # perhaps none
            with self.guarded(""):
                self.fetch_batch(given, place)
            self.state = start
        own = is_none(given.get("generator")).expected is not True
        seeds = self.tables.worker_seeds.get(base)  # draws the seed from which the workers' generators start
        word = SEEDED if own or seeds is not None else start["torch"]
        numpy = ("numpy",) if role.holds_for(self.tables.torch, "numpy_seeded") else ()
        seeded = start.but(("python", *numpy), word).but(("torch",), SEEDED if own else start["torch"])
        self.state = seeded if workers.expected else merged((seeded, start))
        with self.apart():
            init = given.get("worker_init_fn")
            if is_none(init).expected is not True:
                self.call_value(init, [UNKNOWN], {}, place)
            self.fetch_batch(given, place)
            drawn = any(_draws_of(event, frozenset(("python", *numpy))) for event in self.trace)
            copied = [*copying.copies(tuple(self.trace))]
        self.trace += copied
        self.state = start
        if seeds is not None and drawn and not own:
            with self.guarded("") if workers.expected is None else UNGUARDED:
                self.draw(seeds, base, place)

    def fetch_batch(self, given: Arguments, place: Place) -> None:
        """Take items out of the loader's data set and collate them."""
        self.fetch(given.get("dataset"), place)
        collate = given.get("collate_fn")
        if is_none(collate).expected is not True:
            self.call_value(collate, [UNKNOWN], {}, place)

    def fetch(self, dataset: Value, place: Place, within: frozenset[Object] = frozenset()) -> None:
        """Take items out of a data set, which may be `within` others."""
        for atom in each(dataset):
            if not isinstance(atom, Object) or atom in within:
                continue
            methods: Value = frozenset()
            for name in ("__getitem__", "__iter__") if isinstance(atom.kind, Class) else ():
                found = self.program.objects.attribute(atom, name) or frozenset()
                methods = frozenset(a for a in found if isinstance(a, Function))
                if methods:
                    given = [UNKNOWN] if name == "__getitem__" else []
                    items = self.call_value(self.bound(methods, atom), given, {}, place)
                    if name == "__iter__":
                        self.iterated_further(items)
                    break
            if not methods:
                self.fetch_inner(atom, place, within)

    def fetch_inner(self, dataset: Object, place: Place, within: frozenset[Object] = frozenset()) -> None:
        """Take items out of a library's data set, or one derived from it, according to its constructor arguments."""
        bases = self.program.objects.library_bases(dataset.kind)
        placed = any(".datasets." in base for base in bases)
        for slot, value in self.program.objects.slots(dataset).items():
            name = slot[1:-1]  # a parameter, or a position if the signature is unknown
            if bases and (name in self.tables.applied or (placed and name.isdigit())):
                functions = frozenset(a for a in value if isinstance(a, (Function, Object, Library)))
                self.call_value(functions, [UNKNOWN], {}, place)
            elif slot in ("(dataset)", "(datasets)") or slot.startswith("["):
                self.fetch(value, place, within | {dataset})


def _seen(value: Value) -> Value:
    """Return a value that a loader is given; attributes of libraries' objects are unknown, as they may be missing."""
    kept = frozenset(a for a in value if not (isinstance(a, Library) and isinstance(a.receiver, Object)))
    return value if len(kept) == len(value) else kept | UNKNOWN


@lru_cache(maxsize=10_000)
def _draws_of(event: Event, generators: frozenset[str]) -> bool:
    """Return whether an event draws from one of these generators, which are seeded there if there are workers."""
    if isinstance(event, Drawn):
        return event.word in (SEEDED, UNSURE) and event.generator in generators
    return isinstance(event, (Called, Guarded, Apart, Scope)) and any(
        _draws_of(each, generators) for each in event.trace
    )

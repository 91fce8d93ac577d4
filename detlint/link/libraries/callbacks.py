"""Functions that are passed to libraries, which call them at once, at the end, or perhaps."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.language.positions import called_in_turn
from detlint.link.language.reading import takes_over
from detlint.link.libraries.draws import LibraryDraws
from detlint.link.roles.role import items_of
from detlint.link.state.arguments import Arguments
from detlint.link.state.entropy import perhaps_seed
from detlint.link.state.mappings import is_mapping
from detlint.link.state.run import UNGUARDED
from detlint.link.state.values import (
    UNKNOWN,
    Class,
    Function,
    Library,
    Object,
    Partial,
    Value,
    Wrapped,
    each,
    join,
    single,
)
from detlint.programs.events import EVALUATES, merged
from detlint.registered import UNREAD
from detlint.semantics import libraries

_CALLED = (Function, Partial, Class, Object, Library)


class Callbacks(LibraryDraws):
    """The part of the interpreter that calls functions passed to a library's function."""

    def call_back(self, row: Row, given: Arguments, place: Place) -> None:
        """Call the arguments for the parameters that a row lists."""
        places = set[int]()
        found: list[Value] = []
        for parameter in row.list("parameters"):
            position, _, name = parameter.partition(":")
            if name in given.keywords:
                found.append(given.keywords[name])
            elif position and int(position) < len(given.positional) and int(position) not in places:
                places.add(int(position))
                found.append(given.positional[int(position)])
        rest = [value for number, value in enumerate(given.positional) if number not in places]
        items = [items_of(self, value) for value in rest] if row.text("given") == "items" else []
        for value in found:
            functions = frozenset(atom for atom in value if isinstance(atom, _CALLED))
            start = self.state
            if functions and start is not None:
                with UNGUARDED if functions == value else self.guarded(""):
                    self.call_value(functions, items, {}, place)
                self.state = self.state if functions == value else merged(s for s in (start, self.state) if s)

    def spawn_each(
        self, functions: Value, positional: tuple[Value, ...], keywords: dict[str, Value], *, whole: bool = False
    ) -> None:
        """Start a new process with each of some functions, which may be pickled as a `whole`, not by name."""
        spawned = [
            (function, self.by_position(function, positional, keywords), whole)
            for function in each(functions)
            if isinstance(function, Function)
        ]
        self.spawned += spawned
        self.effect(lambda run: run.spawned.extend(spawned))

    def by_position(
        self, function: Function, positional: tuple[Value, ...], keywords: dict[str, Value]
    ) -> tuple[Value, ...]:
        """Return the arguments of a function by position, up to the last one that is given."""
        variables = self.parameters(function, positional, keywords) if keywords else {}
        names = [each.name for each in self.program.function(function).parameters if not each.star] if keywords else []
        names = names[1:] if function.receiver is not None else names
        last = max((place for place, name in enumerate(names, 1) if name in keywords), default=0)
        return (*positional, *(variables[name] for name in names[len(positional) : last]))

    def keyword_arguments(self, packed: Value) -> dict[str, Value]:
        """Return the keyword arguments that a dict unpacks to."""
        known = (atom for atom in each(packed) if is_mapping(atom))
        return {name: value for atom in known for name, value in self.unpacked(atom).items()}

    def run_callbacks(
        self, function: Library, positional: Sequence[Value], keywords: dict[str, Value], place: Place
    ) -> None:
        """Run what a library's function may do with the functions that it is given, and what its name says it does."""
        root, last = function.name.partition(".")[0], function.name.rpartition(".")[2]
        for kind in self.tables.methods.get(last, ()):
            if kind == EVALUATES and (positional or keywords):
                continue  # a mode is set without arguments
            if kind != "opens":
                self.mark(kind, place)
            elif isinstance(owner := function.receiver, Object) and not takes_over(self, owner, positional, place):
                self.open(owner)
        if root in libraries.KNOWN:
            return
        if root == UNREAD or self.tables.hints_at_seeding(last):
            perhaps_seed(self, function.name, place, guessed=root != UNREAD)
        self.perhaps_call(positional, keywords, place)

    def perhaps_call(self, positional: Sequence[Value], keywords: dict[str, Value], place: Place) -> None:
        """Call the functions that something unknown is given, as it may or may not do."""
        for value in (*positional, *keywords.values()):
            for atom in each(value):
                if isinstance(atom, Function):
                    start = self.state
                    with self.guarded(""):
                        self.invoke(atom, [], {"**": UNKNOWN}, place)
                    self.state = start

    def call_at_end(self, function: Value, positional: Sequence[Value], place: Place) -> None:
        """Register a function to be called at the end of the program."""
        added = function, tuple(positional), self.is_certain(), place
        self.leaving.append(added)
        self.effect(lambda run: run.leaving.append(added))

    def leave(self) -> None:
        """End the program: call what is registered for the end, the last one first."""
        end = self.state
        self.state = end or self.frame.end
        while self.leaving and self.state is not None:
            function, positional, sure, place = self.leaving.pop()
            with UNGUARDED if sure else self.guarded(""):
                self.call_value(function, positional, {}, place)
        self.state = end

    def gone_through(self, way: str, function: Value, sources: Sequence[Value], place: Place) -> Value:
        """Run `map(function, *sources)` or `reduce(function, source, first)`: call the function with their items."""
        if way == "fold":
            items = self.iterate(sources[0]) if sources else UNKNOWN
            return self.call_value(function, [join([items, *sources[1:2]]), items], {}, place)
        in_turn = called_in_turn(self, function, sources, place)
        if in_turn is not None:
            return in_turn
        called = self.call_value(function, [items_of(self, source) for source in sources], {}, place)
        return single(Wrapped(called, join(sources)))

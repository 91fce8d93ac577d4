"""Functions of libraries that run what they are given: here, in another process, or perhaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Bound, ClassRef, FunctionRef, Instance, IteratorOver, LibraryRef, PartialCall, TupleOf
from detlint.domain.effects import COPIES
from detlint.domain.generators import COMPILED, ELSEWHERE
from detlint.domain.given import Given
from detlint.domain.outcomes import HOLDS, is_none
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.models import trainers
from detlint.models.arguments import Arguments, named_in

if TYPE_CHECKING:
    from detlint.models.known import Known

_CALLED = (FunctionRef, Bound, ClassRef, PartialCall, Instance)


def call_back(step: Step, row: Row, args: Arguments) -> None:
    """Call what the parameters of a row take."""
    places = set[int]()
    found: list[Value] = []
    for parameter in row.list("parameters"):
        position, _, name = parameter.partition(":")
        if name in args.given.keywords:
            found.append(args.given.keywords[name])
        elif position and int(position) < len(args.given.positional) and int(position) not in places:
            places.add(int(position))
            found.append(args.given.positional[int(position)])
    rest = [value for number, value in enumerate(args.given.positional) if number not in places]
    items = tuple(step.iterate(value) for value in rest) if row.text("given") == "items" else ()
    given = Given(items, open=not items)
    for value in map(step.resolve, found):
        functions = value.of(atom for atom in value.atoms if isinstance(atom, _CALLED))
        if len(functions.atoms) == len(value.atoms):
            step.call_with(functions, given)
        elif functions.atoms:
            step.perhaps(lambda functions=functions: step.call_with(functions, given))  # type: ignore[misc]


def perhaps_call(step: Step, given: Given) -> None:
    """Perhaps call the functions that something is given which is not known."""
    for value in map(step.resolve, given.each):
        functions = value.of(a for a in value.atoms if isinstance(a, FunctionRef) or _is_method(a))
        if functions.atoms:
            step.perhaps(lambda functions=functions: step.call_with(functions, Given(open=True)))  # type: ignore[misc]


def _is_method(atom: object) -> bool:
    return isinstance(atom, Bound) and isinstance(atom.function, FunctionRef)


def launch(known: Known, step: Step, row: Row, args: Arguments) -> Value:
    """A function that runs another one: here, in a copy of this process, or in a new one."""
    if row.list("methods"):
        return trainers.run(step, row, args)
    functions = args.first(row.text("parameter"))
    kind = row.text("kind")
    if row.text("items"):
        return _gone_through(step, row.text("items"), functions, args.given.positional[1:])
    given = _given(step, row, args)
    if kind in ("spawns", "pickles") and not _stays(known, step, row):
        outcome = args.applies(row.list("when"), row.list("unless"))
        return step.arm(
            outcome, lambda: _spawned(step, kind, functions, given), lambda: step.call_with(functions, given)
        )
    if kind in COPIES:
        step.fork(functions, given, lambda: _initialise(known, step), kind)
        return UNKNOWN
    if kind == "compiles":
        within = tuple((generator, ELSEWHERE) for generator in COMPILED)
        return step.within(within, lambda: step.call_with(functions, given))
    if row.text("members"):
        step.run_command(functions if args.given.each else NOTHING)
        return UNKNOWN
    if row.text("members"):
        given = Given(given.positional, given.keywords, given.open, options=True)
    return step.call_with(functions, given)


def _stays(known: Known, step: Step, row: Row) -> bool:
    """Whether what runs a function was made so that it does in this process."""
    owner = step.receiver
    if not (row.list("made_unless") and isinstance(owner, Instance) and isinstance(owner.site.kind, LibraryRef)):
        return False
    made = known.kept(step, owner, owner.site.kind.name, *map(named_in, row.list("made_unless")))
    return any(made.holds(condition) == HOLDS for condition in row.list("made_unless"))


def perhaps_launch(known: Known, step: Step, row: Row, args: Arguments) -> None:
    """A method that launches what it is given where its conditions hold, and perhaps calls it where they do not."""

    def called() -> Value:
        perhaps_call(step, args.given)
        return NOTHING

    outcome = args.applies(row.list("when"), row.list("unless"))
    step.arm(outcome, lambda: launch(known, step, row, args), called)


def _spawned(step: Step, kind: str, functions: Value, given: Given) -> Value:
    step.spawn(functions, given, pickled=kind == "pickles")
    return UNKNOWN


def run_tasks(step: Step, row: Row, args: Arguments, tasks: Value) -> Value:
    """Start processes for the calls that something is to make which was made with what the row asks for."""
    items = step.iterate(tasks)
    calls = items.of(atom for atom in step.each(items) if isinstance(atom, PartialCall))
    outcome = args.applies(row.list("when"), row.list("unless"))
    return step.arm(outcome, lambda: _spawned(step, row.text("kind"), calls, Given()), lambda: UNKNOWN)


def _given(step: Step, row: Row, args: Arguments) -> Given:
    """What a launcher gives the function that it runs."""
    if row.text("rest"):
        rest = args.given.after(1)
        keywords = {name: value for name, value in rest.keywords.items() if name not in args.defaults}
        return Given(rest.positional, keywords, rest.open)
    positional, opened = _unpacked(step, args.of(row.text("arguments"))) if row.text("arguments") else ((), False)
    if row.text("argument"):
        positional = (*positional, args.get(row.text("argument")))
    if row.text("rank"):
        own = row.text("rank") == "receiver" and step.owner.atoms
        positional = (step.owner if own else UNKNOWN, *positional)
    named = args.of(row.text("keywords")) if row.text("keywords") else None
    held = step.mapping(named) if named is not None and is_none(named).may_fail else None
    keywords = {key.value: value for key, value in held.entries if key.kind == "str"} if held is not None else {}
    opened = opened or (held is not None and held.rest is not None)
    return Given(positional, keywords, opened or args.given.open)


def _gone_through(step: Step, way: str, function: Value, sources: tuple[Value, ...]) -> Value:
    """`map(function, *sources)` and `reduce(function, source, first)`: calls with the items of these."""
    if way == "fold":
        items = step.iterate(sources[0]) if sources else UNKNOWN
        return step.call(function, step.join(items, sources[1]) if len(sources) > 1 else items, items)
    items = step.call(function, *(step.iterate(source) for source in sources))
    return value_of(IteratorOver(items)) if items.atoms else NOTHING


def _initialise(known: Known, step: Step) -> Value:
    """What a pool of processes starts each of them with."""
    pool = step.receiver
    if isinstance(pool, Instance) and isinstance(pool.site.kind, LibraryRef):
        given = known.kept(step, pool, pool.site.kind.name, "initializer", "initargs")
        initializer = given.of("initializer")
        if initializer is not None:
            positional, opened = _unpacked(step, given.of("initargs"))
            step.call_with(initializer, Given(positional, open=opened))
    return NOTHING


def _unpacked(step: Step, value: Value | None) -> tuple[tuple[Value, ...], bool]:
    """The arguments that are given packed, and whether there may be others than these."""
    found: tuple[Value, ...] = ()
    if value is None:
        return found, False
    atoms = step.each(value)
    tuples = [atom for atom in atoms if isinstance(atom, TupleOf)]
    for index in range(max((len(atom.items) for atom in tuples), default=0)):
        item = NOTHING
        for atom in tuples:
            item = step.join(item, atom.items[index] if index < len(atom.items) else NOTHING)
        found = (*found, item)
    return found, len(tuples) < len(atoms) or len({len(atom.items) for atom in tuples}) > 1

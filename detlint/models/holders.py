"""What holds its arguments: containers that call these in turn, and iterables over the same items."""

from __future__ import annotations

from itertools import chain, count, product
from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, FunctionRef, Instance, IteratorOver, LibraryRef, TupleOf
from detlint.domain.given import Given
from detlint.domain.slots import ANY_KEY, ITEMS, Argument
from detlint.domain.step import Step
from detlint.domain.taints import Taints
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

FIRST = Argument("first")  # what is called before others
_SOURCE = Argument("source")
_LIST = LibraryRef("builtins.list")


def container(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A container of its arguments, or of what is in these."""
    made = step.make(name)
    keep_order(step, made, args.given)
    for given in args.given.each:
        for atom in step.each(given):
            step.fill(made, ANY_KEY, items(step, atom))
    step.fill(made, ANY_KEY, args.given.more)
    return value_of(made)


def items(step: Step, atom: Atom) -> Value:
    """What is in an atom that shows it, else that itself."""
    if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
        if atom.site.kind.name.startswith("builtins."):
            return step.read(atom, ITEMS)
    elif isinstance(atom, (TupleOf, IteratorOver)):
        return step.iterate(value_of(atom))
    return value_of(atom)


def keep_order(step: Step, made: Instance, given: Given) -> None:
    """Keep the arguments of a container, so that the order of what is in them can be told."""
    for place, value in enumerate(given.each):
        step.fill(made, _given(place), value)


def _given(place: int) -> Argument:
    return Argument(f"given {place}")


def in_turn(step: Step, made: Instance) -> list[Atom]:
    """All that a container holds: first what it was given, in that order, then what else it got."""
    found: dict[Atom, None] = {}
    for place in count():
        given = step.read(made, _given(place))
        if not given.atoms:
            break
        for atom in by_place(step, given):
            found.update(dict.fromkeys(_one_by_one(step, atom)))
    found.update(dict.fromkeys(by_place(step, step.read(made, ITEMS))))
    return list(found)


def _one_by_one(step: Step, atom: Atom) -> list[Atom]:
    """What is in an atom that shows it, in its order as far as that is written down, else that itself."""
    if not (isinstance(atom, (TupleOf, IteratorOver)) or (isinstance(atom, Instance) and atom.site.kind == _LIST)):
        return by_place(step, items(step, atom))
    turns = step.turns(atom)
    return [each for value in (*turns.items, turns.rest) for each in by_place(step, value)]


def by_place(step: Step, value: Value) -> list[Atom]:
    """The atoms of a value in the order of the places in the text where they are made, as far as they have one."""
    return sorted(step.each(value), key=_place)


def _place(atom: Atom) -> tuple[bool, str, str, int]:
    code = atom.site.code if isinstance(atom, Instance) else None
    return (True, "", "", 0) if code is None else (False, code.file, code.function, code.node)


def call(step: Step, made: Instance, way: str) -> Value:
    """Call all that a container holds in turn; or one of that, with the options of a command line."""
    if way == "by options":
        first = step.read(made, FIRST)
        if first.atoms:
            step.run_command(first)
        step.run_command(step.read(made, ANY_KEY))
    else:
        for atom in in_turn(step, made):
            step.call(value_of(atom), UNKNOWN)
    return UNKNOWN


def wraps(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An iterable over the same items, in the same order; what is all that is wrapped, where it is `whole`."""
    if row.text("whole"):
        return args.first()
    row_by_row = _in_a_row(step, args.given) if row.text("joins") else NOTHING
    if row_by_row.atoms:
        return row_by_row
    made = step.make(name)
    sources = [value for value in args.given.positional if not _is_function(step, value)]
    taints: Taints = frozenset()
    certain: Taints = frozenset()
    for source in sources or list(args.given.keywords.values()):
        step.fill(made, _SOURCE, source)
        taints, certain = taints | source.taints, certain | source.certain
    if args.given.open:
        step.fill(made, _SOURCE, UNKNOWN)
    return value_of(made).with_taints(taints, certain)


def _in_a_row(step: Step, given: Given) -> Value:
    """An iterator over the items of all arguments, one after the other, where all of these are written down."""
    ways = [step.rows(value) for value in given.positional]
    if given.open or given.keywords or not ways or any(not way or () in way for way in ways):
        return NOTHING
    found = NOTHING
    for listed in product(*ways):
        rows = tuple(chain(*listed))
        items = NOTHING
        for item in rows:
            items = step.join(items, item)
        found = step.join(found, value_of(IteratorOver(items, rows)))
    taints, certain = (
        frozenset().union(*(getattr(v, name) for v in given.positional)) for name in ("taints", "certain")
    )
    return found.with_taints(taints, certain)


def _is_function(step: Step, value: Value) -> bool:
    return any(isinstance(atom, FunctionRef) for atom in step.each(value))


def gone_through(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An item of what is wrapped, and what going over it does."""
    found = NOTHING
    if isinstance(step.receiver, Instance):
        found = step.iterate(step.read(step.receiver, _SOURCE))
    return found

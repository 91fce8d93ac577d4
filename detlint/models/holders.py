"""What holds its arguments: containers that call these in turn, and iterables over the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Atom, FunctionRef, Instance, IteratorOver, LibraryRef, TupleOf
from detlint.domain.slots import ANY_KEY, ITEMS, Argument
from detlint.domain.step import Step
from detlint.domain.taints import Taints
from detlint.domain.values import NOTHING, UNKNOWN, Value, value_of
from detlint.models.arguments import Arguments

if TYPE_CHECKING:
    from detlint.models.known import Known

_SOURCE = Argument("source")


def container(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """A container of its arguments, or of what is in these."""
    made = step.make(name)
    for given in args.given.each:
        for atom in step.each(given):
            step.fill(made, ANY_KEY, items(step, atom))
    return value_of(made)


def items(step: Step, atom: Atom) -> Value:
    """What is in an atom that shows it, else that itself."""
    if isinstance(atom, Instance) and isinstance(atom.site.kind, LibraryRef):
        if atom.site.kind.name.startswith("builtins."):
            return step.read(atom, ITEMS)
    elif isinstance(atom, (TupleOf, IteratorOver)):
        return step.iterate(value_of(atom))
    return value_of(atom)


def call(step: Step, made: Instance, way: str) -> Value:
    """Call all that a container holds: in turn, or with the options of a command line."""
    held = step.read(made, ANY_KEY)
    if way == "by options":
        step.run_command(held)
    else:
        for atom in step.each(held):
            step.call(value_of(atom), UNKNOWN)
    return UNKNOWN


def wraps(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An iterable over the same items, in the same order; what is all that is wrapped, where it is `whole`."""
    if row.text("whole"):
        return args.first()
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


def _is_function(step: Step, value: Value) -> bool:
    return any(isinstance(atom, FunctionRef) for atom in step.each(value))


def gone_through(known: Known, step: Step, row: Row, name: str, args: Arguments) -> Value:
    """An item of what is wrapped, and what going over it does."""
    found = NOTHING
    if isinstance(step.receiver, Instance):
        found = step.iterate(step.read(step.receiver, _SOURCE))
    return found

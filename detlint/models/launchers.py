"""Functions of libraries that run what they are given: here, in another process, or perhaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.catalogue import Row
from detlint.domain.atoms import Bound, ClassRef, FunctionRef, Instance, PartialCall, TupleOf
from detlint.domain.given import Given
from detlint.domain.slots import ITEMS
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value
from detlint.models.arguments import Arguments

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
    functions = args.first(row.text("parameter"))
    positional: tuple[Value, ...] = ()
    if row.text("arguments"):
        positional = _unpacked(step, args.get(row.text("arguments")))
    if row.text("argument"):
        positional = (*positional, args.get(row.text("argument")))
    if row.text("rank"):
        positional = (UNKNOWN, *positional)
    keywords: dict[str, Value] = {}
    if row.text("rest"):
        positional = args.given.positional[1:]
        keywords = {name: value for name, value in args.given.keywords.items() if name not in args.defaults}
    given = Given(positional, keywords, args.given.open)
    kind = row.text("kind")
    if kind == "spawns":
        outcome = args.applies(row.list("when"), row.list("unless"))
        if not outcome.may_fail:
            step.spawn(functions, given)
            return UNKNOWN
    if kind in ("forks", "asks"):
        step.apart(lambda: step.call_with(functions, given))
        return UNKNOWN
    if row.text("members"):
        given = Given(given.positional, given.keywords, given.open, options=True)
    return step.call_with(functions, given)


def _unpacked(step: Step, value: Value) -> tuple[Value, ...]:
    """The arguments that are given packed: a tuple that is known, or one item of what it may be."""
    for atom in step.each(value):
        if isinstance(atom, TupleOf):
            return atom.items
        if isinstance(atom, Instance):
            found = step.read(atom, ITEMS)
            return (found,) if found.atoms else ()
    return ()

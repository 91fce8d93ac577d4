"""The values that variables hold where an option is set, instead of those that they hold by default."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from detlint.facts import facts as f
from detlint.link.state.truth import Truth, is_none, truth
from detlint.link.state.values import (
    UNKNOWN,
    Class,
    Function,
    Keywords,
    Library,
    Object,
    Partial,
    Tuple,
    Value,
    bounded,
    each,
    join,
    single,
)
from detlint.programs.events import State

if TYPE_CHECKING:
    from detlint.link.language.evaluate import Evaluator as Run
    from detlint.link.state.run import Frame
else:
    Frame = Run = Any

Otherwise = dict[str, dict[str, tuple[Value | None, Value]]]  # by option and variable: usual value, and value if set
_KINDS = frozenset((Class, Function, Object, Partial))
_NAMES = (f.Local, f.Global)
_INSTEAD = " instead"  # suffix of a captured variable's name: its value, and what options put in its place


def remember(otherwise: Otherwise, option: str, usual: Mapping[str, Value], other: Mapping[str, Value]) -> None:
    """Record the values of `other`, the variables where `option` is set, that differ from the `usual` ones."""
    for name, value in other.items():
        held = usual.get(name)
        if held is value or (held is not None and _KINDS.isdisjoint(map(type, value))) or held == value:
            continue
        known = otherwise.setdefault(option, {})
        before, found = known.get(name, (held, value))
        known[name] = held, found | value if before == held else value


def where_set(otherwise: Otherwise, option: str, variables: Mapping[str, Value]) -> dict[str, Value]:
    """Return the variables where `option` is set: those unchanged since it was recorded get their values there."""
    found = dict(variables)
    for name, (held, value) in otherwise.get(option, {}).items():
        if variables.get(name) == held:
            found[name] = value
    return found


def asked_otherwise(otherwise: Otherwise, node: f.Expression, variables: Mapping[str, Value], answer: Truth) -> Truth:
    """Return how a test of a variable, of its truth or whether it is None, comes out where an option may give it
    another value than the one that led to `answer`.
    """
    of_none = isinstance(node, f.Compare) and node.operator in ("is", "is not") and node.right == f.Literal(None)
    asked = node.left if isinstance(node, f.Compare) and of_none else node
    if answer.may_hold is answer.may_fail or not isinstance(asked, (f.Local, f.Global)):
        return answer
    for option, known in otherwise.items():
        if asked.name in known and known[asked.name][0] == variables.get(asked.name):
            other = is_none(known[asked.name][1]) if of_none else truth(known[asked.name][1])
            found = ~other if isinstance(node, f.Compare) and node.operator == "is not" else other
            if answer.may_fail if found.may_hold else answer.may_hold:
                return Truth(True, True, answer.may_hold, option)
    return answer


def captured(frame: Frame, names: Iterable[str]) -> Iterator[tuple[str, Value]]:
    """Yield the variables of `frame` that a function defined there captures, and the objects put there by options."""
    for name in names:
        if name in frame.variables:
            yield name, bounded(frame.variables[name])
            others = {option: bounded(other) for option, other in _others(frame, name) if _is_own(other)}
            if others:
                instead = single(Keywords(tuple(sorted(others.items()))))
                yield name + _INSTEAD, single(Tuple((bounded(frame.variables[name]), instead)))


def iterate_otherwise(run: Run, iterator: f.Expression, start: State | None) -> None:
    """Iterate, in the state `start`, over the objects that options put into the variables that a loop iterates over."""
    others = defaultdict[str, dict[str, Value]](dict)
    for name in _gone_through(iterator) if start is not None else ():
        for option, other in _others(run.frame, name):
            if option != run.frame.usual and any(isinstance(atom, Object) for atom in other):
                others[option][name] = other
    if not others or not (isinstance(iterator, _NAMES) or _is_of_library(run, iterator)):
        return
    variables, end = run.frame.variables, run.state
    for option, changed in others.items():
        run.state = start
        run.set_variables(variables | changed)
        with run.guarded(option):
            run.iterate(run.value(iterator))
    run.set_variables(variables)
    run.state = end


def call_otherwise(
    run: Run, node: f.Call, positional: Sequence[Value], keywords: dict[str, Value], start: State | None
) -> None:
    """Call, in the state `start`, the objects that options put into the called variable, or methods of these objects.
    Only objects of other project classes than those that the variable holds by default count.
    """
    called = node.function.value if isinstance(node.function, f.Member) else node.function
    if start is None or not isinstance(called, _NAMES):
        return
    others = list(_others(run.frame, called.name))
    kinds = {a.kind for a in run.frame.variables.get(called.name, ()) if isinstance(a, Object)} if others else ()
    for option, other in others:
        found = frozenset(a for a in other if _is_own(single(a)) and getattr(a, "kind", None) not in kinds)
        if option == run.frame.usual or not found:
            continue
        functions: Value = found
        if isinstance(node.function, f.Member):
            given = join(run.attribute(atom, node.function.name) for atom in each(found))
            functions = frozenset(atom for atom in given if isinstance(atom, Function))
        if functions:
            end, run.state = run.state, start
            with run.guarded(option):
                run.call_value(functions, positional, keywords, node.place)
            run.state = end


def _others(frame: Frame, name: str) -> Iterator[tuple[str, Value]]:
    """Yield each option with the value that it gives a variable, if the variable was not changed since."""
    held = frame.variables.get(name)
    for option, known in frame.otherwise.items():
        if name in known and known[name][0] == held:
            yield option, known[name][1]
    for atom in frame.variables.get(name + _INSTEAD, ()):
        if isinstance(atom, Tuple) and atom.items[0] == held:
            for instead in atom.items[1]:
                yield from instead.items if isinstance(instead, Keywords) else ()


def _gone_through(iterator: f.Expression) -> Iterator[str]:
    """Yield the names of the variables that a loop iterates over, directly or through calls such as `enumerate`."""
    if isinstance(iterator, _NAMES):
        yield iterator.name
    elif isinstance(iterator, f.Call):
        for argument in iterator.arguments:
            yield from _gone_through(argument.value)


def _is_of_library(run: Run, iterator: f.Expression) -> bool:
    """Return whether all calls that make a loop's iterator are calls of libraries."""
    if not isinstance(iterator, f.Call):
        return True
    functions = run.value(iterator.function) if isinstance(iterator.function, (f.Library, *_NAMES)) else UNKNOWN
    given = (argument.value for argument in iterator.arguments)
    return all(isinstance(a, Library) for a in functions) and all(_is_of_library(run, value) for value in given)


def _is_own(value: Value) -> bool:
    """Return whether a value may be an object of a class of the project."""
    return any(isinstance(atom, Object) and isinstance(atom.kind, Class) for atom in value)

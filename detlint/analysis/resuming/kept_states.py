"""States of generators that a file keeps together: where it takes them, and where it puts them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from detlint.analysis.training.contexts import function_around
from detlint.catalogue import Catalogue, Row
from detlint.semantics.index import asked_once
from detlint.semantics.model import Module
from detlint.support.records import record
from detlint.tree import syntax as s

_DEPTH = 3


@record(frozen=True, slots=True)
class State:
    """A call that takes the state of a generator, or puts it back.

    `holder` is the expression that keeps the state, under `key`; each is None where it is not known.
    """

    call: s.Call
    generator: str
    key: str | None
    holder: s.Expression | None


Group = tuple[State, ...]


def generators(catalogue: Catalogue) -> Mapping[str, Row]:
    """Return the rows of the generators whose states programs keep, by their ids."""
    return {row.id: row for row in catalogue.rows("checkpoints", "generator")}


@asked_once
def taken(module: Module) -> list[State]:
    """Return the calls of a file that take states of generators, except those of which only an item is read."""
    whole = [(call, name) for call, name in _calls(module, "gives") if not isinstance(call.parent, s.Subscript)]
    return [State(call, name, *_kept_in(module, call)) for call, name in whole]


@asked_once
def put_back(module: Module) -> list[State]:
    """Return the calls of a file that put states of generators back."""
    return [State(call, name, *_kept_under(module, call)) for call, name in _calls(module, "takes")]


def _calls(module: Module, key: str) -> Iterator[tuple[s.Call, str]]:
    for name, row in generators(module.catalogue).items():
        names = row.list(key)
        for call in module.calls_like(names):
            if not module.callee(call).isdisjoint(names):
                yield call, name


def gathered(module: Module) -> Iterator[Group]:
    """Yield the states that a function takes, where it keeps at least one of them under a key."""
    yield from (group for group in _by_function(taken(module)) if any(each.key is not None for each in group))


def restored(module: Module) -> Iterator[Group]:
    """Yield the states that a function puts back: one group for each path through it that does so."""
    for whole in _by_function(put_back(module)):
        groups = {tuple(each for each in whole if not excludes(one, each)) for one in whole}
        yield from sorted(groups, key=lambda group: group[0].call.order)


def _by_function(states: Sequence[State]) -> Iterator[Group]:
    functions = dict.fromkeys(function_around(each.call) for each in states)
    for function in functions:
        yield tuple(each for each in states if function_around(each.call) is function)


def function_of(group: Group) -> s.Function | None:
    """Return the function that a group is in."""
    return function_around(group[0].call)


def match(kept: Group, back: Group) -> bool:
    """Return whether one function puts back what another one took: a state of the same generator under the same key."""
    known = {(each.generator, each.key) for each in kept if each.key is not None}
    return function_of(kept) is not function_of(back) and any((each.generator, each.key) in known for each in back)


def excludes(one: State, other: State) -> bool:
    """Return whether only one of two calls of a function can happen: they are in different arms of an `if`."""
    arms = dict(_arms(one.call))
    return any(arms.get(test, arm) is not arm for test, arm in _arms(other.call))


def _arms(node: s.Node) -> Iterator[tuple[s.Node, s.Node]]:
    below: s.Node = node
    for above in node.ancestors():
        if isinstance(above, s.Function):
            return
        if isinstance(above, s.If) and below is not above.test:
            yield above, below
        below = above


def _kept_in(module: Module, call: s.Call) -> tuple[str | None, s.Expression | None]:
    """Return the key under which a state is kept, and the dict or the list that holds it."""
    below: s.Node = call
    for above in call.ancestors():
        if isinstance(above, s.Dictionary):
            place = next((i for i, value in enumerate(above.values) if value is below), -1)
            key = above.keys[place] if place >= 0 else None
            return (None if key is None else _text(module, key)), above
        if isinstance(above, s.Collection):
            place = next((i for i, value in enumerate(above.elements) if value is below), -1)
            return (str(place) if place >= 0 else None), above
        if isinstance(above, s.Assign):
            target = above.targets[0] if len(above.targets) == 1 else None
            if isinstance(target, s.Subscript):
                return _text(module, target.indices[0]), target.value
            return None, None
        if isinstance(above, s.Argument) and above.keyword is not None:
            outer = above.parent
            if isinstance(outer, s.Call) and module.callee(outer) == {"builtins.dict"}:
                return above.keyword, outer
        if isinstance(above, s.Statement):
            return None, None
        below = above
    return None, None


def _kept_under(module: Module, call: s.Call) -> tuple[str | None, s.Expression | None]:
    """Return the key by which a state is taken out of a holder, and the holder."""
    got = module.python("methods", "dict-taking")
    for argument in call.arguments:
        for node in _behind(module, argument.value, _DEPTH):
            for part in s.walk(node):
                if isinstance(part, s.Subscript) and not part.stored:
                    return _text(module, part.indices[0]), part.value
                if not isinstance(part, s.Call) or not part.arguments:
                    continue
                called = part.function
                if isinstance(called, s.Attribute) and called.attribute in got:
                    return _text(module, part.arguments[0].value), called.value
    return None, None


def _behind(module: Module, node: s.Expression, depth: int) -> Iterator[s.Expression]:
    """Yield an expression, and the values of the names in it, up to `depth` steps back."""
    yield node
    if depth:
        for name in [part for part in s.walk(node) if isinstance(part, s.Name)]:
            for value in module.values(name) or ():
                if value is not name:
                    yield from _behind(module, value, depth - 1)


def _text(module: Module, key: s.Expression) -> str | None:
    """Return the text of a key, or None where it is not known."""
    constants = module.constants(key)
    return str(constants[0]) if constants is not None and len(constants) == 1 else None

"""Builtin functions that make, order, count and go over containers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from detlint.domain import taints as t
from detlint.domain.atoms import Constant, IteratorOver, PathTo, TupleOf
from detlint.domain.folding import folded
from detlint.domain.given import Given
from detlint.domain.library import Called, Library
from detlint.domain.outcomes import both, either, told, truth
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, is_empty, value_of

_PAIR = 2


def listed(step: Step, given: Given) -> Value:
    """A list of the items of the argument, in its order."""
    first = given.first
    found = NOTHING
    for rows in step.rows(first):
        if rows:
            made = step.make("builtins.list")
            step.keep_rows(made, rows)
            found = step.join(found, Value(frozenset((made,)), first.taints, first.certain))
        else:
            found = step.join(found, _filled(step, given, "builtins.list", first.taints, first.certain))
    return found if given.positional else _filled(step, given, "builtins.list", first.taints, first.certain)


def tupled(step: Step, given: Given) -> Value:
    """A tuple of the items of the argument, in its order."""
    first = given.first
    ways = step.rows(first)
    found = Value(frozenset(TupleOf(rows) for rows in ways if rows), first.taints, first.certain)
    return step.join(found, listed(step, given)) if () in ways or not ways else found


def ordered(step: Step, given: Given) -> Value:
    """A list of the items in an order of their own."""
    key = given.value("key")
    if key is not None:
        step.call(key, step.iterate(given.first))
    first = given.first
    filled = t.NONE if first.neutral else t.FILLED
    return _filled(step, given, "builtins.list", t.ordered(first.taints) | filled, t.ordered(first.certain))


def collected(step: Step, given: Given) -> Value:
    """A set of the items: the order that they had is gone."""
    first = given.first
    taints, certain = t.ordered(first.taints), t.ordered(first.certain)
    found = NOTHING
    for rows in step.rows(first) if given.positional else [()]:
        if rows:
            made = step.make("builtins.set")
            step.keep_rows(made, rows)
            found = step.join(found, Value(frozenset((made,)), taints, certain))
        else:
            found = step.join(found, _filled(step, given, "builtins.set", taints, certain))
    return found


def _filled(step: Step, given: Given, kind: str, taints: t.Taints, certain: t.Taints) -> Value:
    """A container: one that stays empty for as long as what it is made of is."""
    items = [step.iterate(given.first)] if given.positional else []
    bare = not (items or given.open)
    made = []
    if bare or any(map(is_empty, given.first.atoms)):
        made.append(step.make(kind, empty=True))
    if not bare and not (given.positional and all(map(is_empty, given.first.atoms))):
        made.append(step.make(kind, empty=False))
    for each in made:
        for item in items:
            step.fill(each, ANY_KEY, item)
    return Value(frozenset(made), taints, certain)


def went_over(step: Step, given: Given) -> Value:
    """An iterator over the argument, in its order; over what a function gives until it gives a second argument."""
    first = given.first
    if len(given.positional) > 1:
        items = step.call(first)
        return value_of(IteratorOver(items)) if items.atoms else NOTHING
    return Value(frozenset((IteratorOver(step.iterate(first)),)), first.taints, first.certain)


def following(step: Step, given: Given) -> Value:
    """The next item of an iterator: an object of the project gives it by its own method."""
    found, rest = step.ask(given.first, "__next__", "__anext__")
    own = len(rest) < len(step.each(given.first))
    return step.join(found, step.iterate(given.first.of(rest) if own else given.first))


def numbered(step: Step, given: Given) -> Value:
    """Pairs of a number and an item."""
    first = given.first
    plain = len(given.positional) == 1 and not given.keywords  # it begins at 0
    ways = []
    for rows in step.rows(first):
        numbers = ((_index(index) if plain else SOMETHING, row) for index, row in enumerate(rows))
        ways.append(tuple(value_of(TupleOf(row)) for row in numbers))
    pair = value_of(TupleOf((SOMETHING, step.iterate(first))))
    return _iterators(step, pair, ways).with_taints(first.taints, first.certain)


def _index(number: int) -> Value:
    return value_of(Constant("int", str(number)))


def _iterators(step: Step, item: Value, ways: Iterable[tuple[Value, ...]]) -> Value:
    """Iterators that go through the rows of any of some ways."""
    found = NOTHING
    for rows in ways:
        found = step.join(found, value_of(IteratorOver(item, rows)))
    return found


def turned(step: Step, given: Given) -> Value:
    """An iterator over the argument, from its end."""
    first = given.first
    ways = [rows[::-1] for rows in step.rows(first)]
    return _iterators(step, step.iterate(first), ways).with_taints(first.taints, first.certain)


def paired(step: Step, given: Given) -> Value:
    """Tuples of an item of each."""
    if given.open:
        return UNKNOWN
    items = tuple(step.iterate(each) for each in given.positional)
    ways = [tuple(value_of(TupleOf(row)) for row in rows) for rows in _side_by_side(step, given.positional, items)]
    taints = frozenset().union(*(each.taints for each in given.positional)) if given.positional else t.NONE
    certain = frozenset().union(*(each.certain for each in given.positional)) if given.positional else t.NONE
    return _iterators(step, value_of(TupleOf(items)), ways or [()]).with_taints(taints, certain)


def _side_by_side(step: Step, values: Sequence[Value], items: Sequence[Value]) -> list[list[tuple[Value, ...]]]:
    """The rows of several things that are written down, as many in each; what is not has any of its `items` there.

    For each way that these may be; without rows where they have none in common.
    """
    found = []
    for listed in product(*(step.rows(value) for value in values)):
        lengths = {len(rows) for rows in listed if rows}
        number = lengths.pop() if len(lengths) == 1 else 0
        columns = [rows or (item,) * number for rows, item in zip(listed, items, strict=True)]
        found.append(list(zip(*columns, strict=True)) if number else [])
    return found


def applied(step: Step, given: Given) -> Value:
    """What a function gives for each item."""
    if len(given.positional) < 2:
        return UNKNOWN
    over = given.positional[1]
    each = [step.iterate(value) for value in given.positional[1:]]
    found = NOTHING
    for rows in _side_by_side(step, given.positional[1:], each):
        made = tuple(step.call(given.first, *row) for row in rows)
        items = NOTHING if rows else step.call(given.first, *each)
        for row in made:
            items = step.join(items, row)
        if items.atoms:
            found = step.join(found, value_of(IteratorOver(items, made)))
    return found.with_taints(over.taints, over.certain) if found.atoms else NOTHING


def chosen(step: Step, given: Given) -> Value:
    """The items for which a function holds."""
    if len(given.positional) < 2:
        return UNKNOWN
    over = given.positional[1]
    step.call(given.first, step.iterate(over))
    return went_over(step, Given((over,)))


def counted(step: Step, given: Given) -> Value:
    """A number that does not depend on order."""
    key = given.keywords.get("key")
    if key is not None:
        step.call(key, step.iterate(given.first) if len(given.positional) == 1 else given.first)
    for each in given.positional:
        step.iterate(each)
    return SOMETHING


def judged(*, every: bool) -> Called:
    """Whether every item is true, or any is, where they are written down."""

    def call(step: Step, given: Given) -> Value:
        found = counted(step, given)
        ways = step.rows(given.first) if len(given.positional) == 1 else []
        if not ways or not all(ways):
            return found
        outcomes = []
        for way in ways:
            each = [truth(step.resolve(item)) for item in way]
            outcomes.append(both(each) if every else both(outcome.inverted() for outcome in each).inverted())
        return told(either(outcomes))

    return call


def length(step: Step, given: Given) -> Value:
    """How long a text or a tuple is, or what an object of the project says."""
    found, rest = step.ask(given.first, "__len__")
    for atom in rest:
        known = isinstance(atom, TupleOf) or (isinstance(atom, Constant) and atom.kind == "str")
        size = len(atom.items if isinstance(atom, TupleOf) else atom.value) if known else -1  # type: ignore[union-attr]
        found = step.join(found, _index(size) if known else SOMETHING)
    return found


def number(step: Step, given: Given) -> Value:
    """A number, a text or a truth value."""
    taints = certain = t.NONE
    for each in given.each:
        taints |= t.kept(each.taints)
        certain |= t.kept(each.certain)
    return SOMETHING.with_taints(taints, certain)


def converted(function: Callable[..., object], *names: str) -> Called:
    """A function that makes a number or a text of others, which are worked out where they are known.

    Objects of the project say themselves what they are, by the first of some methods.
    """

    def convert(step: Step, given: Given) -> Value:
        whole = number(step, given)
        if given.open or given.keywords or not given.positional:
            return whole
        found, rest = step.ask(given.first, *names)
        if not rest:
            return found
        parts = [given.first.of(rest), *map(step.resolve, given.positional[1:])]
        return step.join(found, folded(function, parts).with_taints(whole.taints, whole.certain))

    return convert


def said(*names: str) -> Called:
    """A text that an object of the project says itself that it is, by the first of some methods."""

    def call(step: Step, given: Given) -> Value:
        found = NOTHING
        for each in given.positional:
            told, rest = step.ask(each, *names)
            found = step.join(found, told)
            if rest:
                found = step.join(found, number(step, Given((each.of(rest),))))
        return found if given.positional else number(step, given)

    return call


_converted = converted(str, "__str__", "__repr__")


def shown(step: Step, given: Given) -> Value:
    """A text: of a path that which it is, of an object of the project what this says."""
    first = given.first
    atoms = step.each(first)
    texts = [Constant("str", atom.text) for atom in atoms if isinstance(atom, PathTo)]
    if not texts:
        return _converted(step, given)
    rest = [atom for atom in atoms if not isinstance(atom, PathTo)]
    return step.join(first.of(texts), _converted(step, Given((first.of(rest),))) if rest else NOTHING)


def numbers(step: Step, given: Given) -> Value:
    """A range of numbers."""
    return value_of(IteratorOver(SOMETHING))


def kin(*, derives: bool) -> Called:
    """Whether an object is of some classes, or a class derives from them."""

    def call(step: Step, given: Given) -> Value:
        if len(given.positional) < 2:
            return SOMETHING
        return told(step.kin(given.positional[0], given.positional[1], derives=derives))

    return call


LIBRARY = Library(
    "builtins",
    {
        "list": listed, "tuple": tupled, "sorted": ordered, "set": collected, "frozenset": collected,
        "iter": went_over, "reversed": turned, "next": following, "enumerate": numbered, "zip": paired,
        "map": applied, "filter": chosen, "len": length, "sum": counted, "min": counted, "max": counted,
        "any": judged(every=False), "all": judged(every=True), "int": converted(int, "__int__", "__index__"),
        "float": converted(float, "__float__", "__index__"), "bool": converted(bool, "__bool__", "__len__"),
        "str": shown, "repr": said("__repr__"), "abs": converted(abs, "__abs__"),
        "round": converted(round, "__round__"), "range": numbers, "print": said("__str__", "__repr__"),
        "isinstance": kin(derives=False), "issubclass": kin(derives=True),
    },
)  # fmt: skip

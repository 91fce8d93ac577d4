"""Builtin functions that make, order, count and go over containers."""

from __future__ import annotations

from detlint.domain import taints as t
from detlint.domain.atoms import FALSE, TRUE, Choice, IteratorOver, TupleOf
from detlint.domain.given import Given
from detlint.domain.library import Called, Library
from detlint.domain.outcomes import Outcome
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, UNKNOWN, Value, is_empty, value_of


def listed(step: Step, given: Given) -> Value:
    """A list of the items of the argument, in its order."""
    return _filled(step, given, "builtins.list", given.first.taints, given.first.certain)


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
    return _filled(step, given, "builtins.set", t.ordered(given.first.taints), t.ordered(given.first.certain))


def mapped(step: Step, given: Given) -> Value:
    """A dict."""
    return _filled(step, given, "builtins.dict", given.first.taints, given.first.certain)


def _filled(step: Step, given: Given, kind: str, taints: t.Taints, certain: t.Taints) -> Value:
    """A container: one that stays empty for as long as what it is made of is."""
    items = [step.iterate(given.first)] if given.positional else []
    named = given.keywords.values() if kind == "builtins.dict" else ()
    items += named
    bare = not (items or given.open)
    made = []
    if bare or any(map(is_empty, given.first.atoms)):
        made.append(step.make(kind, empty=True))
    if not bare and not (given.positional and all(map(is_empty, given.first.atoms)) and not named):
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
    pair = TupleOf((SOMETHING, step.iterate(first)))
    return Value(frozenset((IteratorOver(value_of(pair)),)), first.taints, first.certain)


def paired(step: Step, given: Given) -> Value:
    """Tuples of an item of each."""
    if given.open:
        return UNKNOWN
    pair = TupleOf(tuple(step.iterate(each) for each in given.positional))
    taints = frozenset().union(*(each.taints for each in given.positional)) if given.positional else t.NONE
    certain = frozenset().union(*(each.certain for each in given.positional)) if given.positional else t.NONE
    return Value(frozenset((IteratorOver(value_of(pair)),)), taints, certain)


def applied(step: Step, given: Given) -> Value:
    """What a function gives for each item."""
    if len(given.positional) < 2:
        return UNKNOWN
    over = given.positional[1]
    items = step.call(given.first, *(step.iterate(each) for each in given.positional[1:]))
    return Value(frozenset((IteratorOver(items),)), over.taints, over.certain) if items.atoms else NOTHING


def chosen(step: Step, given: Given) -> Value:
    """The items for which a function holds."""
    if len(given.positional) < 2:
        return UNKNOWN
    over = given.positional[1]
    step.call(given.first, step.iterate(over))
    return went_over(step, Given((over,)))


def counted(step: Step, given: Given) -> Value:
    """A number that does not depend on order."""
    for each in given.each:
        step.iterate(each)
    return SOMETHING


def number(step: Step, given: Given) -> Value:
    """A number, a text or a truth value."""
    taints = certain = t.NONE
    for each in given.each:
        taints |= t.kept(each.taints)
        certain |= t.kept(each.certain)
    return SOMETHING.with_taints(taints, certain)


def said(*names: str) -> Called:
    """A number or a text that an object of the project says itself that it is, by the first of some methods."""

    def call(step: Step, given: Given) -> Value:
        found = NOTHING
        for each in given.positional:
            told, rest = step.ask(each, *names)
            found = step.join(found, told)
            if rest:
                found = step.join(found, number(step, Given((each.of(rest),))))
        return found if given.positional else number(step, given)

    return call


def measured(step: Step, given: Given) -> Value:
    """How many items there are."""
    told, rest = step.ask(given.first, "__len__")
    return step.join(told, counted(step, Given((given.first.of(rest),)))) if rest or not given.positional else told


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


def told(outcome: Outcome) -> Value:
    """The answer of a test: a choice where an option decides it."""
    if outcome.option is not None:
        no, yes = (FALSE, TRUE) if outcome.set else (TRUE, FALSE)
        return value_of(Choice(outcome.option, value_of(no), value_of(yes)))
    if outcome.may_hold and outcome.may_fail:
        return SOMETHING
    return value_of(TRUE) if outcome.may_hold else value_of(FALSE) if outcome.may_fail else NOTHING


LIBRARY = Library(
    "builtins",
    {
        "list": listed, "tuple": listed, "sorted": ordered, "set": collected, "frozenset": collected, "dict": mapped,
        "iter": went_over, "reversed": went_over, "next": following, "enumerate": numbered, "zip": paired,
        "map": applied, "filter": chosen, "len": measured, "sum": counted, "min": counted, "max": counted,
        "any": counted, "all": counted, "int": said("__int__", "__index__"), "float": said("__float__", "__index__"),
        "bool": said("__bool__", "__len__"), "str": said("__str__", "__repr__"), "repr": said("__repr__"),
        "abs": said("__abs__"), "round": said("__round__"), "range": numbers, "print": said("__str__", "__repr__"),
        "isinstance": kin(derives=False), "issubclass": kin(derives=True),
    },
)  # fmt: skip

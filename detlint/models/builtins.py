"""Builtin functions that make, order, count and go over containers."""

from __future__ import annotations

from detlint.domain import taints as t
from detlint.domain.atoms import Constant, IteratorOver, PathTo, TupleOf
from detlint.domain.given import Given
from detlint.domain.library import Library
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
    """An iterator over the argument, in its order."""
    first = given.first
    return Value(frozenset((IteratorOver(step.iterate(first)),)), first.taints, first.certain)


def following(step: Step, given: Given) -> Value:
    """The next item of an iterator."""
    return step.iterate(given.first)


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


def shown(step: Step, given: Given) -> Value:
    """A text: of a path that which it is."""
    atoms = step.each(given.first)
    texts = [Constant("str", atom.text) for atom in atoms if isinstance(atom, PathTo)]
    found = number(step, given)
    return found.of([*texts, *(found.atoms if len(texts) < len(atoms) else ())]) if texts else found


def numbers(step: Step, given: Given) -> Value:
    """A range of numbers."""
    return value_of(IteratorOver(SOMETHING))


LIBRARY = Library(
    "builtins",
    {
        "list": listed, "tuple": listed, "sorted": ordered, "set": collected, "frozenset": collected, "dict": mapped,
        "iter": went_over, "reversed": went_over, "next": following, "enumerate": numbered, "zip": paired,
        "map": applied, "filter": chosen, "len": counted, "sum": counted, "min": counted, "max": counted,
        "any": counted, "all": counted, "int": number, "float": number, "bool": number, "str": shown, "repr": number,
        "abs": number, "round": number, "range": numbers, "print": number,
    },
)  # fmt: skip

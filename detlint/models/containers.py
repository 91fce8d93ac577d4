"""Methods of lists, sets, dicts and texts. Those that work in place give what they are called on a new value."""

from __future__ import annotations

from detlint.domain import taints as t
from detlint.domain.atoms import NONE, Instance
from detlint.domain.given import Given
from detlint.domain.library import Class, Library, Method
from detlint.domain.slots import ANY_KEY
from detlint.domain.step import Step
from detlint.domain.values import NOTHING, SOMETHING, Value, value_of


def sort(step: Step, owner: Value, given: Given) -> Value:
    """The order that a list had is gone."""
    key = given.value("key")
    if key is not None:
        step.call(key, step.iterate(owner))
    step.become(owner.with_taints(t.ordered(owner.taints) | t.FILLED, t.ordered(owner.certain)))
    return value_of(NONE)


def clear(step: Step, owner: Value, given: Given) -> Value:
    """All that was in it is gone."""
    step.become(owner.with_taints(t.FILLED, t.NONE))
    return value_of(NONE)


def append(step: Step, owner: Value, given: Given) -> Value:
    """A container gets an item: what differs about its position differs in the order of the container."""
    item = given.positional[-1] if given.positional else NOTHING
    _add(step, owner, item, t.gathered(item.taints), t.gathered(item.certain))
    step.gets_item()
    return value_of(NONE)


def extend(step: Step, owner: Value, given: Given) -> Value:
    """A container gets the items of another."""
    more = given.first
    _add(step, owner, step.iterate(more), more.taints, more.certain)
    return value_of(NONE)


def add(step: Step, owner: Value, given: Given) -> Value:
    """A set gets an item: a set has no order that the order of additions could change."""
    _add(step, owner, given.first, t.kept(given.first.taints), t.kept(given.first.certain))
    return value_of(NONE)


def _add(step: Step, owner: Value, item: Value, taints: t.Taints, certain: t.Taints) -> None:
    for atom in step.each(owner):
        if isinstance(atom, Instance):
            step.fill(atom, ANY_KEY, item.with_taints(t.kept(item.taints), t.kept(item.certain)))
    step.become(owner.with_taints(owner.taints | taints | t.FILLED, owner.certain | certain))


def copy(step: Step, owner: Value, given: Given) -> Value:
    """Another container of the same items."""
    return owner


def taken(step: Step, owner: Value, given: Given) -> Value:
    """An item of it."""
    return step.iterate(owner)


def same(step: Step, owner: Value, given: Given) -> Value:
    """A text that is made of this one and of the arguments."""
    taints, certain = owner.taints, owner.certain
    for each in given.each:
        taints, certain = taints | each.taints, certain | each.certain
    return SOMETHING.with_taints(taints, certain)


_LIST: dict[str, Method] = {
    "sort": sort, "clear": clear, "append": append, "insert": append, "extend": extend, "copy": copy, "pop": taken,
}  # fmt: skip
_TEXT: dict[str, Method] = dict.fromkeys(("join", "encode", "decode"), same)
LIBRARY = Library(
    "builtins",
    classes=(
        Class("list", methods=_LIST),
        Class("set", methods={"add": add, "clear": clear, "copy": copy, "pop": taken}),
        Class("str", methods=_TEXT),
    ),
)

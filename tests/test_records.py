"""Records are what dataclasses are, but for the time at which their methods are made."""

from __future__ import annotations

import copy
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from dataclasses import field, fields, make_dataclass, replace
from importlib import import_module
from typing import Any

import pytest

import detlint
from detlint.support.records import record

ELSEWHERE = ("__main__", "bisect", "commands", "plugins", "runtime", "verify")  # what may need more than detlint does


@record(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2


@record(slots=True, eq=False)
class Base:
    parent: object = field(default=None, init=False, repr=False)
    order: int = field(init=False, repr=False)


@record(slots=True, eq=False)
class Derived(Base):
    value: object
    made: list[int] = field(default_factory=list)


@record
class Changing:
    kept: int = 1
    made: dict[str, int] = field(default_factory=dict)
    inner: list[int] = field(default_factory=lambda: [1], init=False)


def records() -> list[type[Any]]:
    """Those of the static half."""
    modules = [each.name for each in pkgutil.walk_packages(detlint.__path__, "detlint.")]
    names = [name for name in modules if name.split(".")[1] not in ELSEWHERE]
    own = type(vars(Point)["__dataclass_fields__"])
    found = {each: None for name in names for each in vars(import_module(name)).values() if isinstance(each, type)}
    return [each for each in found if isinstance(vars(each).get("__dataclass_fields__"), own)]


KINDS = [Point, Base, Derived, Changing, *records()]


@pytest.mark.parametrize("part", range(3))  # each takes a moment
def test_a_record_is_what_a_dataclass_would_be(part: int) -> None:
    assert len(KINDS) > 50
    assert {kind: what for kind in KINDS[part::3] if (what := list(differences(kind)))} == {}


def differences(kind: Any) -> Iterator[str]:
    """In what a record is not as the dataclass of its fields."""
    eq, hashed = "__eq__" in vars(kind), vars(kind).get("__hash__") is not None
    known = [(each.name, each.type, copy.copy(each)) for each in fields(kind)]
    other: Any = make_dataclass(kind.__name__, known, eq=eq, unsafe_hash=hashed)
    other.__qualname__ = kind.__qualname__
    given = {each.name: f"its {each.name}" for each in fields(kind) if each.init}
    needed = {
        each.name: given[each.name] for each in fields(kind) if each.init and each.default is each.default_factory
    }
    if not all(held(kind(**values)) == held(other(**values)) for values in (given, needed)):
        yield "what it holds"
    if [*inspect.signature(kind.__init__).parameters] != [*inspect.signature(other.__init__).parameters]:
        yield "parameters"
    if kind.__match_args__ != other.__match_args__:
        yield "what a pattern takes"
    if repr(kind(**given)) != repr(other(**given)):
        yield "representation"
    if eq and not kind(**given) == kind(**given) != other(**given):
        yield "equality"
    if eq and any(kind(**given | {name: "another"}) == kind(**given) for name in given):
        yield "inequality"
    if eq and hashed:
        if hash(kind(**given)) != hash(other(**given)):
            yield "hash"
    elif (kind.__hash__ is None) != (other.__hash__ is None):
        yield "whether it has a hash"


def held(made: Any) -> dict[str, Any]:
    """What a record has in its fields; of what is equal to nothing but itself, the class."""
    alone: Any = object.__hash__
    values = {each.name: getattr(made, each.name, None) for each in fields(made)}
    return {name: type(value) if type(value).__hash__ == alone else value for name, value in values.items()}


def test_a_method_is_made_when_it_is_first_called() -> None:
    @record(frozen=True, slots=True)
    class Fresh:
        x: int

    before = dict(vars(Fresh))
    assert Fresh(1) == Fresh(x=1)
    assert {name for name, value in vars(Fresh).items() if value is not before[name]} == {"__init__", "__eq__"}
    assert hash(Fresh(1)) == hash(Fresh(1)) != hash(Fresh(2))


def test_a_class_has_the_defaults_of_its_fields_and_no_more() -> None:
    @record
    class Own:
        number: int = field(default=3, repr=False)
        made: list[int] = field(default_factory=list)

    assert Own.number == 3
    assert not hasattr(Own, "made")


def test_a_record_is_replaced_copied_and_pickled() -> None:
    derived = Derived(1, [2])
    derived.order = 3
    copied = pickle.loads(pickle.dumps(derived))
    assert (copied.parent, copied.order, copied.value, copied.made) == (None, 3, 1, [2])
    assert replace(Point(1), x=5) == copy.copy(Point(5)) == pickle.loads(pickle.dumps(Point(5))) == Point(5, 2)
    assert not hasattr(Point(1), "__dict__") and not hasattr(derived, "__dict__")
    assert vars(Changing()) == {"kept": 1, "made": {}, "inner": [1]}

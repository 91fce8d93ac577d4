"""Records of plain data: over a hundred classes, of which a run makes hundreds of thousands of objects.

At run time `record` does what `dataclasses.dataclass` does, but generates each method on its first call: a run calls
few of them, and generating all takes longer than analysing a file. Only the type checker enforces that frozen records
do not change, since enforcing it at run time doubles the cost of making a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, make_dataclass
from functools import cached_property
from inspect import get_annotations
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(kind=None, /, *, frozen=False, slots=False, eq=True):
        """Make a class a dataclass, as `dataclasses` sees it too, that other records can extend.

        `field` may give a default or a factory, and set `init` and `repr`.
        """

        def made(kind):
            own = {name: vars(kind).get(name, MISSING) for name in get_annotations(kind)}
            known = _Fields(kind, own)
            kind = _with_slots(kind, own) if slots else _with_defaults(kind, own)
            for name, value in _methods(kind, known, eq, frozen).items():
                if name not in vars(kind) or name == "__hash__":
                    setattr(kind, name, value)
            return kind

        return made if kind is None else made(kind)


__all__ = ["record"]
_FIELDS = "__dataclass_fields__"  # where `dataclasses` looks for the fields of a class
_UNSLOTTED = ("__dict__", "__weakref__")  # attributes of a class whose objects have no slots


class _Fields(Mapping[str, "Field[Any]"]):
    """The fields of a record by name, as `dataclasses.Field` objects that are made on first use."""

    def __init__(self, kind: type, own: Mapping[str, Any]) -> None:
        """Collect the fields. `own` maps the fields that the class itself names to their values, or to MISSING."""
        bases: list[_Fields] = [vars(base)[_FIELDS] for base in kind.__mro__[:0:-1] if _FIELDS in vars(base)]
        self.given: dict[str, Any] = {}
        self.hints: dict[str, Any] = {}
        for given, hints in (*((base.given, base.hints) for base in bases), (own, get_annotations(kind))):
            self.given.update(given)
            self.hints.update(hints)

    @cached_property
    def _made(self) -> dict[str, Field[Any]]:
        known = [(name, self.hints[name], *([] if given is MISSING else [given])) for name, given in self.given.items()]
        made = make_dataclass("Fields", known, init=False, repr=False, eq=False)
        return {each.name: each for each in fields(made)}

    def __getitem__(self, name: str) -> Field[Any]:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def _with_slots(kind: type, own: Mapping[str, Any]) -> type:
    """Return a new class with slots for the fields: slots cannot be added to a class that exists."""
    namespace = {name: value for name, value in vars(kind).items() if name not in own and name not in _UNSLOTTED}
    inherited = {name for base in kind.__mro__[1:] for name in vars(base).get("__slots__", ())}
    namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    made = type(kind)(kind.__name__, kind.__bases__, namespace)
    made.__qualname__ = kind.__qualname__
    return made


def _with_defaults(kind: type, own: Mapping[str, Any]) -> type:
    """Replace the results of `field` in the class by the defaults of the fields, and return the class."""
    for name, given in own.items():
        if isinstance(given, Field):
            delattr(kind, name)
            if given.default is not MISSING:
                setattr(kind, name, given.default)
    return kind


# Methods


def _methods(kind: type, known: _Fields, eq: bool, hashed: bool) -> dict[str, Any]:
    """Return the attributes that make a class a record unless its body defines them."""
    init = [name for name, given in known.given.items() if not isinstance(given, Field) or given.init]
    made = {
        _FIELDS: known,
        "__match_args__": tuple(init),
        "__init__": _later(kind, "__init__", lambda: _init(known.given)),
        "__repr__": _repr,
    }
    if eq:
        made["__eq__"] = _later(kind, "__eq__", lambda: _eq(known.given))
        made["__hash__"] = _later(kind, "__hash__", lambda: _hash(known.given)) if hashed else None
    return made


def _later(kind: type, name: str, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """Return a method that, on its first call, makes the real method of that name and is replaced by it."""

    def first(self: object, *given: object, **named: object) -> Any:
        method = make()
        setattr(kind, name, method)
        return method(self, *given, **named)

    return first


def _init(known: Mapping[str, Any]) -> Callable[..., None]:
    """Return the `__init__` that sets all fields, from arguments or to their defaults."""
    parameters, lines, names = ["self"], ["pass"], {"MISSING": MISSING}
    for name, given in known.items():
        said: Any = given if isinstance(given, Field) else field(default=given)
        default, make, taken = said.default, said.default_factory, said.init
        names |= {f"default_{name}": default, f"make_{name}": make}
        needed = default is MISSING and make is MISSING
        value = name if taken else f"default_{name}"
        if taken:
            parameters.append(name if needed else f"{name}=default_{name}")
        if make is not MISSING:
            value = f"make_{name}() if {value} is MISSING else {value}"
        if taken or not needed:
            lines.append(f"self.{name} = {value}")
    return _function(f"__init__({', '.join(parameters)})", lines, names)


def _eq(names: Iterable[str]) -> Callable[..., Any]:
    """Return the `__eq__` that compares objects of the same class by all fields."""
    same = f"({_of('self', names)}) == ({_of('other', names)})"
    return _function("__eq__(self, other)", [f"return {same} if other.__class__ is self.__class__ else NotImplemented"])


def _hash(names: Iterable[str]) -> Callable[..., int]:
    """Return the `__hash__` that hashes all fields."""
    return _function("__hash__(self)", [f"return hash(({_of('self', names)}))"])


def _of(record: str, names: Iterable[str]) -> str:
    return "".join(f"{record}.{name}, " for name in names)


_NOTHING: Mapping[str, Any] = {}


def _function(head: str, lines: Iterable[str], names: Mapping[str, Any] = _NOTHING) -> Callable[..., Any]:
    """Return the function with this head and these lines, whose globals are `names`."""
    made: dict[str, Callable[..., Any]] = {}
    exec("\n ".join((f"def {head}:", *lines)), dict(names), made)
    return made.popitem()[1]


@recursive_repr()
def _repr(self: Any) -> str:
    """Return the class and the fields as `dataclasses` shows them."""
    shown = [f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"

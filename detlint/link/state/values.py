"""What an expression may evaluate to: abstract values, each a set of atoms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import get_args

from detlint.finding import Place
from detlint.support.digests import blake2b
from detlint.support.interned import Interned
from detlint.support.records import record

NUMBER, TEXT = "number", "text"  # the form in which the user gives an option
_COMBINATIONS = 8  # of operands, each of which may be several constants
LONGEST = 10_000  # characters of a string that a program builds: one that keeps doubling has no end


@record(frozen=True, slots=True, eq=False)
class Unknown(metaclass=Interned):
    """Anything."""


@record(frozen=True, slots=True, eq=False)
class Some(metaclass=Interned):
    """Anything but None."""


@record(frozen=True, slots=True, eq=False)
class Entropy(metaclass=Interned):
    """A number that differs in each run, such as the time; with an `option`, only if that is not set."""

    option: str


@record(frozen=True, slots=True, eq=False)
class Constant(metaclass=Interned):
    """A constant of the program."""

    typed = True
    value: object


@record(frozen=True, slots=True, eq=False)
class Option(metaclass=Interned):
    """Something that the user of a program may set: an option, or a field of a configuration. `default` is a constant.

    If `given` is NUMBER or TEXT, the user cannot set it to None.
    """

    typed = True
    name: str
    default: object
    place: Place | None
    given: str = ""


@record(frozen=True, slots=True, eq=False)
class Library(metaclass=Interned):
    """Something of a library, by qualified name; `receiver` is the object that it was taken from as a method."""

    name: str
    receiver: Object | Function | None = None


@record(frozen=True, slots=True, eq=False)
class Module(metaclass=Interned):
    """A module of the project, by the path of its file."""

    path: str


@record(frozen=True, slots=True, eq=False)
class Namespace(metaclass=Interned):
    """The prefix of a dotted name whose modules may belong to the project."""

    name: str
    importer: str


@record(frozen=True, slots=True, eq=False)
class Function(metaclass=Interned):
    """A function of the file at `path`, with the variables that it captured, and `self` if it is bound."""

    path: str
    qualified: str
    captured: tuple[tuple[str, Value], ...] = ()
    receiver: Object | Class | None = None


@record(frozen=True, slots=True, eq=False)
class Class(metaclass=Interned):
    """A class of the file at `path`."""

    path: str
    qualified: str


@record(frozen=True, slots=True, eq=False)
class Object(metaclass=Interned):
    """The objects of a class made at one allocation site: the call at `order` in the file at `path`."""

    kind: Class | Library
    path: str
    order: int


@record(frozen=True, slots=True, eq=False)
class Tuple(metaclass=Interned):
    """A tuple, or arguments that were gathered by `*args`."""

    items: tuple[Value, ...]


@record(frozen=True, slots=True, eq=False)
class Keywords(metaclass=Interned):
    """Arguments that were gathered by `**kwargs`."""

    items: tuple[tuple[str, Value], ...]


@record(frozen=True, slots=True, eq=False)
class Partial(metaclass=Interned):
    """`functools.partial(function, ...)`."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@record(frozen=True, slots=True, eq=False)
class Suspended(metaclass=Interned):
    """The result of a call of a generator function, whose body runs when the result is iterated over."""

    function: Function
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


@record(frozen=True, slots=True, eq=False)
class Wrapped(metaclass=Interned):
    """A wrapper of iterables: iterating over it iterates over `sources` and yields `items`."""

    items: Value
    sources: Value


@record(frozen=True, slots=True, eq=False)
class Super(metaclass=Interned):
    """`super()` in a method of `klass`."""

    klass: Class
    receiver: Object | Class


@record(frozen=True, slots=True, eq=False)
class Saved(metaclass=Interned):
    """The saved state of a generator: one of the words of a state."""

    generator: str
    word: str


Atom = (
    Unknown
    | Some
    | Entropy
    | Constant
    | Option
    | Library
    | Module
    | Namespace
    | Function
    | Class
    | Object
    | Tuple
    | Keywords
    | Partial
    | Suspended
    | Wrapped
    | Super
    | Saved
)
Value = frozenset[Atom]
_ATOMS = get_args(Atom)


@cache
def single(atom: Atom) -> Value:
    """Return the value that is one atom: one set per atom, which keeps its hash and compares fast by identity."""
    return frozenset((atom,))


FLAGS = Object(Library("absl.flags.FLAGS"), "", 0)  # the options of absl: one object in a program
UNKNOWN: Value = single(Unknown())
SOME: Value = single(Some())
ENTROPY: Value = single(Entropy(""))
NONE: Value = single(Constant(None))
FAR = 10**7  # more than the nodes of a file; added to an object's order to distinguish it at its place
SEVERAL = 8  # items that are unpacked from something of unknown length
MANY = 16  # atoms of a value; a larger one is cut to so many, and unknown
_NUMBER = re.compile(r"\d+")
_LONG = 400  # characters of a part's sort key, as atoms may nest deeply; a longer key is hashed


def join(values: Iterable[Value]) -> Value:
    """Return a value that may be any of `values`; unknown if there are none."""
    found: Value | None = None
    for value in values:
        found = value if found is None or found is value else found | value
    if found is not None and len(found) > MANY:
        found = frozenset(sorted(found - UNKNOWN, key=order)[:MANY]) | UNKNOWN
    return found or UNKNOWN


@cache
def order(atom: Atom) -> tuple[str, ...]:
    """Return a sort key of an atom. It is unique, and the same in every run and on whichever lines the code is."""
    kind = getattr(atom, "kind", atom)
    name = getattr(atom, "qualified", None) or getattr(kind, "qualified", None) or getattr(kind, "name", "")
    if isinstance(atom, Constant):
        return type(atom).__name__, type(atom.value).__name__, str(atom.value)
    every = [_text(getattr(atom, field)) for field in atom.__dataclass_fields__]
    if isinstance(atom, _COMPOSITE):
        return type(atom).__name__, *every
    inner = getattr(atom, "receiver", None)
    receiver = order(inner) if inner is not None and inner is not atom else ()
    ends = _numbered(name) if ":" in str(name) else str(name)  # a lambda's name ends in its order
    path, place = str(getattr(atom, "path", "")), _numbered(getattr(atom, "order", ""))
    return type(atom).__name__, ends, path, place, *receiver, *every


def _text(part: object) -> str:
    """Return the sort key of a part of an atom, the same in every run."""
    if isinstance(part, frozenset):
        text = str(sorted(order(atom) for atom in part))
    elif isinstance(part, tuple):
        text = str([_text(each) for each in part])
    else:
        text = str(order(part)) if isinstance(part, _ATOMS) else _numbered(part) if type(part) is Place else repr(part)
    return text if len(text) < _LONG else blake2b(text.encode(errors="replace")).hexdigest()


def _numbered(part: object) -> str:
    """Return `part` as a string in which numbers sort by their values."""
    return _NUMBER.sub(lambda number: number[0].zfill(9), str(part))


def each(value: Value) -> Iterable[Atom]:
    """Return the atoms of a value, in an order that is the same in every run."""
    return _ordered(value) if len(value) > 1 else value


@cache
def _ordered(value: Value) -> tuple[Atom, ...]:
    return tuple(sorted(value, key=order))


def constant(value: object) -> Value:
    """Return the value of a constant; one that is not hashable is only known not to be None."""
    try:
        return _constant(value)
    except TypeError:  # not hashable
        return SOME


@lru_cache(maxsize=None, typed=True)
def _constant(value: object) -> Value:
    return single(Constant(value))


def only(value: Value) -> Atom | None:
    """Return the one atom of a value, or None."""
    return next(iter(value)) if len(value) == 1 else None


def settled(atom: Constant | Option) -> object:
    """Return the constant that an atom is, or is by default."""
    return atom.value if isinstance(atom, Constant) else atom.default


def exact(value: Value) -> object:
    """Return the one constant that a value is, or None."""
    atom = only(value)
    return atom.value if isinstance(atom, Constant) else None


def applied(function: Callable[..., object], values: Iterable[Value]) -> Value | None:
    """Return the result of a function of numbers and strings; for options at their defaults it is an option.

    Return None if an argument is not known, the function rejects them, or there is too much of them or of the result.
    """
    values = list(values)
    if prod(map(len, values)) > _COMBINATIONS:
        return None
    found = [_applied(function, atoms) for atoms in product(*values)]
    return None if None in found else join(value for value in found if value is not None)


def _applied(function: Callable[..., object], atoms: Sequence[Atom]) -> Value | None:
    known = [settled(atom) for atom in atoms if isinstance(atom, (Constant, Option))]
    if len(known) < len(atoms) or not all(isinstance(each, (str, int, float)) for each in known):
        return None
    try:
        made = function(*known)
    except (TypeError, ValueError, OverflowError, LookupError, AttributeError):
        return None
    if isinstance(made, str) and len(made) > LONGEST:
        return None
    option = next((atom for atom in atoms if isinstance(atom, Option)), None)
    return constant(made) if option is None else single(replace(option, default=made))


def bounded(value: Value, depth: int = 2) -> Value:
    """Return a value with its parts nested to `depth` only: where values are stored, a loop could nest them forever."""
    if _NESTED.isdisjoint(map(type, value)):
        return value
    return frozenset(_bounded(atom, depth) for atom in value)


def _bounded(atom: Atom, depth: int) -> Atom:
    if not isinstance(atom, (*_COMPOSITE, Function)) or (isinstance(atom, Function) and not atom.captured):
        return atom
    if depth == 0:
        return replace(atom, captured=()) if isinstance(atom, Function) else Some()
    if isinstance(atom, Tuple):
        return Tuple(tuple(bounded(item, depth - 1) for item in atom.items))
    if isinstance(atom, Keywords):
        return Keywords(tuple((name, bounded(item, depth - 1)) for name, item in atom.items))
    if isinstance(atom, Wrapped):
        return Wrapped(bounded(atom.items, depth - 1), bounded(atom.sources, depth - 1))
    if isinstance(atom, Function):
        return replace(atom, captured=tuple((name, bounded(held, depth - 1)) for name, held in atom.captured))
    positional = tuple(bounded(item, depth - 1) for item in atom.positional)
    keywords = tuple((name, bounded(item, depth - 1)) for name, item in atom.keywords)
    if isinstance(atom, Partial):
        return Partial(bounded(atom.function, depth - 1), positional, keywords)
    function = _bounded(atom.function, depth - 1)
    return Suspended(function, positional, keywords) if isinstance(function, Function) else Some()


_COMPOSITE = (Tuple, Keywords, Partial, Suspended, Wrapped)
_NESTED = frozenset((*_COMPOSITE, Function))


@cache
def widened(value: Value, depth: int = 3) -> Value:
    """Return a value reduced to what distinguishes contexts: the sign of numbers, nested values to a depth."""
    for atom in value:
        if type(atom) in _WIDENED:
            break
    else:
        return value
    return frozenset(_widened(atom, depth) for atom in value)


_WIDENED = frozenset((Constant, *_COMPOSITE))


def _widened(atom: Atom, depth: int) -> Atom:
    if isinstance(atom, Constant) and isinstance(atom.value, (int, float)) and not isinstance(atom.value, bool):
        return Constant((atom.value > 0) - (atom.value < 0))
    if isinstance(atom, _COMPOSITE) and depth == 0:
        return Some()
    if isinstance(atom, Tuple):
        return Tuple(tuple(widened(item, depth - 1) for item in atom.items))
    if isinstance(atom, Keywords):
        return Keywords(tuple((name, widened(item, depth - 1)) for name, item in atom.items))
    return atom

"""Records of plain data as bytes and back, checked against their annotations when they are read.

A document is JSON: a list of texts, each once, and the record itself. A record is a list: the number of its class among
those that the root's annotations reach, then the values of its fields; a text is its number. The input is not trusted:
it can name no class of its own and build no cycle, and what does not fit the annotations is an error. Records of some
classes may be shared: they are written once, after those that they hold, and then by number.

What writes and reads a class is a function of its own, made from its annotations when it is first needed.
"""

from __future__ import annotations

import enum
import json
import types
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import is_dataclass
from inspect import get_annotations
from typing import Any, Generic, NoReturn, TypeVar, Union, get_args, get_origin

T = TypeVar("T")
_PATH = "path"
_NONE: Mapping[type, Any] = {}
_PLAIN = frozenset((str, int, float, bool, type(None)))
_UNREADABLE = (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError)
_LONG = 2**64  # numbers from here on are written in hexadecimal: Python refuses to read long decimal ones


class CodecError(Exception):
    """What was read, or is to be written, does not fit the annotations."""


class Writing(dict[str, str]):
    """The texts of a document that is being written, with their numbers. `path` is that of all its records, if any.

    `rows` are those of its shared records, whose numbers are in `numbers`.
    """

    def __init__(self, path: str | None = None) -> None:
        super().__init__()
        self.path = path
        self.rows: list[str] = []
        self.numbers: dict[Any, str] = {}

    def __missing__(self, text: str) -> str:
        if type(text) is not str:
            raise TypeError(f"{text!r} is no text")
        number = self[text] = str(len(self))
        return number

    def own(self, path: str) -> str:
        """Return the path of a record as it is written. Raises ValueError for another path than that of all records."""
        if self.path is None:
            return self[path]
        if path != self.path:
            raise ValueError(f"it speaks of another file, {path!r}")
        return "null"

    def table(self) -> str:
        """Return all texts, as `Reading` takes them."""
        return _dumped([*self])


class Reading(list[str]):
    """The texts of a document that is being read, by number.

    Its records have the path `path` or, if it is None, one of `paths`. `made` are the records that hold only a text,
    `shared` the shared ones by number.
    """

    def __init__(self, table: object, path: str | None = None, paths: Container[str] = ()) -> None:
        super().__init__(_listed(table))
        if not all(type(text) is str for text in self):
            raise TypeError("a text is none")
        self.path = path
        self.paths = paths
        self.made: dict[tuple[int, int], Any] = {}
        self.shared: list[Any] = []

    def own(self, number: int | None) -> str:
        """Return the path of a record. Raises ValueError if it is not among the allowed ones."""
        path = self.path if number is None else self[number]
        if path is None or not (path == self.path or path in self.paths):
            raise ValueError(f"{path!r} is not among its files")
        return path


class Codec(Generic[T]):
    """A writer and reader of records of one class.

    If the root has a `path`, so have all records in it, and they take the one under which they are read.
    """

    def __init__(
        self,
        root: type[T],
        checks: Mapping[type, Callable[[Any], bool]] = _NONE,
        others: Mapping[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = _NONE,
        shared: Container[type] = (),
    ) -> None:
        """Take a dataclass as `root`; the classes that its annotations reach are dataclasses too.

        `checks` say of records of some classes whether they make sense. `others` are classes that functions write and
        read, as constants. Both may raise what dicts raise. Records of classes that are `shared` can be told apart by
        their hashes.
        """
        self._hints: dict[type, dict[str, Any]] = {}
        self._others, self._shared = others, shared
        self._find(root, set())
        self._kinds = list(self._hints)
        self._numbers = {kind: number for number, kind in enumerate(self._kinds)}
        self._checks = checks
        self._names: dict[str, Any] = {"writers": _Made(self._writer), **_NAMES}  # what the functions made here see
        self._readers = _Made(self._reader)
        self._read: Callable[[Any, Reading], T] = self._function("value, texts", self._reads(root, "value"))

    def encode(self, value: T) -> bytes:
        """Return the document of a record. Raises CodecError for what JSON cannot hold."""
        texts = Writing(getattr(value, _PATH, None))
        try:
            written = self.write(value, texts)
            shared = [_joined(texts.rows)] if self._shared else []
            return _joined([texts.table(), *shared, written]).encode("ascii")
        except _UNREADABLE as error:
            raise CodecError(f"it cannot be written: {error}") from error

    def decode(self, content: bytes, path: str | None = None, paths: Container[str] = ()) -> T:
        """Return the record of a document, as one of `path`, or with no other paths in it than `paths`.

        Raises CodecError for a document that `encode` did not write.
        """
        try:
            document = json.loads(content)
            if not self._shared:
                table, value = document
                return self._read(value, Reading(table, path, paths))
            table, rows, value = document
            texts = Reading(table, path, paths)
            for row in _listed(rows):
                texts.shared.append(self._readers[_listed(row)[0]](row, texts))
            return self._read(value, texts)
        except _UNREADABLE as error:
            raise CodecError(f"it cannot be read: {error}") from error

    def write(self, value: T, texts: Writing) -> str:
        """Return a record as a part of a document. Raises RecursionError, or what dicts raise for what does not fit."""
        written: str = self._names["writers"][type(value)](value, texts)
        return written

    def read(self, part: str, texts: Reading) -> T:
        """Return the record that `write` wrote. Raises RecursionError, or what dicts raise for other input."""
        return self._read(json.loads(part), texts)

    def _find(self, hint: Any, seen: set[Any]) -> None:
        """Record the classes that an annotation reaches, other than those already `seen`."""
        if hint in seen or hint in self._others:
            return
        seen.add(hint)
        if _is_record(hint):
            self._hints[hint] = _hints(hint)
            for inner in self._hints[hint].values():
                self._find(inner, seen)
        for inner in get_args(hint):
            self._find(inner, seen)

    # The functions of a class

    def _writer(self, kind: type) -> Callable[[Any, Writing], str]:
        """Return the function that writes records of a class."""
        if kind is type(None):
            return lambda value, texts: "null"
        fields = [self._writes(hint, f"value.{name}", name) for name, hint in self._hints[kind].items()]
        values = "".join(f",{{{each}}}" for each in fields)
        plain = self._function("value, texts", f"f'''[{self._numbers[kind]}{values}]'''")
        return _sharing(plain) if kind in self._shared else plain

    def _reader(self, number: int) -> Callable[[Any, Reading], Any]:
        """Return the function that reads records of the class with a number."""
        kind = self._kinds[number]
        hints = self._hints[kind]
        names = [f"field{each}" for each in range(len(hints))]
        fields = [self._reads(hint, given, name) for given, (name, hint) in zip(names, hints.items(), strict=True)]
        made = f"{self._named(kind)}({', '.join(fields)})"
        if kind in self._checks:
            made = f"sensible({made}, {self._named(self._checks[kind])})"
        elif [*hints.values()] == [str] and _PATH not in hints:
            key = f"({number}, field0)"
            made = f"texts.made.get({key}) or texts.made.setdefault({key}, {made})"
        return self._function("row, texts", made, f"_, {''.join(f'{each}, ' for each in names)} = row")

    def _function(self, parameters: str, result: str, *lines: str) -> Callable[..., Any]:
        """Return a function with these parameters that runs the lines and returns the expression `result`."""
        made: dict[str, Callable[..., Any]] = {}
        exec("\n ".join((f"def made({parameters}):", *lines, f"return {result}")), self._names, made)
        return made["made"]

    def _named(self, thing: object) -> str:
        """Return the name under which the functions made here see something."""
        name = f"known{len(self._names)}"
        self._names[name] = thing
        return name

    def _writes(self, hint: Any, given: str, name: str = "") -> str:
        """Return the expression that writes the value of the expression `given`, for a field of that name."""
        options, optional = _options(hint)
        if hint in self._others:
            return f"constant({self._named(self._others[hint][0])}({given}), texts)"
        if all(map(_is_record, options)):
            return f"writers[type({given})]({given}, texts)"
        if optional:
            return f'("null" if {given} is None else {self._writes(options[0], given)})'
        if hint is str:
            return f"texts.own({given})" if name == _PATH else f"texts[{given}]"
        if hint in _WRITTEN:
            return f"{_WRITTEN[hint]}({given})"
        if hint in (object, Any):
            return f"constant({given}, texts)"
        if _is_enum(hint):
            return f"constant({given}.value, texts)"
        origin, inner = _container(hint)
        if origin is tuple and Ellipsis not in inner:
            return f"joined([{', '.join(self._writes(each, f'{given}[{n}]') for n, each in enumerate(inner))}])"
        if origin is dict:
            return self._writes(tuple[tuple[inner], ...], f"{given}.items()")  # type: ignore[valid-type]
        if origin is frozenset:
            given = f"sorted({given})"
        return f"joined([{self._writes(inner[0], 'each')} for each in {given}])"

    def _reads(self, hint: Any, given: str, name: str = "") -> str:
        """Return the expression that reads the value of the expression `given`, for a field of that name."""
        options, optional = _options(hint)
        if hint in self._others:
            return f"{self._named(self._others[hint][1])}(constant_of({given}, texts))"
        if all(map(_is_record, options)):
            numbers = {self._numbers[each] for each in options}
            readers = _Made(lambda number: self._readers[number] if number in numbers else _wrong(number))
            read = f"{self._named(readers)}[{given}[0]]({given}, texts)"
            if self._shared and any(each in self._shared for each in options):
                kinds = self._named(frozenset(options))
                read = f"(shared({given}, texts, {kinds}) if type({given}) is int else {read})"
            return f"(None if {given} is None else {read})" if optional else read
        if optional:
            return f"(None if {given} is None else {self._reads(options[0], given)})"
        if hint is str:
            return f"texts.own({given})" if name == _PATH else f"texts[{given}]"
        if hint in _WRITTEN:
            return f"({given} if type({given}) is {hint.__name__} else wrong({given}))"
        if hint in (object, Any):
            return f"constant_of({given}, texts)"
        if _is_enum(hint):
            return f"{self._named(hint)}(constant_of({given}, texts))"
        origin, inner = _container(hint)
        if origin is tuple and Ellipsis not in inner:
            parts = "".join(f"{self._reads(each, f'{given}[{n}]')}, " for n, each in enumerate(inner))
            return f"(({parts}) if len(listed({given})) == {len(inner)} else wrong({given}))"
        each = self._reads(tuple[inner] if origin is dict else inner[0], "each")  # type: ignore[valid-type]
        return f"{origin.__name__}([{each} for each in listed({given})])"


class _Made(dict[Any, Callable[..., Any]]):
    """Functions by key, each made when it is first asked for."""

    def __init__(self, make: Callable[[Any], Callable[..., Any]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Any) -> Callable[..., Any]:
        made = self[key] = self._make(key)
        return made


# What annotations say


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)


def _hints(kind: type) -> dict[str, Any]:
    """Return the annotations of a class, evaluated as `get_type_hints` does plain ones, in a fraction of its time."""
    bases = [get_annotations(base, eval_str=True) for base in kind.__mro__[:0:-1] if is_dataclass(base)]
    return {name: hint for hints in (*bases, get_annotations(kind, eval_str=True)) for name, hint in hints.items()}


def _options(hint: Any) -> tuple[list[Any], bool]:
    """Return what an annotation allows besides None, and whether it allows None."""
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    given = [option for option in options if option is not type(None)]
    return given, len(given) < len(options)


def _container(hint: Any) -> tuple[type, tuple[Any, ...]]:
    """Return the class that holds several values, and their annotations. Raises TypeError for any other."""
    origin = get_origin(hint)
    if origin in (tuple, list, frozenset):
        return origin, get_args(hint)
    if origin is Sequence:
        return tuple, (*get_args(hint), Ellipsis)
    if origin is not None and issubclass(origin, Mapping):
        return dict, get_args(hint)
    raise TypeError(f"{hint} cannot be written")


# What the functions of classes call


def _wrong(value: object) -> NoReturn:
    raise TypeError(f"{value!r} is out of place")


def _sharing(write: Callable[[Any, Writing], str]) -> Callable[[Any, Writing], str]:
    """Return a function that writes each record once, and then its number."""

    def shared(value: Any, texts: Writing) -> str:
        if value not in texts.numbers:
            row = write(value, texts)
            texts.numbers[value] = str(len(texts.rows))
            texts.rows.append(row)
        return texts.numbers[value]

    return shared


def _shared(number: int, texts: Reading, kinds: Container[type]) -> Any:
    """Return the shared record with a number. Raises TypeError if it is not of one of these classes."""
    found = texts.shared[number] if number >= 0 else _wrong(number)
    return found if type(found) in kinds else _wrong(found)


def _sensible(made: T, check: Callable[[T], bool]) -> T:
    return made if check(made) else _wrong(made)


def _listed(value: Any) -> list[Any]:
    return value if type(value) is list else _wrong(value)


def _joined(parts: list[str]) -> str:
    return f"[{','.join(parts)}]"


def _constant(value: Any, texts: Writing) -> str:
    """Return a constant as JSON, with a list for a text, by number, and for what JSON lacks: bytes and long numbers."""
    if type(value) is str:
        return f"[{texts[value]}]"
    if type(value) is bytes:
        return _dumped([value.decode("latin-1")])
    if type(value) is int and abs(value) >= _LONG:
        return _dumped([hex(value), 16])
    if type(value) not in _PLAIN:
        raise TypeError(f"a {type(value).__name__} is no constant")
    return _dumped(value)


def _constant_of(value: Any, texts: Reading) -> Any:
    if type(value) is not list:
        return value if type(value) in _PLAIN else _wrong(value)
    if len(value) > 1:
        return int(*value)
    (given,) = value
    return texts[given] if type(given) is int else given.encode("latin-1")


_dumped = json.JSONEncoder(separators=(",", ":")).encode
_WRITTEN = {int: "integer", bool: "boolean", float: "number"}
_NAMES = {
    "integer": int.__repr__,
    "boolean": {True: "true", False: "false"}.__getitem__,
    "number": _dumped,
    "joined": _joined,
    "constant": _constant,
    "constant_of": _constant_of,
    "listed": _listed,
    "sensible": _sensible,
    "shared": _shared,
    "wrong": _wrong,
}

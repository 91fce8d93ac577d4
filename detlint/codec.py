"""Records of plain data as bytes and back, checked against their annotations when they are read.

A document is JSON: a list of rows, the last of which is the record itself. A row holds the number of a class among
those that the root's annotations reach, then the values of its fields. A record within another is the number of an
earlier row, so equal ones are written once. What is read may come from anybody: it can name no class of its own and
build no cycle, and what does not fit the annotations is an error.
"""

from __future__ import annotations

import enum
import json
import types
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field, is_dataclass
from inspect import get_annotations
from typing import Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

from detlint.records import record

T = TypeVar("T")
_PATH = "path"
_NONE: Mapping[type, Any] = {}
_PLAIN = frozenset((str, int, float, bool, type(None)))
_UNREADABLE = (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError)


class CodecError(Exception):
    """What was read does not fit the annotations, or what is to be written does not."""


@record
class _Document:
    """A document that is being written or read: its rows, or the records that they were read into.

    `path` is the root's, `paths` are those that may stand in the document where the root has none. `numbers` are those
    of the rows by what is in them, `written` those of the records that were written, by identity.
    """

    path: str | None
    paths: Container[str] = ()
    rows: list[Any] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    written: dict[int, int] = field(default_factory=dict)


class _Shape(NamedTuple):
    """How values of one annotation are written and read; those of the class `plain` are written as they are."""

    write: Callable[[Any, _Document], Any]
    read: Callable[[Any, _Document], Any]
    plain: type | None = None


class Codec(Generic[T]):
    """Writes and reads records of one class.

    Where the root has a `path`, so have all records in it, and they take the one under which they are read.
    """

    def __init__(
        self,
        root: type[T],
        checks: Mapping[type, Callable[[Any], bool]] = _NONE,
        others: Mapping[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = _NONE,
    ) -> None:
        """`root` and what its annotations reach are dataclasses.

        `checks` say of records of some classes whether they make sense. `others` are classes that are written and read
        by functions, as plain values. Both may raise as dicts do.
        """
        self._root = root
        self._others = others
        self._hints: dict[type, dict[str, Any]] = {}
        self._known: dict[Any, _Shape] = {}
        self._find(root, set())
        self._kinds = list(self._hints)
        self._numbers = {kind: number for number, kind in enumerate(self._kinds)}
        self._fields = [tuple(hints) for hints in self._hints.values()]
        self._shapes = [tuple(self._shape_of(*each) for each in hints.items()) for hints in self._hints.values()]
        self._writers = [
            tuple((name, shape.plain, shape.write) for name, shape in zip(names, shapes, strict=True))
            for names, shapes in zip(self._fields, self._shapes, strict=True)
        ]
        self._checks = {number: checks[kind] for number, kind in enumerate(self._kinds) if kind in checks}

    def encode(self, value: T) -> bytes:
        """The document of a record. Raises CodecError for what JSON cannot hold."""
        document = _Document(getattr(value, _PATH, None))
        try:
            self._write(value, document)
            return json.dumps(document.rows, separators=(",", ":")).encode("ascii")
        except _UNREADABLE as error:
            raise CodecError(f"it cannot be written: {error}") from error

    def decode(self, content: bytes, path: str | None = None, paths: Container[str] = ()) -> T:
        """The record of a document, as one of `path`, or with no other paths in it than `paths`.

        Raises CodecError for a document that `encode` did not write.
        """
        document = _Document(path, paths)
        try:
            made = document.rows
            fields, shapes, kinds, checks = self._fields, self._shapes, self._kinds, self._checks
            for number, *values in json.loads(content):
                if number < 0 or len(values) != len(fields[number]):
                    raise CodecError("a row is of no class, or has the wrong length")
                given = zip(shapes[number], values, strict=True)
                made.append(kinds[number](*[shape.read(value, document) for shape, value in given]))
                if number in checks and not checks[number](made[-1]):
                    raise CodecError(f"{made[-1]!r} makes no sense")
        except _UNREADABLE as error:
            raise CodecError(f"it cannot be read: {error}") from error
        if not made or type(made[-1]) is not self._root:
            raise CodecError("it is another record")
        return made[-1]

    def _write(self, value: Any, document: _Document) -> int:
        known = document.written.get(id(value))
        if known is not None:
            return known
        number = self._numbers[type(value)]
        row: list[Any] = [number]
        for name, plain, write in self._writers[number]:
            given = getattr(value, name)
            row.append(given if type(given) is plain else write(given, document))
        key = repr(row)  # tells 1, 1.0 and True apart
        place = document.numbers.setdefault(key, len(document.rows))
        if place == len(document.rows):
            document.rows.append(row)
        document.written[id(value)] = place
        return place

    # What annotations say

    def _find(self, hint: Any, seen: set[Any]) -> None:
        """Note the classes that an annotation reaches, beside those that were `seen`."""
        if hint in seen or hint in self._others:
            return
        seen.add(hint)
        if _is_record(hint):
            self._hints[hint] = _hints(hint)
            for inner in self._hints[hint].values():
                self._find(inner, seen)
        for inner in get_args(hint):
            self._find(inner, seen)

    def _shape_of(self, name: str, hint: Any) -> _Shape:
        return _OWN if name == _PATH and hint is str else self._shape(hint)

    def _shape(self, hint: Any) -> _Shape:
        if hint not in self._known:
            self._known[hint] = self._made(hint)
        return self._known[hint]

    def _made(self, hint: Any) -> _Shape:
        options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        given = [option for option in options if option is not type(None)]
        if hint in self._others:
            write, read = self._others[hint]
            return _Shape(lambda value, _: write(value), lambda value, _: read(value))
        if all(map(_is_record, given)):
            return self._reference(frozenset(given), len(given) < len(options))
        if len(given) < len(options):
            return _optional(self._shape(given[0]))
        if hint in (object, Any):
            return _Shape(_write_constant, _read_constant)
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _Shape(lambda value, _: value.value, lambda value, _: hint(value))
        if hint in _PLAIN:
            return _exactly(hint)
        origin, inner = get_origin(hint), get_args(hint)
        shapes = [self._shape(each) for each in inner if each is not Ellipsis]
        if origin is tuple and Ellipsis not in inner:
            return _fixed(shapes)
        if origin in (tuple, list, frozenset, Sequence):
            return _repeated(tuple if origin is Sequence else origin, shapes[0])
        if origin is not None and issubclass(origin, Mapping):
            pairs = _repeated(dict, _fixed(shapes))
            return _Shape(lambda value, document: pairs.write(value.items(), document), pairs.read)
        raise TypeError(f"{hint} cannot be written")

    def _reference(self, kinds: frozenset[type], optional: bool) -> _Shape:
        """A record, by the number of its row."""

        def write(value: Any, document: _Document) -> int | None:
            return None if value is None else self._write(value, document)

        def read(number: Any, document: _Document) -> Any:
            if number is None and optional:
                return None
            made = document.rows[number]
            if type(made) not in kinds:
                raise TypeError(f"a {type(made).__name__} is out of place")
            return made

        return _Shape(write, read, type(None)) if optional else _Shape(self._write, read)


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)


def _hints(kind: type) -> dict[str, Any]:
    """What the annotations of a class mean: for plain ones the same as `get_type_hints`, in a fraction of its time."""
    bases = [get_annotations(base, eval_str=True) for base in kind.__mro__[:0:-1] if is_dataclass(base)]
    return {name: hint for hints in (*bases, get_annotations(kind, eval_str=True)) for name, hint in hints.items()}


def _exactly(kind: type) -> _Shape:
    def check(value: Any, _: _Document) -> Any:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is no {kind.__name__}")
        return value

    return _Shape(check, check, kind)


def _optional(shape: _Shape) -> _Shape:
    return _Shape(
        lambda value, document: None if value is None else shape.write(value, document),
        lambda value, document: None if value is None else shape.read(value, document),
        shape.plain,
    )


def _fixed(shapes: list[_Shape]) -> _Shape:
    """A tuple of so many values."""
    return _Shape(
        lambda values, document: [shape.write(v, document) for shape, v in zip(shapes, values, strict=True)],
        lambda values, document: tuple([s.read(v, document) for s, v in zip(shapes, _listed(values), strict=True)]),
    )


def _repeated(kind: Callable[[list[Any]], Any], shape: _Shape) -> _Shape:
    """A tuple, list, set or the pairs of a mapping, of any length."""
    write, read = shape.write, shape.read
    return _Shape(
        lambda values, document: [
            write(v, document) for v in (sorted(values) if isinstance(values, frozenset) else values)
        ],
        lambda values, document: kind([read(v, document) for v in _listed(values)]),
    )


def _listed(values: Any) -> list[Any]:
    if type(values) is not list:
        raise TypeError(f"{values!r} is no list")
    return values


def _write_constant(value: Any, _: _Document) -> Any:
    """A constant of Python's: bytes, which JSON lacks, are in a list."""
    if type(value) is bytes:
        return [value.decode("latin-1")]
    if type(value) not in _PLAIN:
        raise TypeError(f"a {type(value).__name__} is no constant")
    return value


def _read_constant(value: Any, _: _Document) -> Any:
    if type(value) is list:
        (text,) = value
        return text.encode("latin-1")
    if type(value) not in _PLAIN:
        raise TypeError(f"{value!r} is no constant")
    return value


def _write_own(value: Any, document: _Document) -> str | None:
    if document.path is None:
        return str(value)
    if value != document.path:
        raise ValueError(f"it speaks of another file, {value!r}")
    return None


def _read_own(value: Any, document: _Document) -> str:
    path = document.path if value is None else value
    if type(path) is not str or not (path == document.path or path in document.paths):
        raise ValueError(f"{path!r} is not among its files")
    return path


_OWN = _Shape(_write_own, _read_own)

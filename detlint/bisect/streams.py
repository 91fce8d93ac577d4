"""Traces that are read. They may come from another machine: anything wrong with one is a TraceError of one line."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import zip_longest
from pathlib import Path
from typing import Any

from detlint.bisect.records import VERSION, Draw, End, Event, Flag, Input, Line, Meta, Op, Record, Value
from detlint.bisect.writer import SUFFIX

PHASES = ("forward", "backward", "optimizer")
META = "meta.json"
_LONGEST = 1 << 22  # bytes of a line; an optimizer step with many parameters takes some thousands
_MOST_SYMBOLS = 1 << 22
_LARGEST_SYMBOLS = 1 << 28  # bytes of their lines together
_LARGEST_META = 1 << 22
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,200}")
_DIGEST = re.compile(r"[0-9a-f]{16}|=[^\x00-\x1f]{0,200}|![^\x00-\x1f]{0,200}|")


class TraceError(Exception):
    """Raised if a directory is not a trace, or is damaged. The message says which, and what is wrong."""


class Trace:
    """A trace on disk. Raises TraceError if there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            raise TraceError(f"{path} is no trace: `detlint bisect --out` writes them as folders")
        self.meta = _read_meta(path / META)
        found = {file.name.removesuffix(SUFFIX): file for file in path.glob(f"*{SUFFIX}")}
        self._files = {name: file for name, file in found.items() if _NAME.fullmatch(name)}
        self.names = tuple(sorted(self._files, key=lambda name: (name != "main", _natural(name))))

    def stream(self, name: str) -> Stream:
        """Return a stream by its name. Raises KeyError for an unknown name."""
        return Stream(self._files[name], name)


class Stream:
    """What one thread of one process did, in order."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, which are equal in equal streams, up to where one was cut off. Raises TraceError."""
        try:
            with gzip.open(self.path, "rb") as file:
                yield from _whole_lines(file, self.path)
        except EOFError:  # the process was killed while it wrote
            return
        except (OSError, zlib.error) as error:  # gzip.BadGzipFile is an OSError
            raise TraceError(f"{self.path}: damaged, it cannot be decompressed ({error})") from None

    def records(self, start: int = 0) -> Iterator[Record]:
        """Yield the records in order, from number `start` on; the end is always included if there is one.

        Raises TraceError on reaching a line that does not fit the format.
        """
        reader = _Reader(start)
        for count, line in enumerate(self.lines()):
            try:
                record = reader.read(line, first=count == 0)
            except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError) as error:
                raise TraceError(f"{self.path}: damaged at line {count + 1} ({_reason(error)})") from None
            if record is not None:
                yield record

    def end(self) -> End | None:
        """Return how the stream ended; None if it was cut off."""
        last = b""
        for line in self.lines():
            last = line
        if not last.startswith(b'["z"'):
            return None
        return next((one for one in self.records(start=1 << 60) if isinstance(one, End)), None)


def equal_prefix(a: Stream, b: Stream) -> tuple[int, bool]:
    """Return how many records two streams begin with that are equal to the last bit, and whether these are all."""
    count = 0
    for one, other in zip_longest(a.lines(), b.lines()):
        if one != other:
            return count, False
        count += one.startswith((b'["o"', b'["e"'))
    return count, True


class _Reader:
    """A reader that makes records of the lines of a stream, and holds the symbols."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._number = 0
        self._size = 0
        self._symbols = [""]
        self._lines: list[Line] = []
        self._stacks: list[tuple[Line, ...]] = [()]

    def read(self, line: bytes, first: bool) -> Record | None:
        """Return the record of a line; None if it has none or precedes the start. Raises any error of damaged data."""
        kind = line[2:3]
        if first:
            item = json.loads(line)
            if item != ["v", VERSION]:
                raise ValueError(f"not a trace of version {VERSION}")
            return None
        if kind in b"oe":
            self._number += 1
            if self._number <= self._start:
                return None
        item = json.loads(line)
        if not isinstance(item, list):
            raise ValueError("not a list")
        match item[0]:
            case "s":
                self._grow(self._symbols, _text(item[1]), line)
            case "l":
                cell = None if item[4] is None else _count(item[4])
                self._grow(self._lines, Line(_text(item[1]), _count(item[2]), _text(item[3]), cell), line)
            case "k":
                self._grow(self._stacks, tuple(self._lines[_count(number)] for number in item[1]), line)
            case "o":
                return self._op(*item[1:])
            case "e":
                return self._event(*item[1:])
            case "z":
                return _end(_count(item[1]), item[2])
            case "c":
                if _count(item[1]) != self._number:
                    raise ValueError("records are missing")
            case _:
                raise ValueError("unknown kind")
        return None

    def _grow(self, table: list[Any], item: object, line: bytes) -> None:
        self._size += len(line)
        if len(table) >= _MOST_SYMBOLS or self._size > _LARGEST_SYMBOLS:
            raise ValueError("too many symbols")
        table.append(item)

    def _op(
        self,
        name: int,
        stack: int,
        phase: int,
        node: int,
        inputs: list[list[Any]],
        outputs: list[str],
        scalars: str,
        signature: int,
        draw: int = 0,
        state: str = "",
        device_state: str = "",
    ) -> Op:
        return Op(
            self._number - 1,
            self._symbols[_count(name)],
            self._stacks[_count(stack)],
            PHASES[_count(phase)],
            self._symbols[_count(node)],
            tuple(_input(*one) for one in inputs),
            tuple(_digest(one) for one in outputs),
            _text(scalars),
            self._symbols[_count(signature)],
            Draw(_count(draw)),
            _digest(state),
            _digest(device_state),
        )

    def _event(self, kind: int, what: int, stack: int, digests: list[str], data: dict[str, Value]) -> Event:
        if not isinstance(data, dict) or not all(isinstance(v, (str, int, float, type(None))) for v in data.values()):
            raise ValueError("an event's data")
        return Event(
            self._number - 1,
            self._symbols[_count(kind)],
            self._symbols[_count(what)],
            self._stacks[_count(stack)],
            tuple(_digest(one) for one in digests),
            {key: _plain(value) if isinstance(value, str) else value for key, value in data.items()},
        )


def _input(digest: str = "", producer: int = -1, flags: int = 0, allocation: int = -1, fold: int = 0) -> Input:
    for number in (producer, allocation, fold):
        if type(number) is not int:
            raise ValueError("an input")
    return Input(_digest(digest), producer, Flag(_count(flags)), allocation, fold)


def _end(number: int, data: Mapping[str, Any]) -> End:
    seen = {_text(key): _count(value) for key, value in data["seen"].items()}
    unseen = tuple(_text(one) for one in data["unseen"])
    loaded = tuple(_text(one) for one in data.get("loaded", ()))
    status = data["status"]
    if type(status) is not int:
        raise ValueError("a status")
    return End(number, _text(data["reason"]), status, _text(data["exception"]), seen, unseen, loaded)


def _whole_lines(file: gzip.GzipFile, path: Path) -> Iterator[bytes]:
    while line := file.readline(_LONGEST):
        if not line.endswith(b"\n"):
            if len(line) >= _LONGEST:
                raise TraceError(f"{path}: damaged, a line is longer than {_LONGEST} bytes")
            return  # cut off
        yield line


def _read_meta(path: Path) -> Meta:
    try:
        if path.stat().st_size > _LARGEST_META:
            raise TraceError(f"{path} is too large for what describes a trace")
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            raise TraceError(f"{path}: a trace of version {data['version']}, not {VERSION}; record it again")
        values = {one.name: data[one.name] for one in fields(Meta) if one.name in data}
        for name in ("environment", "final", "start"):
            values[name] = {_text(key): _text(value) for key, value in values[name].items()}
        values["options"] = {_text(key): _option(value) for key, value in values["options"].items()}
        values["argv"] = tuple(_text(one) for one in values["argv"])
        return Meta(**{**values, "folder": _text(values["folder"]), "digest": _text(values["digest"])})
    except OSError as error:
        raise TraceError(f"{path.parent} is no trace: {path.name} cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TraceError(f"{path} does not describe a trace ({_reason(error)})") from None


def _option(value: object) -> Value:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _text(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is expected")
    return _plain(value)


def _plain(text: str) -> str:
    """Return a text without the characters that control a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def _digest(value: object) -> str:
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        raise ValueError("a digest is expected")
    return value


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a number is expected")
    return value


def _reason(error: Exception) -> str:
    words = str(error).partition("\n")[0]
    return words if type(error) is ValueError and words else f"{type(error).__name__}: {words}"[:200]


def _natural(name: str) -> tuple[tuple[str, int], ...]:
    """Return a sort key that puts worker10 after worker9."""
    return tuple((text, int(number or 0)) for text, number in re.findall(r"(\D+)(\d*)", name))

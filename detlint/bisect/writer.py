"""Streams that are written: lines of JSON, compressed in members, so that what precedes a crash can be read.

A line is a list; its first item says what kind of line it is:

    ["v",1]                                             the version of the format, first of all
    ["s",TEXT]                                          a symbol, numbered from 1 in order; 0 is the empty string
    ["l",PATH,LINE,FUNCTION,CELL]                       a line of code, numbered from 0; CELL is null outside notebooks
    ["k",[LINE...]]                                     a stack, innermost line first, numbered from 1; 0 is empty
    ["o",NAME,STACK,PHASE,NODE,[INPUT...],[OUTPUT...],SCALARS,SIGNATURE(,DRAW,STATE,DEVICE_STATE)]
                                                        an operation; an INPUT is
                                                        [DIGEST,PRODUCER,FLAGS,ALLOCATION,FOLD], without trailing items
                                                        that have their default
    ["e",KIND,WHAT,STACK,[DIGEST...],{DATA}]            an event
    ["c",NUMBER,DIGEST]                                 the digest of all bytes before it, after every 1,024 records
    ["z",NUMBER,{...}]                                  the end

NAME, NODE, SIGNATURE, KIND and WHAT are numbers of symbols.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Hashable, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import IO

from detlint.bisect.records import VERSION, Value

CHAIN = 1024  # records
SUFFIX = ".jsonl.gz"
_LATEST = 1.0  # seconds that a record may stay in memory while others are written
_LARGEST = 1 << 18  # bytes of text in a member
_LEVEL = 1  # of compression: 36 bytes an operation; level 6 makes it 27, for several times the time
_DEFAULTS = ('""', "-1", "0", "-1", "0")


class Writer:
    """A stream that one thread writes. `number` is that of the next record."""

    def __init__(self, path: Path) -> None:
        self.number = 0
        self._file: IO[bytes] = path.open("wb", buffering=0)
        self._lines: list[str] = []
        self._size = 0
        self._last = time.monotonic()
        self._chain = hashlib.blake2b(digest_size=8)
        self._symbols: dict[str, int] = {"": 0}
        self._places: dict[tuple[str, int, str, int | None], int] = {}
        self._stacks: dict[tuple[int, ...], int] = {(): 0}
        self._keys: dict[Hashable, int] = {}
        self._add(f'["v",{VERSION}]')

    def symbol(self, text: str) -> int:
        """Return the number that stands for a text from now on."""
        number = self._symbols.get(text)
        if number is None:
            number = self._symbols[text] = len(self._symbols)
            self._add(f'["s",{quoted(text)}]')
        return number

    def known_stack(self, key: Hashable) -> int | None:
        """Return the number of the stack that was given under this key before, or None."""
        return self._keys.get(key)

    def stack(self, key: Hashable, places: Sequence[tuple[str, int, str, int | None]]) -> int:
        """Return the number of a stack of lines (path, line, function, cell), innermost first, given under `key`."""
        numbers = []
        for place in places:
            number = self._places.get(place)
            if number is None:
                number = self._places[place] = len(self._places)
                self._add(_compact(["l", *place]))
            numbers.append(number)
        found = self._stacks.get(tuple(numbers))
        if found is None:
            found = self._stacks[tuple(numbers)] = len(self._stacks)
            self._add(_compact(["k", numbers]))
        self._keys[key] = found
        return found

    def op(
        self,
        name: int,
        stack: int,
        phase: int,
        node: int,
        inputs: Sequence[str],
        outputs: Sequence[str],
        scalars: str,
        signature: int,
        draw: tuple[int, str, str] | None,
    ) -> int:
        """Write an operation, its symbols by number and its inputs as `given` made them; return its number."""
        end = f',{draw[0]},"{draw[1]}","{draw[2]}"]' if draw else "]"
        given, made = ",".join(inputs), ",".join(map(quoted, outputs))
        self._add(
            f'["o",{name},{stack},{phase},{node},[{given}],[{made}],{quoted(scalars)},{signature}{end}',
        )
        return self._next()

    def event(self, kind: str, what: str, stack: int, digests: Sequence[str], data: Mapping[str, Value]) -> int:
        """Write an event; return its number."""
        head = f'["e",{self.symbol(kind)},{self.symbol(what)},{stack}'
        self._add(f"{head},{_compact(list(digests))},{_compact(data)}]")
        return self._next()

    def end(self, data: Mapping[str, object]) -> None:
        """Write the end, and close the stream. Do nothing if it is closed."""
        if not self._file.closed:
            self._add(f'["z",{self.number},{_compact(data)}]')
            self.flush()
            self._file.close()

    def abandon(self) -> None:
        """Discard what is in memory and close the file: it belongs to the process that this one was forked from."""
        self._lines.clear()
        self._file.close()

    def flush(self) -> None:
        """Write what is in memory."""
        if not self._lines or self._file.closed:
            return
        data = "".join(self._lines).encode("ascii")
        self._lines.clear()
        self._size = 0
        self._last = time.monotonic()
        self._chain.update(data)
        member = gzip.compress(data, _LEVEL, mtime=0)
        self._file.write(member)

    def _add(self, line: str) -> None:
        self._lines.append(line + "\n")
        self._size += len(line)

    def _next(self) -> int:
        number = self.number
        self.number += 1
        if self.number % CHAIN == 0:
            self.flush()
            self._add(f'["c",{self.number},"{self._chain.hexdigest()}"]')
        elif self._size > _LARGEST or time.monotonic() - self._last > _LATEST:
            self.flush()
        return number


def given(digest: str, producer: int, flags: int, allocation: int = -1, fold: int = 0) -> str:
    """Return an input as its line has it."""
    if flags == 0 and allocation == -1 and fold == 0:  # nearly all
        return f'["{digest}",{producer}]'
    items = [f'"{digest}"', str(producer), str(flags), str(allocation), str(fold)]
    while items and items[-1] == _DEFAULTS[len(items) - 1]:
        items.pop()
    return f"[{','.join(items)}]"


def _compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True)

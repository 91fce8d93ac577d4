"""The steps of the user's code in one run, read from what `follower.py` wrote. Pure, without torch."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from detlint.bisect.records import Line

SUFFIX = ".steps.gz"


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its digest, "" if nothing is known of it, and its form for people, which `values.shape` gives."""

    digest: str = ""
    trivial: bool = False
    shape: Any = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: its lines, what it calls, and whether it makes a set or returns."""

    line: Line
    last: int
    called: tuple[str, ...] = field(default=(), compare=False)
    makes_set: bool = field(default=False, compare=False)
    returns: bool = field(default=False, compare=False)

    def has(self, line: Line) -> bool:
        """Return whether a line is one of the statement's own."""
        own = self.line
        return own.path == line.path and own.cell == line.cell and own.line <= line.line <= self.last


@dataclass(slots=True)
class Frame:
    """A call of a user's function: the step of frame `outer` that called it, its arguments, and what it returned.

    `returned` lists values, each with the place of the step that returned it, and the number of steps until then.
    """

    number: int
    outer: int
    caller: int
    function: str
    arguments: Mapping[str, Value]
    returned: list[tuple[Value, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Step:
    """A statement that ran. `place` is its place among the steps, `end` that of the next step of its frame.

    `record` is the number of the stream's next record when it began. `read` and `bound` have values by their names in
    the program; `asked` lists the names and details of what it asked for from outside.
    """

    place: int
    statement: Statement
    frame: Frame
    record: int
    read: Mapping[str, Value]
    bound: Mapping[str, Value] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    end: int = -1
    raised: str = ""


@dataclass(slots=True)
class Steps:
    """The steps of a stream. `bound` says why following stopped early, or is ""."""

    steps: list[Step] = field(default_factory=list)
    frames: dict[int, Frame] = field(default_factory=dict)
    bound: str = ""

    def branches(self) -> set[Statement]:
        """Return the statements after which their function continued in more than one way."""
        ways: dict[Statement, set[Statement | None]] = {}
        for step in self.steps:
            after = self.steps[step.end] if 0 <= step.end < len(self.steps) else None
            same = after is not None and after.frame is step.frame
            ways.setdefault(step.statement, set()).add(after.statement if same and after is not None else None)
        return {statement for statement, found in ways.items() if len(found) > 1}


def read(path: Path) -> Steps:
    """Read the steps of a stream; empty if it was not followed. A file that was cut off just ends early."""
    found = _Reader()
    for data in _lines(path):
        found.take(data)
    found.found.bound = found.bound
    for last in found.last.values():
        if last.end < 0:
            last.end = len(found.found.steps)
    return found.found


class _Reader:
    def __init__(self) -> None:
        self.found = Steps()
        self.bound = ""
        self.last: dict[int, Step] = {}  # by frame
        self._values: dict[int, Value] = {0: Value()}
        self._statements: dict[int, Statement] = {}
        self._steps: dict[int, Step] = {}
        self._giving: dict[int, Step] = {}  # by frame, the last `return`: leaving a context may follow it

    def take(self, data: list[Any]) -> None:
        """Read one line."""
        match data:
            case ["v", number, digest, trivial, shape]:
                self._values[number] = Value(digest, trivial, shape)
            case ["t", number, [path, first, last, function, cell], called, makes_set, returns]:
                line = Line(path, first, function, cell)
                self._statements[number] = Statement(line, last, tuple(called), makes_set, returns)
            case ["p", number, outer, step, function, arguments]:
                caller = self._steps[step].place if step in self._steps else -1
                self.found.frames[number] = Frame(number, outer, caller, function, self._named(arguments))
            case ["b", number, statement, frame, record, values]:
                self._begin(number, statement, frame, record, values)
            case ["e", number, values] if number in self._steps:
                self._steps[number].bound = self._named(values)
            case ["r", frame, value] if frame in self.last:
                place = self._giving.get(frame, self.last[frame]).place
                self.last[frame].end = len(self.found.steps)
                self.found.frames[frame].returned.append((self._values[value], place, len(self.found.steps)))
            case ["x", frame, kind] if frame in self.last:
                self.last[frame].raised = kind
                self.last[frame].end = len(self.found.steps)
            case ["s", number, name, detail] if number in self._steps:
                self._steps[number].asked.append((name, detail))
            case ["z", reason]:
                self.bound = reason

    def _begin(self, number: int, statement: int, frame: int, record: int, values: Mapping[str, int]) -> None:
        steps = self.found.steps
        step = Step(len(steps), self._statements[statement], self.found.frames[frame], record, self._named(values))
        if frame in self.last:
            self.last[frame].end = step.place
        self.last[frame] = self._steps[number] = step
        if step.statement.returns:
            self._giving[frame] = step
        steps.append(step)

    def _named(self, values: Mapping[str, int]) -> dict[str, Value]:
        return {name: self._values[number] for name, number in values.items()}


def _lines(path: Path) -> Iterator[list[Any]]:
    try:
        with gzip.open(path, "rt", encoding="ascii") as file:
            for line in file:
                yield json.loads(line)
    except (OSError, EOFError, zlib.error, ValueError):
        return

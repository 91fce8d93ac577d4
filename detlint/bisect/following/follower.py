"""One thread of the user's code, followed statement by statement: what each reads before it runs and binds after it.

It is written as lines of JSON, which `steps.py` reads:

    ["t",NUMBER,[PATH,FIRST,LAST,FUNCTION,CELL],[CALLED...],SET,RETURNS]
                                                                     a statement, and the names of what it calls
    ["v",NUMBER,DIGEST,TRIVIAL,SHAPE]                                a value
    ["p",FRAME,OUTER,STEP,FUNCTION,{NAME:VALUE}]                     a frame begins in a step, with its arguments
    ["b",STEP,STATEMENT,FRAME,RECORD,{PATH:VALUE}]                   a step begins, before record RECORD of the stream
    ["e",STEP,{PATH:VALUE}]                                          a step ends: what it bound or changed
    ["r",FRAME,VALUE]                                                a frame returns or yields a value
    ["x",FRAME,TYPE]                                                 an exception leaves a frame
    ["s",STEP,NAME,DETAIL]                                           a step asks for something from outside
    ["z",REASON]                                                     following ends

VALUE 0 stands for an object about which nothing is known.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from detlint.bisect.following import statements, values
from detlint.bisect.following.statements import MISSING, Statement

SUFFIX = ".steps.gz"
_THOROUGH = 64  # runs of a statement in which large values are digested too
_OFTEN = 3000  # runs of a statement that are followed
_ASKED = 2  # runs of a statement in which its calls are examined
_MOST = 400_000  # steps
_SECONDS = 30.0
_LARGEST = 1 << 18  # bytes of text in a gzip member
_MOST_VALUES = 200_000
_CODE = (ModuleType, FunctionType, BuiltinFunctionType, type)
_MOST_CALLS = 100_000  # calls examined in one step


@dataclass(slots=True)
class _Frame:
    number: int
    code: CodeType
    step: int = -1
    statement: Statement | None = None
    watched: tuple[tuple[statements.Path, str], ...] = ()  # what a call may change, with its digest before
    raised: str = ""


class Follower:
    """The follower of a thread. `place` gives path and cell of a code object, `record` the stream's next number."""

    def __init__(
        self,
        path: Path,
        place: Callable[[CodeType], tuple[str, int | None]],
        record: Callable[[], int],
        watched: frozenset[str],
    ) -> None:
        self.done = False
        self._file = path.open("wb", buffering=0)
        self._place = place
        self._record = record
        self._names = watched
        self._lines: list[str] = []
        self._size = 0
        self._values: dict[str, int] = {}
        self._files: dict[str, dict[int, Statement]] = {}
        self._stack: list[_Frame] = []
        self._suspended: dict[int, _Frame] = {}
        self._frames = self._steps = self._statements = 0
        self._asking = False
        self._calls = 0
        self._asked: set[tuple[int, str, str]] = set()
        self._spent = 0.0

    # what happens in the program

    def enter(self, frame: FrameType, resumed: bool = False) -> None:
        """Record that a frame of the user's code begins, or resumes after a yield."""
        begun = time.perf_counter()
        known = self._suspended.get(id(frame)) if resumed else None
        if known is not None and known.code is frame.f_code:
            self._stack.append(known)
            return
        self._frames += 1
        made = _Frame(self._frames, frame.f_code)
        outer = self._stack[-1] if self._stack else None
        names = _parameters(frame.f_code)
        given = {name: self._value(statements.value(frame, (name,)), True) for name in names}
        self._add(
            [
                *("p", made.number, outer.number if outer else 0, outer.step if outer else -1, frame.f_code.co_name),
                {name: number for name, number in given.items() if number},
            ]
        )
        self._stack.append(made)
        if frame.f_code.co_flags & 0x2A0:  # a generator or a coroutine
            self._suspended[id(frame)] = made
        self._spent += time.perf_counter() - begun

    def line(self, frame: FrameType, number: int) -> None:
        """End the previous statement of a frame, and begin the one whose line is about to run. Stop at the limits."""
        found = self._statement(frame.f_code, number)
        known = self._stack[-1] if self._stack else None
        while known is not None and known.code is not frame.f_code:
            self._stack.pop()
            known = self._stack[-1] if self._stack else None
        if known is None:
            self.enter(frame)
            known = self._stack[-1]
        known.raised = ""
        if found is known.statement:
            return
        begun = time.perf_counter()
        self._end(frame, known)
        if found is not None and found.count < _OFTEN:
            self._begin(frame, known, found)
        else:
            known.statement, known.step = found, -1
        self._spent += time.perf_counter() - begun
        if self._steps > _MOST or self._spent > _SECONDS:
            self.stop(f"{_MOST:,} steps" if self._steps > _MOST else f"{_SECONDS:g} s of following")

    def leave(self, frame: FrameType, given: Any, yields: bool = False) -> None:
        """Record that a frame returns or yields a value, or is left by an exception."""
        begun = time.perf_counter()
        known = self._top(frame)
        if known is None:
            return
        if not yields:
            self._end(frame, known)
        if known.raised:
            self._add(["x", known.number, known.raised])
        else:
            self._add(["r", known.number, self._value(given, True)])
        if not yields:
            known.statement, known.step = None, -1
            self._suspended.pop(id(frame), None)
        self._stack.pop()
        self._ask(self._stack[-1] if self._stack else None)
        self._spent += time.perf_counter() - begun

    def raised(self, frame: FrameType, kind: str) -> None:
        """Note that an exception passes through a frame."""
        known = self._top(frame)
        if known is not None:
            known.raised = kind

    def asked(self, name: str, detail: str = "") -> None:
        """Record that the current step, unless it imports, asks for something from outside."""
        known = next((one for one in reversed(self._stack) if one.step >= 0), None)
        if known is None or self.done or known.statement is None or known.statement.imports:
            return
        if (known.step, name, detail) not in self._asked:
            self._asked.add((known.step, name, detail))
            self._add(["s", known.step, name, detail])

    def stop(self, reason: str = "") -> None:
        """Stop following, and write what was collected."""
        if self.done:
            return
        self.done = True
        if self._asking:
            sys.setprofile(None)
        self._add(["z", reason])
        self._flush()
        self._file.close()

    def abandon(self) -> None:
        """Discard what is in memory: it belongs to the process that this one was forked from."""
        self.done = True
        self._lines.clear()
        self._file.close()

    # steps

    def _top(self, frame: FrameType) -> _Frame | None:
        while self._stack and self._stack[-1].code is not frame.f_code:
            self._stack.pop()
        return self._stack[-1] if self._stack else None

    def _statement(self, code: CodeType, line: int) -> Statement | None:
        name = code.co_filename
        known = self._files.get(name)
        if known is None:
            known = self._files[name] = statements.of_file(name)
        return known.get(line)

    def _begin(self, frame: FrameType, known: _Frame, found: Statement) -> None:
        self._steps += 1
        found.count += 1
        thorough = found.count <= _THOROUGH
        if found.number < 0:
            self._statements += 1
            found.number = self._statements
            called = [name for one in found.calls if (name := statements.called(frame, one))]
            file, cell = self._place(frame.f_code)
            place = [file, found.first, found.last, getattr(frame.f_code, "co_qualname", frame.f_code.co_name), cell]
            self._add(["t", found.number, place, called, found.makes_set, found.returns])
        known.statement, known.step = found, self._steps
        read: dict[str, int] = {}
        watched: list[tuple[statements.Path, str]] = []
        for whole in found.reads:
            path, value = statements.reached(frame, whole)
            if value is MISSING:
                continue
            number, digest = self._known(value, thorough)
            if number or not isinstance(value, _CODE):
                read[statements.text(path)] = number
            if found.calls and values.is_mutable(value):
                watched.append((path, digest))
        known.watched = tuple(watched)
        self._add(["b", self._steps, found.number, known.number, self._record(), read])
        self._ask(known)

    def _end(self, frame: FrameType, known: _Frame) -> None:
        found = known.statement
        if found is None or known.step < 0:
            return
        thorough = found.count <= _THOROUGH
        bound: dict[str, int] = {}
        for path in found.writes:
            value = statements.value(frame, path)
            if value is not MISSING:
                bound[statements.text(path)] = self._value(value, thorough)
        for path, before in known.watched:
            text = statements.text(path)
            if text not in bound:
                number, digest = self._known(statements.value(frame, path), thorough)
                if digest != before:
                    bound[text] = number
        if bound:
            self._add(["e", known.step, bound])

    def _ask(self, known: _Frame | None) -> None:
        """Profile the calls of a statement in its first runs; otherwise turn profiling off."""
        found = known.statement if known is not None else None
        asking = found is not None and found.count <= _ASKED and bool(found.calls or found.reads) and not self.done
        self._calls = 0
        if asking != self._asking:
            self._asking = asking
            sys.setprofile(self._profile if asking else None)

    def _profile(self, frame: FrameType, event: str, arg: Any) -> None:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            self._ask(None)
        elif event == "c_call":
            if arg.__name__ in self._names and arg.__module__ != "builtins" and not _is_own(frame):
                self.asked(statements.qualified(arg))
        elif event == "call":
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            if name == "_Environ.__getitem__":
                key = frame.f_locals.get("key")
                value = statements.value(frame, ("self", f"[{key!r}")) if isinstance(key, str) else MISSING
                value = "not set" if value is MISSING else value
                if not _is_own(frame.f_back):
                    self.asked("os.environ", f"{key}={value}"[:200])
            elif code.co_name in self._names:
                self.asked(f"{frame.f_globals.get('__name__')}.{name}")

    # writing

    def _value(self, value: Any, thorough: bool) -> int:
        return self._known(value, thorough)[0]

    def _known(self, value: Any, thorough: bool) -> tuple[int, str]:
        if value is MISSING:
            return 0, ""
        digest = values.digest(value, thorough) or values.noted(value)
        if not digest:
            return 0, ""
        number = self._values.get(digest)
        if number is None:
            if len(self._values) >= _MOST_VALUES:
                return 0, digest
            number = self._values[digest] = len(self._values) + 1
            self._add(["v", number, digest, values.is_trivial(value), values.shape(value)])
        return number, digest

    def _add(self, data: list[Any]) -> None:
        text = json.dumps(data, separators=(",", ":"))
        self._lines.append(text + "\n")
        self._size += len(text)
        if self._size > _LARGEST:
            self._flush()

    def _flush(self) -> None:
        if not self._file.closed:
            self._file.write(gzip.compress("".join(self._lines).encode("ascii"), 1, mtime=0))
        self._lines.clear()
        self._size = 0


def _is_own(frame: FrameType | None) -> bool:
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("detlint.bisect")


def _parameters(code: CodeType) -> tuple[str, ...]:
    if code.co_name == "<module>":
        return ()
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]

"""A fix that is ended at each call by which it writes, for `tests/test_killed.py`; run as a script in a project's folder, with the name of a file.

Prints as lines of JSON the states before and after, the calls and those of them that Python itself tells of, then what
each end left behind. An end after one call is one before the next.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from detlint import catalogue, config, fixing

CALLS = "open write fsync close chmod chown setxattr link rename replace unlink remove truncate ftruncate mkdir rmdir".split()
TOLD = {"link", "rename", "replace", "unlink", "remove", "chmod", "chown", "setxattr", "mkdir", "rmdir", "truncate"}
_EVENTS = {
    "os.link",
    "os.rename",
    "os.remove",
    "os.chmod",
    "os.chown",
    "os.setxattr",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
}


class Killer:
    """Counts calls, and ends the process at one: before it, after it, or for a write in the middle."""

    def __init__(self, at: int = -1, when: str = "before") -> None:
        self._at, self._when = at, when
        self._busy = False
        self.calls: list[str] = []
        self.events: list[str] = []

    def begin(self) -> None:
        for name in CALLS:
            if hasattr(os, name):
                setattr(os, name, self._wrapped(name, getattr(os, name)))
        sys.addaudithook(self._hear)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if event in _EVENTS or writes:
            self.events.append(event)

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            if name == "open" and not given[1] & (os.O_WRONLY | os.O_RDWR):
                return call(*given, **named)
            number = len(self.calls)
            self.calls.append(name)
            if number == self._at and self._when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            if number == self._at and self._when == "within":
                if name == "write":
                    call(given[0], given[1][: len(given[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            found = call(*given, **named)
            if number == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return counted


def fixed() -> fixing.Fixed:
    settings = config.for_paths([Path()])
    torch = config.target_torch("", settings.root, catalogue.load())
    return fixing.fix_paths([Path()], settings, torch, unsafe=True, jobs=1)


def state() -> dict[str, str]:
    return {
        path.as_posix(): path.read_bytes().decode("latin-1") for path in sorted(Path().rglob("*")) if path.is_file()
    }


def restore(before: dict[str, str]) -> None:
    for name in state().keys() - before.keys():
        Path(name).unlink()
    for name, text in before.items():
        Path(name).write_bytes(text.encode("latin-1"))


def forked(do: Callable[[], None]) -> int:
    """How a copy of this process ends that does something."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        do()
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def counting() -> None:
    """All of it, to its end, and what it took."""
    killer = Killer()
    made = fixed()
    killer.begin()
    assert made.files.write(made.outcome.changes) == {}
    told = json.dumps({"counted": killer.calls, "told": killer.events})
    Path(sys.argv[1]).write_text(told)


def again() -> None:
    """What another run does with what was left."""
    made = fixed()
    assert made.files.write(made.outcome.changes) == {}


def main() -> None:
    before = state()
    made = fixed()
    assert forked(counting) == 0
    after = state()
    told = json.loads(Path(sys.argv[1]).read_text())
    calls = told["counted"]
    print(json.dumps({"before": before, "after": after} | told))
    restore(before)
    for number, name in enumerate(calls):
        for when in ("before", *["within"] * (name == "write"), *["after"] * (number == len(calls) - 1)):

            def write(number: int = number, when: str = when) -> None:
                Killer(number, when).begin()
                made.files.write(made.outcome.changes)

            assert forked(write) == -signal.SIGKILL, f"{when} {name}"
            left = state()
            status = forked(again)
            print(json.dumps({"call": number, "when": when, "left": left, "status": status, "then": state()}))
            restore(before)


if __name__ == "__main__":
    main()

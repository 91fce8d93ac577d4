"""The process in which a program is recorded: `python -m detlint.bisect.recorded.child OUT OPTIONS COMMAND...`.

The program is entered as python would enter it. Nothing that it may configure is imported before it is: neither torch
nor numpy.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from detlint.bisect.options import Options
from detlint.bisect.recorded import programs
from detlint.bisect.recorded.installing import install
from detlint.bisect.recorded.session import Session


def main(argv: list[str]) -> None:
    """Record the program of a command line."""
    folder, options, command = Path(argv[0]), Options.load(argv[1]), argv[2:]
    rank = os.environ.get("RANK", "")
    program = programs.find(command, lambda script: _for_ranks(argv[:2], script))
    held = Session(folder, options, f"rank{rank}" if rank.isdecimal() else "", command)
    install(held)
    atexit.register(held.finish)  # the first to be registered is the last to be called, when threads have ended
    end_with(held)
    try:
        program()
    except SystemExit as error:
        held.ended(error)
        raise
    except BaseException as error:
        held.ended(error)
        trace = error.__traceback__
        while trace is not None and Path(trace.tb_frame.f_code.co_filename).parent == Path(__file__).parent:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        sys.exit(held.status)


def end_with(held: Session) -> None:
    """Have the record end with the process where that is told to end, unless the program has its own way to."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        end = _terminated(held)
        signal.signal(signal.SIGTERM, end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: _unhandled(end))


def _terminated(held: Session) -> Callable[[int, FrameType | None], None]:
    def end(number: int, frame: FrameType | None) -> None:
        held.status = 128 + number
        held.finish("signal")
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return end


def _unhandled(end: Callable[[int, FrameType | None], None]) -> None:
    """Have a forked process end as it would: one that waits for a lock as it is told to may never come to a handler."""
    if signal.getsignal(signal.SIGTERM) is end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _for_ranks(own: list[str], script: list[str]) -> list[str]:
    """The arguments of a launcher of ranks, changed so that each rank is recorded."""
    return ["-m", "detlint.bisect.recorded.child", *own, *script]


if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):  # of Python 3.11 on
        sys.path.pop(0)  # the working folder, which `-m` puts there; the program's own comes
    main(sys.argv[1:])

"""The process in which a program is recorded: `python -m detlint.bisect.recorded.child OUT OPTIONS COMMAND...`.

The program is started as Python would start it. Nothing that it may configure is imported before it: neither
torch nor numpy.
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
    """Record the program that a command line names."""
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
    """Finish the record when SIGTERM ends the process, unless the program has its own handler."""
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
    """Restore the default action in a forked process: one that waits for a lock may never get to run a handler."""
    if signal.getsignal(signal.SIGTERM) is end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _for_ranks(own: list[str], script: list[str]) -> list[str]:
    """Return the arguments of a rank launcher, changed so that each rank is recorded."""
    return ["-m", "detlint.bisect.recorded.child", *own, *script]


if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):  # from Python 3.11 on
        sys.path.pop(0)  # the working folder, put there by `-m`; the program adds its own
    main(sys.argv[1:])

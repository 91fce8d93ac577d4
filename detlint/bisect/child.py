"""The process in which a program is recorded: `python -m detlint.bisect.child OUT OPTIONS COMMAND...`.

The program is entered as python would enter it. Nothing that it may configure is imported before it is: neither torch
nor numpy.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from detlint.bisect import hooks_host, hooks_process, programs, watch
from detlint.bisect.options import Options
from detlint.bisect.session import Session, seed_python


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
        note(held, error)
        raise
    except BaseException as error:
        note(held, error)
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


def leave() -> None:
    """Let this thread go on unrecorded: its session has ended."""
    recorder: Any = sys.modules.get("detlint.bisect.recorder")
    if recorder is not None:
        recorder.leave()


def install(held: Session) -> None:
    """Watch what the session records, in the process that it belongs to."""
    seed_python(held.options)
    hooks_host.install_python()
    hooks_process.install()
    watch.after_import("numpy", lambda: _with_numpy(held))
    watch.after_import("torch.utils.data.dataloader", _with_loaders)
    watch.after_import("torch", lambda: _with_torch(held))
    if held.options.steps:
        from detlint.bisect.tracing import Tracing

        held.steps = Tracing(held)
        held.steps.begin()


def note(held: Session, error: BaseException) -> None:
    """Take down how a program ended."""
    if isinstance(error, SystemExit):
        held.status = error.code if isinstance(error.code, int) else int(error.code is not None)
        return
    held.status = 130 if isinstance(error, KeyboardInterrupt) else 1
    held.exception = f"{type(error).__name__}: {error}".partition("\n")[0][:300]


def _with_numpy(held: Session) -> None:
    import numpy.random

    from detlint.bisect import digests

    if held.options.seed_numpy is not None:
        numpy.random.seed(held.options.seed_numpy)
    held.began("numpy", digests.numpy_state())
    hooks_host.install_numpy()


def _with_loaders() -> None:
    from detlint.bisect import hooks_loader

    hooks_loader.install()


def _with_torch(held: Session) -> None:
    import torch

    from detlint.bisect import compiling, hooks_torch, keeping, recorder

    options = held.options
    if options.seed_torch is not None:
        torch.manual_seed(options.seed_torch)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    held.began("torch", hooks_torch.state())
    held.keeper = keeping.Keeper.of(options)
    hooks_torch.install()
    compiling.install()
    held.describe()
    if options.level == "op":
        recorder.enter()
        if threading.current_thread() is not threading.main_thread():
            held.unseen["operations of the main thread, since another one imported torch"] = None


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
    return ["-m", "detlint.bisect.child", *own, *script]


if __name__ == "__main__":
    if not getattr(sys.flags, "safe_path", False):  # of Python 3.11 on
        sys.path.pop(0)  # the working folder, which `-m` puts there; the program's own comes
    main(sys.argv[1:])

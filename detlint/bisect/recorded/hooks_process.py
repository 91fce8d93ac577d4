"""Threads and processes that the program starts, recorded in streams of their own."""

from __future__ import annotations

import inspect
import multiprocessing.process
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from detlint.bisect.lines import caller
from detlint.bisect.options import Options
from detlint.bisect.recorded import session
from detlint.bisect.recorded.patching import replace

_UNSEEN = ("_pin_memory_loop", "_feed")  # threads that pass batches on, in order of arrival
_THREAD_POOLS = ("concurrent.futures.thread", "multiprocessing.dummy")
_PROCESS_POOLS = ("concurrent.futures.process", "multiprocessing.pool")
_forks_watched = False


def install(begin: Callable[[session.Session], None]) -> None:
    """Watch threads, processes, forks and `os._exit`; `begin` has a started process recorded."""
    global _forks_watched
    replace(threading.Thread, "start", _thread_start)
    replace(multiprocessing.process.BaseProcess, "start", lambda original: _process_start(original, begin))
    replace(os, "_exit", _exit)
    if not _forks_watched and hasattr(os, "register_at_fork"):
        _forks_watched = True
        os.register_at_fork(after_in_child=_forked)


def _forked() -> None:
    held = session.active()
    if held is not None:
        held.forget()


def _exit(original: Callable[..., Any]) -> Callable[..., Any]:
    def _exit(status: int) -> Any:
        held = session.active()
        if held is not None:
            held.status = status
            held.finish()
        return original(status)

    return _exit


def _thread_start(original: Callable[..., None]) -> Callable[..., None]:
    def start(self: threading.Thread) -> None:
        held = session.active()
        target = getattr(self, "_target", None)
        frame = caller()
        aside = held is None or (held.lines.is_aside(frame) and not _is_pool(frame, _THREAD_POOLS))
        if held is not None and not aside and getattr(target, "__name__", "") not in _UNSEEN and not self.is_alive():
            pool = _is_pool(frame, _THREAD_POOLS)
            name = held.next_started("pool" if pool else "thread")
            if not pool:  # a pool starts as many as it needs, which depends on timing
                held.event("thread", name, frame)
            run = self.run
            self.run = lambda: _in_thread(name, run)  # type: ignore[method-assign]
        original(self)

    return start


def _is_pool(frame: FrameType | None, pools: tuple[str, ...]) -> bool:
    """Return whether a pool of the standard library starts a thread or process, for the program's own tasks."""
    return frame is not None and frame.f_globals.get("__name__") in pools


def _in_thread(name: str, run: Callable[[], Any]) -> Any:
    held = session.active()
    if held is None:
        return run()
    held.name_thread(name)
    try:
        if held.steps is not None:
            held.steps.begin()
        recorder = sys.modules.get("detlint.bisect.recorded.recorder")
        if recorder is None or held.options.level != "op":
            return run()
        with recorder.Recorder():
            return run()
    finally:
        held.end_thread()


def _process_start(original: Callable[..., None], begin: Callable[[session.Session], None]) -> Callable[..., None]:
    def start(self: Any) -> None:
        held = session.active()
        if held is not None:
            frame = caller()
            pool = _is_pool(frame, _PROCESS_POOLS)
            name = _worker_name(held, self) or held.next_started("pool" if pool else "process")
            if not pool:
                held.event("process", name, frame)
            self.run = Started(self.run, begin, str(held.folder), held.options, name, held.cwd)
        try:
            original(self)
        finally:
            if held is not None:
                self.__dict__.pop("run", None)

    return start


def _worker_name(held: session.Session, process: Any) -> str:
    """Return the name of a data loader's worker; "" for other processes."""
    target: Any = getattr(process, "_target", None)
    if getattr(target, "__name__", "") != "_worker_loop":
        return ""
    bound = inspect.signature(target).bind(*process._args, **process._kwargs)
    return f"{held.label('loader', held.seen['loader'] - 1)}.worker{bound.arguments.get('worker_id', 0)}"


class Started:
    """What a process runs: the program's own function, recorded. It can be pickled if the function can."""

    def __init__(
        self,
        run: Callable[[], Any],
        begin: Callable[[session.Session], None],
        folder: str,
        options: Options,
        name: str,
        cwd: str,
    ) -> None:
        self._run = run
        self._begin = begin
        self._folder = folder
        self._options = options
        self._name = name
        self._cwd = cwd

    def __call__(self) -> Any:
        """Run the function in this process, and record it."""
        held = session.Session(Path(self._folder), self._options, self._name, cwd=self._cwd)
        self._begin(held)
        try:
            return self._run()
        except BaseException as error:
            held.ended(error)
            raise
        finally:
            held.finish()

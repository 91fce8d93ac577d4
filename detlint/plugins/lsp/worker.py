"""The thread that analyses: one thing after the other, so that what it keeps needs no locks."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

_STACK = 256 * 2**20  # bytes, of addresses alone: parsers need a deep stack, and macOS and Windows give threads little
_REST = 3.0  # seconds without a task before memory is tidied
_OFTEN = 20  # tasks after which it is in any case
_T = TypeVar("_T")


class Worker:
    """A thread of its own. It does not keep the process alive: an editor that closes does not wait for an analysis."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        before = threading.stack_size(_STACK)
        try:
            threading.Thread(target=self._work, name="analysis", daemon=True).start()
        finally:
            threading.stack_size(before)

    async def do(self, task: Callable[[], _T]) -> _T:
        """What `task` returns or raises, once those that were given before it are done."""
        future: Future[_T] = Future()
        self._tasks.put((future, task))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        done = 0  # tasks since the last search for garbage, which an analysis makes and does without
        while True:
            try:
                future, task = self._tasks.get(timeout=_REST if done else None)
            except Empty:
                gc.collect()
                done = 0
                continue
            done += 1
            if done > _OFTEN:
                gc.collect()
                done = 1
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(task())
            except BaseException as error:
                future.set_exception(error)

"""The thread that analyses: it does one task after another, so that the analysis needs no locks."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

_STACK = 256 * 2**20  # bytes of address space: parsers need a deep stack, and threads get little on macOS and Windows
_REST = 3.0  # seconds without a task before garbage is collected
_OFTEN = 20  # tasks after which it is collected in any case
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
        """Run `task` after those given before it, and return or raise what it does."""
        future: Future[_T] = Future()
        self._tasks.put((future, task))
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        done = 0  # tasks since the last collection of garbage; an analysis makes some, and runs without collecting
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

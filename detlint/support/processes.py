"""Work distributed over processes of this computer. A process that dies loses only the item it was working on."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_SAFE_PATH = "PYTHONSAFEPATH"
_GARBAGE = 250_000  # possibly dead objects: about 25 MB


def usable_cores() -> int:
    """Return how many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forks() -> bool:
    """Return whether a new process is a cheap copy of this one: on Linux, while there is one thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def spread(
    work: Callable[[T], R], batches: Iterable[Sequence[T]], jobs: int, once: bool = False
) -> Iterator[tuple[T, R | None]]:
    """Yield each item with the result of `work`, computed in one of `jobs` processes, as they finish.

    The result is None if the item ended its process. The items of a batch are sent together; if one ends its process,
    they are redone one by one. Items and results are pickled. With `once`, a process does one batch and ends, which
    frees all the memory that it has taken.
    """
    waiting = deque(batches)
    started: list[_Worker[T, R]] = []
    busy: dict[Connection, _Worker[T, R]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                started.append(_Worker(work))
                started[-1].give(waiting.popleft(), busy)
            done: list[tuple[T, R | None]] = []
            for connection in wait(list(busy)):
                worker = busy.pop(connection)  # type: ignore[call-overload]
                batch, results = worker.batch, worker.results()
                if results is None:
                    if len(batch) == 1:
                        done.append((batch[0], None))
                    else:
                        waiting.extendleft([item] for item in reversed(batch))
                    continue
                if once:
                    worker.end()
                elif waiting:
                    worker.give(waiting.popleft(), busy)
                done += zip(batch, results, strict=True)
            yield from done
    finally:
        for worker in started:
            worker.end()


class _Worker(Generic[T, R]):
    """A process that does one batch after another."""

    def __init__(self, work: Callable[[T], R]) -> None:
        here, there = Pipe()
        with _without_own_folder():
            context: Any = get_context("fork" if forks() else "spawn")
            self._process = context.Process(target=_serve, args=(work, there, here), daemon=True)
            self._process.start()
        there.close()
        self._connection = here
        self.batch: Sequence[T] = ()

    def give(self, batch: Sequence[T], busy: dict[Connection, _Worker[T, R]]) -> None:
        """Start the process on a batch."""
        self.batch = batch
        busy[self._connection] = self
        with suppress(OSError):  # it has ended: `results` will report that
            self._connection.send(batch)

    def results(self) -> Sequence[R] | None:
        """Return the results of the batch; None if the process has ended."""
        try:
            found: Sequence[R] = self._connection.recv()
        except (EOFError, OSError):
            return None
        return found

    def end(self) -> None:
        """Terminate the process, even in the middle of a batch."""
        self._connection.close()
        self._process.terminate()
        self._process.join()


def _serve(work: Callable[[Any], Any], connection: Connection, other: Connection) -> None:
    """Do one batch after another until the process that sends them is gone."""
    other.close()  # an open copy of the other end would keep this process waiting forever
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that sends the batches handles it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the parent may have a handler of its own
    gc.disable()
    gc.freeze()
    with suppress(EOFError, OSError):
        while True:
            results = []
            for item in connection.recv():
                results.append(work(item))
                if gc.get_count()[0] > _GARBAGE:  # between two files nearly all are dead: the time to look
                    gc.collect()
            connection.send(results)


@contextmanager
def _without_own_folder() -> Iterator[None]:
    """Keep the folder in which detlint runs off the path of new processes: a file there may be called enum.py.

    Python 3.10 does not support the variable.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before

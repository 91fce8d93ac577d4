"""Work shared out to processes of this computer. A process that ends costs the item that it was at, and no more."""

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
_GARBAGE = 250_000  # objects that may be dead: about 25 MB


def usable_cores() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def forks() -> bool:
    """Whether a new process is a copy of this one, which takes no time: on Linux, while there is one thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def spread(
    work: Callable[[T], R], batches: Iterable[Sequence[T]], jobs: int, once: bool = False
) -> Iterator[tuple[T, R | None]]:
    """Each item with what `work` makes of it in one of `jobs` processes, as they are done.

    None stands for what ended its process. The items of a batch travel together; those of one that ends its process
    are done again one by one. What goes to a process and comes back is pickled. With `once`, a process does one batch
    and ends, with all the memory that it has taken.
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
    """A process that does batch after batch."""

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
        """Start it on a batch."""
        self.batch = batch
        busy[self._connection] = self
        with suppress(OSError):  # it has ended: the answer will tell
            self._connection.send(batch)

    def results(self) -> Sequence[R] | None:
        """What it made of its batch; None if it ended."""
        try:
            found: Sequence[R] = self._connection.recv()
        except (EOFError, OSError):
            return None
        return found

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._connection.close()
        self._process.terminate()
        self._process.join()


def _serve(work: Callable[[Any], Any], connection: Connection, other: Connection) -> None:
    """Do batch after batch, until the process that gives them has gone."""
    other.close()  # a copy of the other end would keep this one waiting for ever
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # that is the affair of the process that gives the batches
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # which may have a handler of its own
    gc.disable()
    gc.freeze()
    with suppress(EOFError, OSError):
        while True:
            results = []
            for item in connection.recv():
                results.append(work(item))
                if gc.get_count()[0] > _GARBAGE:  # between two files nearly all is dead, so this is the time to look
                    gc.collect()
            connection.send(results)


@contextmanager
def _without_own_folder() -> Iterator[None]:
    """Keep the folder in which detlint runs off the path of new processes: a file there may be called enum.py.

    Python 3.10 has no such variable.
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

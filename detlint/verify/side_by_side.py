"""Batches of jobs done concurrently, each in its own fresh process."""

from __future__ import annotations

import queue
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor

from detlint.verify.job import Answer, Job
from detlint.verify.pool import Pool


def answers(workers: Pool, batches: Sequence[Sequence[Job]], most: int) -> Generator[Answer, None, None]:
    """Do batches, at most `most` at once, and yield answers as they arrive. Closing it early ends the processes.

    Raises pool.StartError as `Pool.answers` does.
    """
    if most == 1:
        for batch in batches:
            yield from workers.answers(batch)
        return
    found: queue.SimpleQueue[Answer | BaseException | None] = queue.SimpleQueue()

    def work(batch: Sequence[Job]) -> None:
        try:
            for answer in workers.answers(batch):
                found.put(answer)
        except BaseException as error:  # raised again by the consumer of the answers
            found.put(error)
        else:
            found.put(None)

    with ThreadPoolExecutor(most) as threads:
        try:
            for batch in batches:
                threads.submit(work, batch)
            left = len(batches)
            while left:
                one = found.get()
                if isinstance(one, BaseException):
                    raise one
                if one is None:
                    left -= 1
                else:
                    yield one
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            workers.end()
            raise

"""Listings of folders in an order that each process draws from the system's entropy.

`os.walk`, `glob` and `pathlib` go through `os.listdir` and `os.scandir`, so these two are all that is replaced. Python's
own import system calls the functions of `posix`, and sees nothing of it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from types import TracebackType
from typing import Any


class Shuffled:
    """What `os.scandir` returns, its entries in another order: an iterator and a context manager."""

    def __init__(self, entries: Iterator[Any], order: random.Random) -> None:
        listed = list(entries)
        order.shuffle(listed)
        self._entries = iter(listed)

    def __iter__(self) -> Shuffled:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> Shuffled:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Forget the entries that are left."""
        self._entries = iter(())


def shuffle() -> None:
    """Replace `os.listdir` and `os.scandir` by ones whose order differs in each call."""
    order = random.SystemRandom()
    listdir, scandir = os.listdir, os.scandir

    def shuffled_listdir(*arguments: Any, **named: Any) -> list[Any]:
        listed: list[Any] = listdir(*arguments, **named)
        order.shuffle(listed)
        return listed

    def shuffled_scandir(*arguments: Any, **named: Any) -> Shuffled:
        with scandir(*arguments, **named) as entries:
            return Shuffled(entries, order)

    os.listdir = shuffled_listdir
    os.scandir = shuffled_scandir  # type: ignore[assignment]

"""A repository as the fixes of detlint leave it."""

from __future__ import annotations

import shutil
from pathlib import Path

from . import standing

WAYS = ("safe", "unsafe", "both")


class Fixed:
    """Fixed copies of repositories; those of the last one are kept, as its programs are measured one after another."""

    def __init__(self, folder: Path, way: str) -> None:
        """`folder` is where they are made. By the `way` "both" unsafe fixes are made for programs that differ alone."""
        self._folder = folder
        self._way = way
        self._checkout: Path | None = None

    def copy(self, checkout: Path, *, differs: bool) -> Path:
        """A fixed copy of a checkout, for a program whose runs differ or do not.

        Raises RuntimeError where detlint failed, OSError where it cannot be copied.
        """
        if checkout != self._checkout:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._checkout = checkout
        unsafe = self._way == "unsafe" or (self._way == "both" and differs)
        made = self._folder / ("unsafe" if unsafe else "safe") / checkout.name
        if not made.exists():
            new = made.parent / "new" / checkout.name
            shutil.rmtree(new.parent, ignore_errors=True)
            shutil.copytree(checkout, new, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            standing.fix(checkout, new, unsafe=unsafe)
            new.rename(made)
        return made

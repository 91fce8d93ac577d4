"""A repository as the fixes of detlint leave it."""

from __future__ import annotations

import shutil
from pathlib import Path

from . import standing


class Fixed:
    """Fixed copies of repositories; the last one is kept, since its programs are measured one after the other."""

    def __init__(self, folder: Path, *, unsafe: bool) -> None:
        """`folder` is where they are made; `unsafe` says whether unsafe fixes are made, too."""
        self._folder = folder
        self._unsafe = unsafe
        self._checkout: Path | None = None

    def copy(self, checkout: Path) -> Path:
        """A fixed copy of a checkout. Raises RuntimeError where detlint failed, OSError where it cannot be copied."""
        made = self._folder / checkout.name
        if checkout != self._checkout:
            if self._checkout is not None:
                shutil.rmtree(self._folder / self._checkout.name, ignore_errors=True)
            self._checkout = None
            shutil.copytree(checkout, made, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            standing.fix(checkout, made, unsafe=self._unsafe)
            self._checkout = checkout
        return made

"""One program measured: a row of the results."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from . import standing
from .comparing import Comparison, compare
from .fixed import Fixed
from .recipes import Program
from .running import Place, Run


@dataclass(frozen=True)
class Measure:
    """How programs are measured.

    `corpus` has the checkouts, `python` is the interpreter of the programs. A run takes `timeout` seconds at most.
    `keep` is a folder that has the folders of all runs afterwards. `bisect` and `repeat` say whether these are asked of
    what differs, `static` whether detlint is asked at all; `fixed` gives the repositories fixed, if programs are to run so, too.
    """

    corpus: Path
    python: str
    timeout: float = 600
    keep: Path | None = None
    shuffle: bool = True
    static: bool = True
    bisect: bool = True
    repeat: bool = False
    fixed: Fixed | None = None

    def row(self, program: Program) -> dict[str, Any]:
        """Run a program twice and ask detlint about it. A program that cannot run has its reason under `error`."""
        checkout = self.corpus / program.checkout
        row: dict[str, Any] = {"name": program.name, "repository": program.repository}
        with self._folder(program.name) as folder:
            try:
                place = self._place(program, checkout, folder)
                runs, found = self._twice(place)
            except (OSError, RuntimeError) as error:
                return row | {"ran": False, "error": str(error)}
            row |= {"ran": not found.error, "error": found.error, "equal": found.equal, "differs": list(found.differs)}
            row |= {"seen": found.seen, "first": found.first, "seconds": [round(run.seconds, 1) for run in runs]}
            if found.error:
                return row
            if self.static:
                row |= self._said(program, {*runs[0].loaded, *runs[1].loaded})
            if self.static and not found.equal and self.bisect:
                row["bisect"] = standing.bisect(place, self.python, self.timeout)
            if not found.equal and self.repeat:
                row["repeat"] = standing.repeat(place, self.python, 3 * self.timeout)
            if self.fixed is not None:
                place.folder.rename(folder / "before")
                row["fixed"] = self._fixed(program, self.fixed, runs[0], folder, differs=not found.equal)
        return row

    def _place(self, program: Program, checkout: Path, folder: Path) -> Place:
        return Place(program, checkout, folder / "place", self.python, shuffle=self.shuffle)

    def _twice(self, place: Place) -> tuple[list[Run], Comparison]:
        runs = [place.run(self.timeout)]
        if not runs[0].error:  # what fails would fail again
            runs.append(place.run(self.timeout))
        return runs, compare(runs[0], runs[-1])

    def _said(self, program: Program, loaded: set[str]) -> dict[str, Any]:
        """What detlint says of a program that loads these files."""
        checkout = self.corpus / program.checkout
        its = standing.of_program(standing.findings(checkout), loaded)
        seeds = standing.not_seeded(standing.entries(checkout), program.script(loaded))
        named = bool(seeds) or standing.names_a_cause(its)
        return {"named": named, "not seeded": seeds, "codes": standing.codes(its)}

    def _fixed(self, program: Program, fixed: Fixed, before: Run, folder: Path, *, differs: bool) -> dict[str, Any]:
        """How two runs of the program compare when detlint has fixed its repository, and with a run `before` that.

        All have the same path, which files that they save may hold.
        """
        try:
            copy = fixed.copy(self.corpus / program.checkout, differs=differs)
            runs, found = self._twice(self._place(program, copy, folder))
        except (OSError, RuntimeError) as error:
            return {"ran": False, "error": str(error)}
        kept = compare(before, runs[0])
        row = {"ran": not found.error, "error": found.error, "equal": found.equal, "differs": list(found.differs)}
        return row | {"as before": kept.equal, "first": found.first or kept.first}

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        if not self.keep:
            with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                yield Path(folder)
        else:
            shutil.rmtree(self.keep / name, ignore_errors=True)
            (self.keep / name).mkdir(parents=True)
            yield self.keep / name

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
from .recipes import Program
from .running import Place, Run


@dataclass(frozen=True)
class Measure:
    """How programs are measured.

    `corpus` has the checkouts, `python` is the interpreter of the programs. A run takes `timeout` seconds at most.
    `keep` is a folder that has the folders of all runs afterwards. `bisect` and `fix` ("safe" or "unsafe", or neither)
    say what is done with programs that differ; `static` whether detlint is asked at all.
    """

    corpus: Path
    python: str
    timeout: float = 600
    keep: Path | None = None
    shuffle: bool = True
    static: bool = True
    bisect: bool = True
    fix: str = ""

    def row(self, program: Program) -> dict[str, Any]:
        """Run a program twice and ask detlint about it. A program that cannot run has its reason under `error`."""
        checkout = self.corpus / program.checkout
        row: dict[str, Any] = {"name": program.name, "repository": program.repository}
        with self._folder(program.name) as folder:
            try:
                place = Place(program, checkout, folder, self.python, shuffle=self.shuffle)
                runs, found = self._twice(place)
            except (OSError, RuntimeError) as error:
                return row | {"ran": False, "error": str(error)}
            row |= {"ran": not found.error, "error": found.error, "equal": found.equal, "differs": list(found.differs)}
            row |= {"seen": found.seen, "first": found.first, "seconds": [round(run.seconds, 1) for run in runs]}
            if found.error or not self.static:
                return row
            loaded = {*runs[0].loaded, *runs[1].loaded}
            its = standing.of_program(standing.findings(checkout), loaded)
            seeds = standing.not_seeded(standing.entries(checkout), program.script(loaded))
            row |= {
                "named": bool(seeds) or standing.names_a_cause(its),
                "not seeded": seeds,
                "codes": standing.codes(its),
            }
            if not found.equal and self.bisect:
                row["bisect"] = standing.bisect(place, self.python, self.timeout)
        if not found.equal and self.fix:
            row["fixed"] = self._fixed(program, checkout)
        return row

    def _twice(self, place: Place) -> tuple[list[Run], Comparison]:
        runs = [place.run(self.timeout)]
        if not runs[0].error:  # what fails would fail again
            runs.append(place.run(self.timeout))
        return runs, compare(runs[0], runs[-1])

    def _fixed(self, program: Program, checkout: Path) -> dict[str, Any]:
        """How two runs of the program compare when detlint has fixed its repository."""
        with self._folder(f"{program.name}-fixed") as folder:
            copy = folder / "fixed"
            shutil.copytree(checkout, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
            try:
                standing.fix(checkout, copy, unsafe=self.fix == "unsafe")
                _, found = self._twice(Place(program, copy, folder / "place", self.python, shuffle=self.shuffle))
            except (OSError, RuntimeError) as error:
                return {"ran": False, "error": str(error)}
            compared = {"equal": found.equal, "differs": list(found.differs), "first": found.first}
            return {"ran": not found.error, "error": found.error} | compared

    @contextmanager
    def _folder(self, name: str) -> Iterator[Path]:
        if not self.keep:
            with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                yield Path(folder)
        else:
            shutil.rmtree(self.keep / name, ignore_errors=True)
            (self.keep / name).mkdir(parents=True)
            yield self.keep / name

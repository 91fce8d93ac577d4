"""What was measured, and its form on disk, from which an interrupted run goes on.

Of the part `counted` totals alone are kept; as long as it is not done, a digest, a class and a result for each mutant too.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

from detlint.support import toml
from tests.tools.mutants.analysis import BROKEN, CAUGHT, FAILED, MISSED, NOTED
from tests.tools.mutants.classes import CLASSES
from tests.tools.revision import revision

OPEN, COUNTED = "open", "counted"
VERDICTS = Path(__file__).parent / "verdicts.toml"

Row = dict[str, object]


@dataclass
class Counts:
    """Numbers of mutants. `run` are those that were analysed; the invalid ones among them are in no rate."""

    sites: int = 0
    run: int = 0
    invalid: int = 0
    caught: int = 0
    noted: int = 0
    missed: int = 0
    broken: int = 0
    failed: int = 0

    @property
    def valid(self) -> int:
        """The mutants that were analysed and do undo something."""
        return self.run - self.invalid

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(one + two for one, two in zip(asdict(self).values(), asdict(other).values(), strict=True)))


@dataclass
class Results:
    """All that was measured in a part, and by which revision of detlint."""

    part: str
    revision: str
    date: str = field(default_factory=lambda: str(date.today()))
    sites: dict[str, int] = field(default_factory=dict)
    left: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    mutants: dict[str, Row] = field(default_factory=dict)

    @classmethod
    def resumed(cls, file: Path, part: str) -> Results:
        """What was stored by this revision of detlint; nothing where another one did, or another part was measured."""
        fresh = cls(part, revision())
        if not file.exists():
            return fresh
        stored = cls.read(file)
        return stored if (stored.part, stored.revision) == (fresh.part, fresh.revision) else fresh

    @classmethod
    def read(cls, file: Path) -> Results:
        """What `write` wrote."""
        data = json.loads(file.read_text(encoding="utf-8"))
        names = ("part", "revision", "date", "sites", "left", "seconds", "mutants")
        return cls(**{name: data[name] for name in names if name in data})

    def totals(self, verdicts: Mapping[str, bool]) -> dict[str, Counts]:
        """The counts by class. What is not judged counts as valid."""
        totals = {code: Counts(sites=self.sites.get(code, 0)) for code in CLASSES}
        for id_, row in self.mutants.items():
            counts = totals[str(row["class"])]
            result = str(row["result"])
            if result in (BROKEN, FAILED):
                setattr(counts, result, getattr(counts, result) + 1)
                continue
            counts.run += 1
            if not verdicts.get(id_, True):
                counts.invalid += 1
            elif result in (CAUGHT, NOTED, MISSED):
                setattr(counts, result, getattr(counts, result) + 1)
        return totals

    def write(self, file: Path) -> None:
        """Write it as JSON, all at once. Of the counted part no mutant is written when all are done."""
        data: dict[str, object] = {"kind": "mutants", "part": self.part, "date": self.date, "revision": self.revision}
        totals = self.totals(verdicts() if self.part == OPEN else {})
        data |= {"left": self.left, "sites": self.sites}
        data |= {"totals": {code: asdict(counts) for code, counts in totals.items()}}
        if self.part == OPEN:
            data["seconds"] = self.seconds
        if self.part == OPEN or self.left:
            data["mutants"] = self.mutants
        new = file.with_name(f"{file.name}.new")
        new.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        new.replace(file)


class Store:
    """Results that threads add to, written after each of them."""

    def __init__(self, results: Results, file: Path) -> None:
        self.results = results
        self._file = file
        self._lock = threading.Lock()

    def add(self, id_: str, row: Row) -> int:
        """Keep what came of a mutant, and say how many are left."""
        if self.results.part != OPEN:
            row = {name: row[name] for name in ("class", "result")}
        with self._lock:
            self.results.mutants[id_] = row
            self.results.left -= 1
            self.results.write(self._file)
            return self.results.left

    def took(self, repository: str, seconds: float) -> None:
        """Keep how long the first analysis of a repository took."""
        with self._lock:
            self.results.seconds[repository] = round(seconds, 1)


def verdicts() -> dict[str, bool]:
    """Which mutants of the open part somebody judged to be valid, from their code. Raises ValueError for one without a reason."""
    table = toml.loads(VERDICTS.read_text(encoding="utf-8"))
    for id_, verdict in table.items():
        if set(verdict) != {"valid", "why"} or not verdict["why"].strip():
            raise ValueError(f"{VERDICTS.name}: {id_} needs `valid` and `why`, and nothing else")
    return {id_: bool(verdict["valid"]) for id_, verdict in table.items()}


def counted(results: Results) -> str:
    """A table of the counts, for a terminal."""
    totals = results.totals(verdicts() if results.part == OPEN else {})
    names = ("class", *asdict(Counts()))
    lines = [(code, *asdict(counts).values()) for code, counts in totals.items()]
    lines.append(("all", *asdict(sum(totals.values(), Counts())).values()))
    texts = ["  ".join(f"{value!s:>7}" for value in line) for line in (names, *lines)]
    if results.left:
        texts.append(f"{results.left} mutants have not been run")
    return "\n".join(texts) + "\n"

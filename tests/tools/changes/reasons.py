"""What is said of differences, each judged and explained by somebody."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from detlint.support import toml

from .differences import CHANGED, Difference

REASONS = Path(__file__).parent / "reasons.toml"
BLOCKING = "right and lost"
VERDICTS = ("wrong and lost", "right and gained", "wrong and gained", BLOCKING)
_TYPES = {"repository": str, "code": str, "lines": list, "verdict": str, "reason": str}


@dataclass(frozen=True)
class Reason:
    """A verdict on the differences of a code in some lines of a file, and why."""

    repository: str
    path: str
    code: str
    lines: tuple[int, ...]
    verdict: str
    reason: str
    cell: int | None = None

    def __str__(self) -> str:
        return f"{self.repository} {self.code} {self.path}"

    def fits(self, difference: Difference) -> bool:
        """Whether it speaks of a difference in one of its lines."""
        fitting = difference.kind == CHANGED or self.verdict.endswith(difference.kind)
        return fitting and self.code == difference.key.code and self.cell in (None, difference.key.cell)


@dataclass(frozen=True)
class Judged:
    """Differences with the reasons for them, and the lines of reasons that explain no difference any more."""

    reasons: Sequence[tuple[Difference, Reason | None]]
    idle: Sequence[tuple[Reason, int]]

    @property
    def passes(self) -> bool:
        """Whether there is a reason for each difference, and none is that what was right is lost."""
        return all(reason is not None and reason.verdict != BLOCKING for _, reason in self.reasons)


def read(path: Path) -> list[Reason]:
    """The reasons in a file. Raises ValueError where one is not written as it should be."""
    try:
        table = toml.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if {*table} - {"difference"}:
        raise ValueError(f"{path}: only [[difference]] is known")
    return [_reason(f"{path}: difference {number}", row) for number, row in enumerate(table.get("difference", ()), 1)]


def _reason(where: str, row: Mapping[str, Any]) -> Reason:
    written = all(isinstance(row.get(name), kind) and row[name] != kind() for name, kind in _TYPES.items())
    if not written or {*row} - {*_TYPES, "path", "cell"}:
        raise ValueError(f"{where} needs {', '.join(_TYPES)}, may have path and cell, and nothing else")
    if row["verdict"] not in VERDICTS:
        raise ValueError(f"{where}: a verdict is one of {', '.join(VERDICTS)}, not {row['verdict']!r}")
    return Reason(**{"path": "", **row, "lines": tuple(row["lines"])})


def judged(found: Iterable[Difference], reasons: Sequence[Reason], repositories: Container[str]) -> Judged:
    """Each difference with the first reason that fits. Of reasons those that are for `repositories` alone count."""
    known: dict[tuple[str, str, int], list[Reason]] = {}
    for reason in reasons:
        for line in reason.lines if reason.repository in repositories else ():
            known.setdefault((reason.repository, reason.path, line), []).append(reason)
    told = []
    used = set()
    for each in found:
        at = (each.repository, each.key.path, each.key.line)
        fitting = next((reason for reason in known.get(at, ()) if reason.fits(each)), None)
        told.append((each, fitting))
        used.add((fitting, each.key.line))
    idle = [(one, at[2]) for at, some in known.items() for one in some if (one, at[2]) not in used]
    return Judged(told, idle)

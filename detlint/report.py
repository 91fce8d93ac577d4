"""What a run says: findings with their severity, and the entry points of programs. Pure data."""

from __future__ import annotations

from dataclasses import dataclass

from detlint.catalogue import Rule
from detlint.finding import Finding, Place, Severity
from detlint.link.entries import Entry


@dataclass(frozen=True)
class Judged:
    """A finding with its rule's severity settled."""

    finding: Finding
    rule: Rule
    severity: Severity


@dataclass(frozen=True)
class Suppressed:
    """A finding that is not shown.

    `kind` tells what withheld it: "noqa", "block", "file", "config" or "baseline". `place` is the comment that does,
    None where that is outside of the file, and `reason` the words that stand beside it, "" for none.
    """

    judged: Judged
    kind: str
    place: Place | None = None
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """The outcome of a run. `findings` and `suppressed` are sorted by place, code and message.

    `notes` are sentences for the person who started it, on what is not shown.
    """

    findings: tuple[Judged, ...]
    files: int
    entry_points: int
    seconds: float
    errors: tuple[str, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Programs:
    """The entry points of a run, sorted by place; `errors` says what could not be read."""

    entries: tuple[Entry, ...]
    files: int
    seconds: float
    errors: tuple[str, ...] = ()

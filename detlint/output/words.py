"""The wording for findings, the same in all formats."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.finding import Finding, Place, Verification
from detlint.report import Judged


def where(place: Place) -> str:
    """Return a place for people, who count a notebook's cells from 1."""
    return f"{place.path}:{spot(place)}"


def spot(place: Place) -> str:
    """Return a place within its file, for people."""
    cell = "" if place.cell is None else f"cell {place.cell + 1}:"
    return f"{cell}{place.line}:{place.column}"


def measured(verification: Verification) -> str:
    """Return what a verdict is based on, and in brackets where and how that was measured; it follows the verdict."""
    evidence = verification.evidence
    around = [
        evidence.get("device", ""),
        f"torch {evidence['torch']}" if evidence.get("torch") else "",
        "measured elsewhere" if verification.elsewhere else "",
        "not with this call's arguments" if verification.general else "",
    ]
    text = " ".join(verification.text.split())
    known = ", ".join(str(part) for part in around if part)
    return (f": {text}" if text else "") + (f" ({known})" if known else "")


def remarks(judged: Judged) -> Iterator[str]:
    """Yield what follows a finding's message: its place in a notebook, what a device showed, the reason, and help."""
    finding = judged.finding
    if finding.place.cell is not None:
        yield f"in cell {finding.place.cell + 1}, line {finding.place.line}"
    if finding.verification is not None:
        yield f"verified: {finding.verification.verdict}{measured(finding.verification)}"
    yield f"why: {judged.why}"
    yield f"help: {judged.help}"


def related(finding: Finding) -> Iterator[str]:
    """Yield the other places that explain a finding."""
    for each in finding.related:
        yield f"{where(each.place)}: {each.message}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""What identifies a finding from one state of the code to the next, even if lines move."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from detlint.finding import Finding
from detlint.sources.source import lines_of

Texts = Callable[[str], Mapping[int | None, str]]


def fingerprints(findings: Iterable[Finding], texts: Texts, names: Mapping[str, str] | None = None) -> list[str]:
    """Return a fingerprint for each finding, 32 hexadecimal digits, no two the same.

    It is made of the file's path (or its name in `names`), the code, and the words of the finding's lines. Findings
    that are alike in all of these are numbered in the order given. `texts` returns the texts of a file by cell.
    """
    files: dict[str, dict[int | None, list[str]]] = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for finding in findings:
        place = finding.place
        if place.path not in files:
            files[place.path] = {cell: lines_of(text) for cell, text in texts(place.path).items()}
        lines = files[place.path].get(place.cell, [])[place.line - 1 : place.end_line]
        known = (names or {}).get(place.path, place.path), finding.code, " ".join(" ".join(lines).split())
        seen[known] += 1
        content = "\0".join((*known, str(seen[known])))
        found.append(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return found

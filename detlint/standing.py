"""How programs stand after the fixes: what is left of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from detlint.finding import Finding, Safety
from detlint.records import record
from detlint.report import Judged

_SHOWN = ("error", "warning")
_RUNS = "run-to-run"


@record(frozen=True)
class Standing:
    """A program after the fixes: the file that starts it, whether it was changed, and what is left of it by code.

    `unsafe` says how many of these have an unsafe fix.
    """

    path: str
    changed: bool
    left: Mapping[str, int]
    unsafe: int


def standings(
    programs: Mapping[str, Collection[str]], changed: Collection[str], left: Iterable[Judged]
) -> Iterator[Standing]:
    """Say how each program stands; `programs` are the files that each reaches, by the file that starts it."""
    findings = [each for each in left if each.severity.value in _SHOWN and _RUNS in each.rule.breaks]
    for path, reached in sorted(programs.items()):
        own = [each.finding for each in findings if _is_of(each.finding, path, reached)]
        unsafe = sum(each.fix is not None and each.fix.safety is Safety.UNSAFE for each in own)
        yield Standing(path, not set(changed).isdisjoint(reached), Counter(each.code for each in own), unsafe)


def _is_of(finding: Finding, path: str, reached: Collection[str]) -> bool:
    """Whether a finding is a program's: by the programs that it names, else by its file."""
    named = finding.details.get("programs")
    return path in named.splitlines() if named else finding.place.path in reached

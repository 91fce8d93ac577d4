"""The standing of programs after the fixes: which findings are left in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from detlint.finding import Finding, Safety
from detlint.report import Judged
from detlint.support.records import record

_SHOWN = ("error", "warning")
_RUNS = "run-to-run"


@record(frozen=True)
class Standing:
    """A program after the fixes: its entry file, whether it was changed, and the findings left, counted by code.

    `unsafe` is the number of these with an unsafe fix; `by_hand` counts the fixes to make by hand, by title.
    """

    path: str
    changed: bool
    left: Mapping[str, int]
    unsafe: int
    by_hand: Counter[str]


def standings(
    programs: Mapping[str, Collection[str]], changed: Collection[str], left: Iterable[Judged]
) -> Iterator[Standing]:
    """Yield the standing of each program; `programs` maps each entry file to the files that it reaches."""
    findings = [each for each in left if each.severity.value in _SHOWN and _RUNS in each.rule.breaks]
    for path, reached in sorted(programs.items()):
        own = [each.finding for each in findings if _is_of(each.finding, path, reached)]
        fixes = [each.fix for each in own if each.fix is not None]
        unsafe = sum(fix.safety is Safety.UNSAFE for fix in fixes)
        by_hand = Counter(fix.title for fix in fixes if fix.safety is Safety.DISPLAY)
        was_changed = not set(changed).isdisjoint(reached)
        yield Standing(path, was_changed, Counter(each.code for each in own), unsafe, by_hand)


def _is_of(finding: Finding, path: str, reached: Collection[str]) -> bool:
    """Return whether a finding belongs to a program: by the programs that it names, else by its file."""
    named = finding.details.get("programs")
    return path in named.splitlines() if named else finding.place.path in reached

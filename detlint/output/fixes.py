"""What `--fix` did, in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from detlint.finding import Finding
from detlint.fixer import BY_HAND, NO_FIX, Outcome
from detlint.output.words import where


def lines(outcome: Outcome, unwritten: Collection[str] = ()) -> Iterator[str]:
    """A line for each fix that was made, for each that was not, and one that counts both.

    `unwritten` are the files that could not be written, of which a line tells already.
    """
    fixed = [each for each in outcome.fixed if not _paths(each) & set(unwritten)]
    for finding in fixed:
        assert finding.fix is not None
        yield f"{_head(finding)} fixed: {finding.fix.title}"
    for left in outcome.left:
        fix = left.finding.fix
        shown = f": {fix.title}" if fix is not None and left.reason == BY_HAND else ""
        if left.reason != NO_FIX:
            yield f"{_head(left.finding)} not fixed: {left.reason}{shown}"
    files = len({change.path for change in outcome.changes}.difference(unwritten))
    done = f"fixed {len(fixed)} in {files} {'file' if files == 1 else 'files'}" if files else "fixed nothing"
    reasons = Counter(left.reason for left in outcome.left)
    rest = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    yield f"{done}; left {len(outcome.left)}: {rest}" if rest else done
    if not outcome.converged:
        yield "the fixes did not come to an end; please report this"


def _paths(finding: Finding) -> set[str]:
    """The files that the fix of a finding changes."""
    fix = finding.fix
    return set() if fix is None else {edit.place.path for edit in fix.edits} | {need.path for need in fix.imports}


def _head(finding: Finding) -> str:
    return f"{where(finding.place)}: {finding.code}"

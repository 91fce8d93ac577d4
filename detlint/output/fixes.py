"""A short summary of what `--fix` did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from detlint.applying.fixer import BY_HAND, NAME_TAKEN, NO_FIX, UNSAFE, Left, Outcome
from detlint.finding import Finding
from detlint.output.programs import lines as standing_lines
from detlint.output.words import where
from detlint.standing import Standing

_SINGLY = 5  # findings of a rule that get a line each if all of them wait for --unsafe-fixes


def lines(outcome: Outcome, unwritten: Collection[str] = (), programs: Iterable[Standing] = ()) -> Iterator[str]:
    """Yield a line for each fix made, for those not made, for new files, for each program, and one with the totals.

    `unwritten` are the files that could not be written, which a line reports already.
    """
    fixed = [each for each in outcome.fixed if not _paths(each) & set(unwritten)]
    for finding in fixed:
        assert finding.fix is not None
        yield f"{_head(finding)} fixed: {finding.fix.title}"
    yield from _not_fixed(outcome.left)
    written = [change for change in outcome.changes if change.path not in unwritten]
    new = sorted(change.path for change in written if change.old is None)
    if new:
        yield f"new: {', '.join(new)}; the fixed files import {'it' if len(new) == 1 else 'them'}: commit all of these"
    yield from standing_lines(programs)
    files = len(written) - len(new)
    done = f"fixed {len(fixed)} in {files} {'file' if files == 1 else 'files'}" if written else "fixed nothing"
    reasons = Counter(left.reason for left in outcome.left)
    rest = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    yield f"{done}; left {len(outcome.left)}: {rest}" if rest else done
    if not outcome.converged:
        yield "the fixes did not come to an end; please report this"


def _not_fixed(left: Collection[Left]) -> Iterator[str]:
    """Yield a line for each finding left that has a fix; one for a rule if many of its findings wait for an option."""
    waiting = Counter(each.finding.code for each in left if each.reason == UNSAFE)
    many = {code: count for code, count in waiting.items() if count > _SINGLY}
    for each in left:
        folded = each.reason == UNSAFE and each.finding.code in many
        if each.reason != NO_FIX and not folded:
            yield f"{_head(each.finding)} not fixed: {each.reason}{_detail(each)}"
    for code, count in sorted(many.items()):
        yield f"{code} not fixed at {count} places: {UNSAFE}"


def _detail(left: Left) -> str:
    """Return what to add to a reason: the fix to make by hand, or the names that its imports would bind."""
    fix = left.finding.fix
    if fix is not None and left.reason == BY_HAND:
        return f": {fix.title}"
    if fix is not None and left.reason == NAME_TAKEN:
        names = dict.fromkeys(need.bound for need in fix.imports if not need.inline)
        return f": {', '.join(f'`{name}`' for name in names)} would be imported, and is another thing there"
    return ""


def _paths(finding: Finding) -> set[str]:
    """Return the files that the fix of a finding changes."""
    fix = finding.fix
    return set() if fix is None else {edit.place.path for edit in fix.edits} | {need.path for need in fix.imports}


def _head(finding: Finding) -> str:
    return f"{where(finding.place)}: {finding.code}"

"""Two runs of the program, and whether they get further than two others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path

from detlint.bisect.comparing import outcome
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.locating import explain
from detlint.bisect.records import Event, Line, Op
from detlint.bisect.running import runs
from detlint.bisect.running.runs import Done, Plan

_EVENTS = 8  # the most records that a fix may add, as by seeding
Texts = Mapping[str, str]
"""Texts of the program's files by path, as lines name them."""


@dataclass(slots=True)
class Trials:
    """Pairs of runs of one plan, with their records below `folder`. `count` is the number of runs."""

    plan: Plan
    folder: Path
    progress: Callable[[str], None]
    count: int = 0
    seconds: float = 0.0  # duration of the last pair
    _pairs: int = field(default=0)

    def pair(self) -> Done:
        """Run twice and compare. Raises like `runs.run`."""
        self._pairs += 1
        begun = time.monotonic()
        done = runs.run(self.plan, self.folder / str(self._pairs))
        self.count += 2
        self.seconds = time.monotonic() - begun
        return done

    def explained(self, done: Done) -> Outcome:
        """Return the outcome of a pair, with the cause of its first difference explained. Raises like `runs.run`."""
        folder = self.folder / f"{self._pairs}-explained"
        return explain.explain(done.plan, done.outcome, folder, self.progress)


def is_further(before: Found, now: Outcome, old: Texts, new: Texts) -> bool:
    """Return whether two runs agree at the point where two others diverged.

    They do if they are equal, or their first difference is a later one or has another cause. `before` is the difference
    as two runs showed it, its cause not yet explained. `old` and `new` have the texts of the files that differ between
    these pairs.
    """
    if now.status == outcome.EQUAL:
        return True
    if now.status != outcome.DIVERGED or not now.found:
        return False
    found = now.found[0]
    if found.cause.kind == "crash" and before.cause.kind != "crash":
        return False  # the fix made it crash
    if found.stream != before.stream:
        return True
    more = _equal(found) - _equal(before)
    return more > _EVENTS or (more >= 0 and _place(found, old, new) != _place(before, {}, {}))


def _equal(found: Found) -> int:
    divergence = found.comparison.divergence
    return divergence.equal if divergence is not None else 0


def _place(found: Found, old: Texts, new: Texts) -> tuple[object, ...]:
    """Return what identifies a difference: its operation and its cause, with lines as in the old texts."""
    divergence = found.comparison.divergence
    both = (divergence.a, divergence.b) if divergence is not None else ()
    record = next((one for one in both if isinstance(one, (Op, Event))), None)
    if record is None:
        return ()
    name = record.name if isinstance(record, Op) else record.kind
    cause = found.cause
    made = None if cause.line is None else line_before(cause.line, old, new)
    return name, tuple(line_before(line, old, new) for line in record.stack), cause.kind, cause.generator, made


def line_before(line: Line, old: Texts, new: Texts) -> Line | None:
    """Return where a line stood before its file was changed; None if it is new."""
    if line.path not in old or line.path not in new or line.cell is not None:
        return line
    texts = old[line.path].splitlines(), new[line.path].splitlines()
    for _, start, end, new_start, new_end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if new_start < line.line <= new_end and end > start:
            return replace(line, line=start + min(line.line - new_start, end - start))
    return None

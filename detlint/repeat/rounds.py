"""Rounds: run twice, name the first difference, make the fix that ends it, and run again."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from detlint.bisect.comparing import outcome
from detlint.bisect.comparing.case import Cause
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.records import Line
from detlint.bisect.running.runs import Done, OutOfTimeError
from detlint.finding import Finding, Safety
from detlint.repeat import candidates, trial
from detlint.repeat.project import Project
from detlint.repeat.tree import Tree
from detlint.repeat.trial import Trials
from detlint.repeat.undoing import undone

REPEATS, DIFFERS, FAILED = "repeats", "differs", "failed"
_MOST = 30  # the most rounds
_SOON = 60.0  # the most seconds spent on leaving each change out once, to see whether it is needed
_CHANCE = frozenset({"kernel", "compiled", "collective", "hidden-write", "thread", "completion"})
_NO_FIX = "no fix is known that is safe to make for this cause"
_NO_TIME = "the time was over"
_STAYS = "the difference stays"


@dataclass(frozen=True, slots=True)
class Change:
    """A fix that was kept: its finding, the line of the user's file that it is at, and the cause that it ended.

    `before` and `after` are the contents of all changed files, by path, without it and with it.
    """

    finding: Finding
    line: Line
    cause: Cause
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]

    @property
    def unsafe(self) -> bool:
        """Whether the fix may slow the program down or change its results."""
        return self.finding.fix is not None and self.finding.fix.safety is not Safety.SAFE

    @property
    def title(self) -> str:
        """A short description of the fix."""
        return self.finding.fix.title if self.finding.fix is not None else ""


@dataclass(frozen=True, slots=True)
class Tried:
    """A fix that was taken back, and why."""

    finding: Finding
    reason: str

    @property
    def title(self) -> str:
        """A short description of the fix."""
        return self.finding.fix.title if self.finding.fix is not None else ""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of all rounds.

    `verdict` is "repeats", "differs", or "failed" if there is nothing to compare, with the `reason`. `outcome` is that
    of the last two runs, None if there were none; `remains` is the cause of the first difference that is left. Lines
    are those of the user's files as they were. `runs` counts all runs that were compared, `notes` hold further remarks.
    """

    verdict: str
    reason: str = ""
    outcome: Outcome | None = None
    changes: tuple[Change, ...] = ()
    remains: Cause | None = None
    tried: tuple[Tried, ...] = ()
    runs: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass
class Rounds:
    """The rounds of one program: `trials` run it in the copy `tree`.

    `codes` are those of the rules whose fixes may be made, `script` is the program's own file as lines name it, or "".
    `told` is called with a line for each round, `progress` with one for each step.
    """

    trials: Trials
    tree: Tree
    codes: frozenset[str]
    script: str
    told: Callable[[str], None]
    progress: Callable[[str], None]
    _changes: list[Change] = field(default_factory=list)
    _tried: list[Tried] = field(default_factory=list)

    def run(self) -> Result:
        """Run until two runs are equal or no fix is left to try. Raises like `runs.run`, except for OutOfTimeError."""
        done: Done | None = None
        remains: Cause | None = None
        try:
            done = self.trials.pair()
            if done.outcome.status not in (outcome.EQUAL, outcome.DIVERGED):
                return self._result(FAILED, _why_failed(done), done.outcome)
            for number in range(1, _MOST + 1):
                if done.outcome.status != outcome.DIVERGED:
                    again = self._again() if number > 1 else None
                    if again is None:
                        done = self._needed(done)
                        break
                    done = again
                explained = self.trials.explained(done)
                remains = self._cause(explained.found[0])
                better = self._better(number, done.outcome.found[0], explained)
                if better is None:
                    return self._result(DIFFERS, self._why_left(), explained, remains)
                done, remains = better, None
        except OutOfTimeError:
            if done is None:
                told = "the time was over before two runs had ended: give more with --timeout"
                return self._result(FAILED, told, None)
            equal = done.outcome.status == outcome.EQUAL
            if remains is None and done.outcome.found:
                remains = self._cause(done.outcome.found[0])
            return self._result(REPEATS if equal else DIFFERS, _NO_TIME, done.outcome, None if equal else remains)
        return self._result(REPEATS, "", done.outcome)

    def _again(self) -> Done | None:
        """Run twice more if the last two runs may be equal by chance; return None if these are equal, too."""
        kinds = {kind for change in self._changes for kind in (change.cause.kind, change.cause.why)}
        if not kinds & _CHANCE:
            return None
        self.progress("equal; twice more, as that may be chance")
        done = self.trials.pair()
        return done if done.outcome.status == outcome.DIVERGED else None

    def _needed(self, done: Done) -> Done:
        """Return two equal runs with only the changes that are needed, as far as that can be found out quickly."""
        steps = list({id(change.after): change for change in self._changes}.values())
        if len(steps) < 2 or 2 * len(steps) * self.trials.seconds > _SOON:
            return done
        for step in steps:
            last = dict(self.tree.texts)
            without = undone(step.before, step.after, last, self.tree.before)
            if without is None or without == last or {step.cause.kind, step.cause.why} & _CHANCE:
                continue
            self.progress(f"without this: {step.title} ({step.line})")
            self.tree.put(without)
            try:
                found = self.trials.pair()
            except BaseException:
                self.tree.put(last)
                raise
            if found.outcome.status == outcome.EQUAL:
                self._changes = [change for change in self._changes if change.after is not step.after]
                done = found
            else:
                self.tree.put(last)
        return done

    def _better(self, number: int, first: Found, explained: Outcome) -> Done | None:
        """Return two runs with a fix that ends a difference; None if there is none, with all files as they were.

        `first` is the difference as two runs showed it, `explained` the outcome with its cause explained.
        """
        self._tried = []
        found = explained.found[0]
        files = [Path(path) for path in (*([self.script] if self.script else ()), *explained.loaded)]
        project = Project(self.tree, files)
        offered = candidates.of(found, explained, project, self.script, self.codes)
        self._tell(number, self._cause(found), len(offered))
        unhelpful: list[Finding] = []
        for finding in offered:
            attempt = self._attempt(project, [finding], first)
            if isinstance(attempt, _Attempt):
                return self._kept(attempt, [finding], found)
            self._tried.append(Tried(finding, attempt))
            unhelpful += [finding] if attempt == _STAYS else []
        return self._together(project, unhelpful, first, found) if len(unhelpful) > 1 else None

    def _together(self, project: Project, needed: list[Finding], first: Found, found: Found) -> Done | None:
        """Apply fixes at once of which none helps alone, and drop those that are not needed."""
        best = self._attempt(project, needed, first)
        if not isinstance(best, _Attempt):
            return None
        for finding in needed[:-1]:
            fewer = [each for each in needed if each is not finding]
            without = self._attempt(project, fewer, first)
            if isinstance(without, _Attempt):
                best, needed = without, fewer
        self._tried = [each for each in self._tried if each.finding not in needed]
        return self._kept(best, needed, found)

    def _attempt(self, project: Project, findings: Sequence[Finding], first: Found) -> _Attempt | str:
        """Run twice with further fixes, and return the runs or why they do not help; restore the texts."""
        base = dict(self.tree.texts)
        contents = project.applied(findings)
        if contents is None or contents == base:
            return "it cannot be made in this text"
        title = " and ".join(each.fix.title for each in findings if each.fix is not None)
        self.progress(f"trying: {title} ({self._line(findings[0])})")
        old = self._texts(contents)
        self.tree.put(contents)
        try:
            new = self._texts(contents)
            done = self.trials.pair()
        finally:
            self.tree.put(base)
        if trial.is_further(first, done.outcome, old, new):
            return _Attempt(done, contents)
        failed = done.outcome.status == outcome.FAILED or any(one.status for one in done.recordings)
        return f"with it, the program fails{_said(done)}" if failed else _STAYS

    def _kept(self, attempt: _Attempt, findings: Sequence[Finding], found: Found) -> Done:
        cause = self._cause(found)
        base = dict(self.tree.texts)
        self._changes += [Change(each, self._line(each), cause, base, attempt.contents) for each in findings]
        self.tree.put(attempt.contents)
        return attempt.done

    def _line(self, finding: Finding) -> Line:
        """Return the line of a finding in the user's file as it was."""
        place, path = finding.place, self.tree.path_of(finding.place.path)
        old = {path: self.tree.before[path].decode("utf-8", "replace")} if path in self.tree.before else {}
        new = {path: (self.tree.folder / path).read_text(encoding="utf-8", errors="replace")}
        line = Line(path, place.line, cell=place.cell)
        return trial.line_before(line, old, new) or line

    def _name(self, path: str) -> str:
        """Return the name by which lines refer to a path from the root of the tree."""
        whole = self.tree.folder / path
        return whole.relative_to(Path.cwd()).as_posix() if whole.is_relative_to(Path.cwd()) else str(whole)

    def _from_here(self, text: str) -> str:
        """Return a text with paths in the copy turned into those of the user's files, from the working folder."""
        return text.replace(f"{self.tree.folder}{os.sep}", f"{os.path.relpath(self.tree.folder)}{os.sep}")

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the texts of files as they are now, by path as lines name them."""
        wholes = {self._name(path): self.tree.folder / path for path in paths}
        return {
            name: whole.read_text(encoding="utf-8", errors="replace") if whole.exists() else ""
            for name, whole in wholes.items()
        }

    def _tell(self, number: int, cause: Cause, offered: int) -> None:
        fixes = f"{offered} {'fix' if offered == 1 else 'fixes'} to try" if offered else "no fix to try"
        most = f", {self.trials.seconds * offered:.0f} s at most" if offered else ""
        self.told(f"round {number}: {cause.line or 'at the end'}: {cause.title}: {fixes}{most}")

    def _cause(self, found: Found) -> Cause:
        """Return the cause of a difference, with lines in the user's files as they were."""
        cause, divergence = found.cause, found.comparison.divergence
        line = cause.line or (divergence.line if divergence is not None else None)
        old = {self._name(path): content.decode("utf-8", "replace") for path, content in self.tree.before.items()}
        new = self._texts(self.tree.texts)

        def moved(line: Line) -> Line:
            return trial.line_before(line, old, new) or line

        names = "|".join(map(re.escape, old)) or "(?!)"

        def retold(text: str) -> str:
            told = re.sub(rf"(?<![\w/])({names}):(\d+)", lambda m: str(moved(Line(m[1], int(m[2])))), text)
            return self._from_here(told)

        if line is not None:
            line = moved(line)
            line = replace(line, path=self._from_here(line.path))
        return replace(
            cause,
            line=line,
            title=retold(cause.title),
            evidence=tuple(map(retold, cause.evidence)),
            advice=retold(cause.advice),
        )

    def _why_left(self) -> str:
        return "no fix that was tried ends this difference" if self._tried else _NO_FIX

    def _result(self, verdict: str, reason: str, last: Outcome | None, remains: Cause | None = None) -> Result:
        changes = () if verdict == FAILED else tuple(self._changes)
        return Result(verdict, reason, last, changes, remains, tuple(self._tried), self.trials.count)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Two runs that got further, and the contents of all changed files that they used."""

    done: Done
    contents: dict[str, bytes]


def _why_failed(done: Done) -> str:
    """Return why two runs cannot be compared, in words."""
    if done.outcome.status == outcome.FAILED:
        return f"the program fails by itself in a copy of its folder, which has to be mended first{_said(done)}"
    return f"there is nothing to compare: {done.outcome.reason}"


def _said(done: Done) -> str:
    """Return the last line of the errors of a failed run, after a colon; "" if there is none."""
    lines = (one.errors.strip().rpartition("\n")[2] for one in done.recordings if one.status)
    return next((f": {line}" for line in lines if line), "")

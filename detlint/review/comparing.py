"""What a change brought: findings on lines that it touched, and findings elsewhere that were not there before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from detlint.config import Config
from detlint.documents.documents import have_changed
from detlint.finding import Finding, Place
from detlint.report import Judged, Report
from detlint.review.differences import Alignment, align, lines
from detlint.review.git import Repository
from detlint.review.past import Past
from detlint.review.run import Run
from detlint.settling.answering import answers
from detlint.settling.settling import choose
from detlint.sources.console_scripts import Command, commands
from detlint.sources.source import content

Known = dict[tuple[str, Place | str], int]  # the rank of a code at a place, or for a program


class Since:
    """A filter that keeps what a change brought.

    The change leads from the commit where HEAD left the history of a revision to the files on disk. A finding stays if
    a line of it was touched, or if it was not there before or was less grave. The old state is judged by today's
    settings. Files that git ignores or that belong to another repository are not part of the change.
    """

    def __init__(self, revision: str, paths: Sequence[Path], config: Config, torch: Version, jobs: int = 0) -> None:
        """Find the commit to compare with. Raises ConfigError where git cannot say what changed."""
        self._repository = Repository(paths[0] if paths[0].is_dir() else paths[0].parent)
        self._base = self._repository.base(revision)
        self._paths, self._config, self._torch, self._jobs = paths, config, torch, jobs
        self._begun: tuple[Run, Past] | None = None
        self._known: Known | None = None

    def __call__(self, report: Report, run: Run) -> Report:
        """Return the report with only what the change brought. The first call is for the files as they are on disk."""
        if self._begun is None:
            files = [item.path for item in run.sources]
            self._begun = run, Past(self._repository, self._base, self._paths, self._config, files)
        changed = self._alignments(run)
        differs = bool(changed or self._begun[1].before) or self._commands() != run.around.commands
        differs = differs or have_changed(report.documents, self._document)
        befores = [_before(judged.finding, changed) for judged in report.findings]
        shown = tuple(
            judged
            for judged, before in zip(report.findings, befores, strict=True)
            if before is None or (differs and self._is_new(judged, before, changed))
        )
        count = len(report.findings) - len(shown)
        note = f"{count} older {'finding is' if count == 1 else 'findings are'} not shown"
        return replace(report, findings=shown, notes=(*report.notes, note) if count else report.notes)

    def _alignments(self, run: Run) -> dict[str, Alignment]:
        """Return the alignment of each file that has changed, by path."""
        assert self._begun is not None
        first, past = self._begun
        new, old = dict(past.now), dict(past.before)
        for item in run.sources:
            if item.text is not None:
                new[item.path] = lines(item.path, item.text)
                if item.path in first.by_path and item.path not in past.now:
                    old[item.path] = lines(item.path, content(Path(item.path)))
        return align(old, new) if old or new else {}

    def _old_report(self) -> Report:
        """Return the report on the state before the change."""
        assert self._begun is not None
        run, past = self._begun
        sources = [past.source(path) for path in sorted(past.files)]
        same = (item.path for item in sources if item.path not in past.before and item == run.by_path.get(item.path))
        known = {path: run.collected[path] for path in same if path in run.collected}
        around = replace(run.around, commands=self._commands(), unread=past.unread(), documents=self._document)
        answered, _ = answers(sources, around, self._config, self._torch, self._jobs, known=known)
        return choose(answered, self._config)

    def _document(self, path: str) -> bytes | None:
        assert self._begun is not None
        run, past = self._begun
        return past.document(path, run.around.documents(path))

    def _commands(self) -> tuple[Command, ...]:
        assert self._begun is not None
        run, past = self._begun
        return commands(self._config.root, [item.path for item in run.sources], past.read)

    def _is_new(self, judged: Judged, before: Place, changed: Mapping[str, Alignment]) -> bool:
        """Return whether a finding on lines that were not touched was not there before, or was less grave."""
        if self._known is None:
            self._known = _known(self._old_report())
        known, code, rank = self._known, judged.finding.code, judged.severity.rank
        programs = [_old_path(path, changed) for path in _programs(judged.finding)]
        return any(known.get((code, key), rank + 1) > rank for key in programs or (before,))


def _known(report: Report) -> Known:
    """Return the rank of each finding, by its code and its place, or by its code and each program that it is about."""
    known: Known = {}
    for judged in report.findings:
        finding, rank = judged.finding, judged.severity.rank
        for key in _programs(finding) or (finding.place,):
            known[finding.code, key] = min(rank, known.get((finding.code, key), rank))
    return known


def _programs(finding: Finding) -> list[str]:
    """Return the programs that a finding is about as a whole, by path; its place, their first draw, may move."""
    return finding.details["programs"].splitlines() if "programs" in finding.details else []


def _before(finding: Finding, changed: Mapping[str, Alignment]) -> Place | None:
    """Return where a finding would have been before the change; None if the change touched a line of it."""
    place = finding.place
    return changed[place.path].before(place) if place.path in changed else place


def _old_path(path: str, changed: Mapping[str, Alignment]) -> str:
    return (changed[path].path if path in changed else path) or path

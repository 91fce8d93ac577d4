"""Filters over reports, which choose what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from detlint.config import Config
from detlint.listing import roots
from detlint.report import Report
from detlint.review.run import Run
from detlint.sources import source


class Within:
    """A filter that keeps what is found under some paths."""

    def __init__(self, paths: Sequence[Path], config: Config) -> None:
        self._place = source.places()
        found = source.discover(paths, config.exclude, gitignore=config.respect_gitignore)
        self._files = {self._place(path) for path in found}

    def __call__(self, report: Report, run: Run) -> Report:
        """Return the report on those files under the paths that were read."""
        return replace(
            report,
            findings=tuple(judged for judged in report.findings if self._is_shown(judged.finding.place.path)),
            suppressed=tuple(s for s in report.suppressed if self._is_shown(s.judged.finding.place.path)),
            files=len(self.of(run).sources),
        )

    def of(self, run: Run) -> Run:
        """Return the part of a run that is under the paths."""
        return replace(run, sources=[item for item in run.sources if self._is_shown(item.path)])

    def _is_shown(self, path: str) -> bool:
        return self._place(Path(path)) in self._files


Filter = Callable[[Report, Run], Report]


def filters(
    paths: Sequence[Path], config: Config, torch: Version, jobs: int = 0, since: str | None = None
) -> list[Filter]:
    """Return the filters that the settings ask for, and one for the revision `since`. Raises ConfigError.

    The latter keeps what changed since that revision. Each filter is imported only if it is asked for.
    """
    within = Within(paths, config) if config.context else None
    found: list[Filter] = [] if within is None else [within]
    if config.baseline is not None:
        from detlint.review.baseline import Baseline

        known = Baseline.read(config.baseline, config)
        found.append(known if within is None else lambda report, run: known(report, within.of(run)))
    if since is not None:
        from detlint.review.comparing import Since

        found.append(Since(since, roots(paths, config), config, torch, jobs))
    return found


def filtered(report: Report, run: Run, narrowing: Iterable[Filter]) -> Report:
    """Return the report with one filter applied after the other."""
    for each in narrowing:
        report = each(report, run)
    return report

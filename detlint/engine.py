"""A run: collect each file, link the facts, settle the findings, and leave out what is not asked for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Source, analyse
from detlint.cache.cache import Cache, uncached_where_it_fails
from detlint.config import Config
from detlint.documents.documents import Given
from detlint.gathering import Progress, collect
from detlint.listing import Around, Buffer, listed, with_folders
from detlint.registered import registered
from detlint.report import Programs, Report
from detlint.review.filtering import Within, filtered, filters
from detlint.review.run import Run
from detlint.settling.answering import answers
from detlint.settling.settling import choose, link, settle

if TYPE_CHECKING:
    from detlint.project.project import Project


def check_sources(
    sources: Sequence[Source], config: Config, torch: Version, documents: Mapping[str, str] | None = None
) -> Report:
    """Analyse texts in this process, with configuration texts by path: for tests and editors."""
    around = Around(documents=Given(documents or {}))
    with registered(config.registered):
        codes = catalogues.load().choose(config.select, config.ignore) | {UNPARSED}
        collected = {item.path: analyse(item, codes, torch) for item in sources}
        report = settle(list(collected.values()), config, torch, sources, around)
        return filtered(report, Run(sources, collected), filters((), config, torch))


def check_paths(
    paths: Sequence[Path],
    config: Config,
    torch: Version,
    jobs: int = 0,
    progress: Progress | None = None,
    since: str | None = None,
    given: Buffer | None = None,
) -> Report:
    """Analyse the Python files under `paths` with `jobs` processes (0: one per core).

    With `since`, a git revision, the report only has what came with the changes since then. What is `given` of a file
    replaces what is on disk.
    """
    begun = time.monotonic()
    with registered(config.registered):
        narrowing = filters(paths, config, torch, jobs, since)
        report = filtered(*_checked(paths, config, torch, jobs, progress, given), narrowing)
    return replace(report, seconds=time.monotonic() - begun)


def record(
    paths: Sequence[Path],
    file: Path,
    config: Config,
    torch: Version,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Write the findings under `paths` to the baseline `file`, and report them as left out by it."""
    from detlint.review.baseline import Baseline, write

    begun = time.monotonic()
    with registered(config.registered):
        report, run = _checked(paths, config, torch, jobs, progress)
        if config.context:
            within = Within(paths, config)
            report, run = within(report, run), within.of(run)
        write(file, report, run, config)
        shown = filtered(report, run, [Baseline.read(file, config)])
    count = len(shown.suppressed) - len(report.suppressed)
    told = f"{file} has {count} {'finding' if count == 1 else 'findings'} now, which are not shown with it"
    return replace(shown, notes=(*report.notes, told), seconds=time.monotonic() - begun)


def _checked(
    paths: Sequence[Path],
    config: Config,
    torch: Version,
    jobs: int,
    progress: Progress | None,
    given: Buffer | None = None,
) -> tuple[Report, Run]:
    """Return the report of all findings under `paths`, and the run that it is made from."""
    sources, around = listed(paths, config, given)
    answered, collected = answers(sources, around, config, torch, jobs, progress)
    root = config.root.resolve()
    if any(root.is_relative_to(path.resolve()) for path in (*config.context, *paths)):
        Cache(config.cache_dir, torch).note_whole()
    lasting = all(each.lasting for each in collected.values())
    report = with_folders(choose(answered, config), around)
    return replace(report, lasting=lasting), Run(sources, collected, around)


def entries_of(
    paths: Sequence[Path],
    config: Config,
    torch: Version,
    jobs: int = 0,
    progress: Progress | None = None,
    given: Buffer | None = None,
) -> Programs:
    """Return the entry points of the Python files under `paths`, collected with `jobs` processes (0: one per core).

    What is `given` of a file replaces what is on disk.
    """
    from detlint.programs.entries import Entry

    begun = time.monotonic()
    sources, around = listed(paths, config, given)

    def run(config: Config) -> tuple[list[Collected], Project]:
        cache = Cache(config.cache_dir, torch)
        collected = collect(cache.read(sources), frozenset((UNPARSED,)), torch, cache, jobs, progress)
        return collected, link(collected, torch, around, jobs)

    with registered(config.registered):
        collected, project = uncached_where_it_fails(run, config)
    entries = sorted(project.entries, key=Entry.rank)
    broken = sorted((finding.place, finding.message) for each in collected for finding in each.findings)
    errors = tuple(f"{place.path}:{place.line}:{place.column}: {message}" for place, message in broken)
    errors += (*project.errors, *around.errors)
    return Programs(tuple(entries), len(collected), time.monotonic() - begun, errors, project.imports)

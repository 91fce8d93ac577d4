"""A fixing run: the files are checked and fixed, repeatedly, until nothing changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Models, Source, analyse, undisturbed
from detlint.applying.fixer import Outcome, Settings, fix_project
from detlint.applying.writing import Files
from detlint.cache.cache import Cache, uncached_where_it_fails
from detlint.cache.courses import recalled
from detlint.config import Config, requirements
from detlint.editing.placement import Placement, is_vendored
from detlint.editing.vendoring import FILE
from detlint.finding import Finding, Fix
from detlint.gathering import Progress, collect
from detlint.listing import Buffer, listed, with_folders
from detlint.registered import registered
from detlint.report import Report
from detlint.review.filtering import filtered, filters
from detlint.review.run import Run
from detlint.settling.settling import link, may_say_anything, settle
from detlint.sources import source
from detlint.standing import Standing, standings
from detlint.support.records import record

BEYOND = "changes other files too: save the file, and fix it there"


@record(frozen=True)
class Fixed:
    """The result of fixing: the report on the fixed texts, the standing of programs, and the files as read."""

    outcome: Outcome
    report: Report
    programs: tuple[Standing, ...]
    files: Files


def fix_paths(
    paths: Sequence[Path],
    config: Config,
    torch: Version,
    unsafe: bool = False,
    jobs: int = 0,
    progress: Progress | None = None,
    since: str | None = None,
    given: Buffer | None = None,
) -> Fixed:
    """Fix the Python files under `paths` in memory, with unsafe fixes only if `unsafe` is set.

    Only findings that are shown are fixed: none of the baseline and, with `since`, a revision of git, only those that
    the change since then introduced. If the content of a file is `given`, no fix is made that changes another file.
    """

    def run(config: Config) -> Fixed:
        return _fixed(paths, config, torch, unsafe, jobs, progress, since, given)

    with registered(config.registered):
        return uncached_where_it_fails(run, config)


def _fixed(
    paths: Sequence[Path],
    config: Config,
    torch: Version,
    unsafe: bool,
    jobs: int,
    progress: Progress | None,
    since: str | None,
    given: Buffer | None,
) -> Fixed:
    narrowing = filters(paths, config, torch, jobs, since)
    codes = catalogues.load().choose(config.select, config.ignore) | {UNPARSED}
    listing, around = listed(paths, config, given)
    cache = Cache(config.cache_dir, torch)
    contents = cache.read(listing)
    by_path = {each.path: each for each in collect(contents, codes, torch, cache, jobs, progress)}
    sources = {item.path: item for item in listing}
    known = {item.path: item.text for item in listing if isinstance(item.text, bytes)}
    files = Files([config.root, *(path if path.is_dir() else path.parent for path in paths)], known)
    reports: list[Report] = []
    models = Models(sources, torch)
    kept = recalled(cache, contents, around, by_path.values(), models)
    programs: dict[str, frozenset[str]] = {}

    def check(texts: Mapping[str, str]) -> list[Finding]:
        nonlocal models
        for path, text in texts.items():
            name = sources[path].name if path in sources else source.module_name(Path(path))
            if path not in sources:
                models = Models(sources, torch)  # the imports of fixes depend on which files exist
            if path not in sources or sources[path].text != text:
                models.forget(path)
                sources[path] = Source(path, name, text)
                by_path[path] = analyse(sources[path], codes, torch)
        ordered = [by_path[path] for path in sorted(by_path)]
        run = Run(list(sources.values()), by_path, around)
        project = link(ordered, torch, around, jobs, kept) if may_say_anything(ordered, around) else None
        programs.update({} if project is None else project.programs())
        reports.append(filtered(settle(ordered, config, torch, run.sources, around, project, models), run, narrowing))
        return [judged.finding for judged in reports[-1].findings]

    names = {path: item.name for path, item in sources.items()}
    placement = Placement(around.vendored, names, files.read)

    def refused(fix: Fix) -> str:
        """Return why a fix cannot be made if only one file may change; "" if it can."""
        paths = {edit.place.path for edit in fix.edits} | {need.path for need in fix.imports}
        return "" if paths <= known.keys() and not placement.copies(fix.imports) else BEYOND

    settings = settings_of(config, unsafe)
    settings = settings if given is None else replace(settings, refused=refused)
    with undisturbed():
        outcome = fix_project(check, files.read, settings, placement.copies)
    changed = [change.path for change in outcome.changes]
    stand = tuple(standings(programs, changed, reports[-1].findings))
    return Fixed(outcome, with_folders(reports[-1], around), stand, files)


def settings_of(config: Config, unsafe: bool = False) -> Settings:
    """Return the settings with which the fixes of a project are made."""
    vendored = is_vendored(config.runtime, requirements(config.root))
    return Settings(unsafe, _first_party(config.root, vendored))


def _first_party(root: Path, vendored: bool) -> frozenset[str]:
    """Return the modules and packages that linters treat as the project's own: those in its root and in `src`."""
    folders = (root, root / "src")
    found = {path.stem for folder in folders for path in folder.glob("*.py")}
    found |= {path.name for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()}
    scripts = any(path.stem not in ("setup", "conftest") for kind in ("*.py", "*.ipynb") for path in root.glob(kind))
    return frozenset(found | ({Path(FILE).stem} if vendored and scripts else set()))

"""A run: collect each file, link the facts, settle the findings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source, analyse
from detlint.cache import Cache, Content, uncached_where_it_fails
from detlint.config import Config
from detlint.gathering import Progress, collect
from detlint.link.entries import Entry
from detlint.listing import Around, listed
from detlint.project import Project
from detlint.report import Answered, Programs, Report
from detlint.settling import answer, choose, link, settle


def check_sources(sources: Sequence[Source], config: Config, torch: Version) -> Report:
    """Analyse texts in this process: for tests and editors."""
    codes = catalogues.load().choose(config.select, config.ignore) | {UNPARSED}
    return settle([analyse(item, codes, torch) for item in sources], config, torch, sources)


def check_paths(
    paths: Sequence[Path], config: Config, torch: Version, jobs: int = 0, progress: Progress | None = None
) -> Report:
    """Analyse the Python files under `paths` with `jobs` processes (0: one a core)."""
    begun = time.monotonic()
    sources, around = listed(paths, config)
    rules = catalogues.load()

    def run(config: Config) -> Report:
        cache = Cache(config.cache_dir, torch)
        codes = frozenset(rules.rules) if cache else rules.choose(config.select, config.ignore) | {UNPARSED}
        report = choose(answered(cache.read(sources), around, codes, torch, cache, jobs, progress), config)
        if any(path.absolute() == config.root.absolute() for path in paths):
            cache.note_whole()
        return report

    return replace(uncached_where_it_fails(run, config), seconds=time.monotonic() - begun)


def answered(
    contents: Sequence[Content],
    around: Around,
    codes: frozenset[str],
    torch: Version,
    cache: Cache,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Answered:
    """What these rules find in files as one project; all rules, where there is a cache."""
    key = cache.answer_key(contents, around)
    known = cache.answered(key, contents)
    if known is None:
        collected = collect(contents, codes, torch, cache, jobs, progress)
        models = Models({each.item.path: each.item for each in contents}, torch)
        known = answer(collected, codes, torch, models, around)
        if all(each.lasting for each in collected):
            cache.keep_answered(key, known)
    return known


def entries_of(
    paths: Sequence[Path], config: Config, torch: Version, jobs: int = 0, progress: Progress | None = None
) -> Programs:
    """The entry points of the Python files under `paths`, collected with `jobs` processes (0: one a core)."""
    begun = time.monotonic()
    sources, around = listed(paths, config)

    def run(config: Config) -> tuple[list[Collected], Project]:
        cache = Cache(config.cache_dir, torch)
        collected = collect(cache.read(sources), frozenset((UNPARSED,)), torch, cache, jobs, progress)
        return collected, link(collected, torch, around)

    collected, project = uncached_where_it_fails(run, config)
    entries = sorted(project.entries, key=Entry.rank)
    broken = sorted((finding.place, finding.message) for each in collected for finding in each.findings)
    errors = tuple(f"{place.path}:{place.line}:{place.column}: {message}" for place, message in broken)
    return Programs(tuple(entries), len(collected), time.monotonic() - begun, (*errors, *project.errors))

"""A run: collect each file, link the facts, settle the findings."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint import notebook, source
from detlint.catalogue import Catalogue, Rule
from detlint.collect import collect
from detlint.config import Config, requirements
from detlint.console_scripts import console_scripts
from detlint.facts import Facts
from detlint.finding import Finding, Fix, Place, Question, Severity, Unseeded
from detlint.link.entries import Entry
from detlint.model import Module
from detlint.notebook import Document
from detlint.placement import Placement, is_vendored
from detlint.project import Project
from detlint.source import Suppressions
from detlint.tree import NotPythonError
from detlint.vendoring import vendored_version

UNPARSED = "DET000"
_SAFE_PATH = "PYTHONSAFEPATH"
_DEPTH = 5000  # frames of Python: enough for a sum of 2,000 terms
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Source:
    """A file to analyse. `path` is shown, `name` is its dotted module name, `text` None if it is on disk."""

    path: str
    name: str
    text: str | None = None


@dataclass(frozen=True)
class Around:
    """What is known of a project beside the files of a run: its console scripts, files that were not analysed, and
    whether fixes give it a copy of the runtime.
    """

    commands: tuple[tuple[str, str], ...] = ()
    unread: frozenset[str] = frozenset()
    vendored: bool = True


@dataclass(frozen=True)
class Collected:
    """What the analysis of one file gave."""

    path: str
    facts: Facts | None
    findings: tuple[Finding, ...]
    suppressions: Suppressions


@dataclass(frozen=True)
class Judged:
    """A finding with its rule's severity settled."""

    finding: Finding
    rule: Rule
    severity: Severity


@dataclass(frozen=True)
class Report:
    """The outcome of a run."""

    findings: tuple[Judged, ...]
    files: int
    entry_points: int
    seconds: float
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Programs:
    """The entry points of a run, sorted by place; `errors` says what could not be read."""

    entries: tuple[Entry, ...]
    files: int
    seconds: float
    errors: tuple[str, ...] = ()


def analyse(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    """Collect one file: its facts and the findings of all chosen rules that look at a file."""
    catalogue = catalogues.load()
    try:
        text = source.read(Path(item.path)) if item.text is None else item.text
        if vendored_version(text) is not None:
            return Collected(item.path, None, (), Suppressions({}))  # the runtime, which a table speaks for
        document, module = _read(item, text, catalogue, torch)
        findings = [f for rule in _rules(catalogue, codes, "file", torch) for f in _check(rule)(module, rule)]
        findings += [_unparsed(item, catalogue, b.reason, b.line, b.column, b.cell) for b in document.broken]
        return Collected(item.path, collect(module), tuple(findings), Suppressions(document.texts))
    except (source.UnreadableError, NotPythonError) as error:
        line, column = getattr(error, "line", 1), getattr(error, "column", 1)
        return _failed(item, catalogue, str(error), line, column)
    except RecursionError:
        return _failed(item, catalogue, "it is nested too deeply")
    except Exception as error:  # a defect of detlint costs one file, not the run
        return _failed(item, catalogue, f"detlint failed on it ({type(error).__name__}: {error}); please report this")


def _read(item: Source, text: str, catalogue: Catalogue, torch: Version) -> tuple[Document, Module]:
    document = notebook.read(item.path, text.removeprefix("\ufeff"))
    return document, Module(document.text, item.path, item.name, catalogue, torch, document.origins)


class Models:
    """The models of files, for fixes that reach beyond the file of their finding; each is made when it is asked for."""

    def __init__(self, sources: Mapping[str, Source], torch: Version) -> None:
        """`sources` are the files by path."""
        self.sources = sources
        self._torch = torch
        self._made: dict[str, Module | None] = {}

    def __call__(self, path: str) -> Module | None:
        """The model of a file, or None where it cannot be read."""
        if path not in self._made:
            try:
                _, self._made[path] = _read(self.sources[path], self.text(path), catalogues.load(), self._torch)
            except (KeyError, source.UnreadableError, NotPythonError):
                self._made[path] = None
        return self._made[path]

    def text(self, path: str) -> str:
        """The text of a file. Raises KeyError and UnreadableError."""
        item = self.sources[path]
        return source.read(Path(path)) if item.text is None else item.text


def _failed(item: Source, catalogue: Catalogue, reason: str, line: int = 1, column: int = 1) -> Collected:
    return Collected(item.path, None, (_unparsed(item, catalogue, reason, line, column),), Suppressions({}))


def _unparsed(
    item: Source, catalogue: Catalogue, reason: str, line: int, column: int, cell: int | None = None
) -> Finding:
    message = catalogue.rules[UNPARSED].message.format(reason=reason)
    return Finding(UNPARSED, Place(item.path, line, column, line, column + 1, cell), message)


def _rules(catalogue: Catalogue, codes: frozenset[str], over: str, torch: Version) -> Iterator[Rule]:
    for code, rule in catalogue.rules.items():
        if code in codes and rule.over == over and rule.holds_for(torch):
            yield rule


def _check(rule: Rule) -> Callable[[object, Rule], Iterable[Finding]]:
    check: Callable[[object, Rule], Iterable[Finding]] = import_module(f"detlint.checks.{rule.check}").check
    return check


def link(
    collected: Iterable[Collected], torch: Version, around: Around = Around(), models: Models | None = None
) -> Project:
    """The project that the facts of all files make; `models` are there for its fixes."""
    facts = (c.facts for c in collected if c.facts is not None)
    with undisturbed():
        return Project(facts, catalogues.load(), torch, around.commands, around.unread, models)


def settle(
    collected: Sequence[Collected], config: Config, torch: Version, sources: Iterable[Source], around: Around = Around()
) -> Report:
    """Link the facts of all files; answer, suppress, select and sort the findings."""
    catalogue = catalogues.load()
    codes = catalogue.choose(config.select, config.ignore)
    models = Models({item.path: item for item in sources}, torch)
    placement = Placement(around.vendored, {path: item.name for path, item in models.sources.items()}, models.text)
    project = link(collected, torch, around, models)
    found = [finding for c in collected for finding in c.findings]
    for rule in _rules(catalogue, codes, "project", torch):
        found += _check(rule)(project, rule)
    suppressions = {c.path: c.suppressions for c in collected}
    judged: dict[tuple[str, Place, str], Judged] = {}
    for finding in found:
        if finding.only_if is not None and not project.holds(finding.only_if):
            continue
        if any(project.holds(question) for question in finding.unless):
            continue
        answered = replace(finding, full_if=None, only_if=None, unless=())
        if finding.full_if is not None and not project.holds(finding.full_if):
            answered = replace(answered, lowered=True)
        if finding.fix is not None:
            lowered = answered.lowered or not _holds_always(project, finding.full_if)
            answered = replace(answered, fix=placement.placed(_settled(finding.fix, lowered)))
        rule = catalogue.rules[finding.code]
        severity = rule.lower if answered.lowered else rule.severity
        place = finding.place
        if (
            severity.rank <= config.severity.rank
            and _breaks(rule, config.breaks)
            and not suppressions[place.path].covers(finding.code, place.line, place.end_line, place.cell)
            and not _ignored(finding, config, catalogue)
        ):
            judged[finding.code, place, finding.message] = Judged(answered, rule, severity)
    ordered = sorted(judged.values(), key=lambda j: (j.finding.place, j.finding.code, j.finding.message))
    return Report(tuple(ordered), len(collected), len(project.entries), 0.0, tuple(project.errors))


def _settled(fix: Fix, lowered: bool) -> Fix:
    """A fix with its safety settled."""
    safety = fix.lowered if lowered and fix.lowered is not None else fix.safety
    return replace(fix, safety=safety, lowered=None)


def _holds_always(project: Project, question: Question | None) -> bool:
    """Whether what a finding asks of its program is so in every program that shares the place."""
    return not isinstance(question, Unseeded) or project.holds(replace(question, always=True))


def _breaks(rule: Rule, promises: tuple[str, ...]) -> bool:
    """Whether a rule speaks of one of the promises; one that speaks of none, a broken file, always counts."""
    return not promises or not rule.breaks or not set(promises).isdisjoint(rule.breaks)


def _ignored(finding: Finding, config: Config, catalogue: Catalogue) -> bool:
    path = Path(finding.place.path)
    absolute = path.absolute().as_posix()
    root = config.root.absolute().as_posix() + "/"
    relative = absolute.removeprefix(root)
    return any(
        finding.code in catalogue.matching(selector)
        for pattern, selectors in config.per_file_ignores.items()
        if fnmatch(relative, pattern) or fnmatch(path.name, pattern)
        for selector in selectors
    )


def check_sources(sources: Sequence[Source], config: Config, torch: Version) -> Report:
    """Analyse texts in this process: for tests and editors."""
    codes = catalogues.load().choose(config.select, config.ignore) | {UNPARSED}
    return settle([analyse(item, codes, torch) for item in sources], config, torch, sources)


def check_paths(
    paths: Sequence[Path], config: Config, torch: Version, jobs: int = 0, progress: Progress | None = None
) -> Report:
    """Analyse the Python files under `paths` with `jobs` processes (0: one a core)."""
    begun = time.monotonic()
    codes = catalogues.load().choose(config.select, config.ignore) | {UNPARSED}
    collected, around = collect_paths(paths, config, codes, torch, jobs, progress)
    report = settle(collected, config, torch, sources_of(collected), around)
    return replace(report, seconds=time.monotonic() - begun)


def entries_of(
    paths: Sequence[Path], config: Config, torch: Version, jobs: int = 0, progress: Progress | None = None
) -> Programs:
    """The entry points of the Python files under `paths`, collected with `jobs` processes (0: one a core)."""
    begun = time.monotonic()
    collected, around = collect_paths(paths, config, frozenset((UNPARSED,)), torch, jobs, progress)
    project = link(collected, torch, around)
    entries = sorted(project.entries, key=Entry.rank)
    broken = sorted((finding.place, finding.message) for each in collected for finding in each.findings)
    errors = tuple(f"{place.path}:{place.line}:{place.column}: {message}" for place, message in broken)
    return Programs(tuple(entries), len(collected), time.monotonic() - begun, (*errors, *project.errors))


def collect_paths(
    paths: Sequence[Path],
    config: Config,
    codes: frozenset[str],
    torch: Version,
    jobs: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Collected], Around]:
    """Collect the Python files under `paths`, and what is around them."""
    files = list(source.discover(paths, config.exclude))
    sources = [Source(path.as_posix(), source.module_name(path)) for path in files]
    collected = list(_collect(sources, codes, torch, jobs or os.cpu_count() or 1, progress))
    folders = {path.parent: path for path in files}
    unread = {near.as_posix() for path in folders.values() for near in source.neighbours(path)}
    vendored = is_vendored(config.runtime, requirements(config.root))
    beyond = frozenset(unread.difference(item.path for item in sources))
    around = Around(tuple(console_scripts(config.root)), beyond, vendored)
    return sorted(collected, key=lambda c: c.path), around


def sources_of(collected: Iterable[Collected]) -> list[Source]:
    """The files on disk that were collected."""
    return [Source(each.path, source.module_name(Path(each.path))) for each in collected]


def _collect(
    sources: Sequence[Source], codes: frozenset[str], torch: Version, jobs: int, progress: Progress | None
) -> Iterator[Collected]:
    if jobs == 1 or len(sources) < 8:
        for done, item in enumerate(sources, 1):
            yield _analyse_alone(item, codes, torch)
            if progress is not None:
                progress(done, len(sources))
        return
    waiting = deque(sorted(sources, key=lambda item: -_size(item.path)))
    while waiting:
        with _without_own_folder(), ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            for future in [pool.submit(_analyse_alone, item, codes, torch) for item in waiting]:
                try:
                    collected = future.result()
                except BrokenProcessPool:
                    if jobs > 1:
                        jobs = 1  # one process at a time tells which file ended it
                        break
                    yield _failed(waiting.popleft(), catalogues.load(), "its analysis ended the process")
                    break
                waiting.popleft()
                yield collected
                if progress is not None:
                    progress(len(sources) - len(waiting), len(sources))


@contextmanager
def _without_own_folder() -> Iterator[None]:
    """Keep the folder in which detlint runs off the path of new processes: a file there may be called enum.py.

    Python 3.10 has no such variable.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _analyse_alone(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    with undisturbed():
        return analyse(item, codes, torch)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Room for deep expressions, and no collecting of garbage meanwhile: what is made lives to the end, and looking for
    dead cycles in it halves the speed.
    """
    enabled = gc.isenabled()
    limit = sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if not gc.get_freeze_count():
            gc.freeze()  # to and fro, what is new counts as old, without a search through it
            gc.unfreeze()
        if enabled:
            gc.enable()

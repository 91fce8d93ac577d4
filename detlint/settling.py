"""The facts of all files linked, and the findings settled: questions answered, suppressed, selected and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source, check_of, rules_over, undisturbed
from detlint.catalogue import Catalogue, Rule
from detlint.config import Config
from detlint.finding import Finding, Fix, Place, Question, Unseeded
from detlint.listing import ALONE, Around
from detlint.placement import Placement
from detlint.project import Project
from detlint.report import Answered, Judged, Report
from detlint.source import Suppressions


def link(
    collected: Iterable[Collected], torch: Version, around: Around = ALONE, models: Models | None = None
) -> Project:
    """The project that the facts of all files make; `models` are there for its fixes."""
    facts = (c.facts for c in collected if c.facts is not None)
    with undisturbed():
        return Project(facts, catalogues.load(), torch, around.commands, around.unread, models)


def settle(
    collected: Sequence[Collected], config: Config, torch: Version, sources: Iterable[Source], around: Around = ALONE
) -> Report:
    """Link the facts of all files; answer, suppress, select and sort the findings."""
    codes = catalogues.load().choose(config.select, config.ignore)
    models = Models({item.path: item for item in sources}, torch)
    return choose(answer(collected, codes, torch, models, around), config)


def answer(
    collected: Sequence[Collected],
    codes: frozenset[str],
    torch: Version,
    models: Models,
    around: Around = ALONE,
    project: Project | None = None,
) -> Answered:
    """The findings of these rules that the project confirms, with their severity and their fixes settled.

    `project` are the files linked, where that is done already.
    """
    catalogue = catalogues.load()
    placement = Placement(around.vendored, {path: item.name for path, item in models.sources.items()}, models.text)
    if project is None:
        project = link(collected, torch, around, models)
    found = [finding for c in collected for finding in c.findings]
    for rule in rules_over(catalogue, codes, "project", torch):
        found += check_of(rule)(project, rule)
    confirmed = []
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
        confirmed.append(Judged(answered, rule, rule.lower if answered.lowered else rule.severity))
    suppressions = {c.path: c.suppressions for c in collected}
    return Answered(tuple(confirmed), suppressions, len(project.entries), tuple(project.errors))


def choose(answered: Answered, config: Config) -> Report:
    """What is shown of a project: selected, not suppressed, sorted."""
    catalogue = catalogues.load()
    codes = catalogue.choose(config.select, config.ignore) | {UNPARSED}
    shown: dict[tuple[str, Place, str], Judged] = {}
    for judged in answered.findings:
        finding, place = judged.finding, judged.finding.place
        if (
            finding.code in codes
            and judged.severity.rank <= config.severity.rank
            and _breaks(judged.rule, config.breaks)
            and not _suppressed(finding, answered.suppressions[place.path], config)
            and not _ignored(finding, config, catalogue)
        ):
            shown[finding.code, place, finding.message] = judged
    ordered = sorted(shown.values(), key=lambda j: (j.finding.place, j.finding.code, j.finding.message))
    files = len(answered.suppressions)
    return Report(tuple(ordered), files, answered.entry_points, 0.0, answered.errors)


def _suppressed(finding: Finding, suppressions: Suppressions, config: Config) -> bool:
    place = finding.place
    return suppressions.covers(finding.code, place.line, place.end_line, place.cell, config.noqa)


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

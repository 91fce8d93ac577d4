"""The facts of all files linked, and the findings settled: questions answered, suppressed, selected and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import Collected, Models, Source, check_of, rules_over, undisturbed
from detlint.catalogue import Catalogue
from detlint.config import Config
from detlint.finding import Finding, Fix, Place, Question, Unseeded
from detlint.gathering import ALONE, Around
from detlint.placement import Placement
from detlint.project import Project
from detlint.report import Judged, Report


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
    catalogue = catalogues.load()
    codes = catalogue.choose(config.select, config.ignore)
    models = Models({item.path: item for item in sources}, torch)
    placement = Placement(around.vendored, {path: item.name for path, item in models.sources.items()}, models.text)
    project = link(collected, torch, around, models)
    found = [finding for c in collected for finding in c.findings]
    for rule in rules_over(catalogue, codes, "project", torch):
        found += check_of(rule)(project, rule)
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
            and rule.speaks_of(config.breaks)
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

"""The facts of all files linked, and the findings settled: questions answered, suppressed, selected and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source, check_of, rules_over, undisturbed
from detlint.config import Config
from detlint.finding import Finding, Fix, Question, Unseeded
from detlint.gathering import ALONE, Around
from detlint.judgement import Judgement
from detlint.placement import Placement
from detlint.project import Project
from detlint.report import Report
from detlint.unused import UNUSED, unused


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
    broken = {finding.place.path for finding in found if finding.code == UNPARSED}
    whole = around.whole and not broken and not project.errors
    judgement = Judgement(catalogue, config, {c.path: c.suppressions for c in collected})
    for finding in found:
        if not _stands(project, finding):
            if not whole:
                judgement.cover(finding)  # a run over more may confirm it
            continue
        answered = replace(finding, full_if=None, only_if=None, unless=())
        if finding.full_if is not None and not project.holds(finding.full_if):
            answered = replace(answered, lowered=True)
        if finding.fix is not None:
            lowered = answered.lowered or not _holds_always(project, finding.full_if)
            answered = replace(answered, fix=placement.placed(_settled(finding.fix, lowered)))
        judgement.add(answered)
    if UNUSED in codes:
        seen = ("file", "project") if whole else ("file",)
        ran = frozenset(rule.code for over in seen for rule in rules_over(catalogue, codes, over, torch)) | {UNPARSED}
        for path, suppressions in judgement.heeded():
            known = frozenset() if path in broken else ran
            for finding in unused(catalogue, suppressions, judgement.used, known):
                judgement.add(finding)
    errors = tuple(project.errors)
    return Report(judgement.shown(), len(collected), len(project.entries), 0.0, errors, judgement.withheld())


def _stands(project: Project, finding: Finding) -> bool:
    """Whether the project confirms a finding."""
    if finding.only_if is not None and not project.holds(finding.only_if):
        return False
    return not any(project.holds(question) for question in finding.unless)


def _settled(fix: Fix, lowered: bool) -> Fix:
    """A fix with its safety settled."""
    safety = fix.lowered if lowered and fix.lowered is not None else fix.safety
    return replace(fix, safety=safety, lowered=None)


def _holds_always(project: Project, question: Question | None) -> bool:
    """Whether what a finding asks of its program is so in every program that shares the place."""
    return not isinstance(question, Unseeded) or project.holds(replace(question, always=True))

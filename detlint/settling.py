"""The facts of all files linked, and the findings settled: questions answered, suppressed, selected and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source, check_of, rules_over, undisturbed
from detlint.config import Config
from detlint.finding import Finding, Fix, Question, Unseeded
from detlint.judgement import Judgement
from detlint.listing import ALONE, Around
from detlint.placement import Placement
from detlint.project import Project
from detlint.report import Answered, Judged, Report
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
    text = lru_cache(maxsize=4)(models.text)  # the findings of a file stand together
    placement = Placement(around.vendored, {path: item.name for path, item in models.sources.items()}, text)
    if project is None:
        project = link(collected, torch, around, models)
    found = [finding for c in collected for finding in c.findings]
    for rule in rules_over(catalogue, codes, "project", torch):
        found += check_of(rule)(project, rule)
    broken = any(finding.code == UNPARSED for finding in found)
    whole = around.whole and not broken and not project.errors
    confirmed, unsure = [], []
    for finding in found:
        if not _stands(project, finding):
            unsure.append(finding)
            continue
        answered = replace(finding, full_if=None, only_if=None, unless=())
        if finding.full_if is not None and not project.holds(finding.full_if):
            answered = replace(answered, lowered=True)
        if finding.fix is not None:
            lowered = answered.lowered or not _holds_always(project, finding.full_if)
            answered = replace(answered, fix=placement.placed(_settled(finding.fix, lowered)))
        rule = catalogue.rules[finding.code]
        confirmed.append(Judged(answered, rule, rule.lower if answered.lowered else rule.severity))
    seen = ("file", "project") if whole else ("file",)
    sure = frozenset(rule.code for over in seen for rule in rules_over(catalogue, codes, over, torch))
    return Answered(
        tuple(confirmed),
        {c.path: c.suppressions for c in collected},
        len(project.entries),
        tuple(project.errors),
        () if whole else tuple(unsure),
        sure,
    )


def _stands(project: Project, finding: Finding) -> bool:
    """Whether the project confirms a finding."""
    if finding.only_if is not None and not project.holds(finding.only_if):
        return False
    return not any(project.holds(question) for question in finding.unless)


def choose(answered: Answered, config: Config) -> Report:
    """What is shown of a project: selected, not suppressed, sorted."""
    catalogue = catalogues.load()
    codes = catalogue.choose(config.select, config.ignore) | {UNPARSED}
    judgement = Judgement(catalogue, config, answered.suppressions)
    for finding in answered.unsure:
        if finding.code in codes:
            judgement.cover(finding)
    broken = set()
    for judged in answered.findings:
        if judged.finding.code in codes:
            judgement.add(judged)
        if judged.finding.code == UNPARSED:
            broken.add(judged.finding.place.path)
    if UNUSED in codes:
        rule = catalogue.rules[UNUSED]
        ran = (answered.sure & codes) | {UNPARSED}
        for path, suppressions in judgement.heeded():
            known = frozenset() if path in broken else ran
            for finding in unused(catalogue, suppressions, judgement.used, known):
                judgement.add(Judged(finding, rule, rule.severity))
    files = len(answered.suppressions)
    return Report(judgement.shown(), files, answered.entry_points, 0.0, answered.errors, judgement.withheld())


def _settled(fix: Fix, lowered: bool) -> Fix:
    """A fix with its safety settled."""
    safety = fix.lowered if lowered and fix.lowered is not None else fix.safety
    return replace(fix, safety=safety, lowered=None)


def _holds_always(project: Project, question: Question | None) -> bool:
    """Whether what a finding asks of its program is so in every program that shares the place."""
    return not isinstance(question, Unseeded) or project.holds(replace(question, always=True))

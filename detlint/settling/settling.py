"""The facts of all files linked, and the findings settled: questions answered, suppressed, selected and sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source, check_of, rules_over, undisturbed
from detlint.config import Config
from detlint.documents.documents import Documents
from detlint.facts.reach import Reached
from detlint.facts.signatures import is_open
from detlint.finding import Finding, Related, Remedy, Safety
from detlint.listing import ALONE, Around
from detlint.questions import (
    Copied,
    Forgotten,
    NeverSeeded,
    Question,
    Races,
    Reaches,
    Reseeded,
    SameOrder,
    Unfilled,
    Unseeded,
    UnseededLibrary,
)
from detlint.report import Answered, Basis, Judged, Report, Verdict
from detlint.settling.confirming import Confirmed, is_broken
from detlint.settling.judgement import Judgement
from detlint.sources.unused import UNUSED, unused

if TYPE_CHECKING:
    from detlint.link.runs.kept import Kept
    from detlint.project.orders import Use
    from detlint.project.project import Project


def link(
    collected: Iterable[Collected],
    torch: Version,
    around: Around = ALONE,
    jobs: int = 1,
    kept: Kept | None = None,
    halt: Callable[[], None] | None = None,
) -> Project:
    """Return the project made of the facts of all files, linked with up to `jobs` processes (0: one per core).

    What is `kept` of the previous link is not done again. `halt` is called meanwhile and may raise.
    """
    from detlint.project.project import Project  # it imports all linking code, which a run with answers does not need

    facts = (c.facts for c in collected if c.facts is not None)
    with undisturbed():
        documents = Documents(around.documents)
        return Project(facts, catalogues.load(), torch, around.commands, around.unread, jobs, documents, kept, halt)


def settle(
    collected: Sequence[Collected],
    config: Config,
    torch: Version,
    sources: Iterable[Source],
    around: Around = ALONE,
    project: Project | None = None,
    models: Models | None = None,
) -> Report:
    """Link the facts of all files, unless that is done; answer, suppress, select and sort the findings.

    `models` are those of the sources, if there are any.
    """
    codes = catalogues.load().choose(config.select, config.ignore)
    models = models or Models({item.path: item for item in sources}, torch)
    return choose(answer(collected, codes, torch, models, around, project), config)


@undisturbed()
def answer(
    collected: Sequence[Collected],
    codes: frozenset[str],
    torch: Version,
    models: Models,
    around: Around = ALONE,
    project: Project | None = None,
    jobs: int = 1,
    kept: Kept | None = None,
) -> Answered:
    """Return the findings of these rules that the project confirms, with their severity and their fixes settled.

    `project` has the files linked, if that is done already. Otherwise they are linked with up to `jobs` processes, and
    what is `kept` of the previous link is not done again.
    """
    catalogue = catalogues.load()
    if project is None and may_say_anything(collected, around):
        project = link(collected, torch, around, jobs, kept)
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    reached: Mapping[str, Reached] = {}
    found: list[Finding] = []
    named: Mapping[str, str] = {}
    tried = frozenset[tuple[str, str]]()
    if project is not None:
        reached, named, tried = project.reached(), project.spaces(), project.tried()
        verdicts = {c.path: tuple(_verdict(project, f) for f in c.findings if is_open(f)) for c in collected}
        project.hear(_standing(collected, verdicts))
        found = [f for rule in rules_over(catalogue, codes, "project", torch) for f in check_of(rule)(project, rule)]
    confirmed = Confirmed(models, around, named, tried)
    for each in collected:
        confirmed.add_file(each, verdicts.get(each.path, ()))
    for finding in found:
        confirmed.add(finding)
    broken = any(is_broken(each) for each in collected)
    errors = () if project is None else tuple(project.errors)
    questions = (q for each in collected for finding in each.findings for q in (finding.only_if, finding.full_if))
    orders = any(isinstance(question, (Reaches, Unfilled)) for question in questions)
    whole = around.whole and not broken and not errors
    seen = ("file", "project") if whole else ("file",)
    sure = frozenset(rule.code for over in seen for rule in rules_over(catalogue, codes, over, torch))
    return Answered(
        tuple(confirmed.findings),
        {c.path: c.suppressions for c in collected},
        0 if project is None else len(project.entries),
        errors,
        () if whole else tuple(confirmed.unsure),
        sure,
        Basis({path: given for path, given in verdicts.items() if given}, tuple(found), reached, named, orders, tried),
        {} if project is None else project.program.documents.looked,
    )


def _standing(collected: Iterable[Collected], verdicts: Mapping[str, Sequence[Verdict]]) -> Iterator[Finding]:
    """Yield the findings in single files, except for those that the project does not confirm."""
    for each in collected:
        given = iter(verdicts[each.path])
        yield from (finding for finding in each.findings if not is_open(finding) or next(given).stands)


def may_say_anything(collected: Sequence[Collected], around: Around) -> bool:
    """Return whether files may have entry points, or open questions. If they have neither, nothing needs linking."""
    files = [each.facts for each in collected if each.facts is not None]
    modules = {target.partition(":")[0].rpartition(".")[2] for _, target, _ in around.commands}
    ends = (".ipynb", *(f"{module}{end}" for module in ("__main__", *modules) for end in (".py", "/__init__.py")))
    starts = any(facts.guarded or facts.acts or facts.path.endswith(ends) for facts in files)
    return starts or any(is_open(finding) for each in collected for finding in each.findings)


def choose(answered: Answered, config: Config) -> Report:
    """Return what is shown of a project: selected, not suppressed, sorted."""
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
    return Report(
        judgement.shown(),
        files,
        answered.entry_points,
        0.0,
        answered.errors,
        judgement.withheld(),
        documents=answered.documents,
    )


def _holds_always(project: Project, question: Question | None) -> bool:
    """Return whether a finding's condition on its program holds in every program that shares the place."""
    return not isinstance(question, Unseeded) or project.holds(replace(question, always=True))


def _verdict(project: Project, finding: Finding) -> Verdict:
    """Return what the project says about a finding."""
    if finding.only_if is not None and not project.holds(finding.only_if):
        return Verdict(stands=False)
    if any(project.holds(question) for question in finding.unless):
        return Verdict(stands=False)
    asked = next((each for each in (finding.only_if, finding.full_if) if isinstance(each, Reaches)), None)
    use = project.use(asked) if asked is not None else None
    lowered = finding.full_if is not None and not project.holds(finding.full_if)
    doubted = not _holds_always(project, finding.full_if or finding.only_if)
    used = "" if use is None else use.kind
    noted = finding.passed is not None and project.passes_over(finding.passed)
    return Verdict(True, lowered, doubted, _remedies(project, finding), _related(project, finding, use), used, noted)


def _related(project: Project, finding: Finding, use: Use | None) -> tuple[Related, ...]:
    """Return the places in programs that explain a finding."""
    asked = finding.only_if
    if use is not None:
        told = f"the order {catalogues.load().rules[finding.code].data['uses'][use.kind]} here"
        *way, last = use.places
        return (*(Related(place, "it is handed on here") for place in way), Related(last, told))
    if isinstance(asked, Unfilled):
        *way, last = project.memory_read(asked)
        told = "read here, and nothing in the project fills it"
        return (*(Related(place, "it is handed on here") for place in way), Related(last, told))
    if isinstance(asked, (NeverSeeded, Copied, Races)):
        drawn = project.because_of(asked)
        never = "it is drawn from here, and nothing in the program seeds it"
        told = "drawn from here, in each worker's own copy" if isinstance(asked, Copied) else never
        told = "drawn here" if isinstance(asked, Races) else told
        return () if drawn in (None, finding.place) else (Related(drawn, told),)
    if isinstance(asked, (Forgotten, Reseeded)):
        losing = project.because_of(asked)
        told = (
            "the generator is seeded here" if isinstance(asked, Reseeded) else "the optimizer's state is restored here"
        )
        return () if losing is None else (Related(losing, told),)
    places = project.passes(asked) if isinstance(asked, SameOrder) else ()
    return tuple(Related(place, "iterated here in each epoch") for place in places)


def _remedies(project: Project, finding: Finding) -> tuple[Remedy, ...]:
    """Return the programs whose seed is a safe fix for draws of another library, where no seed can be passed safely."""
    asked = finding.only_if
    if not isinstance(asked, UnseededLibrary) or (finding.fix is not None and finding.fix.safety is Safety.SAFE):
        return ()
    return project.library_remedies(asked, finding.place)

"""Findings settled by what a project says about them, both when it is linked and when only lines have moved since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models
from detlint.editing.placement import Placement
from detlint.facts import signatures
from detlint.facts.reach import reached_part, words
from detlint.facts.touches import Memory
from detlint.finding import Finding, Fix, Place, Related, Remedy, Severity
from detlint.listing import Around
from detlint.report import Answered, Basis, Judged, Verdict

T = TypeVar("T")
_SURE = Verdict()  # the verdict on a finding without open questions


def signature(collected: Collected) -> str:
    """Return what of a file matters to the rest of its project: `renewed` needs it to be unchanged."""
    return signatures.signature(collected.facts, collected.findings, is_broken(collected))


def unmoved(old: Collected, new: Collected, answered: Answered) -> tuple[Collected, Collected] | None:
    """Return the old and new results of a file, with the part of its facts that `renewed` needs.

    Return None where the project must be linked again, because something changed that programs reach.
    """
    if answered.basis is not None and old.path in _repaired_in(answered.basis):
        return None
    if old.facts is None or new.facts is None or answered.basis is None:
        return (old, new) if _are_alike(old, new) else None
    reached, own = answered.basis.reached.get(old.path), words(answered.suppressions)
    old_facts, new_facts = reached_part(old.facts, reached, own), reached_part(new.facts, reached, own)
    if not answered.basis.orders:
        old_facts, new_facts = (replace(facts, flows=(), memory=Memory()) for facts in (old_facts, new_facts))
    old, new = replace(old, facts=old_facts), replace(new, facts=new_facts)
    return (old, new) if _are_alike(old, new) else None


def _are_alike(old: Collected, new: Collected) -> bool:
    """Return whether a file's part in its project is the same as before, regardless of line numbers."""
    if old.facts == new.facts and old.findings == new.findings:  # as when no line has moved, which is quick to see
        return True
    return signature(old) == signature(new)


def is_broken(collected: Collected) -> bool:
    """Return whether a part of a file could not be read."""
    return any(finding.code == UNPARSED for finding in collected.findings)


class Confirmed:
    """The findings of a project that stand, with severity and fixes settled, and those that are not sure to."""

    def __init__(
        self, models: Models, around: Around, spaces: Mapping[str, str], tried: frozenset[tuple[str, str]]
    ) -> None:
        """`models` give the files that fixes are made from.

        `around` and `spaces`, the names of modules in folders without an `__init__.py`, determine how these import the
        runtime. `tried` are the parts of files that only try out what these offer.
        """
        self._tried = tried
        self.findings: list[Judged] = []
        self.unsure: list[Finding] = []
        self._models = models
        text = lru_cache(maxsize=4)(models.text)  # the findings of a file come together
        names = {path: item.name for path, item in models.sources.items()} | dict(spaces)
        self._runtime = around.runtime
        self._spaces = frozenset(spaces.items())
        self._placement = Placement(around.vendored, names, text, around.installable)

    def add_file(self, collected: Collected, verdicts: Iterable[Verdict]) -> None:
        """Add the findings of a file; those with open questions have a verdict each."""
        given = iter(verdicts)
        for finding in collected.findings:
            self.add(finding, next(given) if signatures.is_open(finding) else _SURE)

    def add(self, finding: Finding, verdict: Verdict = _SURE) -> None:
        """Add a finding with its verdict."""
        if not verdict.stands:
            self.unsure.append(finding)
            return
        told = _told(finding, verdict, self._tried)
        lowered = told.lowered or verdict.lowered
        remedies = finding.remedies or verdict.remedies
        # a program that only tries something out, or whose draws decide nothing, stays as it is
        fix = self._repaired(remedies) if remedies and not (finding.remedies and lowered) else None
        fix = fix or (None if finding.remedies else finding.fix)
        if fix is not None:
            fix = self._placement.placed(_settled(fix, lowered, verdict.doubted))
        self.findings.append(_judged(told, lowered, fix, verdict.related))

    def _repaired(self, remedies: tuple[Remedy, ...]) -> Fix | None:
        from detlint.repairs.entry_point import repaired  # it imports the parsers

        def make() -> Fix | None:
            return repaired(remedies, self._models, self._placement.is_imported, self._has_lines)

        return self._models.once((remedies, self._spaces), frozenset(_read(remedies)), make)

    def _has_lines(self, path: str) -> bool:
        """Return whether a file's program must get the libraries' own lines, as when a copy would serve it alone."""
        alone = self._runtime == "auto" and self._placement.vendored and not self._placement.is_shared(path)
        return self._runtime == "inline" or alone


def renewed(
    answered: Answered, changed: Iterable[tuple[Collected, Collected]], models: Models, around: Around
) -> Answered:
    """Return the answers of a project when the texts of some files have changed, but nothing that its programs reach.

    `changed` has the old and new results of these files, as `unmoved` returns them. The answers equal those of linking
    the project again.
    """
    given = answered.basis
    assert given is not None
    pairs = tuple(changed)
    new = {now.path: now for _, now in pairs}
    confirmed = Confirmed(models, around, given.spaces, given.tried)
    judged, unsure = defaultdict[str, list[Judged]](list), defaultdict[str, list[Finding]](list)
    programs = [each for each in answered.findings if each.rule.over == "project"]
    moves = _moves(pairs)
    verdicts = {path: _moved(each, moves) for path, each in given.verdicts.items()} if moves else given.verdicts
    for each in answered.findings:
        if each.rule.over != "project":
            judged[each.finding.place.path].append(each)
    for finding in answered.unsure:
        unsure[finding.place.path].append(finding)
    for path in answered.suppressions:
        if path in new:
            confirmed.add_file(new[path], verdicts.get(path, ()))
        else:
            confirmed.findings += judged[path]
            confirmed.unsure += unsure[path]
    found = tuple(_moved(finding, moves) for finding in given.programs) if moves else given.programs
    for finding, before in zip(found, programs, strict=True):
        if new.keys().isdisjoint(_read(finding.remedies)):
            confirmed.findings.append(_judged(finding, finding.lowered, before.finding.fix))
        else:
            confirmed.add(finding)
    broken = any(each.finding.code == UNPARSED for each in confirmed.findings)
    whole = around.whole and not broken and not answered.errors
    return replace(
        answered,
        findings=tuple(confirmed.findings),
        suppressions={path: new[path].suppressions if path in new else s for path, s in answered.suppressions.items()},
        unsure=() if whole else tuple(confirmed.unsure),
        basis=replace(given, verdicts=verdicts, programs=found),
    )


def judged(finding: Finding, verdict: Verdict, tried: Container[tuple[str, str]]) -> Judged:
    """Return a finding that stands, without a fix. `tried` are the parts of files that only try out what they offer."""
    told = _told(finding, verdict, tried)
    return _judged(told, told.lowered or verdict.lowered, None, verdict.related)


def _judged(finding: Finding, lowered: bool, fix: Fix | None, related: tuple[Related, ...] = ()) -> Judged:
    """Return a finding with its questions answered, and with the places in programs that explain it."""
    rule = catalogues.load().rules[finding.code]
    settled = replace(finding, full_if=None, only_if=None, unless=(), passed=None, remedies=())
    answered = replace(settled, lowered=lowered, fix=fix)
    if related:
        answered = replace(answered, related=(*finding.related, *related))
    severity = Severity.NOTE if finding.noted else rule.lower if lowered else rule.severity
    return Judged(answered, rule, severity)


def _told(finding: Finding, verdict: Verdict, tried: Container[tuple[str, str]]) -> Finding:
    """Return a finding with the use that its value reaches in other files; a note where it is tried out or not run."""
    if verdict.noted or (finding.place.path, finding.within) in tried:
        return replace(_told(finding, replace(verdict, noted=False), ()), noted=True, lowered=True)
    if not verdict.use:
        return finding
    rule = catalogues.load().rules[finding.code]
    details = {**finding.details, "use": rule.data["uses"][verdict.use]}
    message, alone = (
        rule.message.format(**details),
        bool(finding.details["use"]),
    )  # else it is a note for another reason
    noted = finding.noted and not alone
    return replace(finding, message=message, details=details, related=(), noted=noted, flow=True)


def _settled(fix: Fix, lowered: bool, doubted: bool) -> Fix:
    """Return a fix with its safety settled."""
    safety = (fix.doubted if doubted else None) or (fix.lowered if lowered or doubted else None) or fix.safety
    return replace(fix, safety=safety, lowered=None if lowered or doubted else fix.lowered, doubted=None)


def _read(remedies: Iterable[Remedy]) -> set[str]:
    """Return the files that a fix is made from."""
    found = [each for one in remedies for each in (one, one.own) if each is not None]
    named = (path for each in found for path in (each.path, *each.parsers))
    places = (place for each in found for place in (*(step.place for step in each.steps), *each.late))
    seeds = (place.path for each in found for place, _ in each.seeds)
    return {*named, *seeds, *(place.path for place in places)}


def _repaired_in(basis: Basis) -> set[str]:
    """Return the files that fixes of findings in other files are made from."""
    return _read(each for verdicts in basis.verdicts.values() for verdict in verdicts for each in verdict.remedies)


# Places


def _moves(changed: Iterable[tuple[Collected, Collected]]) -> dict[Place, Place]:
    """Return the new place of each place that the facts of files name."""
    moves: dict[Place, Place] = {}
    for old, new in changed:
        if old.facts == new.facts:
            continue
        moves.update(zip(signatures.sites(old.facts), signatures.sites(new.facts), strict=True))
    return moves


def _moved(part: T, moves: Mapping[Place, Place]) -> T:
    """Return a part of a finding with its places moved to where they are now."""
    made: Any = part
    if isinstance(part, Place):
        made = moves.get(part, part)
    elif isinstance(part, tuple):
        made = tuple(_moved(each, moves) for each in part)
    elif is_dataclass(part) and not isinstance(part, type):
        made = replace(part, **{each.name: _moved(getattr(part, each.name), moves) for each in fields(part)})
    return made  # type: ignore[no-any-return]

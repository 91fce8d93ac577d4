"""Fixes applied: those that do not conflict, then another check, until nothing changes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from detlint.applying.rewriting import BadEditError, disagree, moved, rewrite, sound, still_runs
from detlint.editing.importing import WIDTH, Head, NoPlaceError
from detlint.finding import Edit, Finding, Fix, Import, Place, Safety
from detlint.reading.lowering import NotPythonError
from detlint.sources.source import UnreadableError

ROUNDS = 10
NO_FIX = "no fix"
BY_HAND = "to be fixed by hand"
UNSAFE = "unsafe fix: use --unsafe-fixes"
OVERLAPS = "overlaps"
NO_PARSE = "would not parse"
NAME_TAKEN = "name taken"
BAD_EDIT = "does not fit the text"
NO_PLACE = "no place for its import"
TOO_MANY = "needs more rounds"

Check = Callable[[Mapping[str, str]], Iterable[Finding]]
Read = Callable[[str], str]
Companions = Callable[[Iterable[Import]], Mapping[str, str]]
_Fixable = tuple[Finding, Fix]


@dataclass(frozen=True)
class Settings:
    """What to apply and how.

    `unsafe` includes unsafe fixes; `first_party` are the top-level names of the project's own modules; `width` is the
    longest line that an import statement gets; `refused` says why a fix must not be made, "" where it may.
    """

    unsafe: bool = False
    first_party: Collection[str] = frozenset()
    width: int = WIDTH
    refused: Callable[[Fix], str] = lambda fix: ""


@dataclass(frozen=True)
class Change:
    """A file's text before and after; `old` is None where the file is new."""

    path: str
    old: str | None
    new: str


@dataclass(frozen=True)
class Left:
    """A finding that was not fixed, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True)
class Applied:
    """The outcome of one round: the texts that changed, by path, what was fixed and imported, and what was left."""

    texts: Mapping[str, str]
    fixed: tuple[Finding, ...]
    left: tuple[Left, ...]
    imports: frozenset[Import]


@dataclass(frozen=True)
class Outcome:
    """The outcome of all rounds. The places of `fixed` are those in the round that fixed it.

    `converged` is False where fixes kept requiring more fixes: a defect of a rule, whose texts cannot be trusted.
    """

    changes: tuple[Change, ...]
    fixed: tuple[Finding, ...]
    left: tuple[Left, ...]
    converged: bool


def fix_project(
    check: Check, read: Read, settings: Settings = Settings(), companions: Companions = lambda needs: {}
) -> Outcome:
    """Fix until nothing changes, at most ROUNDS times.

    `check` returns the findings of the project with these texts for the files at these paths; its last call has the
    texts of the outcome. `read` returns the text of a file without its BOM, or raises UnreadableError. `companions`
    returns the texts, by path, of files that accompany the imports of all rounds so far; unreadable ones are new.
    """
    original: dict[str, str | None] = {}
    texts: dict[str, str] = {}
    fixed: list[Finding] = []
    needs: set[Import] = set()

    def current(path: str) -> str:
        if path not in texts:
            texts[path] = original[path] = read(path)
        return texts[path]

    applied = apply(check({}), current, settings)
    rounds = 0
    while applied.texts and rounds < ROUNDS:
        rounds += 1
        texts.update(applied.texts)
        fixed += applied.fixed
        needs |= applied.imports
        for path, text in companions(needs).items():
            if path not in texts:
                original[path] = _text(read, path)
            texts[path] = text
        applied = apply(check(dict(texts)), current, settings)
    changes = tuple(
        Change(path, original[path], text) for path, text in sorted(texts.items()) if text != original[path]
    )
    left = applied.left + tuple(Left(finding, TOO_MANY) for finding in applied.fixed)
    return Outcome(changes, tuple(fixed), left, not applied.texts)


def written_out(fix: Fix, imported: Callable[[Import, Place], tuple[Edit, ...] | None]) -> Fix | None:
    """Return a fix with its imports as edits, for callers that only apply edits; None where it cannot be so applied.

    `imported` returns what `imports` of this module returns.
    """
    edits = list(fix.edits)
    for need in fix.imports:
        if need.inline:
            continue
        written = imported(need, min(edit.place for edit in _uses(fix, need)))
        if written is None:
            return None
        edits += written
    return replace(fix, edits=tuple(edits), imports=()) if sound(edits) else None


def imports(need: Import, before: Place, read: Read, settings: Settings = Settings()) -> tuple[Edit, ...] | None:
    """Return the edits that import `need` before `before`, or None where that is not possible."""
    try:
        head = _head(need.path, read(need.path), frozenset(settings.first_party), settings.width)
        return head.edits(need, before)
    except (NoPlaceError, NotPythonError, UnreadableError):
        return None


def _text(read: Read, path: str) -> str | None:
    try:
        return read(path)
    except UnreadableError:
        return None


def apply(findings: Iterable[Finding], read: Read, settings: Settings = Settings()) -> Applied:
    """Apply the fixes that do not conflict, in order of place and code; each as a whole or not at all.

    A fix whose outcome no longer parses is left out, and the others are kept.
    """
    ordered = sorted(findings, key=lambda f: (f.place, f.code, f.message))
    refused = _Refusals(read, settings)
    reasons = [refused.reason(finding) for finding in ordered]
    left = [Left(finding, reason) for finding, reason in zip(ordered, reasons, strict=True) if reason]
    wanted = [(f, f.fix) for f, reason in zip(ordered, reasons, strict=True) if f.fix is not None and not reason]
    later = [(finding, fix) for finding, fix in wanted if fix.lowered is not None]
    if len(later) < len(wanted):  # what the others leave of these is seen in the next round
        left += [(Left(finding, OVERLAPS)) for finding, _ in later]
        wanted = [pair for pair in wanted if pair[1].lowered is None]
    while True:
        chosen, waiting = _choose(wanted)
        texts, problems = _rewritten([fix for _, fix in chosen], read, settings)
        if not problems:
            left += [Left(finding, OVERLAPS) for finding, _ in waiting]
            left.sort(key=lambda each: (each.finding.place, each.finding.code, each.finding.message))
            imports = frozenset(need for _, fix in chosen for need in fix.imports)
            return Applied(texts, tuple(finding for finding, _ in chosen), tuple(left), imports)
        bad = _culprits([fix for _, fix in chosen if problems.keys() & _paths(fix)], read, settings)
        left += [Left(finding, bad[fix]) for finding, fix in wanted if fix in bad]
        wanted = [(finding, fix) for finding, fix in wanted if fix not in bad]


class _Refusals:
    """The reasons why fixes are not tried at all."""

    def __init__(self, read: Read, settings: Settings) -> None:
        self._read = read
        self._settings = settings
        self._heads: dict[str, Head] = {}

    def reason(self, finding: Finding) -> str:
        """Return why the fix of a finding is not tried, "" where it is tried."""
        fix = finding.fix
        if fix is not None and fix.safety is Safety.DISPLAY:
            return BY_HAND
        if fix is None or not (fix.edits or fix.imports):
            return NO_FIX
        if fix.safety is Safety.UNSAFE and not self._settings.unsafe:
            return UNSAFE
        if not sound(fix.edits):
            return BAD_EDIT
        refused = self._settings.refused(fix)
        if refused:
            return refused
        try:
            for path in sorted(_paths(fix)):
                self._read(path)
            needs = [need for need in fix.imports if not need.inline]
            taken = [n for n in needs if self._head(n.path).taken(n, [e.place for e in _uses(fix, n)])]
        except UnreadableError as error:
            return str(error)
        except (NotPythonError, RecursionError):
            return NO_PARSE
        return NAME_TAKEN if taken else ""

    def _head(self, path: str) -> Head:
        if path not in self._heads:
            first_party = frozenset(self._settings.first_party)
            self._heads[path] = _head(path, self._read(path), first_party, self._settings.width)
        return self._heads[path]


@lru_cache(maxsize=4)  # callers that ask for one fix after another go from file to file
def _head(path: str, text: str, first_party: frozenset[str], width: int) -> Head:
    return Head(path, text, first_party, width)


def _choose(wanted: Sequence[_Fixable]) -> tuple[list[_Fixable], list[_Fixable]]:
    """Return the fixes that can be made together, and those that have to wait."""
    chosen: list[_Fixable] = []
    waiting: list[_Fixable] = []
    made: dict[tuple[str, int | None], set[Edit]] = defaultdict(set)
    for finding, fix in wanted:
        if any(disagree(edit, other) for edit in fix.edits for other in made[edit.place.path, edit.place.cell]):
            waiting.append((finding, fix))
            continue
        chosen.append((finding, fix))
        for edit in fix.edits:
            made[edit.place.path, edit.place.cell].add(edit)
    return chosen, waiting


def _rewritten(fixes: Sequence[Fix], read: Read, settings: Settings) -> tuple[dict[str, str], dict[str, str]]:
    """Return the new texts, by path, of the files that change, and what is wrong with others."""
    texts: dict[str, str] = {}
    problems: dict[str, str] = {}
    for path in sorted({path for fix in fixes for path in _paths(fix)}):
        old = read(path)
        try:
            new = _imported(path, rewrite(path, old, _all_edits(fixes, path)), _needs(fixes, path), settings)
        except BadEditError:
            problems[path] = BAD_EDIT
        except NoPlaceError:
            problems[path] = NO_PLACE
        except (UnreadableError, NotPythonError, RecursionError):
            problems[path] = NO_PARSE
        else:
            if not still_runs(path, old, new):
                problems[path] = NO_PARSE
            elif new != old:
                texts[path] = new
    return texts, problems


def _culprits(fixes: Sequence[Fix], read: Read, settings: Settings) -> dict[Fix, str]:
    """Return the fixes that cannot be made together with those before them, and why."""
    kept: list[Fix] = []
    bad: dict[Fix, str] = {}
    for fix in dict.fromkeys(fixes):
        _, problems = _rewritten([*kept, fix], read, settings)
        if problems:
            bad[fix] = next(iter(problems.values()))
        else:
            kept.append(fix)
    return bad


def _needs(fixes: Sequence[Fix], path: str) -> dict[Import, Place | None]:
    """Return what the fixes import into a file, each with the place of the new text that it must precede."""
    edits = _all_edits(fixes, path)
    needs: dict[Import, Place | None] = {}
    for fix in fixes:
        for need in fix.imports:
            if need.path == path and not need.inline:
                places = [moved(edit.place, edits) for edit in _uses(fix, need)]
                known = needs.get(need)
                needs[need] = min([*places, known] if known else places, default=None)
    return needs


def _imported(path: str, text: str, needs: Mapping[Import, Place | None], settings: Settings) -> str:
    """Return the text with all needed imports added, one after the other."""
    before = dict(needs)
    for need in sorted(needs, key=lambda need: (need.module, need.name or "")):
        edits = Head(path, text, settings.first_party, settings.width).edits(need, before[need])
        text = rewrite(path, text, edits)
        before = {other: place and moved(place, edits) for other, place in before.items()}
    return text


def _uses(fix: Fix, need: Import) -> list[Edit]:
    """Return the edits that write the imported name, or all edits in its file where none does."""
    edits = _edits(fix, need.path)
    name = re.compile(rf"\b{re.escape(need.name or need.alias or need.module)}\b")
    return [edit for edit in edits if name.search(edit.text)] or edits


def _edits(fix: Fix, path: str) -> list[Edit]:
    return [edit for edit in fix.edits if edit.place.path == path]


def _all_edits(fixes: Sequence[Fix], path: str) -> list[Edit]:
    return list(dict.fromkeys(edit for fix in fixes for edit in _edits(fix, path)))


def _paths(fix: Fix) -> set[str]:
    return {edit.place.path for edit in fix.edits} | {need.path for need in fix.imports}

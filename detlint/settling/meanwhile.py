"""What still holds of a project's answers when the texts of some files have changed, until it is linked again.

A finding without open questions is that of the new text. One with open questions keeps its last answer if it was there
before. If it was not, it is shown only where it asks nothing but whether programs pass it over. Findings on programs
stay as they are, at the lines where they are now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from difflib import SequenceMatcher
from typing import Any, TypeVar

from detlint.analyse import Collected
from detlint.facts.signatures import is_open
from detlint.finding import Finding, Place
from detlint.report import Answered, Judged, Verdict
from detlint.settling.confirming import judged
from detlint.sources import notebook
from detlint.sources.source import UnreadableError, lines_of

T = TypeVar("T")
_COMPARED = 250_000  # pairs of lines: a hundredth of a second
Move = Callable[[Place], Place | None]


def meanwhile(
    answered: Answered, changed: Mapping[str, tuple[Collected, Collected]], moves: Mapping[str, Move]
) -> Answered:
    """Return the last answers with the old and new results of the files `changed`: findings without their fixes.

    `moves` map, by path, places of the old text to the new one, None for those of lines that are gone.
    """
    given = answered.basis
    assert given is not None
    shown: list[Judged] = []
    unsure: list[Finding] = []
    for each in answered.findings:
        finding = _moved(each.finding, moves)
        if finding is not None and (each.rule.over == "project" or finding.place.path not in changed):
            shown.append(replace(each, finding=finding))
    unsure += (each for each in answered.unsure if each.place.path not in changed)
    for path, (old, new) in changed.items():
        move = moves.get(path, lambda place: place)
        for finding, verdict in _paired(old, new, given.verdicts.get(path, ()), move):
            verdict = _moved(replace(verdict, remedies=()), moves) or Verdict(stands=False)
            if verdict.stands:
                shown.append(judged(finding, verdict, given.tried))
            else:
                unsure.append(finding)
    suppressions = {
        path: changed[path][1].suppressions if path in changed else s for path, s in answered.suppressions.items()
    }
    return replace(answered, findings=tuple(shown), unsure=tuple(unsure), suppressions=suppressions)


def _paired(
    old: Collected, new: Collected, verdicts: tuple[Verdict, ...], move: Move
) -> Iterator[tuple[Finding, Verdict]]:
    """Yield the findings of a file, each with its last verdict: for a new one, that it stands if it asks nothing else
    than whether programs pass it over.
    """
    asked = [finding for finding in old.findings if is_open(finding)]
    known = dict(zip(range(len(asked)), verdicts, strict=False))
    by_place = {(asked[number].code, move(asked[number].place)): number for number in known}
    alike = defaultdict[tuple[str, str], list[int]](list)
    for number in known:
        alike[asked[number].code, asked[number].message].append(number)
    given: dict[int, Verdict] = {}
    opened = [(index, finding) for index, finding in enumerate(new.findings) if is_open(finding)]
    for index, finding in opened:
        same = by_place.get((finding.code, finding.place))
        if same is not None and same in known:
            given[index] = known.pop(same)
    for index, finding in opened:
        left = [number for number in alike[finding.code, finding.message] if number in known]
        if index not in given and left:
            given[index] = known.pop(left[0])
    for index, finding in enumerate(new.findings):
        yield finding, given.get(index, Verdict(stands=not is_open(replace(finding, passed=None))))


def _moved(part: T, moves: Mapping[str, Move]) -> T | None:
    """Return a part of a finding with its places moved to where they are now; None if one of them is gone."""
    made: Any = part
    if isinstance(part, Place):
        move = moves.get(part.path)
        return part if move is None else move(part)  # type: ignore[return-value]
    if isinstance(part, tuple):
        made = tuple(_moved(each, moves) for each in part)
        return None if any(a is None and b is not None for a, b in zip(made, part, strict=True)) else made
    if is_dataclass(part) and not isinstance(part, type):
        values = {each.name: getattr(part, each.name) for each in fields(part)}
        found = {name: _moved(value, moves) for name, value in values.items()}
        if any(value is None and values[name] is not None for name, value in found.items()):
            return None
        made = replace(part, **found)
    return made  # type: ignore[no-any-return]


def move(path: str, old: str, new: str) -> Move:
    """Return a function that maps places of an old text to a new one."""
    try:
        before, after = notebook.texts(path, old), notebook.texts(path, new)
    except UnreadableError:
        return lambda place: place
    lines = {cell: _lines(lines_of(text), lines_of(after.get(cell, ""))) for cell, text in before.items()}

    def now(place: Place) -> Place | None:
        moved = lines.get(place.cell, {})
        start, end = moved.get(place.line), moved.get(place.end_line)
        return None if start is None or end is None else replace(place, line=start, end_line=end)

    return now


def _lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Return the new number of each line; a changed line has that of what is there in its place."""
    least = min(len(old), len(new))
    first = next((n for n in range(least) if old[n] != new[n]), least)
    last = next((n for n in range(least - first) if old[-1 - n] != new[-1 - n]), least - first)
    some, others = old[first : len(old) - last], new[first : len(new) - last]
    within = len(some) * len(others) <= _COMPARED
    matcher = SequenceMatcher(None, some, others, autojunk=False)
    changes = matcher.get_opcodes() if within else [("replace", 0, len(some), 0, len(others))]
    found = {number: number for number in range(1, first + 1)}
    found |= {number: number + len(new) - len(old) for number in range(len(old) - last + 1, len(old) + 1)}
    for _, start, end, at, until in changes:
        for number in range(start, end):
            if at < until:
                found[first + number + 1] = first + min(at + number - start, until - 1) + 1
    return found

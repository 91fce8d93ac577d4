"""What a comparison prints."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from .differences import CHANGED, GAINED, LOST, Difference
from .reasons import VERDICTS, Judged, Reason
from .records import Costs

_KINDS = (LOST, GAINED, CHANGED)
_NONE = "no reason"

Taken = tuple[float, float, float]  # seconds, those of the processor, megabytes


def lines(judged: Judged) -> Iterator[str]:
    """Each difference, how many there are of each verdict, those without a reason, and reasons that match nothing."""
    for (repository, code), some in groupby(judged.reasons, lambda each: (each[0].repository, each[0].key.code)):
        group = list(some)
        counts = Counter(difference.kind for difference, _ in group)
        yield f"{repository} {code}: {', '.join(f'{counts[kind]} {kind}' for kind in _KINDS if counts[kind])}"
        for difference, reason in group:
            yield from _one(difference, reason)
    yield from _table(judged)
    yield from _left(judged)
    for reason, line in judged.idle:
        yield f"a reason matches nothing any more: {reason}:{line} ({reason.verdict})"


def _one(difference: Difference, reason: Reason | None) -> Iterator[str]:
    yield f"  {difference.kind:7} {difference.key} {difference.told()}".rstrip()
    for test in difference.tests[:1]:
        yield f"          in {test}" + (f" and {len(difference.tests) - 1} more" if len(difference.tests) > 1 else "")
    if reason:
        yield f"          {reason.verdict}: {reason.reason}"


def _table(judged: Judged) -> Iterator[str]:
    counts = Counter((reason.verdict if reason else _NONE, difference.kind) for difference, reason in judged.reasons)
    yield ""
    yield f"{'':18}" + "".join(f"{kind:>9}" for kind in _KINDS)
    for verdict in (*VERDICTS, _NONE):
        yield f"{verdict:18}" + "".join(f"{counts[verdict, kind]:9}" for kind in _KINDS)
    yield ""


def _left(judged: Judged) -> Iterator[str]:
    """Those without a reason, in the form that the file of reasons wants."""
    left = [difference for difference, reason in judged.reasons if reason is None]
    if left:
        yield "without a reason:"
    for (repository, path, code, kind), some in groupby(sorted(left, key=_place), _place):
        given = {"repository": repository, "path": path, "code": code}
        yield ""
        yield "[[difference]]"
        yield from (f"{name} = {json.dumps(value)}" for name, value in given.items())
        yield f"lines = {sorted({each.key.line for each in some})}"
        yield f'verdict = "{"" if kind == CHANGED else f"... and {kind}"}"'
        yield 'reason = ""'


def _place(difference: Difference) -> tuple[str, str, str, str]:
    return difference.repository, difference.key.path, difference.key.code, difference.kind


def costs(old: Costs, new: Costs, repositories: Iterable[str]) -> Iterator[str]:
    """What the new record took, and its ratio to the old one, of each repository with a cost in both, and of all."""
    sides = [{name: _taken(each.rows[name]) for name in repositories if name in each.rows} for each in (old, new)]
    names = sorted({*sides[0]} & {*sides[1]})
    if not names:
        yield "no costs are in both"
        return
    yield ""
    yield f"{'':42}{'seconds':>16}{'of CPU':>16}{'megabytes':>16}"
    for name in names:
        yield _ratios(name, *(side[name] for side in sides))
    yield _ratios("all", *(_of_all([side[name] for name in names]) for side in sides))
    for what, each in (("old", old), ("new", new)):
        revisions = sorted({row["revision"] for name, row in each.rows.items() if name in names})
        yield f"{what}: detlint at {', '.join(revisions)}"


def _taken(row: Mapping[str, Any]) -> Taken:
    """What both commands took, one after the other."""
    return _of_all(
        [(cost["seconds"], cost["cpu"], cost["megabytes"]) for cost in row.values() if isinstance(cost, dict)]
    )


def _of_all(taken: Sequence[Taken]) -> Taken:
    seconds, cpu, megabytes = zip(*taken, strict=True)
    return sum(seconds), sum(cpu), max(megabytes)


def _ratios(name: str, old: Taken, new: Taken) -> str:
    cells = [
        f"{after:9.1f}" + (f" {after / before:5.2f}x" if before else 7 * " ")
        for before, after in zip(old, new, strict=True)
    ]
    return f"{name:42}{''.join(cells)}".rstrip()

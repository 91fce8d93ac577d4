"""Flows of a solved project: which source surely reaches which use, through which calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from detlint.domain.atoms import Node
from detlint.domain.codes import Code
from detlint.domain.summaries import Flow, Passed, Summary, Use
from detlint.domain.taints import Kind, Taint
from detlint.programs.solving import Solution
from detlint.programs.views import Views


class Found(Struct, frozen=True, order=True):
    """A source that surely reaches a use; `calls` are those on the way from where it is handed on to the use."""

    source: Code
    sink: Code
    use: Use
    calls: tuple[Code, ...] = ()


def flows(solution: Solution, kind: Kind) -> list[Found]:
    """All flows of a kind, each with its shortest way."""
    found: dict[tuple[Code, Code, Use], Found] = {}
    for summaries in _summaries(solution):
        for each in _of(summaries, kind):
            key = each.source, each.sink, each.use
            if key not in found or (len(each.calls), each.calls) < (len(found[key].calls), found[key].calls):
                found[key] = each
    return sorted(found.values())


def _summaries(solution: Solution) -> Iterator[Mapping[Node, Summary]]:
    """The summaries of all programs together, of each that sees something else, and of what none reaches."""
    whole = {node: entry.summary for node, entry in solution.solver.table.items()}
    yield whole
    views = Views(solution.solver)
    for file in sorted(solution.solver.started):
        seen = views.of(file)
        if seen.own:
            yield {node: seen.own.get(node, whole[node]) for node in seen.nodes}
    yield {node: entry.summary for node, entry in solution.unreached.table.items()}


def _of(summaries: Mapping[Node, Summary], kind: Kind) -> Iterator[Found]:
    callers: dict[Node, list[tuple[Node, Passed]]] = defaultdict(list)
    for node, summary in summaries.items():
        for passed in summary.passed:
            callers[passed.node].append((node, passed))
    for node, summary in summaries.items():
        for flow in summary.flows:
            yield from _traced(node, flow, callers, kind)


def _traced(node: Node, flow: Flow, callers: dict[Node, list[tuple[Node, Passed]]], kind: Kind) -> Iterator[Found]:
    """What a flow is once callers say what they give: breadth first, so that ways are short."""
    seen: set[tuple[Node, Taint]] = set()
    waiting: list[tuple[Node, Taint, tuple[Code, ...]]] = [(node, flow.taint, ())]
    while waiting:
        following: list[tuple[Node, Taint, tuple[Code, ...]]] = []
        for here, taint, calls in waiting:
            if (here, taint) in seen:
                continue
            seen.add((here, taint))
            if taint.kind == "from":
                following += _handed(taint, calls, callers.get(here, ()))
            elif taint.kind == kind and isinstance(taint.source, Code):
                yield Found(taint.source, flow.sink, flow.use, calls)
        waiting = following


def _handed(
    taint: Taint, calls: tuple[Code, ...], callers: Iterable[tuple[Node, Passed]]
) -> Iterator[tuple[Node, Taint, tuple[Code, ...]]]:
    """The taints that callers surely give for a parameter, in the form that it has there."""
    for caller, passed in callers:
        for given in passed.certain.get(str(taint.source), ()):
            if given.form == taint.was:
                yield caller, Taint(given.kind, given.source, taint.form, given.was), (passed.code, *calls)

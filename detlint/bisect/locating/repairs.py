"""Differences after the first: each is repaired with the values of the other run, and the search continues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from detlint.bisect.comparing import outcome
from detlint.bisect.comparing.outcome import Found, Outcome
from detlint.bisect.records import Event, Op
from detlint.bisect.running import launch
from detlint.bisect.running.runs import Plan
from detlint.bisect.streams import Trace


@dataclass(frozen=True, slots=True)
class Rest:
    """The differences after the first, in the order in which they were found; `end` says why there are no more."""

    found: tuple[Found, ...] = ()
    end: str = ""


def find(plan: Plan, first: Outcome, folder: Path, most: int, progress: Callable[[str], None]) -> Rest:
    """Repair the first difference and each next one, and run again, for `most` differences in all.

    The first run keeps what the operations at the lines of these differences made. The second run gets it in place of
    its own results, with the states of the generators. Raises as `runs.run` does.
    """
    found: list[Found] = []
    sites: list[str] = []
    current = first.found[0]
    for number in range(1, most):
        site = _site(current)
        if site is None:
            return Rest(tuple(found), f"a difference of the kind {current.cause.kind} cannot be repaired")
        if site in sites:
            return Rest(tuple(found), f"{site} still differs when it is repaired")
        sites.append(site)
        progress(f"again, with {site} repaired")
        compared = _repaired(plan, tuple(sites), folder / str(number))
        if not compared.found:
            return Rest(tuple(found), f"with {'these' if found else 'it'} repaired the runs are {compared.verdict}")
        current = compared.found[0]
        found.append(current)
    return Rest(tuple(found), f"{most} differences were asked for")


def _repaired(plan: Plan, sites: tuple[str, ...], folder: Path) -> Outcome:
    a, b = plan.pair()
    kept = str((folder / "kept").resolve())
    traces = []
    for name, options in (("a", replace(a, keep=sites, keep_in=kept)), ("b", replace(b, repair=kept))):
        place = folder / f"{name}.trace"
        launch.record(list(plan.command), place, options, timeout=plan.timeout, quiet=plan.quiet)
        traces.append(Trace(place))
    return outcome.compare(traces[0], traces[1], frozenset(sites))


def _site(found: Found) -> str | None:
    """Return the recorder's name for the place of a difference; None if no value can be replaced there."""
    divergence = found.comparison.divergence
    if divergence is None or not divergence.differs:
        return None
    record = divergence.a
    if isinstance(record, Op) and record.line is not None:
        return f"{record.name}@{record.line.path}:{record.line.line}"
    if isinstance(record, Event) and record.kind == "batch" and record.line is not None:
        return f"batch@{record.line.path}:{record.line.line}"
    return None

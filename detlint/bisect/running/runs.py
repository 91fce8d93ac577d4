"""The runs: a program recorded twice, in processes of its own, and the records compared."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from detlint.bisect.comparing import outcome
from detlint.bisect.comparing.outcome import Outcome
from detlint.bisect.options import Options
from detlint.bisect.running import launch
from detlint.bisect.running.launch import Recording, Running
from detlint.bisect.running.warm import Origins
from detlint.bisect.streams import Trace

ORIGINS = ("a", "b")
FILLS = (0x55, 0xAA)
"""The bytes that fresh memory is filled with in the two runs."""


class OutOfTimeError(Exception):
    """Raised if the time of a plan is over before another run begins, or before one has ended."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run, and how.

    `command` is as for `launch.record`. `options` are for both runs, and `perturbed` names what is made to differ
    between them. With `poison`, fresh memory is filled with another byte in each run. With `at_once`, the runs go on
    side by side. `timeout` is in seconds, for each run; `until` is the time, by `time.monotonic`, at which any run is
    ended. `before` is called before each run. Runs are forked from `origins`, from the same one if they are `alike`.
    `resuming` are arguments with which the program resumes from a checkpoint near the step that differs.
    """

    command: tuple[str, ...]
    options: Options = field(default_factory=Options)
    perturbed: tuple[str, ...] = ()
    poison: bool = True
    at_once: bool = False
    timeout: float | None = None
    quiet: bool = True
    origins: Origins | None = None
    alike: bool = False
    until: float | None = None
    before: Callable[[], None] | None = None
    resuming: tuple[str, ...] = ()

    def pair(self) -> tuple[Options, Options]:
        """Return the options of the two runs."""
        a, b = self.options, self.options
        if self.poison:
            a, b = replace(a, poison=FILLS[0]), replace(b, poison=FILLS[1])
        for name in self.perturbed:
            a, b = _PERTURBATIONS[name](a, b)
        return a, b


def _threads(a: Options, b: Options) -> tuple[Options, Options]:
    return replace(a, threads=4), replace(b, threads=1)


_PERTURBATIONS: dict[str, Callable[[Options, Options], tuple[Options, Options]]] = {
    "hashseed": lambda a, b: (replace(a, hash_seed="1"), replace(b, hash_seed="2")),
    "threads": _threads,
    "workers": lambda a, b: (replace(a, workers=0), replace(b, workers=2)),
    "listing": lambda a, b: (replace(a, listing="sorted"), replace(b, listing="reversed")),
}
PERTURBATIONS = tuple(_PERTURBATIONS)


@dataclass(frozen=True, slots=True)
class Done:
    """Two runs, and the result of comparing them. `plan` is how they were finally recorded."""

    plan: Plan
    outcome: Outcome
    recordings: tuple[Recording, Recording]
    seconds: float
    notes: tuple[str, ...] = ()


def run(plan: Plan, folder: Path) -> Done:
    """Record a program twice below `folder` (`a.trace`, `b.trace`) and compare.

    If only steps are recorded and one differs, the program runs again, and operations are recorded from that step on.
    If it resumes for that, they are recorded from its beginning, as the number of the step there is unknown. Raises
    programs.ProgramError if there is nothing to run, OutOfTimeError, streams.TraceError and OSError.
    """
    begun = time.monotonic()
    done = _once(plan, folder)
    if plan.options.level == "step" and done.outcome.status == outcome.DIVERGED:
        step = done.outcome.found[0].a.steps
        first = 0 if plan.resuming else step
        command = (*plan.command, *plan.resuming)
        closer = replace(plan, command=command, options=replace(plan.options, level="op", from_step=first))
        again = _once(closer, folder / "operations")
        if again.outcome.status == outcome.DIVERGED:
            where = f"of runs with `{' '.join(plan.resuming)}`" if plan.resuming else "from there on"
            note = f"steps alone were recorded first, and the first {step} agree: operations were recorded {where}"
            done = replace(again, notes=(*again.notes, note))
    return replace(done, seconds=time.monotonic() - begun)


def _once(plan: Plan, folder: Path) -> Done:
    """Record both runs, without filling memory if that makes the program fail, and compare."""
    recordings, notes = _record(plan, folder, ("a.trace", "b.trace")), []
    if plan.poison and any(one.status for one in recordings) and not any(one.timed_out for one in recordings):
        # a harmless read of fresh memory, as of an index, may fail where that is filled: is it that?
        plain = _record(replace(plan, poison=False), folder, ("a-plain.trace", "b-plain.trace"))
        if [one.status for one in plain] != [one.status for one in recordings]:
            notes.append("with fresh memory filled the program fails, and without it does not: it reads such memory")
            recordings = plain
    found = outcome.compare(Trace(recordings[0].folder), Trace(recordings[1].folder))
    late = [name for name, one in zip("AB", recordings, strict=True) if one.timed_out]
    if late and found.status != outcome.DIVERGED:
        reason = f"{' and '.join(late)} did not end within {plan.timeout:g} s"
        found = replace(found, status=outcome.INCONCLUSIVE, reason=reason)
    return Done(plan, found, recordings, 0.0, tuple(notes))


def _ended(plan: Plan, start: Callable[[], Running]) -> Recording:
    """Run from start to end, and return the recording. Raises OutOfTimeError at the end of the plan's time."""
    left = math.inf if plan.until is None else plan.until - time.monotonic()
    if left <= 0:
        raise OutOfTimeError
    cut = left < (math.inf if plan.timeout is None else plan.timeout)
    done = start().wait(left if cut else plan.timeout)
    if done.timed_out and cut:
        raise OutOfTimeError
    return done


def _record(plan: Plan, folder: Path, names: Sequence[str]) -> tuple[Recording, Recording]:
    def start(place: int, options: Options) -> Running:
        origin = ORIGINS[0 if plan.alike else place]
        if plan.before is not None:
            plan.before()
        trace = folder / names[place]
        return launch.start(list(plan.command), trace, options, quiet=plan.quiet, origins=plan.origins, origin=origin)

    a, b = plan.pair()
    if plan.origins is not None and not plan.alike:
        plan.origins.begin(plan.command, [(ORIGINS[i], one, launch.variables_of(one)) for i, one in enumerate((a, b))])
    if not plan.at_once:
        return _ended(plan, lambda: start(0, a)), _ended(plan, lambda: start(1, b))
    begun = time.monotonic()
    first = start(0, a)
    try:
        second = start(1, b)
    except BaseException:
        first.end()
        raise
    try:
        one = first.wait(plan.timeout)
        left = None if plan.timeout is None else max(plan.timeout - (time.monotonic() - begun), 0.0)
        return one, second.wait(left)
    except BaseException:
        second.end()
        raise

"""A measuring session: subjects, modes and fresh processes, with controls throughout."""

from __future__ import annotations

import ast
import datetime
import importlib
import itertools
import math
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from detlint.verify import pool, side_by_side
from detlint.verify.job import ORDERS, TABLE, Answer, Job
from detlint.verify.orders import table
from detlint.verify.probe import Kind, Probe
from detlint.verify.probes import controls
from detlint.verify.verdicts import Outcome, Verdict, doubted, judge, with_path

Progress = Callable[[int, int, str], None]  # jobs done, all jobs, the current job
SECONDS = 0.6
"""Seconds that the runs of a row in one mode may take where somebody waits for them."""
_FLAGGED = ("strict", "warn")


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of measurement: a row of the catalogue, as such or in the form of a call in the code.

    `called` is the call's qualified name and `arguments` its literals by parameter, written in Python. Both are empty
    for a measurement of the row as such.
    """

    row: str
    dtype: str = "float32"
    called: str = ""
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that determine how thorough a session is.

    `table` is the module that holds the probes, `jobs` the number of processes that run at once. With `stops` the first
    difference ends the runs of a row in a mode. `seconds` limits the time of these runs, with 0 for no limit; each
    process makes a few runs regardless.
    """

    device: str = "cuda"
    processes: int = 3
    repeats: int = 10
    limits: pool.Limits = field(default_factory=pool.Limits)
    table: str = TABLE
    jobs: int = 1
    stops: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Measurement:
    """The outcomes of a subject by mode; literals by parameter: `taken` from the code, `assumed` by the probe."""

    subject: Subject
    outcomes: Mapping[str, Outcome]
    taken: Mapping[str, Any] = field(default_factory=dict)
    assumed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """The results of a session, with where and when it was held. `complaint` says which control failed."""

    environment: Mapping[str, str]
    settings: Settings
    controls: tuple[Measurement, ...]
    measurements: tuple[Measurement, ...]
    complaint: str = ""
    interrupted: bool = False
    date: str = field(default_factory=lambda: datetime.date.today().isoformat())


def hold(subjects: Sequence[Subject], settings: Settings, progress: Progress | None = None) -> Session:
    """Measure the subjects. Ctrl-C, SIGTERM and SIGHUP end the session early and keep what was counted so far.

    Raises pool.StartError if there is no such device, or no torch.
    """
    threads = max(2, (os.cpu_count() or 1) // settings.jobs) if settings.jobs > 1 else 0  # one thread does not race
    probes: Mapping[str, Probe] = importlib.import_module(settings.table).PROBES
    held = [Subject(controls.RACE), Subject(controls.EXACT)]
    forms = [_form(subject, probes[subject.row]) for subject in subjects]
    unique = [*held, *dict(zip(forms, subjects, strict=True)).values()]
    found = [controls.PROBES[c.row] for c in held] + [probes[s.row] for s in unique[2:]]
    book = _Book(unique, found, settings.device.partition(":")[0] == "cpu")
    interrupted = False
    with (
        pool.Pool(replace(settings.limits, threads=threads)) as workers,
        tempfile.TemporaryDirectory(prefix="detlint-verify-") as folder,
    ):
        try:
            with _ended_as_by_ctrl_c():
                _run(book, workers, settings, Path(folder), progress)
        except KeyboardInterrupt:
            if not workers.environment:
                raise
            interrupted = True
    complaint = _complaint(book.outcomes(0), book.outcomes(1))
    measured = {
        _form(book.subjects[number], book.probes[number]): book.measurement(number, complaint)
        for number in range(2, len(book.subjects))
    }
    shown = [replace(measured[form], subject=subject) for form, subject in zip(forms, subjects, strict=True)]
    control = tuple(book.measurement(number, {}) for number in range(2))
    told = next((reason for reason in complaint.values() if reason), "")
    where = {**workers.environment, "processes": f"fresh: {workers.cold}" if workers.cold else "forked"}
    return Session(where, settings, control, tuple(shown), told, interrupted)


def _form(subject: Subject, probe: Probe) -> tuple[object, ...]:
    """Return the key of a subject: subjects with equal keys share one measurement."""
    settings = repr(sorted(probe.settings.items()))
    return probe.make, settings, probe.kind, subject.dtype, subject.called, subject.arguments


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Make SIGHUP, and SIGTERM, by which a cluster tells a job that its time is up, act like Ctrl-C."""
    main = threading.current_thread() is threading.main_thread()
    signals = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if main and hasattr(signal, name)]
    taken = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


class _Book:
    """The answers so far, by subject and mode. The first two subjects are the controls."""

    def __init__(self, subjects: list[Subject], probes: list[Probe], on_cpu: bool) -> None:
        self.subjects = subjects
        self.probes = probes
        self._on_cpu = on_cpu
        self.answers: dict[tuple[int, str], list[Answer]] = {}
        drawn = any(probe.kind is Kind.DRAWS for probe in probes)
        first = ("off", "seeded", ORDERS) if drawn else ("off", ORDERS)
        self.modes = (*first, *_FLAGGED)
        self.stages = (first, ("strict",), ("warn",)) if on_cpu else (first, _FLAGGED)

    def open(self, mode: str, process: int) -> list[int]:
        """Return the subjects to run in a mode, the controls first; without others, those run until a race has shown.

        The others have neither differed nor failed so far. A subject that did not differ with the mode off runs in
        one process with it on. It runs with warnings only if the mode refuses it, or off the CPU, where kernels may
        check for warn-only mode.
        """
        found = [number for number in range(2, len(self.probes)) if self._is_open(number, mode, process)]
        silent = mode not in _FLAGGED and self._past(0, mode) is Verdict.NOT_OBSERVED  # the next process may race
        return [0, 1, *found] if silent or (found and mode != ORDERS) else found

    def _is_open(self, number: int, mode: str, process: int) -> bool:
        if self._past(number, mode) not in (Verdict.NOT_OBSERVED, Verdict.INCONCLUSIVE):
            return False
        if mode == ORDERS:
            return process == 0 and self.subjects[number].row in table.ROWS
        kind = self.probes[number].kind
        if mode == "off" or kind is Kind.DRAWS:
            return mode == "off" or mode == "seeded"
        if mode == "seeded" or (mode == "warn" and self._on_cpu and self._past(number, "strict") is not Verdict.RAISES):
            return False
        return process == 0 or kind is Kind.PROCESSES or self._past(number, "off") is Verdict.CONFIRMED

    def _past(self, number: int, mode: str) -> Verdict:
        return judge(self.answers.get((number, mode), ())).verdict

    def outcomes(self, number: int) -> dict[str, Outcome]:
        """Return a subject's outcomes by mode, without modes in which it has none."""
        found = {mode: judge(self.answers[number, mode]) for mode in self.modes if (number, mode) in self.answers}
        flagged = {mode: with_path(found[mode], found.get("off")) for mode in _FLAGGED if mode in found}
        return found | flagged

    def measurement(self, number: int, complaint: Mapping[str, str]) -> Measurement:
        """Return all that is known of a subject; if a control failed, its outcomes claim nothing."""
        outcomes = self.outcomes(number) or {"off": judge(())}
        judged = {
            mode: doubted(outcome, complaint[mode]) if complaint.get(mode) else outcome
            for mode, outcome in outcomes.items()
        }
        answers = [answer for mode in self.modes for answer in self.answers.get((number, mode), ())]
        first = next((answer for answer in answers if answer.taken or answer.assumed), Answer(""))
        taken = {name: value for answer in answers for name, value in answer.taken.items()}
        return Measurement(self.subjects[number], judged, taken, first.assumed)


def _run(book: _Book, workers: pool.Pool, settings: Settings, folder: Path, progress: Progress | None) -> None:
    """Run everything that is open in each mode, process by process."""
    each = len(book.modes) * len(book.subjects)
    done = 0
    for process, stage in itertools.product(range(settings.processes), book.stages):
        asked: list[list[Job]] = []
        opened = 0
        for mode in stage:
            made = [_job(book, number, mode, process, settings, folder) for number in book.open(mode, process)]
            opened += len(made)
            for fresh in (False, True):
                alike = [job for job in made if job.fresh is fresh]
                asked += _parts(alike, math.ceil(settings.jobs / len(stage)))
        done += len(stage) * len(book.subjects) - opened
        jobs = {job.key: job for batch in asked for job in batch}
        with closing(side_by_side.answers(workers, asked, settings.jobs)) as answers:
            for answer in answers:
                job, done = jobs[answer.key], done + 1
                book.answers.setdefault((int(job.key.partition(" ")[0]), job.mode), []).append(answer)
                if progress is not None:
                    progress(done, settings.processes * each, f"{job.row}, {job.mode}, process {process + 1}")


def _parts(jobs: list[Job], count: int) -> Iterator[list[Job]]:
    """Yield up to `count` lists of nearly equal length; neighbours, which take about as long, are separated."""
    return filter(None, (jobs[start::count] for start in range(count)))


def _job(book: _Book, number: int, mode: str, process: int, settings: Settings, folder: Path) -> Job:
    subject = book.subjects[number]
    return Job(
        key=f"{number} {mode}",
        row=subject.row,
        mode=mode,
        device=settings.device,
        dtype=subject.dtype,
        repeats=settings.repeats,
        process=process,
        reference=str(folder / f"{number}-{mode}"),
        called=subject.called,
        arguments={name: ast.literal_eval(text) for name, text in subject.arguments},
        table=controls.__name__ if number < 2 else settings.table,
        fresh=book.probes[number].kind in (Kind.PROCESSES, Kind.DRAWS),  # these probe the initial state of a process
        stops=settings.stops,
        seconds=settings.seconds / settings.processes if number >= 2 else 0.0,
    )


def _complaint(race: Mapping[str, Outcome], exact: Mapping[str, Outcome]) -> dict[str, str]:
    """Return why nothing may be claimed, by affected mode; a failed control in "off" affects all modes."""
    found: dict[str, str] = {}
    for mode, outcome in race.items():
        wanted = mode in _FLAGGED
        repeated = exact.get(mode, Outcome(Verdict.INCONCLUSIVE))
        if max(outcome.runs, repeated.runs) == 1:
            found[mode] = "one run cannot differ from another; --repeats asks for more"
        elif repeated.verdict is not Verdict.NOT_OBSERVED:
            found[mode] = "the control that must not differ did, or could not be run"
        elif wanted and outcome.verdict is Verdict.CONFIRMED:
            found[mode] = "the control that races still did under the deterministic mode"
        elif not wanted and outcome.verdict is not Verdict.CONFIRMED:
            found[mode] = "the control that races was not seen to: a race would not show here"
    return dict.fromkeys(race, found["off"]) if "off" in found else found

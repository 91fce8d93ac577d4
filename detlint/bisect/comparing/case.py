"""A divergence with everything its cause is decided from, and the cause itself. Pure data, without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace

from detlint.bisect.comparing.align import Comparison, Evidence
from detlint.bisect.comparing.history import History
from detlint.bisect.records import Event, Line, Meta, Op


@dataclass(frozen=True, slots=True)
class Case:
    """The data that the cause of a divergence is decided from.

    `a` and `b` are the histories of the two runs before the divergence, and `around` is the evidence from the stream
    that started this one. `environment` lists the differences between the runs' environments: the name, and the value
    in each run.
    """

    comparison: Comparison
    a: History
    b: History
    metas: tuple[Meta, Meta]
    around: tuple[Evidence, ...] = ()
    environment: tuple[tuple[str, str, str], ...] = ()

    @property
    def process(self) -> bool:
        """Whether the stream belongs to a process that the program started: a fork has its parent's generators."""
        return "process" in self.comparison.name or "rank" in self.comparison.name

    @property
    def evidence(self) -> list[Evidence]:
        """The events that differ: those of this stream, then those of the stream that started it."""
        return [*self.comparison.evidence, *self.around]


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason why two runs differ.

    `title` states it in a few words, `evidence` lists what supports it, and `advice` says what to do. `line` is where
    the cause lies, `related` a second line that takes part. `codes` are the rules about it, the likeliest first.
    `operation` is the one whose kernel is the cause, and `generator` the one whose state differed: "torch", "numpy" or
    "python". `events` are the events of both runs that show it. `why` is the kind of reason, where the user's code was
    followed to it (`reasons.py`); `name` is then the function that is called there, or the variable that holds a set.
    """

    kind: str
    title: str
    evidence: tuple[str, ...]
    line: Line | None
    codes: tuple[str, ...]
    advice: str
    related: Line | None = None
    operation: Op | None = None
    generator: str = ""
    events: tuple[Event | None, Event | None] | None = None
    why: str = ""
    name: str = ""

    def with_evidence(self, *more: str) -> Cause:
        """Return the same cause with more evidence."""
        return replace(self, evidence=(*self.evidence, *more))

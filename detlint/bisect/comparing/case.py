"""A divergence with all that its cause is decided from, and the cause. Pure data, without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace

from detlint.bisect.comparing.align import Comparison, Evidence
from detlint.bisect.comparing.history import History
from detlint.bisect.records import Event, Line, Meta, Op


@dataclass(frozen=True, slots=True)
class Case:
    """All that a cause is decided from.

    `a` and `b` are what came before the divergence in each run, `around` the evidence of the stream that began this
    one, and `environment` what differs in the runs' environments: name, and the values of both.
    """

    comparison: Comparison
    a: History
    b: History
    metas: tuple[Meta, Meta]
    around: tuple[Evidence, ...] = ()
    environment: tuple[tuple[str, str, str], ...] = ()

    @property
    def process(self) -> bool:
        """Whether the stream is that of a process which the program started (a fork has its parent's generators)."""
        return "process" in self.comparison.name or "rank" in self.comparison.name

    @property
    def evidence(self) -> list[Evidence]:
        """Events that differ: of this stream, then of the one that began it."""
        return [*self.comparison.evidence, *self.around]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why two runs differ.

    `title` says it in a few words, `evidence` what it rests on, `advice` what to do. `line` is where the cause lies,
    `related` a second line that takes part. `codes` are the rules that speak of it, the likeliest first, and
    `operation` the one whose kernel is the cause, `generator` the one that was in another state: "torch", "numpy" or
    "python". `events` are those of both runs that tell it, and `why` the kind of reason, where the user's code was
    followed to it (`reasons.py`); `name` is what is asked for there: a function, or the variable that holds a set.
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
        """The same cause, resting on more."""
        return replace(self, evidence=(*self.evidence, *more))

"""The jobs and answers of worker processes, as plain data that JSON can represent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

TABLE = "detlint.verify.probes"
MODES = ("off", "strict", "warn", "seeded")  # "seeded" for probes that draw, "warn" for the others
ORDERS = "orders"
"""Used in place of a mode: other orders are computed on the CPU, whatever the device is."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job: run the probe of `row` `repeats` times on `device` in the deterministic mode `mode`.

    `called` is the qualified name of the call under test, "" for the row as such, and `arguments` are its literals.
    `table` is the module whose PROBES has the row. `reference` is the file for the first result of the first process,
    written if it does not exist: differences are relative to it. `process` counts the processes of one measurement from
    0. A `fresh` process is started anew, never forked. With `stops` the first difference ends the runs, and no run
    starts after `seconds` unless they are 0.
    """

    key: str
    row: str
    mode: str
    device: str
    dtype: str
    repeats: int
    process: int
    reference: str
    called: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    table: str = TABLE
    fresh: bool = True
    stops: bool = False
    seconds: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return the job as JSON-compatible values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a job.

    `digests` has one entry per run. `absolute` and `ulp` are the largest differences from the reference, None if
    nothing differed or they are unknown. `error` is "", "raises" (the deterministic mode refused), "unavailable",
    "memory", "time", "crash", "device" (that process can no longer use it) or "failed", and `reason` explains it.
    `warned` is true if torch warned of an operation without a deterministic implementation. If orders were permuted,
    `permuted` says of what, `digests` has one entry per order, and `reason` says why no order can change a bit.
    """

    key: str
    digests: tuple[str, ...] = ()
    absolute: float | None = None
    ulp: int | None = None
    error: str = ""
    reason: str = ""
    warned: bool = False
    taken: Mapping[str, Any] = field(default_factory=dict)
    assumed: Mapping[str, Any] = field(default_factory=dict)
    permuted: str = ""
    seconds: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON-compatible values."""
        return asdict(self)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Answer:
        """Return the answer in the output of `plain`, after a round trip through JSON."""
        return cls(**{**data, "digests": tuple(data["digests"])})

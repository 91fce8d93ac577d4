"""What a worker process is asked, and what it answers: plain data that JSON carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

TABLE = "detlint.verify.probes"
MODES = ("off", "strict", "warn", "seeded")  # "seeded" for probes that draw, "warn" for the others
ORDERS = "orders"
"""In place of a mode: other orders are worked out on the CPU, whatever the device is."""


@dataclass(frozen=True, slots=True)
class Job:
    """Run the probe of `row` `repeats` times on `device` with the deterministic mode as `mode` says.

    `called` is the qualified name of the call under test, "" for the row as such, and `arguments` are its literals.
    `table` is the module whose PROBES has the row. `reference` is a
    file that holds the first result of the first process, written where it does not exist: differences are taken
    against it. `process` counts the processes of one measurement from 0. A `fresh` one is started anew, never forked.
    With `stops` the first difference ends the runs, and after `seconds`, if they are not 0, no run is begun.
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
        """As JSON writes it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a job.

    `digests` has one entry a run. `absolute` and `ulp` are the largest differences from the reference, None where
    nothing differed or it cannot be said. `error` is "", "raises" (the deterministic mode refused), "unavailable",
    "memory", "time", "crash", "device" (of no more use in that process) or "failed", and `reason` the words for it.
    `warned` tells that torch warned of an operation without a deterministic implementation. Where orders were permuted,
    `permuted` says of what, `digests` has one entry an order, and `reason` says why none can change a bit.
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
        """As JSON writes it."""
        return asdict(self)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Answer:
        """From what `plain` gave, after a way through JSON."""
        return cls(**{**data, "digests": tuple(data["digests"])})

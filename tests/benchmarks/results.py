"""What was measured, and its form on disk."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

WHOLE, SAMPLE, SINGLE = "whole", "sample", "single"
COLD, WARM, CHANGED = "cold", "warm", "changed"


@dataclass(frozen=True)
class Measured:
    """The runs of a peer on a tree: seconds and processor seconds of each, MB of memory at most.

    Where `told` says what went wrong, no run counts.
    """

    peer: str
    tree: str
    state: str
    seconds: tuple[float, ...] = ()
    cpu: tuple[float, ...] = ()
    largest_mb: float = 0.0
    sum_mb: float = 0.0
    told: str = ""

    @property
    def best(self) -> float | None:
        """The seconds of the fastest run: what else the machine does can only add to it."""
        return min(self.seconds) if self.seconds and not self.told else None

    @property
    def spread(self) -> float:
        """How much longer the slowest run took than the fastest, as a part of that."""
        return max(self.seconds) / min(self.seconds) - 1


@dataclass(frozen=True)
class TreeSize:
    """How much there was to read."""

    files: int
    mb: float
    lines: int = 0


@dataclass
class Results:
    """All that one run of the benchmarks says."""

    date: str
    machine: dict[str, str]
    trees: dict[str, TreeSize] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    measured: list[Measured] = field(default_factory=list)

    def of(self, peer: str, tree: str, state: str) -> Measured | None:
        """What was measured of a peer on a tree in a state."""
        wanted = (peer, tree, state)
        return next((each for each in self.measured if (each.peer, each.tree, each.state) == wanted), None)

    def ratio(self, peer: str, other: str, tree: str, state: str) -> float | None:
        """How many times longer `peer` takes than `other`, by their fastest runs. One that keeps nothing takes as long
        warm as cold.
        """
        one, two = (self.of(name, tree, state) or self.of(name, tree, COLD) for name in (peer, other))
        if one is None or two is None or one.best is None or two.best is None:
            return None
        return one.best / two.best

    def write(self, file: Path) -> None:
        """Write it as JSON."""
        file.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> Results:
        """What `write` wrote."""
        data = json.loads(file.read_text(encoding="utf-8"))
        data["trees"] = {name: TreeSize(**size) for name, size in data["trees"].items()}
        lists = ("seconds", "cpu")
        for each in data["measured"]:
            each |= {name: tuple(each[name]) for name in lists}
        data["measured"] = [Measured(**each) for each in data["measured"]]
        return cls(**data)

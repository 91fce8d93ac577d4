"""In which kinds two runs differ: parameters, saved files, output."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .running import Run

KINDS = ("parameters", "saved", "output")


@dataclass(frozen=True)
class Comparison:
    """What two runs came to.

    `error` says why they cannot be compared. `differs` has the kinds of KINDS in which they differ, `seen` how many
    tensors, files and lines there were to compare, `first` the first difference in words.
    """

    error: str
    differs: tuple[str, ...]
    seen: dict[str, int]
    first: str = ""

    @property
    def equal(self) -> bool:
        """Whether both ran and no bit differs."""
        return not self.error and not self.differs


def compare(one: Run, other: Run) -> Comparison:
    """Compare two runs of a program."""
    seen = {kind: max(len(getattr(one, kind)), len(getattr(other, kind))) for kind in KINDS}
    error = one.error or other.error
    if error:
        return Comparison(error, (), seen)
    differs = tuple(kind for kind in KINDS if getattr(one, kind) != getattr(other, kind))
    return Comparison("", differs, seen, "; ".join(_first(kind, one, other) for kind in differs))


def _first(kind: str, one: Run, other: Run) -> str:
    if kind == "parameters":
        counts = Counter(one.parameters), Counter(other.parameters)
        return f"{max((counts[0] - counts[1]).total(), (counts[1] - counts[0]).total())} tensors"
    if kind == "saved":
        paths = sorted({path for path, _ in set(one.saved) ^ set(other.saved)})
        return f"saved: {', '.join(paths[:3])}" + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    for first, second in zip(one.output, other.output, strict=False):
        if first != second:
            return f"output: {first.strip()[:80]!r} and {second.strip()[:80]!r}"
    return f"output: {len(one.output)} and {len(other.output)} lines"

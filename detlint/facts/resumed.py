"""What a file has to do with runs that are resumed."""

from __future__ import annotations

from detlint.finding import Place
from detlint.records import record


@record(frozen=True, slots=True)
class Taken:
    """A call that takes an optimizer's state out of a checkpoint by a key, "" where it is saved by itself."""

    place: Place
    key: str


@record(frozen=True, slots=True)
class Resuming:
    """Where a file takes optimizers' states out of checkpoints.

    Also whether it deals with states of generators (`keeps`), seeds by how far the training is (`anew`), and speaks of
    what draws in training (`draws`).
    """

    taken: tuple[Taken, ...] = ()
    keeps: bool = False
    anew: bool = False
    draws: bool = False

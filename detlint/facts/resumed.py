"""What a file has to do with runs that are resumed."""

from __future__ import annotations

from detlint.finding import Place
from detlint.support.records import record


@record(frozen=True, slots=True)
class Taken:
    """A call that takes an optimizer's state out of a checkpoint by a key, "" if the state is saved by itself."""

    place: Place
    key: str


@record(frozen=True, slots=True)
class Resuming:
    """Where a file takes optimizers' states out of checkpoints.

    Also whether it deals with states of generators (`keeps`), which of them it reads (`gives`) and restores (`takes`)
    itself, seeds by the progress of the training (`anew`), and mentions draws in training (`draws`) and `cuda`.
    """

    taken: tuple[Taken, ...] = ()
    keeps: bool = False
    gives: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    anew: bool = False
    draws: bool = False
    cuda: bool = False

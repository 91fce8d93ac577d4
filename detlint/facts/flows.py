"""Flows: what a file does with the order of what other files hand it. Pure data, picklable."""

from __future__ import annotations

from detlint.finding import Place
from detlint.questions import Carrier
from detlint.records import record

SORTED = "sorted"
DERIVES = "derives"


@record(frozen=True, slots=True)
class Flow:
    """What becomes of the order of what `source` holds, at `place`.

    `kind` is a kind of `Leak`, or "sorted": from there on the order is fixed. `target` is what carries it on. A class
    that "derives" from another has that one as its `target`. It is so only if the functions that take the parameters
    `through` which it comes give them back.
    """

    source: Carrier
    place: Place
    kind: str
    target: Carrier | None = None
    through: tuple[Carrier, ...] = ()

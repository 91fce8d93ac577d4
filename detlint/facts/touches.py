"""Touches: what a file does with memory that nothing may have been written to yet. Pure data, picklable."""

from __future__ import annotations

from detlint.places import Place
from detlint.questions import Carrier
from detlint.support.records import record

READS = "reads"
HANDS = "hands"
LOOKS = "looks"
FILLS = "fills"
LOADS = "loads"
ALLOCATES = "allocates"
OPEN = "open"


@record(frozen=True, slots=True)
class Touch:
    """What is done with the memory that `carrier` holds.

    `kind` is "reads"; "hands": it goes on to the carrier `to`, or to code out of sight without one; "looks": nothing
    else is done with a parameter than to ask for its shape; "fills": something may be written to it; "loads": so by
    values that are kept elsewhere, as in a checkpoint; "allocates": it is made so that it holds nothing. Of a class
    that is "open" some bases are not known.

    An attribute of the class "" is one of any object. A class that is filled or loaded, "" being any, is so with all
    that its objects hold: only parameters and buffers for the part "weights", and not what those objects hold that it
    holds for the part "own". A carrier of the kind "held" are the objects that objects of a class hold. What fills
    these does so only if the function `to` is not of the project.

    `place` is where, for reads, what is handed on, and values put in place of others; `within` the method that does it,
    of the object itself.
    """

    carrier: Carrier
    kind: str
    place: Place | None = None
    within: str = ""
    to: Carrier | None = None


@record(frozen=True, slots=True)
class Memory:
    """The touches of a file, and the methods that it calls or hands on.

    `called` is one text with slashes between, each "CLASS:METHOD", the class "" where it is not known. `needing` are
    the methods of the file, with slashes between, that cannot be called without an argument.
    """

    touches: tuple[Touch, ...] = ()
    called: str = ""
    needing: str = ""

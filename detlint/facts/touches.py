"""Touches: what a file does with memory that may not have been written to yet. Pure data, picklable."""

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
OTHERS = "-"  # objects of no class of the project


@record(frozen=True, slots=True)
class Touch:
    """A use of the memory that `carrier` holds.

    `kind` is "reads"; "hands": the memory is passed on to the carrier `to`, or to unknown code if that is None;
    "looks": a parameter is only asked for its shape; "fills": something may be written to the memory; "loads": the
    same, with values that are kept elsewhere, as in a checkpoint; "allocates": the memory is created uninitialised. A
    class that is "open" has unknown bases.

    An attribute of the class "" is one of any object. A class that is filled or loaded, "" standing for any class, is
    so with all that its objects hold: with only parameters and buffers for the part "weights", and without what the
    objects in it hold for the part "own". A carrier of the kind "held" is the objects that objects of a class hold, one
    of the kind "given" what a function of this name is given. If
    `to` is set, a fill of these counts only if that function is not the project's.

    `place` is that of a read, of passing memory on, and of replacing its values; `within` is the method of the object
    itself that does it.
    """

    carrier: Carrier
    kind: str
    place: Place | None = None
    within: str = ""
    to: Carrier | None = None


@record(frozen=True, slots=True)
class Memory:
    """The touches of a file, the methods that it calls or passes on, and what it gives functions.

    `called` is one text of items "CLASS:METHOD" separated by slashes, with the class "" if it is unknown. `needing` are
    the methods of the file, separated by slashes, that cannot be called without an argument. `given` has items
    "FUNCTION:CLASS" for the objects that functions of the project are given: "" for any class, `OTHERS` for no own one.
    """

    touches: tuple[Touch, ...] = ()
    called: str = ""
    needing: str = ""
    given: str = ""

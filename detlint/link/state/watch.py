"""What the functions of a program looked at outside of their variables, and which of them would find it changed."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from detlint.link.state.records import Result
from detlint.link.state.spans import Span
from detlint.link.state.values import Atom, Class, Function, Object, Partial, Value
from detlint.support.records import record

Seen = Atom | tuple[str, str]  # a variable of a module, by the path of its file and its name, or an object in one

_ACTING = frozenset((Class, Function, Partial))
_ANEW = 1  # how often a run is made anew with the same arguments


@record(slots=True, eq=False)
class Watched:
    """A run of a function, which began at the place `first` among all looks. `users` are the runs that it is a part of.

    It may be `ended`, `changing` where it has changed a variable that it looked at, and `stale` where what it looked at
    was changed later.
    """

    users: list[Watched]
    first: int
    ended: bool = False
    changing: bool = False
    stale: bool = False


class Memory(NamedTuple):
    """What a run came to, how often it was made `anew` since what it looked at had changed, and what it noted."""

    result: Result
    run: Watched
    anew: int
    span: Span

    @property
    def holds(self) -> bool:
        """Whether the run would come to the same again, as far as one asks: it is not made anew for ever."""
        return self.anew >= _ANEW or not (self.run.stale or self.run.changing)


class Watch:
    """What the functions of one program look at, and which of them have looked at what is changed then.

    What a run does to an object itself does not make it stale. The change of a variable does: that is how a function
    remembers that it was called before.
    """

    __slots__ = ("_count", "_places", "lookers", "run")

    def __init__(self) -> None:
        self.run = Watched([], 0)  # the function that is being run
        self.lookers: dict[Seen, list[Watched]] = defaultdict(list)
        self._places: dict[Seen, int] = {}  # where each was looked at last
        self._count = 0  # of looks

    def look(self, at: Seen) -> None:
        """The function that is being run looks at something."""
        run = self.run
        if self._places.get(at, -1) < run.first:
            self._places[at] = self._count
            self._count += 1
            self.lookers[at].append(run)

    def change(self, at: Seen) -> None:
        """Something is changed: the runs that looked at it are stale, and those that these are a part of."""
        waiting, active = self.lookers.pop(at, []), dict[Watched, None]()
        while waiting:
            run = waiting.pop()
            if not run.ended:
                active[run] = None
            elif not run.stale:
                run.stale = True
                waiting += run.users
        if active:
            self.lookers[at] = [*active]
        for run in active if type(at) is tuple else ():
            run.changing = True

    def begin(self) -> Watched:
        """A function begins to run; the one around it."""
        outer = self.run
        self.run = Watched([outer], self._count)
        return outer

    def end(self, outer: Watched) -> None:
        """The function that is being run has ended."""
        self.run.ended = True
        outer.changing |= self.run.changing
        self.run = outer

    def use(self, run: Watched) -> None:
        """The result of a run is taken for that of another one, as a part of the run around it."""
        self.run.changing |= run.changing
        if run.users[-1] is not self.run:
            run.users.append(self.run)


def acts(old: Value | None, new: Value, owner: Atom) -> bool:
    """Whether what `owner` is given in a slot may change what is done with it: anything that a class is given, else a
    function, or an object of a class of the project in a container or beside what an attribute held.
    """
    if type(owner) is Class:
        return True
    added = new if old is None else new - old
    found = old is not None or (type(owner) is Object and type(owner.kind) is not Class)
    return any(type(a) in _ACTING or (found and type(a) is Object and type(a.kind) is Class) for a in added)

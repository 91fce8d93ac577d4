"""What the functions of a program looked at outside their variables, and which runs a change of it affects."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from detlint.link.state.records import Result
from detlint.link.state.spans import Span
from detlint.link.state.values import Atom, Class, Function, Object, Partial, Value
from detlint.support.records import record

Seen = Atom | tuple[str, str]  # an object, or a variable of a module by the path of its file and its name

_ACTING = frozenset((Class, Function, Partial))
_ANEW = 1  # how often a run is redone with the same arguments


@record(slots=True, eq=False)
class Watched:
    """A run of a function. `first` is the number of looks before it began, `users` are the runs that it is a part of.

    `ended` says that it has ended, `changing` that it changed a variable that it looked at, and `stale` that what it
    looked at was changed later.
    """

    users: list[Watched]
    first: int
    ended: bool = False
    changing: bool = False
    stale: bool = False


class Memory(NamedTuple):
    """The result of a run, how often it was redone (`anew`) since what it looked at changed, and what it noted."""

    result: Result
    run: Watched
    anew: int
    span: Span

    @property
    def holds(self) -> bool:
        """Whether the result may be used again: the run would give the same, or was redone often enough already."""
        return self.anew >= _ANEW or not (self.run.stale or self.run.changing)


class Watch:
    """Records what the functions of one program look at, and which of them looked at what is then changed.

    A run is not outdated by what it does to an object itself. It is outdated by changing a variable: that is how a
    function remembers that it was called before.
    """

    __slots__ = ("_count", "_places", "lookers", "run")

    def __init__(self) -> None:
        self.run = Watched([], 0)  # the function that is being run
        self.lookers: dict[Seen, list[Watched]] = defaultdict(list)
        self._places: dict[Seen, int] = {}  # the number of the last look at each
        self._count = 0  # of looks

    def look(self, at: Seen) -> None:
        """Record that the function that is being run looks at something."""
        run = self.run
        if self._places.get(at, -1) < run.first:
            self._places[at] = self._count
            self._count += 1
            self.lookers[at].append(run)

    def change(self, at: Seen) -> None:
        """Mark as stale the runs that looked at something now changed, and the runs that these are a part of."""
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
        """Begin a run of a function, and return the run around it."""
        outer = self.run
        self.run = Watched([outer], self._count)
        return outer

    def end(self, outer: Watched) -> None:
        """End the run of the current function; `outer` is the run around it."""
        self.run.ended = True
        outer.changing |= self.run.changing
        self.run = outer

    def use(self, run: Watched) -> None:
        """Record that the result of an earlier run is used as a part of the current run."""
        self.run.changing |= run.changing
        if run.users[-1] is not self.run:
            run.users.append(self.run)


def acts(old: Value | None, new: Value, owner: Atom) -> bool:
    """Return whether storing `new` in a slot of `owner` that held `old` may change what is done with it: anything in a
    class, else a function, class or partial, or a project object if `owner` is a container or the slot was set before.
    """
    if type(owner) is Class:
        return True
    added = new if old is None else new - old
    found = old is not None or (type(owner) is Object and type(owner.kind) is not Class)
    return any(type(a) in _ACTING or (found and type(a) is Object and type(a.kind) is Class) for a in added)

"""A program, walked: its effects run over the states of generators, in order, under the conditions of its options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import Struct

from detlint.domain import effects as e
from detlint.domain.atoms import FunctionRef, Node
from detlint.domain.codes import Code
from detlint.domain.effects import Effect, Effects, Stream
from detlint.domain.limits import Limits
from detlint.domain.path_conditions import ALWAYS, PathCondition
from detlint.finding import Place
from detlint.interpreter.solver import Solver
from detlint.ir import nodes as ir
from detlint.programs import events as v
from detlint.programs.events import CAUGHT, PROGRAM, START, State
from detlint.programs.states import States, by_default, few, merge, shown, together
from detlint.programs.views import View

Visit = tuple[tuple[Code, State], ...]
Key = tuple[Node, State]
_TURNS = 3  # walks of a node that calls itself


Handler = Callable[["Walk", "Ways", Any], None]
"""What an effect does: to a walk, and to the ways on which it happens."""


class Observation(Struct, frozen=True):
    """A draw in a state: from a stream that has a word there, on a condition; `path` are the calls that lead there."""

    stream: Stream
    code: Code
    word: str
    condition: PathCondition
    path: tuple[Code, ...] = ()


@dataclass
class Ways:
    """Where ways go on: at the next statement, and at the end of the function that they leave.

    `reach` is what all have left that left.
    """

    states: States
    returned: States = field(default_factory=dict)
    raised: States = field(default_factory=dict)
    reach: int = PROGRAM


@dataclass
class Walked:
    """What a program does: its trace, the state in which it ends, what it draws, and the processes that it starts.

    `visits` are the ways through each function: the state in which it begins, then those at the calls in it.
    """

    trace: v.Trace
    end: State | None
    observations: list[Observation]
    spawned: list[e.Spawn]
    visits: dict[Node, dict[Visit, None]]


class Walk:
    """The walk of one program. A function is walked once for each state that it is entered in.

    `handlers` say what each kind of effect does.
    """

    def __init__(
        self, solver: Solver, file: str, seen: View, limits: Limits, place: Callable[[Code], Place],
        handlers: Mapping[type[Effect], Handler],
    ) -> None:  # fmt: skip
        self.solver = solver
        self.seen = seen
        self.file = file
        self.limits = limits
        self.place = place
        self.handlers = handlers
        self.observations: dict[tuple[Stream, Code, str, PathCondition], Observation] = {}
        self.imported: dict[str, None] = {}
        self.is_main = True
        self._spawning: set[Node] = set()  # what starts processes
        self.leaving: dict[Effects, bool] = {}  # what happens at the end, and whether it surely does
        self.sure = True  # not in one arm of several
        self.exits: States = {}  # in which it ends early
        self.spawned: dict[e.Spawn, None] = {}
        self.visits: dict[Node, dict[Visit, None]] = {}
        self.visit: list[tuple[Code, State]] = []
        self.drawn: dict[Code, set[str]] = defaultdict(set)  # the words that each draw has found so far
        self.saved: dict[Code, set[str]] = defaultdict(set)  # and those that were saved
        self._known: dict[Key, tuple[States, v.Trace]] = {}
        self._open: set[Key] = set()
        self._again: set[Key] = set()  # what was entered while it was open
        self._assumed: dict[Key, tuple[States, v.Trace]] = {}  # what that gives, as far as is known
        self.begun: set[e.First] = set()
        self.path: tuple[Code, ...] = ()
        self.trace: list[v.Event] = []
        self.bodies: list[tuple[Effects | None, Ways]] = []  # of the contexts that are being managed, or only entered

    def run(self, starts: Sequence[Node] = (), command: Node | None = None, *, pickled: bool = False) -> Walked:
        """Walk the program that its file starts, or a console script's `command`; or a process that runs `starts`.

        A process imports its file, and then runs what it starts, in turn. One that is given `pickled` functions of the
        file imports what that does.
        """
        ways = Ways({ALWAYS: START})
        if command is not None:
            self.is_main = False
            ways.states, trace = self._node(command, START)
            self.trace += trace
        elif starts:
            self.is_main = False
            files = [node.function.file for node in starts]
            first = (e.Import(self.file),) if not pickled else self._imports() if self.file in files else ()
            if pickled:
                self.imported[self.file] = None
            self.effects(ways, (*first, *map(e.Import, files)))
            for node in starts:
                self.called(ways, node, name_of(node), self.place(Code(*_code(node))), {})
        else:
            self.imported[self.file] = None
            left, trace = self._node(Node(FunctionRef(self.file, ir.TOP)), START)
            self.trace += trace
            ways.states = left
        self._end(ways)
        end = shown(ways.states) if ways.states else None
        return Walked(tuple(self.trace), end, list(self.observations.values()), list(self.spawned), self.visits)

    def _imports(self) -> tuple[e.Import, ...]:
        """What the top level of the file imports."""
        node = Node(FunctionRef(self.file, ir.TOP))
        effects = self.seen.own.get(node, self.solver.table[node].summary).effects
        return tuple(effect for effect in effects if isinstance(effect, e.Import))

    def _end(self, ways: Ways) -> None:
        """End the program: what it has left for that happens, the last one first."""
        ended = bool(ways.states)
        states = ways.states or self.exits
        for body, sure in reversed(self.leaving.items()):
            ways.states = states
            if sure:
                self.effects(ways, body)
            else:
                self.fork(ways, (body, ()))
            states = ways.states
        ways.states = states if ended else {}

    def _node(self, node: Node, state: State) -> tuple[States, v.Trace]:
        """The states in which a node leaves a program that enters it in one, and its trace.

        While it is open it gives what it did before: it is walked again until that is so, but not for ever.
        """
        key = node, state
        if key in self._open:
            self._again.add(key)
            return self._assumed.get(key, ({}, ()))
        if key not in self._known:
            self._open.add(key)
            begun, known = set(self.begun), len(self._known)
            for _ in range(_TURNS):
                found, visit = self._walked(node, state)
                if key not in self._again or found[0] == self._assumed.get(key, ({}, ()))[0]:
                    break
                self._assumed[key] = found
                for stale in list(self._known)[known:]:
                    del self._known[stale]
                self.begun = set(begun)
            self.visits.setdefault(node, {})[visit] = None
            self._again.discard(key)
            self._assumed.pop(key, None)
            self._open.discard(key)
            if len(self.begun) > len(begun):  # the next time it does something else
                return found
            self._known[key] = found
        return self._known[key]

    def _walked(self, node: Node, state: State) -> tuple[tuple[States, v.Trace], Visit]:
        """The same, from one walk through the node, and the states at the calls in it."""
        entry = self.solver.table.get(node)
        ways = Ways({ALWAYS: state})
        outer, self.visit = self.visit, [(Code(node.function.file, node.function.name, -1), state)]
        bodies, self.bodies = self.bodies, []
        with self.traced() as trace:
            if entry is not None:
                effects = self.seen.own.get(node, entry.summary).effects
                self.effects(ways, effects)
                if self.spawns(effects):
                    self._spawning.add(node)
                if ways.raised and not (ways.returned or ways.states) and not _is_file(node):
                    self.add(v.Marked("fails", self.place(Code(*_code(node)))))
        self.bodies = bodies
        visit, self.visit = tuple(self.visit), outer
        merge(ways.returned, ways.states)
        return (few(ways.returned or ways.raised, self.limits.states), tuple(trace)), visit

    @contextmanager
    def traced(self) -> Iterator[list[v.Event]]:
        """What is traced here, apart from what was so far."""
        outer, self.trace = self.trace, []
        inner = self.trace
        yield inner
        self.trace = outer

    def effects(self, ways: Ways, effects: Effects) -> None:
        """Let effects happen, one after the other; where by default the way has ended, the rest is on an option's."""
        default = by_default(ways.states)
        for index, effect in enumerate(effects):
            if not ways.states:
                return
            if default and not by_default(ways.states):
                option = min(condition.option for condition in ways.states)
                with self.traced() as inner:
                    self.effects(ways, effects[index:])
                self.add(v.Guarded(option, tuple(inner)) if inner else None)
                return
            self.handlers[type(effect)](self, ways, effect)

    def add(self, event: v.Event | None) -> None:
        """Trace an event, if there is one."""
        if event is not None:
            self.trace.append(event)

    # Generators

    # Calls

    def called(
        self, ways: Ways, node: Node, name: str, place: Place | None, outer: States,
        *, imports: bool = False, within: bool = False,
    ) -> None:  # fmt: skip
        """Run a node in each of the states; what it says on conditions goes on under both."""
        left: States = dict(outer)
        traces: dict[State, v.Trace] = {}
        for condition, state in ways.states.items():
            found, trace = self._under(node, state, condition)
            traces.setdefault(state, trace)  # what is done once alone is not done by another walk
            for own, after in found.items():
                both = condition.both(own, self.limits.terms)
                if both is not None:
                    merge(left, {both: after})
        usual = shown(ways.states)
        trace = traces[usual] if usual in traces else self._node(node, usual)[1]
        ways.states = few(left, self.limits.states)
        if within:
            self.trace += trace
        elif trace:
            place = place or Place(node.function.file, 1, 1, 1, 1)
            self.add(v.Called(name, place, trace, imports))

    def _under(self, node: Node, state: State, condition: PathCondition) -> tuple[States, v.Trace]:
        """The states that a node leaves, and its trace; what it observes anew is on the condition of its call."""
        known = (node, state) in self._known
        before = len(self.observations)
        found = self._node(node, state)
        if not known and condition != ALWAYS:
            for key in list(self.observations)[before:]:
                seen = self.observations.pop(key)
                both = seen.condition.both(condition, self.limits.terms)
                if both is not None:
                    key = seen.stream, seen.code, seen.word, both
                    self.observations.setdefault(key, replace_condition(seen, both))
        return found

    # Arms

    def fork(
        self, ways: Ways, arms: Sequence[Effects], options: Sequence[str] = (), dispatch: Place | None = None,
        *, pairs: bool = True,
    ) -> None:  # fmt: skip
        """One of several arms, nobody knows which; those of a test are `pairs`, where there are two."""
        start, ends, first = ways.states, list[States](), len(self.trace)
        sure, self.sure = self.sure, False
        for arm, option in zip(arms, options or [""] * len(arms), strict=True):
            ways.states = dict(start)
            reach, ways.reach = ways.reach, PROGRAM
            with self.traced() as inner:
                self.effects(ways, arm)
            gone = CAUGHT if ways.states else ways.reach
            ways.reach = min(reach, ways.reach)
            self.add(v.Guarded(option, tuple(inner), dispatch, reach=gone) if inner else None)
            ends.append(ways.states)
        self.sure = sure
        if pairs:
            self.pair(first)
        here = [end for arm, end in zip(arms, ends, strict=True) if end and not self.spawns(arm)]
        ways.states = together(here or ends, self.limits.states)  # not as where others go on

    def spawns(self, effects: Effects) -> bool:
        """Whether something starts a process."""
        inner = (effect for effect in effects if isinstance(effect, e.Invoke))
        own = any(isinstance(effect, e.Spawn) for effect in effects)
        return own or any(node in self._spawning for effect in inner for node in effect.nodes)

    def pair(self, first: int) -> None:
        """What is traced from there on are arms of which one runs: say so, where there are two."""
        arms = self.trace[first:]
        if len(arms) == 2 and isinstance(arms[0], v.Guarded) and isinstance(arms[1], v.Guarded):
            self.trace[-1] = replace(arms[1], instead=True)

    # Asides

    # States


def replace_condition(found: Observation, condition: PathCondition) -> Observation:
    """An observation on another condition."""
    return Observation(found.stream, found.code, found.word, condition, found.path)


def _is_file(node: Node) -> bool:
    """Whether a node is the top level of a file, or its `__main__` block."""
    return node.function.name in (ir.TOP, ir.MAIN)


def name_of(node: Node) -> str:
    """The name of a function, without what it is in."""
    return node.function.name.rpartition(".")[2].partition("#")[0]


def _code(node: Node) -> tuple[str, str, int]:
    return node.function.file, node.function.name, -1

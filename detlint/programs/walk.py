"""A program, walked: its effects run over the states of generators, in order, under the conditions of its options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from msgspec import Struct

from detlint.domain import effects as e
from detlint.domain.atoms import FunctionRef, Node, Option
from detlint.domain.codes import Code
from detlint.domain.effects import GENERATORS, SEEDABLE, Effect, Effects, Stream
from detlint.domain.limits import Limits
from detlint.domain.modes import asked
from detlint.domain.path_conditions import ALWAYS, PathCondition
from detlint.finding import Place
from detlint.interpreter.solver import Solver
from detlint.ir import nodes as ir
from detlint.programs import events as v
from detlint.programs.events import CAUGHT, CHANCE, FUNCTION, PROGRAM, RESEEDED, SEEDED, START, UNSEEDED, UNSURE, State
from detlint.programs.views import View

States = dict[PathCondition, State]
"""In which states a program may be here: one for each condition on its options."""
Visit = tuple[tuple[Code, State], ...]
Key = tuple[Node, State]
_DEEPEST = 20  # contexts that are managed in each other
_TURNS = 3  # walks of a node that calls itself
_WORDS = {"fixed": SEEDED, "entropy": RESEEDED, "none": UNSEEDED, "unsure": UNSURE}
_REACH = {"return": FUNCTION, "raise": FUNCTION, "exit": PROGRAM}


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
    """The walk of one program. A function is walked once for each state that it is entered in."""

    def __init__(self, solver: Solver, file: str, seen: View, limits: Limits, place: Callable[[Code], Place]) -> None:
        self.solver = solver
        self.seen = seen
        self.file = file
        self.limits = limits
        self.place = place
        self.observations: dict[tuple[Stream, Code, str, PathCondition], Observation] = {}
        self.imported: dict[str, None] = {}
        self.is_main = True
        self._spawning: set[Node] = set()  # what starts processes
        self.leaving: dict[Effects, bool] = {}  # what happens at the end, and whether it surely does
        self._sure = True  # not in one arm of several
        self.exits: States = {}  # in which it ends early
        self.spawned: dict[e.Spawn, None] = {}
        self.visits: dict[Node, dict[Visit, None]] = {}
        self._visit: list[tuple[Code, State]] = []
        self.drawn: dict[Code, set[str]] = defaultdict(set)  # the words that each draw has found so far
        self.saved: dict[Code, set[str]] = defaultdict(set)  # and those that were saved
        self._known: dict[Key, tuple[States, v.Trace]] = {}
        self._open: set[Key] = set()
        self._again: set[Key] = set()  # what was entered while it was open
        self._assumed: dict[Key, tuple[States, v.Trace]] = {}  # what that gives, as far as is known
        self._begun: set[e.First] = set()
        self._path: tuple[Code, ...] = ()
        self._trace: list[v.Event] = []
        self._bodies: list[tuple[Effects | None, Ways]] = []  # of the contexts that are being managed, or only entered

    def run(self, starts: Sequence[Node] = (), command: Node | None = None) -> Walked:
        """Walk the program that its file starts, or a console script's `command`; or a process that runs `starts`.

        A process imports its file, and then runs what it starts, in turn.
        """
        ways = Ways({ALWAYS: START})
        if command is not None:
            self.is_main = False
            ways.states, trace = self._node(command, START)
            self._trace += trace
        elif starts:
            self.is_main = False
            for file in (self.file, *(node.function.file for node in starts)):
                self._effect(ways, e.Import(file))
            for node in starts:
                self._called(ways, node, _name(node), self.place(Code(*_code(node))), {})
        else:
            self.imported[self.file] = None
            left, trace = self._node(Node(FunctionRef(self.file, ir.TOP)), START)
            self._trace += trace
            ways.states = left
        self._end(ways)
        end = _shown(ways.states) if ways.states else None
        return Walked(tuple(self._trace), end, list(self.observations.values()), list(self.spawned), self.visits)

    def _end(self, ways: Ways) -> None:
        """End the program: what it has left for that happens, the last one first."""
        ended = bool(ways.states)
        states = ways.states or self.exits
        for body, sure in reversed(self.leaving.items()):
            ways.states = states
            if sure:
                self._effects(ways, body)
            else:
                self._fork(ways, (body, ()))
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
            begun, known = set(self._begun), len(self._known)
            for _ in range(_TURNS):
                found, visit = self._walked(node, state)
                if key not in self._again or found[0] == self._assumed.get(key, ({}, ()))[0]:
                    break
                self._assumed[key] = found
                for stale in list(self._known)[known:]:
                    del self._known[stale]
                self._begun = set(begun)
            self.visits.setdefault(node, {})[visit] = None
            self._again.discard(key)
            self._assumed.pop(key, None)
            self._open.discard(key)
            if len(self._begun) > len(begun):  # the next time it does something else
                return found
            self._known[key] = found
        return self._known[key]

    def _walked(self, node: Node, state: State) -> tuple[tuple[States, v.Trace], Visit]:
        """The same, from one walk through the node, and the states at the calls in it."""
        entry = self.solver.table.get(node)
        ways = Ways({ALWAYS: state})
        outer, self._visit = self._visit, [(Code(node.function.file, node.function.name, -1), state)]
        bodies, self._bodies = self._bodies, []
        with self._traced() as trace:
            if entry is not None:
                effects = self.seen.own.get(node, entry.summary).effects
                self._effects(ways, effects)
                if self._spawns(effects):
                    self._spawning.add(node)
        self._bodies = bodies
        visit, self._visit = tuple(self._visit), outer
        self._merge(ways.returned, ways.states)
        return (self._few(ways.returned or ways.raised), tuple(trace)), visit

    @contextmanager
    def _traced(self) -> Iterator[list[v.Event]]:
        """What is traced here, apart from what was so far."""
        outer, self._trace = self._trace, []
        inner = self._trace
        yield inner
        self._trace = outer

    def _effects(self, ways: Ways, effects: Effects) -> None:
        """Let effects happen, one after the other; where by default the way has ended, the rest is on an option's."""
        by_default = _by_default(ways.states)
        for index, effect in enumerate(effects):
            if not ways.states:
                return
            if by_default and not _by_default(ways.states):
                with self._traced() as inner:
                    self._effects(ways, effects[index:])
                option = min(condition.option for condition in ways.states) if ways.states else ""
                self._add(v.Guarded(option, tuple(inner)) if inner else None)
                return
            self._effect(ways, effect)

    def _add(self, event: v.Event | None) -> None:
        if event is not None:
            self._trace.append(event)

    def _effect(self, ways: Ways, effect: Effect) -> None:
        """Let one effect happen."""
        if isinstance(effect, e.Draw):
            self._draw(ways, effect)
        elif isinstance(effect, e.Seed):
            self._seed(ways, effect)
        elif isinstance(effect, e.Save):
            self.saved[effect.code].update(_word(state, effect.stream) for state in ways.states.values())
        elif isinstance(effect, e.SetSwitch):
            self._add(v.Switched(effect.name, effect.word, self.place(effect.code)))
            self._put(ways, (effect.name,), effect.word)
        elif isinstance(effect, e.Replace):
            for condition, state in ways.states.items():
                names = set(state["replaced"].split()) - {effect.name} | ({effect.name} if effect.own else set())
                ways.states[condition] = state.but(("replaced",), " ".join(sorted(names)))
        elif isinstance(effect, e.Made):
            self._add(v.Loaded(self.place(effect.code), effect.generator, effect.worker_init))
        elif isinstance(effect, e.Mark):
            state = _shown(ways.states)
            if effect.kind != "unsure" or any(state[generator] == UNSURE for generator in GENERATORS):
                self._add(v.Marked(effect.kind, self.place(effect.code)))
        elif isinstance(effect, e.Invoke):
            self._invoke(ways, effect)
        elif isinstance(effect, e.At):
            self._visit.append((effect.code, _shown(ways.states)))
        elif isinstance(effect, e.Dispatch):
            self._fork(ways, effect.arms, (), self.place(effect.code) if effect.several else None, pairs=False)
        elif isinstance(effect, e.Around):
            self._around(ways, effect)
        elif isinstance(effect, e.Enter):
            self._enter(ways, effect)
        elif isinstance(effect, e.Yield):
            self._yield(ways)
        elif isinstance(effect, e.Import):
            if effect.file not in self.imported:
                self.imported[effect.file] = None
                self._called(ways, Node(FunctionRef(effect.file, ir.TOP)), effect.file, None, {}, imports=True)
        elif isinstance(effect, e.Main):
            if self.is_main and effect.node.function.file == self.file:
                self._called(ways, effect.node, "", None, {}, within=True)
        elif isinstance(effect, e.Branch):
            self._branch(ways, effect)
        elif isinstance(effect, e.First):
            if effect in self._begun:
                self._fork(ways, (effect.body, effect.orelse))
            else:
                self._begun.add(effect)
                self._effects(ways, effect.body)
        elif isinstance(effect, e.Repeat):
            self._repeat(ways, effect)
        elif isinstance(effect, e.Apart) and effect.spawned is not None and _shown(ways.states)["start"] == "spawn":
            self.spawned[effect.spawned] = None
        elif isinstance(effect, (e.Apart, e.Restoring, e.Scope)):
            self._aside(ways, effect)
        elif isinstance(effect, e.Spawn):
            self.spawned[effect] = None
        elif isinstance(effect, e.Later):
            self.leaving[effect.body] = self._sure
        else:
            self._leave(ways, effect)

    # Generators

    def _put(self, ways: Ways, names: Iterable[str], word: str) -> None:
        ways.states = {condition: state.but(names, word) for condition, state in ways.states.items()}

    def _draw(self, ways: Ways, draw: e.Draw) -> None:
        for condition, state in ways.states.items():
            word = _word(state, draw.stream)
            self.drawn[draw.code].add(word)
            if draw.aside:
                continue
            key = draw.stream, draw.code, word, condition
            if key not in self.observations:
                self.observations[key] = Observation(draw.stream, draw.code, word, condition, self._path)
        if draw.stream not in GENERATORS:
            return
        state = _shown(ways.states)
        if draw.stream == "torch" and state["device"] == "meta":
            return
        generator, word, place = str(draw.stream), state[str(draw.stream)], self.place(draw.code)
        if draw.aside:
            self._add(v.Example(generator, draw.what, place, word, draw.aside == "seed"))
        else:
            self._add(v.Drawn(generator, draw.what, place, word, draw.weights, draw.of_library))

    def _seed(self, ways: Ways, seed: e.Seed) -> None:
        names = tuple(str(stream) for stream in seed.streams if stream in SEEDABLE)
        if not names:
            return
        if seed.saved:
            self._put_back(ways, names, set[str]().union(*(self.saved[code] for code in seed.saved)))
            return
        how = self._how(seed)
        if how != "none":
            event = v.Seeded(
                names, seed.what, self.place(seed.code), how == "fixed", seed.restores, how == "entropy", seed.guessed
            )
            self._add(event)
        if how == "unsure":  # what is seeded stays so
            for condition, state in ways.states.items():
                ways.states[condition] = state.but([name for name in names if state[name] != SEEDED], UNSURE)
        else:
            self._put(ways, names, _WORDS[how])

    def _how(self, seed: e.Seed) -> str:
        """With what streams are seeded; a number that was drawn itself is as good as what it was drawn from."""
        words = set[str]().union(*(self.drawn[code] for code in seed.drawn))
        if words and words <= CHANCE:
            return "entropy"
        words.update(*(self.drawn[code] for code in seed.perhaps))
        return seed.how if words <= {SEEDED} else "unsure"

    def _put_back(self, ways: Ways, names: Sequence[str], words: set[str]) -> None:
        """Streams are what they were when their states were saved: nothing changes if they are one of these."""
        word = next(iter(words)) if len(words) == 1 else UNSURE
        for condition, state in ways.states.items():
            ways.states[condition] = state.but([name for name in names if state[name] not in words], word)

    # Calls

    def _called(
        self, ways: Ways, node: Node, name: str, place: Place | None, outer: States,
        *, imports: bool = False, within: bool = False,
    ) -> None:  # fmt: skip
        """Run a node in each of the states; what it says on conditions goes on under both."""
        left: States = dict(outer)
        for condition, state in ways.states.items():
            for own, after in self._under(node, state, condition).items():
                both = condition.both(own, self.limits.terms)
                if both is not None:
                    self._merge(left, {both: after})
        _, trace = self._node(node, _shown(ways.states))
        ways.states = self._few(left)
        if within:
            self._trace += trace
        elif trace:
            place = place or Place(node.function.file, 1, 1, 1, 1)
            self._add(v.Called(name, place, trace, imports))

    def _under(self, node: Node, state: State, condition: PathCondition) -> States:
        """The states that a node leaves; what it observes anew is on the condition of its call."""
        known = (node, state) in self._known
        before = len(self.observations)
        left, _ = self._node(node, state)
        if not known and condition != ALWAYS:
            for key in list(self.observations)[before:]:
                found = self.observations.pop(key)
                both = found.condition.both(condition, self.limits.terms)
                if both is not None:
                    key = found.stream, found.code, found.word, both
                    self.observations.setdefault(key, replace_condition(found, both))
        return left

    def _invoke(self, ways: Ways, effect: e.Invoke) -> None:
        """A call: what any of its callees does; of one that is guessed, what it seeds makes words unsure."""
        outer, self._path = self._path, (*self._path, effect.code)
        place = self.place(effect.code)
        start, ends = ways.states, list[States]()
        first = len(self._trace)
        for node in effect.nodes:
            ways.states = dict(start)
            observations = dict(self.observations) if effect.guess else None
            with self._traced() as inner:
                self._called(ways, node, _name(node), place, start if effect.guess else {})
            if observations is not None:
                self.observations = observations
            if inner and (effect.guess or len(effect.nodes) > 1):
                self._add(v.Guarded("", tuple(inner), None if effect.guess else place))
            else:
                self._trace += inner
            ends.append(ways.states)
        self._pair(first)
        self._path = outer
        ways.states = self._together(ends) if effect.nodes else start

    def _around(self, ways: Ways, effect: e.Around) -> None:
        """A generator function around a body: walked anew, since the body is another one each time."""
        start = _shown(ways.states)
        for node in effect.call.nodes[:1]:
            entry = self.solver.table.get(node)
            if entry is None or len(self._bodies) > _DEEPEST:
                self._effects(ways, effect.body)
                return
            outer = Ways(ways.states)
            with self._traced() as inner:
                self._bodies.append((effect.body, ways))
                self._effects(outer, self.seen.own.get(node, entry.summary).effects)
                self._bodies.pop()
            self._merge(outer.returned, outer.states)
            ways.states = self._few(outer.returned)
            trace = tuple(inner)
            if trace and ways.states and start is _shown(ways.states):  # what is seeded within is put back at the end
                self._add(v.Apart(trace))
            else:
                self._add(v.Scope(trace) if trace else None)

    def _enter(self, ways: Ways, effect: e.Enter) -> None:
        """A generator function up to where it yields, in the states that it has there."""
        entered = Ways({})
        with self._traced() as inner:
            for node in effect.call.nodes[:1]:
                entry = self.solver.table.get(node)
                if entry is not None and len(self._bodies) <= _DEEPEST:
                    self._bodies.append((None, entered))
                    self._effects(Ways(ways.states), self.seen.own.get(node, entry.summary).effects)
                    self._bodies.pop()
        ways.states = entered.states or ways.states
        self._add(v.Scope(tuple(inner)) if inner else None)

    def _yield(self, ways: Ways) -> None:
        """The body of a context, where its manager yields: what leaves there leaves the function that has the body."""
        if not self._bodies:
            return
        if self._bodies[-1][0] is None:
            self._merge(self._bodies[-1][1].states, ways.states)
            ways.states = {}
            return
        (body, outer), self._bodies = self._bodies[-1], self._bodies[:-1]
        assert body is not None
        inner = Ways(ways.states, outer.returned, outer.raised)
        self._effects(inner, body)
        outer.reach = min(outer.reach, inner.reach)
        ways.states = inner.states
        self._bodies = [*self._bodies, (body, outer)]

    # Arms

    def _branch(self, ways: Ways, effect: e.Branch) -> None:
        """Both arms: one only where the user sets an option, the other by default; without an option either."""
        if effect.option is None:
            self._fork(ways, (effect.body, effect.orelse))
            return
        by_state = asked(effect.option)
        if by_state is not None:
            self._by_state(ways, effect, *by_state)
            return
        arms = {effect.set: effect.body, not effect.set: effect.orelse}
        if effect.option.is_parameter:
            self._fork(ways, (arms[False], arms[True]), ("", effect.option.name))
            return
        start, ends = ways.states, list[States]()
        must = _refuses(arms[False]) and not _refuses(arms[True])  # an option that the user has to set
        options = (effect.option, *effect.others)
        first = len(self._trace)
        for set_ in (False, True):
            ways.states = {} if must and not set_ else start if must else self._where(start, options, set_)
            begun = ways.states
            reach, ways.reach = ways.reach, PROGRAM
            with self._traced() as inner:
                self._effects(ways, arms[set_])
            gone = ways.reach if begun and not ways.states else CAUGHT
            ways.reach = min(reach, ways.reach)
            if set_ and not must:
                self._add(v.Guarded(effect.option.name, tuple(inner), reach=gone) if inner else None)
            elif gone != CAUGHT and inner:
                self._add(v.Guarded("", tuple(inner), reach=gone, sure=True))
            else:
                self._trace += inner
            ends.append(ways.states)
            if set_ and not (must or effect.sure):  # an option that is set may leave all as it is
                ways.states = begun
                with self._traced():
                    self._effects(ways, arms[False])
                ends.append(ways.states)
        self._pair(first)
        ways.states = self._together(ends)

    def _where(self, states: States, options: Sequence[Option], set_: bool) -> States:
        """The states in which one of some options is set, or none is."""
        found: States = {}
        for condition, state in states.items():
            rest: PathCondition | None = condition
            for option in options:
                if rest is not None and set_:
                    self._merge_under(found, rest.and_then(option, True, self.limits.terms), state)
                rest = rest.and_then(option, False, self.limits.terms) if rest is not None else None
            if not set_:
                self._merge_under(found, rest, state)
        return found

    def _merge_under(self, into: States, condition: PathCondition | None, state: State) -> None:
        if condition is not None:
            self._merge(into, {condition: state})

    def _by_state(self, ways: Ways, effect: e.Branch, switch: str, words: frozenset[str]) -> None:
        """One of two arms, as a switch has some words or has not; both where that is not known."""
        arms = (effect.body, effect.orelse) if effect.set else (effect.orelse, effect.body)
        found = {words <= set(state[switch].split()) or state[switch] == UNSURE for state in ways.states.values()}
        lacking = {not words <= set(state[switch].split()) for state in ways.states.values()}
        chosen = [arm for arm, taken in zip(arms, (True in found, True in lacking), strict=True) if taken]
        if len(chosen) == 1:
            self._effects(ways, chosen[0])
        else:
            self._fork(ways, chosen)

    def _fork(
        self, ways: Ways, arms: Sequence[Effects], options: Sequence[str] = (), dispatch: Place | None = None,
        *, pairs: bool = True,
    ) -> None:  # fmt: skip
        """One of several arms, nobody knows which; those of a test are `pairs`, where there are two."""
        start, ends, first = ways.states, list[States](), len(self._trace)
        sure, self._sure = self._sure, False
        for arm, option in zip(arms, options or [""] * len(arms), strict=True):
            ways.states = dict(start)
            reach, ways.reach = ways.reach, PROGRAM
            with self._traced() as inner:
                self._effects(ways, arm)
            gone = CAUGHT if ways.states else ways.reach
            ways.reach = min(reach, ways.reach)
            self._add(v.Guarded(option, tuple(inner), dispatch, reach=gone) if inner else None)
            ends.append(ways.states)
        self._sure = sure
        if pairs:
            self._pair(first)
        here = [end for arm, end in zip(arms, ends, strict=True) if end and not self._spawns(arm)]
        ways.states = self._together(here or ends)  # not as where others go on

    def _spawns(self, effects: Effects) -> bool:
        """Whether something starts a process."""
        inner = (effect for effect in effects if isinstance(effect, e.Invoke))
        own = any(isinstance(effect, e.Spawn) for effect in effects)
        return own or any(node in self._spawning for effect in inner for node in effect.nodes)

    def _pair(self, first: int) -> None:
        """What is traced from there on are arms of which one runs: say so, where there are two."""
        arms = self._trace[first:]
        if len(arms) == 2 and isinstance(arms[0], v.Guarded) and isinstance(arms[1], v.Guarded):
            self._trace[-1] = replace(arms[1], instead=True)

    def _repeat(self, ways: Ways, effect: e.Repeat) -> None:
        """A loop's body, until no pass finds another state; it is taken to run, for that is what it is written for."""
        returned, ways.returned = ways.returned, {}
        start = entered = dict(ways.states)
        ends: list[States] = []
        for _ in range(self.limits.states):
            ways.states, begun = dict(entered), len(self._begun)
            self._effects(ways, effect.body)
            ends.append(ways.states)
            first = len(self._begun) > begun  # what is done once alone, no later pass finds undone
            again = self._together([*([] if first else [entered]), ways.states])
            if again == entered:
                break
            entered = again
        ways.states = self._together(ends) or self._together([ways.returned]) or start
        self._merge(ways.returned, returned)

    def _leave(self, ways: Ways, effect: e.Leave) -> None:
        """What leaves the function or the program; a loop goes on, for some pass of it comes to what follows."""
        if effect.how in ("break", "continue"):
            return
        ways.reach = min(ways.reach, CAUGHT if effect.caught else _REACH[effect.how])
        if effect.how == "return":
            self._merge(ways.returned, ways.states)
        elif effect.how == "raise":
            self._merge(ways.raised, ways.states)
        elif effect.how == "exit":
            self._merge(self.exits, ways.states)
        ways.states = {}

    # Asides

    def _aside(self, ways: Ways, effect: e.Apart | e.Restoring | e.Scope) -> None:
        """A body that other processes run, or after which something is as it was."""
        start = ways.states
        names = tuple(str(stream) for stream in effect.streams) if isinstance(effect, e.Restoring) else ()
        if isinstance(effect, e.Apart):
            ways.states = {condition: _in_worker(state, effect) for condition, state in start.items()}
        elif isinstance(effect, e.Restoring):
            for switch, word in effect.within:
                self._put(ways, (switch,), word)
        with self._traced() as inner:
            self._effects(ways, effect.body)
        trace = tuple(inner)
        if isinstance(effect, e.Apart):
            ways.states = start
            self._add(v.Apart(trace) if trace else None)
            if effect.base is not None and any(_draws_of(event, effect.seeded) for event in trace):
                with self._traced() as drawn:
                    self._draw(ways, effect.base)
                self._trace += [v.Guarded("", tuple(drawn))] if effect.perhaps and drawn else drawn
        elif isinstance(effect, e.Restoring):
            before = _shown(start)
            for name in (*names, *(switch for switch, _ in effect.within)):
                self._put(ways, (name,), before[name])
            if names and trace:
                self._add(v.Apart(trace))
            else:
                self._trace += trace
        else:
            self._add(v.Scope(trace) if trace else None)

    # States

    def _together(self, ends: Iterable[States]) -> States:
        """The states of several ways; a state that is there whether an option is set or not does not depend on it."""
        found: States = {}
        for states in ends:
            self._merge(found, states)
        return self._few(found)

    @staticmethod
    def _merge(into: States, states: States) -> None:
        for condition, state in states.items():
            old = into.get(condition)
            into[condition] = state if old is None else v.merged((old, state)) or state

    def _few(self, states: States) -> States:
        """States with conditions that make no difference left out, within the limit."""
        found = dict(states)
        again = True
        while again and len(found) > 1:
            again = False
            for condition, state in list(found.items()):
                for option, set_ in condition.terms:
                    rest = condition.terms - {(option, set_)}
                    other = PathCondition(rest | {(option, not set_)}, condition.perhaps)
                    if condition in found and found.get(other) is state:
                        del found[condition], found[other]
                        self._merge(found, {PathCondition(rest, condition.perhaps): state})
                        again = True
                        break
                if again:
                    break
        if len(found) > self.limits.states:
            whole: States = {}
            for state in found.values():
                self._merge(whole, {PathCondition(frozenset(), True): state})
            return whole
        return found


def replace_condition(found: Observation, condition: PathCondition) -> Observation:
    """An observation on another condition."""
    return Observation(found.stream, found.code, found.word, condition, found.path)


def _in_worker(state: State, effect: e.Apart) -> State:
    """The state in which a worker begins."""
    seeded = state.but(map(str, effect.seeded), state[effect.like] if effect.like else SEEDED)
    return (v.merged((seeded, state)) or state) if effect.perhaps else seeded


def _shown(states: States) -> State:
    """The state by default, else that of any of the ways."""
    default = [state for condition, state in states.items() if condition.by_default]
    return v.merged(default or states.values()) or START


def _by_default(states: States) -> bool:
    return any(condition.by_default for condition in states)


def _word(state: State, stream: Stream) -> str:
    return state[str(stream)] if stream in SEEDABLE else UNSURE


def _refuses(effects: Effects) -> bool:
    """Whether an arm does nothing but end in an error."""
    last = effects[-1] if effects else None
    return isinstance(last, e.Leave) and last.how in ("raise", "exit")


def _name(node: Node) -> str:
    return node.function.name.rpartition(".")[2].partition("#")[0]


def _code(node: Node) -> tuple[str, str, int]:
    return node.function.file, node.function.name, -1


def _draws_of(event: v.Event, streams: Sequence[Stream]) -> bool:
    """Whether something is drawn from one of these generators, which are seeded there if there are workers."""
    if isinstance(event, v.Drawn):
        return event.word in (SEEDED, UNSURE) and event.generator in streams
    return isinstance(event, (v.Called, v.Guarded, v.Apart, v.Scope)) and any(
        _draws_of(each, streams) for each in event.trace
    )

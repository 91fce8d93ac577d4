"""A program, walked: its effects run over the states of generators, in order, under the conditions of its options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from msgspec import Struct

from detlint.domain import effects as e
from detlint.domain.atoms import FunctionRef, Node
from detlint.domain.codes import Code
from detlint.domain.effects import Effect, Effects, Stream
from detlint.domain.limits import Limits
from detlint.domain.states import ALWAYS, START, PathCondition, Word, Words, changed, joined, word
from detlint.interpreter.solver import Solver
from detlint.ir import nodes as ir
from detlint.programs.views import View, callees, view

States = dict[PathCondition, Words]
"""In which states a program may be here: one for each condition on its options."""


class Observation(Struct, frozen=True):
    """A draw in a state: from a stream that has a word there, on a condition; `path` are the calls that lead there."""

    stream: Stream
    code: Code
    word: Word
    condition: PathCondition
    path: tuple[Code, ...] = ()


@dataclass
class Ways:
    """Where ways go on: at the next statement, and at the end of the function or loop that they leave for."""

    states: States
    returned: States = field(default_factory=dict)
    broken: States = field(default_factory=dict)


class Walk:
    """The walk of one program. A function is walked once for each state that it is entered in."""

    def __init__(self, solver: Solver, file: str, seen: View, limits: Limits) -> None:
        self.solver = solver
        self.seen = seen
        self.file = file
        self.limits = limits
        self.observations: dict[tuple[Stream, Code, Word, PathCondition], Observation] = {}
        self.imported: dict[str, None] = {}
        self._known: dict[tuple[Node, Words], States] = {}
        self._open: set[tuple[Node, Words]] = set()
        self._path: tuple[Code, ...] = ()

    def run(self) -> list[Observation]:
        """Walk the program that its file starts: what it draws, in which states, first visits first."""
        self.imported[self.file] = None
        self._node(Node(FunctionRef(self.file, ir.TOP)), START)
        return list(self.observations.values())

    def _node(self, node: Node, words: Words) -> States:
        """The states in which a node leaves a program that enters it in one; of a recursive call, none yet."""
        key = node, words
        if key in self._open:
            return {}
        if key not in self._known:
            self._open.add(key)
            entry = self.solver.table.get(node)
            ways = Ways({ALWAYS: words})
            if entry is not None:
                summary = self.seen.own.get(node, entry.summary)
                self._effects(ways, summary.effects)
            self._merge(ways.returned, ways.states)
            self._known[key] = self._few(ways.returned)
            self._open.discard(key)
        return self._known[key]

    def _effects(self, ways: Ways, effects: Effects) -> None:
        for effect in effects:
            if not ways.states:
                return
            self._effect(ways, effect)

    def _effect(self, ways: Ways, effect: Effect) -> None:
        """Let one effect happen."""
        if isinstance(effect, e.Draw):
            for condition, words in ways.states.items():
                self._observe(effect, condition, word(words, effect.stream))
        elif isinstance(effect, e.Seed):
            new: Word = "seeded" if effect.fixed else "unsure" if effect.fixed is None else "entropy"
            for condition, words in list(ways.states.items()):
                for stream in effect.streams:
                    words = changed(words, stream, new)
                ways.states[condition] = words
        elif isinstance(effect, e.Invoke):
            self._invoke(ways, effect)
        elif isinstance(effect, e.Import):
            if effect.file not in self.imported:
                self.imported[effect.file] = None
                self._enter(ways, Node(FunctionRef(effect.file, ir.TOP)))
        elif isinstance(effect, e.Main):
            if effect.node.function.file == self.file:
                self._enter(ways, effect.node)
        elif isinstance(effect, e.Branch):
            self._branch(ways, effect)
        elif isinstance(effect, e.Repeat):
            self._repeat(ways, effect)
        else:
            self._leave(ways, effect)

    def _observe(self, draw: e.Draw, condition: PathCondition, found: Word) -> None:
        key = draw.stream, draw.code, found, condition
        if key not in self.observations:
            self.observations[key] = Observation(draw.stream, draw.code, found, condition, self._path)

    def _leave(self, ways: Ways, effect: e.Leave) -> None:
        if effect.how == "return":
            self._merge(ways.returned, ways.states)
        elif effect.how in ("break", "continue"):
            self._merge(ways.broken, ways.states)
        ways.states = {}

    def _enter(self, ways: Ways, node: Node) -> None:
        """Run a node in each of the states; what it says on conditions goes on under both."""
        left: States = {}
        for condition, words in ways.states.items():
            for own, after in self._under(node, words, condition).items():
                both = condition.both(own, self.limits.terms)
                if both is not None:
                    self._merge(left, {both: after})
        ways.states = self._few(left)

    def _under(self, node: Node, words: Words, condition: PathCondition) -> States:
        """The states that a node leaves; what it observes anew is on the condition of its call."""
        known = (node, words) in self._known
        before = len(self.observations)
        left = self._node(node, words)
        if not known and condition != ALWAYS:
            for key in list(self.observations)[before:]:
                found = self.observations.pop(key)
                both = found.condition.both(condition, self.limits.terms)
                if both is not None:
                    self._add(Observation(found.stream, found.code, found.word, both, found.path))
        return left

    def _add(self, found: Observation) -> None:
        self.observations.setdefault((found.stream, found.code, found.word, found.condition), found)

    def _invoke(self, ways: Ways, effect: e.Invoke) -> None:
        """A call: what any of its callees does; of one that is guessed, what it seeds makes words unsure."""
        outer, self._path = self._path, (*self._path, effect.code)
        ends: list[States] = []
        start = ways.states
        for node in effect.nodes:
            ways.states = dict(start)
            if effect.guess:
                observations = dict(self.observations)
                self._enter(ways, node)
                self.observations = observations
                self._merge(ways.states, start)
            else:
                self._enter(ways, node)
            ends.append(ways.states)
        self._path = outer
        ways.states = self._together(ends) if effect.nodes else start

    def _branch(self, ways: Ways, effect: e.Branch) -> None:
        start = ways.states
        ends = []
        for set_, arm in ((effect.set, effect.body), (not effect.set, effect.orelse)):
            if effect.option is None:
                ways.states = dict(start)
            else:
                ways.states = {}
                for condition, words in start.items():
                    narrowed = condition.and_then(effect.option, set_, self.limits.terms)
                    if narrowed is not None:
                        self._merge(ways.states, {narrowed: words})
            self._effects(ways, arm)
            ends.append(ways.states)
        ways.states = self._together(ends)

    def _repeat(self, ways: Ways, effect: e.Repeat) -> None:
        """A loop's body, until no pass finds another state; what leaves it goes on after it."""
        outer, ways.broken = ways.broken, {}
        ends = [dict(ways.states)]
        entered = dict(ways.states)
        for _ in range(self.limits.states):
            ways.states = dict(entered)
            self._effects(ways, effect.body)
            ends.append(ways.states)
            again = self._together([entered, ways.states, ways.broken])
            if again == entered:
                break
            entered = again
        ends.append(ways.broken)
        ways.broken = outer
        ways.states = self._together(ends)

    # States

    def _together(self, ends: Iterable[States]) -> States:
        """The states of several ways; a state that is there whether an option is set or not does not depend on it."""
        found: States = {}
        for states in ends:
            self._merge(found, states)
        return self._few(found)

    @staticmethod
    def _merge(into: States, states: States) -> None:
        for condition, words in states.items():
            old = into.get(condition)
            into[condition] = words if old is None else joined(old, words)

    def _few(self, states: States) -> States:
        """States with conditions that make no difference left out, within the limit."""
        found = dict(states)
        again = True
        while again and len(found) > 1:
            again = False
            for condition, words in list(found.items()):
                for option, set_ in condition.terms:
                    rest = condition.terms - {(option, set_)}
                    other = PathCondition(rest | {(option, not set_)}, condition.perhaps)
                    if condition in found and found.get(other) == words:
                        del found[condition], found[other]
                        self._merge(found, {PathCondition(rest, condition.perhaps): words})
                        again = True
                        break
                if again:
                    break
        if len(found) > self.limits.states:
            whole: States = {}
            for words in found.values():
                self._merge(whole, {PathCondition(frozenset(), True): words})
            return whole
        return found


def walk(solver: Solver, file: str, limits: Limits | None = None) -> list[Observation]:
    """What the program that a file starts draws, and the states of the generators it draws from."""
    return Walk(solver, file, view(solver, callees(solver), file), limits or Limits()).run()

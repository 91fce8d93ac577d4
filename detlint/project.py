"""The linked project: the facts of all files, walked from each entry point, and answers to open questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from detlint.facts import GENERATORS, TOP, Branch, Draw, Effect, Effects, Exit, Facts, Import, Invoke, Loop, Seed
from detlint.finding import Unseeded
from detlint.source import is_test

UNSEEDED, SEEDED, UNKNOWN = "unseeded", "seeded", "unknown"
State = tuple[str, ...]  # one word a generator, in the order of GENERATORS
_START: State = (UNSEEDED,) * len(GENERATORS)


@dataclass
class Entry:
    """An entry point and what happens to the global generators from it on.

    `draws` are the draws of a generator while it is unseeded, each with the calls that lead there; `late`
    are the seeds of a generator that was drawn from before. A `self_check` is the `__main__` block of a file
    that others import which neither trains nor saves anything.
    """

    path: str
    self_check: bool
    draws: dict[str, list[tuple[Draw, tuple[Invoke, ...]]]] = field(default_factory=lambda: defaultdict(list))
    late: dict[str, tuple[Seed, Draw]] = field(default_factory=dict)


class Project:
    """All files of a run, linked."""

    def __init__(self, facts: Iterable[Facts], local: Iterable[str] = ()) -> None:
        """`local` are top-level module names that belong to the project though they were not analysed."""
        self.facts = tuple(facts)
        self._modules: dict[str, list[Facts]] = defaultdict(list)
        for each in self.facts:
            for name in _names(each):
                self._modules[name].append(each)
        self._local = {each.module.partition(".")[0] for each in self.facts} | set(local)
        self._seeded: dict[str, frozenset[str]] = {}
        self._imported = {target for each in self.facts for target in _imports(each)}
        self._timeline: dict[tuple[str, str], list[tuple[int, State]]] = defaultdict(list)
        self.entries = [
            _Walk(self, f, start).entry for f in self.facts if self._is_entry(f) for start in (TOP, *f.spawned)
        ]

    def _is_entry(self, facts: Facts) -> bool:
        return facts.guarded or (facts.acts and "." not in facts.module and not is_test(facts.path))

    def is_self_check(self, facts: Facts) -> bool:
        """Whether a file's `__main__` block only tries out what the file offers to others."""
        imported = any(f".{target}".endswith(f".{facts.module}") for target in self._imported)
        return not facts.lasting and ("." in facts.module or imported)

    def is_local(self, target: str) -> bool:
        """Whether a qualified name belongs to the project."""
        return target.partition(".")[0] in self._local

    def files_of(self, target: str) -> Sequence[Facts]:
        """The files that `target`, a module or a name in one, may come from."""
        while target and target not in self._modules:
            target = target.rpartition(".")[0]
        return self._modules.get(target, ())

    def seeds_at_import(self, target: str) -> bool:
        """Whether importing `target`, a module or a name of one, runs a seeding call of the project."""
        found = self.files_of(target)
        return any(not facts.guarded and any(_seeds(facts.functions[TOP])) for facts in found)

    def may_seed(self, target: str) -> frozenset[str]:
        """The generators that a call of `target` may seed: all that its file, and what that imports, seed anywhere."""
        if target not in self._seeded:
            found: set[str] = set()
            queue, seen = [target], {target}
            while queue:
                name = queue.pop()
                files = self.files_of(name)
                if not files and self.is_local(name):
                    found |= set(GENERATORS)  # of the project, but not among the files of this run
                for effect in (e for facts in files for effects in facts.functions.values() for e in _flat(effects)):
                    if isinstance(effect, Seed):
                        found |= set(effect.generators)
                    elif isinstance(effect, Import) and effect.target not in seen:
                        seen.add(effect.target)
                        queue.append(effect.target)
            self._seeded[target] = frozenset(found)
        return self._seeded[target]

    def holds(self, question: Unseeded) -> bool:
        """Whether some entry point gets there with the generator unseeded; False where nobody knows."""
        index = GENERATORS.index(question.generator)
        last: dict[int, State] = {}
        for order, state in self._timeline.get((question.path, question.function), ()):
            if order <= question.order and order >= max(last, default=-1):
                last[order] = state
        return bool(last) and last[max(last)][index] == UNSEEDED

    def note(self, path: str, function: str, order: int, state: State) -> None:
        """Record that an entry point gets to `order` in `function` of the file at `path` in `state`."""
        self._timeline[path, function].append((order, state))


def _names(facts: Facts) -> set[str]:
    """The dotted names that a file can be imported by: its own, and the ends of its path."""
    parts = facts.path.removesuffix(".py").removesuffix("/__init__").split("/")
    return {facts.module} | {".".join(parts[start:]) for start in range(len(parts))}


def _flat(effects: Effects) -> Iterator[Effect]:
    """All effects, those in branches and loops too."""
    for effect in effects:
        yield effect
        for inner in effect.arms if isinstance(effect, Branch) else (effect.body,) if isinstance(effect, Loop) else ():
            yield from _flat(inner)


def _imports(facts: Facts) -> Iterator[str]:
    """The modules, and names of modules, that a file imports at its top level."""
    for effect in facts.functions[TOP]:
        if isinstance(effect, Import):
            yield effect.target
            yield effect.target.rpartition(".")[0]


def _seeds(effects: Effects) -> Iterator[Seed]:
    for effect in effects:
        if isinstance(effect, Seed):
            yield effect


class _Walk:
    """One entry point's effects in order, into the functions of its file.

    An entry point is a file's top level, or a function that a new process starts with, which imports the file first.
    """

    def __init__(self, project: Project, facts: Facts, start: str) -> None:
        self.project = project
        self.facts = facts
        self.entry = Entry(facts.path, project.is_self_check(facts))
        self._path: list[Invoke] = []
        self._active: set[str] = set()
        self._done: dict[tuple[str, State], State | None] = {}
        own = start != TOP and any(_seeds(facts.functions[TOP]))
        imported = start != TOP and any(project.seeds_at_import(target) for target in _imports(facts))
        self.function(start, (UNKNOWN,) * len(_START) if own or imported else _START)

    def function(self, name: str, state: State) -> State | None:
        """The state after a function, or None where it never returns."""
        key = (name, state)
        if key in self._done:
            return self._done[key]
        if name in self._active:
            return state
        self._active.add(name)
        exits: list[State] = []
        self.project.note(self.facts.path, name, 0, state)
        end = self.run(self.facts.functions.get(name, ()), state, name, exits)
        self._active.discard(name)
        result = self._done[key] = _join([*exits, *([end] if end is not None else [])])
        return result

    def run(self, effects: Effects, state: State | None, function: str, exits: list[State]) -> State | None:
        for effect in effects:
            if state is None:
                return None
            state = self.step(effect, state, function, exits)
            if state is not None and isinstance(effect, (Draw, Seed, Invoke)):
                self.project.note(self.facts.path, function, effect.order, state)
        return state

    def step(self, effect: Effect, state: State, function: str, exits: list[State]) -> State | None:
        if isinstance(effect, Draw):
            self.draw(effect, state)
        elif isinstance(effect, Seed):
            return self.seed(effect, state)
        elif isinstance(effect, Invoke):
            return self.invoke(effect, state)
        elif isinstance(effect, Import):
            return (UNKNOWN,) * len(state) if self.project.seeds_at_import(effect.target) else state
        elif isinstance(effect, Branch):
            ends = [self.run(arm, state, function, exits) for arm in effect.arms]
            return _join([end for end in ends if end is not None])
        elif isinstance(effect, Loop):
            end = self.run(effect.body, state, function, exits)
            return state if end is None else _join([state, end])
        elif isinstance(effect, Exit):
            exits.append(state)
            return None
        return state

    def draw(self, draw: Draw, state: State) -> None:
        if draw.generator in GENERATORS and state[GENERATORS.index(draw.generator)] == UNSEEDED:
            found = self.entry.draws[draw.generator]
            if all(draw != other for other, _ in found):
                found.append((draw, tuple(self._path)))

    def seed(self, seed: Seed, state: State) -> State:
        words = list(state)
        for generator in seed.generators:
            index = GENERATORS.index(generator)
            drawn = self.entry.draws.get(generator)
            if seed.certain and words[index] == UNSEEDED and drawn and generator not in self.entry.late:
                self.entry.late[generator] = (seed, drawn[0][0])
            words[index] = SEEDED if seed.certain else UNKNOWN
        return tuple(words)

    def invoke(self, call: Invoke, state: State) -> State | None:
        if call.target in self.facts.functions:
            self._path.append(call)
            end = self.function(call.target, state)
            self._path.pop()
            return end
        own = call.target.startswith(f"{self.facts.module}.")
        if self.project.is_local(call.target) and not own:
            seeded = self.project.may_seed(call.target)
            return tuple(UNKNOWN if g in seeded else word for g, word in zip(GENERATORS, state, strict=True))
        return state


def _join(states: list[State]) -> State | None:
    if not states:
        return None
    return tuple(words[0] if len(set(words)) == 1 else UNKNOWN for words in zip(*states, strict=True))

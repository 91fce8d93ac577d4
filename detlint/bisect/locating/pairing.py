"""The steps of two runs laid side by side, and where values that differ occur. Pure, without torch."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from detlint.bisect.locating.steps import Frame, Statement, Step, Steps, Value

_WINDOW = 300
_LONGEST = 4000  # steps that one side may insert
_ALIKE = 3  # equal steps in a row that show that both runs continue alike
_NOTHING = Value()


@dataclass(frozen=True, slots=True)
class Pair:
    """A step of both runs, or of one alone; `place` is its place among the pairs."""

    place: int
    a: Step | None
    b: Step | None

    @property
    def whole(self) -> bool:
        """Whether both runs have the step."""
        return self.a is not None and self.b is not None

    @property
    def step(self) -> Step:
        """The step of A, or that of B if A has none."""
        found = self.a or self.b
        assert found is not None
        return found

    @property
    def read(self) -> dict[str, tuple[Value, Value]]:
        """The values that it reads and that differ between the runs, by name."""
        return _differing(self.a.read, self.b.read) if self.a is not None and self.b is not None else {}

    @property
    def bound(self) -> dict[str, tuple[Value, Value]]:
        """The values that it binds and that differ between the runs, by name."""
        return _differing(self.a.bound, self.b.bound) if self.a is not None and self.b is not None else {}


@dataclass(frozen=True, slots=True)
class Flow:
    """An occurrence of two values that differ: they are "bound", an "argument", or "returned".

    `pair` is the step that binds, calls or returns; `at` is the place of the first pair after it.
    """

    kind: str
    pair: Pair
    name: str
    values: tuple[Value, Value]
    at: int


@dataclass(slots=True)
class Paired:
    """A stream of both runs. `flows` maps the digests of two values that differ to their occurrences, in order."""

    name: str
    a: Steps
    b: Steps
    pairs: list[Pair] = field(default_factory=list)
    flows: dict[tuple[str, str], list[Flow]] = field(default_factory=dict)
    of_a: dict[int, Pair] = field(default_factory=dict)
    of_b: dict[int, Pair] = field(default_factory=dict)
    _returned: dict[int, list[Flow]] = field(default_factory=dict)

    def add(self, flow: Flow) -> None:
        """Record an occurrence of two values that differ."""
        one, other = flow.values
        self.flows.setdefault((one.digest, other.digest), []).append(flow)
        if flow.kind == "returned" and flow.pair.a is not None:
            self._returned.setdefault(flow.pair.a.frame.outer, []).append(flow)

    def returned(self, pair: Pair) -> list[Flow]:
        """Return what functions that a step calls returned with different values in the runs, the last one first."""
        if pair.a is None:
            return []
        found = self._returned.get(pair.a.frame.number, [])
        first = bisect_right(found, pair.a.place, key=_place)
        return found[first : bisect_left(found, pair.a.end, key=_place)][::-1]

    def sort(self) -> None:
        """Sort the occurrences in the order of the run."""
        for flows in self.flows.values():
            flows.sort(key=lambda flow: flow.at)
        for flows in self._returned.values():
            flows.sort(key=_place)


def differ(a: Value, b: Value) -> bool:
    """Return whether two values are known to be different."""
    return bool(a.digest and b.digest and a.digest != b.digest)


def pair(name: str, a: Steps, b: Steps) -> Paired:
    """Lay the steps of a stream side by side, and collect where values that differ occur."""
    made = Paired(name, a, b)
    frames: dict[int, tuple[Frame, Frame]] = {}
    taken: set[int] = set()
    for place, (one, other) in enumerate(_aligned(a.steps, b.steps)):
        found = Pair(place, one, other)
        made.pairs.append(found)
        if one is not None:
            made.of_a[one.place] = found
        if other is not None:
            made.of_b[other.place] = found
        if one is None or other is None or one.frame.number in frames or other.frame.number in taken:
            continue
        frames[one.frame.number] = (one.frame, other.frame)
        taken.add(other.frame.number)
        _add_arguments(made, one.frame, other.frame, place)
    for found in made.pairs:
        for text, values in found.bound.items():
            after = made.of_a.get(found.a.end) if found.a is not None else None
            made.add(Flow("bound", found, text, values, after.place if after is not None else len(made.pairs)))
    for both in frames.values():
        _add_returned(made, *both)
    made.sort()
    return made


def _place(flow: Flow) -> int:
    """Return the place of the step of a flow in A; -1 if A has none."""
    return flow.pair.a.place if flow.pair.a is not None else -1


def _add_arguments(made: Paired, a: Frame, b: Frame, place: int) -> None:
    caller = made.of_a.get(a.caller)
    if caller is not None:
        for name, values in _differing(a.arguments, b.arguments).items():
            made.add(Flow("argument", caller, name, values, place))


def _add_returned(made: Paired, a: Frame, b: Frame) -> None:
    for (one, place, _), (other, _, _) in zip(a.returned, b.returned, strict=False):
        giving = made.of_a.get(place)
        if giving is not None and differ(one, other):
            made.add(Flow("returned", giving, "", (one, other), giving.place + 1))


def _differing(a: Mapping[str, Value], b: Mapping[str, Value]) -> dict[str, tuple[Value, Value]]:
    both = {name: (one, b.get(name, _NOTHING)) for name, one in a.items()}
    return {name: two for name, two in both.items() if differ(*two)}


def _aligned(a: Sequence[Step], b: Sequence[Step]) -> Iterator[tuple[Step | None, Step | None]]:
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i].statement == b[j].statement:
            yield a[i], b[j]
            i, j = i + 1, j + 1
            continue
        more_a, more_b = _until_equal(
            [one.statement for one in a[i : i + _LONGEST]], [one.statement for one in b[j : j + _LONGEST]]
        )
        yield from ((one, None) for one in a[i : i + more_a])
        yield from ((None, one) for one in b[j : j + more_b])
        i, j = i + more_a, j + more_b
    yield from ((one, None) for one in a[i:])
    yield from ((None, one) for one in b[j:])


def _until_equal(a: Sequence[Statement], b: Sequence[Statement]) -> tuple[int, int]:
    """Return how many statements of each run come before both continue alike."""
    found = [(more, side) for side, more in enumerate((_inserted(a, b), _inserted(b, a))) if more]
    if found:
        more, side = min(found)
        return (more, 0) if side == 0 else (0, more)
    numbers: dict[Statement, int] = {}
    one, other = ([numbers.setdefault(each, len(numbers)) for each in side[:_WINDOW]] for side in (a, b))
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return blocks[0].a, blocks[0].b  # the last block is empty, at the end of both


def _inserted(longer: Sequence[Statement], other: Sequence[Statement]) -> int:
    head = list(other[:_ALIKE])
    return next((i for i in range(1, len(longer)) if head and list(longer[i : i + len(head)]) == head), 0)

"""The steps that made a difference, found backwards along the values that differ from where two runs part.

A step that reads nothing that differs, yet binds something that does, is a root: the cause is what it asks for from
outside, or the order in which it iterates over a set. Values are followed by their names in the program and, where a
name changes, by the pair of values: their origin is where both first occur together. Pure, without torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from detlint.bisect.locating.pairing import Flow, Pair, Paired
from detlint.bisect.locating.reasons import Reasons, Why
from detlint.bisect.locating.steps import Step, Steps, Value
from detlint.bisect.records import Line

Given: TypeAlias = "tuple[str, str]"
_ANY: Given = ("", "")
_MOST = 4000  # steps that are examined
_NEAR = 50  # steps
_LONGEST = 3_000_000  # steps that are searched for names
_MAKERS = 3  # opaque objects followed back to their makers


@dataclass(frozen=True, slots=True)
class Root:
    """A step that makes a difference. `name` and `values` are what it binds, where that is known.

    `parted` has the steps with which the runs continue, if these are different; `through` is the step where the
    difference first shows, if that is another one.
    """

    stream: str
    pair: Pair
    why: Why | None = None
    name: str = ""
    values: tuple[Value, Value] | None = None
    parted: tuple[Step | None, Step | None] | None = None
    through: Pair | None = None


def at(steps: Steps, record: int, line: Line | None) -> Step | None:
    """Return the step that made a record of the stream: the last one before it, on its line if known; or None."""
    before = [one for one in steps.steps if one.record <= record]
    fitting = [one for one in before if line is None or one.statement.has(line)]
    return fitting[-1] if fitting else None


class Search:
    """A search for roots in a stream; `others` are the program's other streams, which values may come from.

    `given` has what the operation that differs was given in each run, as text.
    """

    def __init__(self, stream: Paired, others: Mapping[str, Paired], reasons: Reasons, given: Given = _ANY) -> None:
        self._main = stream
        self._others = others
        self._reasons = reasons
        self._given = given
        self.roots: list[Root] = []
        self._scanned = 0
        self._seen: set[tuple[str, int]] = set()
        self._queue: list[tuple[Paired, Pair, Flow | None]] = []

    def run(self, a: Step | None, b: Step | None, parts: bool) -> list[Root]:
        """Return the roots of what differs at a step of A and one of B; `parts` says that other steps follow there."""
        stream = self._main
        one = stream.of_a.get(a.place) if a is not None else None
        other = stream.of_b.get(b.place) if b is not None else None
        both = [each for each in (one, other) if each is not None]
        if not both:
            return []
        start = min(both, key=lambda each: each.place) if parts else both[0]
        if parts and start.whole:  # a loop may have been paired with its next iteration
            near = stream.pairs[max(0, start.place - _NEAR) : start.place]
            start = next((each for each in reversed(near) if not each.whole), start)
        self._queue.append((stream, start, None))
        while self._queue and len(self._seen) < _MOST:
            self._look(*self._queue.pop(0))
        return self.roots

    def from_branch(self, line: Line) -> list[Root]:
        """Return the roots of what decides the branch nearest to a line, among branches that depend on what differs."""
        stream = self._main
        branches = stream.a.branches() | stream.b.branches()
        there = [each.place for each in stream.pairs if each.step.statement.has(line)]
        deciding = [
            each
            for each in stream.pairs
            if each.whole and each.step.statement in branches and (self._reasons.asks(each) or each.read)
        ]
        if there and deciding:
            self._look(stream, min(deciding, key=lambda each: abs(each.place - there[-1])), None, (None, None))
            while self._queue and len(self._seen) < _MOST:
                self._look(*self._queue.pop(0))
        return [replace(one, parted=None) for one in self.roots]

    def from_callbacks(self) -> list[Root]:
        """Return the roots of what the user's functions returned to a library that calls them, in the other streams."""
        for stream in self._others.values():
            given = [one for flows in stream.flows.values() for one in flows if one.kind == "returned"]
            outer = [one for one in given if one.pair.step.frame.caller < 0]
            if outer:
                first = min(outer, key=lambda one: one.at)
                self._queue.append((stream, first.pair, first))
                while self._queue and len(self._seen) < _MOST:
                    self._look(*self._queue.pop(0))
                if self.roots:
                    break
        return self.roots

    def _part(self, stream: Paired, pair: Pair) -> None:
        """Examine the step that decides why the runs carry out different steps at a place."""
        first = pair.place
        while first > 0 and not stream.pairs[first - 1].whole:
            first -= 1
        region = stream.pairs[first : pair.place + _MOST]
        end = next((i for i, each in enumerate(region) if each.whole), len(region))
        after = region[end] if end < len(region) else None
        ways = [next((each.a for each in region[:end] if each.a), after.a if after else None)]
        ways.append(next((each.b for each in region[:end] if each.b), after.b if after else None))
        deciding = [self._before(stream, first, step, i == 0) for i, step in enumerate(ways) if step is not None]
        found = [each for each in deciding if each is not None]
        if found:
            self._look(stream, max(found, key=lambda each: each.place), None, (ways[0], ways[1]))
        else:
            self.roots.append(Root(stream.name, pair, self._reasons.why(pair), parted=(ways[0], ways[1])))

    def _before(self, stream: Paired, first: int, step: Step, in_a: bool) -> Pair | None:
        """Return the last step of both runs before a place that is in the frame of a step, or called it; or None."""
        for each in reversed(stream.pairs[:first]):
            own = each.a if in_a else each.b
            if each.whole and own is not None and (own.frame is step.frame or own.place == step.frame.caller):
                return each
        return None

    def _look(
        self, stream: Paired, pair: Pair, flow: Flow | None, going: tuple[Step | None, Step | None] | None = None
    ) -> None:
        """Examine a step that made, or passed on, what differs (`flow`)."""
        key = (stream.name, pair.place)
        if key in self._seen:
            return
        self._seen.add(key)
        if not pair.whole:
            self._part(stream, pair)
            return
        read, values = pair.read, flow.values if flow is not None else None
        if values is not None and flow is not None and flow.kind == "bound":
            same = [one for one in stream.returned(pair) if _digests(one.values) == _digests(values)]
            if same:
                self._queue.append((stream, same[0].pair, same[0]))
                return
        if self._reasons.asks(pair) and (flow is not None or going is not None or not read):
            self._root(stream, pair, flow, going)
            return
        if values is None:
            wanted = self._likely(read) if going is None else {}
        else:
            wanted = {name: two for name, two in read.items() if _digests(two) == _digests(values)}
        followed = [self._follow(stream, pair, name, two) for name, two in (wanted or read).items()]
        if not any(followed):
            followed = [self._follow(stream, pair, name, two) for name, two in read.items() if name not in wanted]
        if not wanted:
            for inner in stream.returned(pair)[:4]:
                self._queue.append((stream, inner.pair, inner))
                followed.append(True)
        if not any(followed) and not (flow is None and going is None and self._passed(stream, pair)):
            self._root(stream, pair, flow, going)

    def _passed(self, stream: Paired, pair: Pair) -> bool:
        """Follow a number that the operation was given, past an opaque object; return whether it occurs earlier."""
        tokens = [[one.rpartition("=")[2].lstrip("-") for one in each.split()] for each in self._given]
        for one, other in zip(*tokens, strict=False):
            if one == other:
                continue
            for flows in stream.flows.values():
                for flow in flows:
                    if flow.at <= pair.place and flow.values[0].shape == one and flow.values[1].shape == other:
                        self._queue.append((stream, flow.pair, flow))
                        return True
        return False

    def _likely(self, read: dict[str, tuple[Value, Value]]) -> dict[str, tuple[Value, Value]]:
        """Return the values read that the operation was given; if none, all but strings, which torch does not take."""
        said = {name: two for name, two in read.items() if all(map(_says, self._given, two))}
        return said or {name: two for name, two in read.items() if not str(two[0].shape).startswith(("'", '"'))}

    def _follow(self, stream: Paired, pair: Pair, name: str, values: tuple[Value, Value]) -> bool:
        """Follow a value that a step reads to where it came from; return whether that is known."""
        found = self._origin(stream, pair, name, values)
        if found is None:
            return False
        self._queue.append(found)
        return True

    def _origin(
        self, stream: Paired, pair: Pair, name: str, values: tuple[Value, Value]
    ) -> tuple[Paired, Pair, Flow] | None:
        met = [one for one in stream.flows.get(_digests(values), ()) if one.at <= pair.place and one.pair is not pair]
        trivial = values[0].trivial or values[1].trivial
        named = [one for one in met if _last(one.name) == _last(name)]
        if trivial:
            met = named[-1:] or [one for one in met if one.kind != "bound"][-1:]
        if met:
            return (stream, met[0].pair, met[0])
        earlier = self._bound_before(stream, pair, name)
        if earlier is not None:
            return (stream, earlier.pair, earlier)
        for other in self._others.values():
            flows = other.flows.get(_digests(values), ())
            fitting = [one for one in flows if not trivial or _last(one.name) == _last(name)]
            if fitting:
                return (other, fitting[0].pair, fitting[0])
        for other in self._others.values():
            found = self._changed(other, name)
            if found is not None:
                why = self._reasons.why(found.pair, found.values, shared=True)
                self.roots.append(Root(other.name, found.pair, why, found.name, found.values))
                self._seen.add((other.name, found.pair.place))
                return (other, found.pair, found)
        return None

    def _changed(self, stream: Paired, name: str) -> Flow | None:
        """Return where another thread last bound the same name or attribute to a value that differs, or None."""
        for each in reversed(stream.pairs):
            for text, two in each.bound.items():
                if _last(text) == _last(name):
                    return Flow("bound", each, text, two, each.place + 1)
        return None

    def _bound_before(self, stream: Paired, pair: Pair, name: str) -> Flow | None:
        """Return where a variable, or what it is part of, was last bound to a value that differs, or None."""
        places = stream.pairs[: pair.place]
        for wanted in _wholes(name):
            for each in reversed(places):
                self._scanned += 1
                if self._scanned > _LONGEST:
                    return None
                two = each.bound.get(wanted)
                if two is not None:
                    return Flow("bound", each, wanted, two, each.place + 1)
        return None

    def _root(
        self, stream: Paired, pair: Pair, flow: Flow | None, going: tuple[Step | None, Step | None] | None
    ) -> None:
        name, values = "", None
        if flow is not None and flow.kind == "bound":
            name, values = flow.name, flow.values
        elif pair.bound:
            name, values = next(iter(pair.bound.items()))
        elif flow is not None:
            name, values = flow.name, flow.values
        why = self._reasons.why(pair, values)
        if why is None:
            made = self._maker(stream, pair, 0)
            if made is not None:
                self.roots.append(Root(stream.name, made[0], made[1], name, values, going, pair))
                return
        self.roots.append(Root(stream.name, pair, why, name, values, going))

    def _maker(self, stream: Paired, pair: Pair, depth: int) -> tuple[Pair, Why] | None:
        """Return the step that made an opaque object that a step reads, and why it differs; None if that is unknown."""
        assert pair.a is not None
        unknown = [name for name, value in pair.a.read.items() if not value.digest]
        for name in unknown if depth < _MAKERS else ():
            made = self._bound(stream, pair, name)
            if made is None:
                continue
            why = self._reasons.why(made)
            if why is not None:
                return made, why
            further = self._maker(stream, made, depth + 1)
            if further is not None:
                return further
        return None

    def _bound(self, stream: Paired, pair: Pair, name: str) -> Pair | None:
        """Return the last step of both runs that bound a name in its frame; for arguments and attributes, in any."""
        assert pair.a is not None
        own = None if "." in name or name in pair.a.frame.arguments else pair.a.frame
        for each in reversed(stream.pairs[: pair.place]):
            fitting = each.whole and each.a is not None and (own is None or each.a.frame is own)
            if fitting and each.a is not None and any(_last(one) == _last(name) for one in each.a.bound):
                return each
        return None


def _says(given: str, value: Value) -> bool:
    """Return whether a value is among what an operation was given."""
    return isinstance(value.shape, str) and value.shape in given.replace("=", " ").split()


def _digests(values: tuple[Value, Value]) -> tuple[str, str]:
    return values[0].digest, values[1].digest


def _last(name: str) -> str:
    """Return the last part of a dotted name."""
    return name.rpartition(".")[2]


def _wholes(name: str) -> list[str]:
    """Return a name and the names of what it is part of, from the inside outwards; not a bare `self` or `cls`."""
    found = [name]
    while True:
        place = max(name.rfind("."), name.rfind("["))
        if place <= 0:
            return found
        name = name[:place]
        if name not in ("self", "cls"):
            found.append(name)

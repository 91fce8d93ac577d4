"""Two records of one stream laid side by side, up to the first place where they differ. Pure, without torch.

Operations decide: their names and lines, their inputs and their outputs. Of the events, only those count that are the
only sign of some work (`_VERDICTS`); the others are kept as evidence.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice, takewhile, zip_longest
from typing import TypeAlias

from detlint.bisect.records import Draw, End, Event, Flag, Line, Op, Record
from detlint.bisect.streams import Stream, equal_prefix

_WINDOW = 400  # records on each side among which two diverged sequences are realigned
_LONGEST = 8000  # records of an insertion on one side
_ALIKE = 4  # consecutive equal records that show that both continue alike
_FEW = 8  # events on one side that are skipped without a search for where both meet
_SHOWN = 8  # records of an insertion that are kept
_KINDS = 300  # kinds of differing events, of each of which one is kept
_VERDICTS = frozenset({"batch", "loss", "step", "compiled"})

Work: TypeAlias = "Op | Event"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place in a stream where two runs differ; `None` on a side that has nothing there.

    `differs` names the parts that differ: "state", "device state", "scalars", "signature", "phase", "digests", or
    "generator", "input" and "output" with a number from 0, as in "input 2". It is empty where the sequences part: then
    `only_a` and `only_b` have the records that only one side has (the first ones), and `meet` says whether they come
    together again after that. `equal` is the number of equal records before, and `producers` has, for each input, the
    record of B that corresponds to the producer in A, None where there is none.
    """

    a: Work | End | None
    b: Work | End | None
    equal: int
    differs: tuple[str, ...] = ()
    only_a: tuple[Work, ...] = ()
    only_b: tuple[Work, ...] = ()
    meet: bool = False
    producers: tuple[int | None, ...] = ()

    @property
    def line(self) -> Line | None:
        """The user's line: that of A, or of B where A has nothing there."""
        for one in (self.a, self.b):
            if one is not None and not isinstance(one, End) and one.line is not None:
                return one.line
        return None


@dataclass(slots=True)
class Evidence:
    """An event that differs, the first of its kind at its line: in one run only, or in both with other content.

    `last` is the number of the last event like it before the divergence, in A, or in B where A has none.
    """

    a: Event | None
    b: Event | None
    last: int

    @property
    def event(self) -> Event:
        """The event of A, or else of B."""
        found = self.a or self.b
        assert found is not None
        return found


@dataclass(slots=True)
class Comparison:
    """Two records of one stream: `equal` leading records, the first divergence, and events that differ before it."""

    name: str
    equal: int
    divergence: Divergence | None = None
    evidence: list[Evidence] = field(default_factory=list)


def compare(a: Stream, b: Stream, repaired: frozenset[str] = frozenset()) -> Comparison:
    """Compare two records of one stream. What is equal to the last bit is skipped without being read.

    At the sites of `repaired` (`NAME@PATH:LINE`) nothing counts as different: the second run was given what the first
    one had. Raises TraceError where one is damaged.
    """
    equal, whole = equal_prefix(a, b)
    if whole:
        return Comparison(a.name, equal)
    return align(a.name, a.records(equal), b.records(equal), equal, repaired)


def align(
    name: str, a: Iterable[Record], b: Iterable[Record], start: int = 0, repaired: frozenset[str] = frozenset()
) -> Comparison:
    """Compare what follows `start` records that are equal."""
    return _Walk(name, a, b, start, repaired).run()


class _Side:
    """The records of one run, some of them read ahead of the current one."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records: Iterator[Record] = iter(records)
        self._ahead: deque[Record] = deque()

    def ahead(self, count: int) -> list[Record]:
        self._read(count)
        return list(islice(self._ahead, count))

    def first(self) -> Record | None:
        self._read(1)
        return self._ahead[0] if self._ahead else None

    def _read(self, count: int) -> None:
        while len(self._ahead) < count:
            found = next(self._records, None)
            if found is None:
                break
            self._ahead.append(found)

    def take(self) -> Record:
        return self._ahead.popleft()


class _Walk:
    def __init__(
        self, name: str, a: Iterable[Record], b: Iterable[Record], start: int, repaired: frozenset[str]
    ) -> None:
        self._repaired = repaired
        self._a, self._b = _Side(a), _Side(b)
        self._found = Comparison(name, start)
        self._equal = start
        self._starts, self._offsets = [0], [0]  # from each of these numbers in A on, B is ahead by that offset
        self._inserted: set[int] = set()  # numbers of A's events without a partner
        self._kinds: dict[tuple[object, ...], Evidence] = {}

    def run(self) -> Comparison:
        while self._found.divergence is None:
            a, b = self._a.first(), self._b.first()
            if isinstance(a, (Op, Event)) and isinstance(b, (Op, Event)) and _key(a) == _key(b):
                self._pair(a, b)
            elif _is_cut(a) or _is_cut(b):
                break  # what the other one has more says nothing
            elif isinstance(a, (Op, Event)) or isinstance(b, (Op, Event)):
                self._part()
            else:
                self._end(a, b)
                break
        self._found.equal = self._equal
        self._found.evidence = list(self._kinds.values())
        return self._found

    def _pair(self, a: Work, b: Work) -> None:
        if b.number - a.number != self._offsets[-1]:
            self._starts.append(a.number)
            self._offsets.append(b.number - a.number)
        if isinstance(a, Op) and isinstance(b, Op):
            differs = self._op(a, b)
            if differs and not self._is_repaired(a.name, a):
                partners = tuple(self._partner(one.producer) for one in a.inputs)
                self._found.divergence = Divergence(a, b, self._equal, differs, producers=partners)
                return
        elif isinstance(a, Event) and isinstance(b, Event) and (a.digests != b.digests or a.data != b.data):
            self._note(a, b)
            if a.kind in _VERDICTS and a.digests != b.digests and not self._is_repaired(a.kind, a):
                self._found.divergence = Divergence(a, b, self._equal, ("digests",))
                return
        self._equal += 1
        self._a.take()
        self._b.take()

    def _is_repaired(self, name: str, record: Work) -> bool:
        line = record.line
        return line is not None and f"{name}@{line.path}:{line.line}" in self._repaired

    def _partner(self, number: int) -> int | None:
        """Return the record of B that corresponds to one of A, or None."""
        if number in self._inserted:
            return None
        return number if number < 0 else number + self._offsets[bisect_right(self._starts, number) - 1]

    def _op(self, a: Op, b: Op) -> tuple[str, ...]:
        """Return what differs in two operations of one name at one line."""
        found = [name for name in ("signature", "phase", "scalars") if getattr(a, name) != getattr(b, name)]
        if Draw.SEEN in a.draw | b.draw or (a.draw and b.draw):
            if a.state != b.state:
                found.append("state")
            if a.device_state != b.device_state:
                found.append("device state")
        garbage: list[str] = []
        for i, (one, other) in enumerate(zip(a.inputs, b.inputs, strict=False)):
            if one.digest != other.digest:
                unknown = Flag.UNINITIALISED in one.flags and Flag.UNINITIALISED in other.flags
                kind = "generator" if Flag.GENERATOR in one.flags else "input"
                (garbage if unknown else found).append(f"{kind} {i}")
        pairs = enumerate(zip_longest(a.outputs, b.outputs))
        outputs = [f"output {i}" for i, (one, other) in pairs if one != other]
        if outputs:
            found += garbage  # what may never have been written matters only where it affects an output
        return (*found, *outputs)

    def _part(self) -> None:
        """Find where the sequences, which part here, come together again."""
        if self._skip(self._a, self._b, True) or self._skip(self._b, self._a, False):
            return
        ahead_a = [one for one in self._a.ahead(_LONGEST) if not isinstance(one, End)]
        ahead_b = [one for one in self._b.ahead(_LONGEST) if not isinstance(one, End)]
        end_a, end_b, meet = _until_equal([_key(one) for one in ahead_a], [_key(one) for one in ahead_b])
        only_a, only_b = ahead_a[:end_a], ahead_b[:end_b]
        a, b = self._a.first(), self._b.first()
        self._note_all(only_a, only_b)
        if any(isinstance(one, Op) or one.kind in _VERDICTS for one in (*only_a, *only_b)):
            self._found.divergence = Divergence(
                only_a[0] if only_a else None if meet else _end(a),
                only_b[0] if only_b else None if meet else _end(b),
                self._equal,
                only_a=tuple(only_a[:_SHOWN]),
                only_b=tuple(only_b[:_SHOWN]),
                meet=meet,
            )
            return
        for _ in only_a:
            self._inserted.add(self._a.take().number)
        for _ in only_b:
            self._b.take()

    def _skip(self, longer: _Side, other: _Side, in_a: bool) -> bool:
        """Skip a few events that only one side has, which is the usual case; return whether that realigned both."""
        first = other.first()
        ahead = longer.ahead(_FEW + 1)
        more = [one for one in takewhile(lambda one: _key(one) != _key(first), ahead) if isinstance(one, Event)]
        if first is None or len(more) == len(ahead) or _key(ahead[len(more)]) != _key(first):
            return False
        if any(one.kind in _VERDICTS for one in more):
            return False
        for one in more:
            longer.take()
            self._note(*((one, None) if in_a else (None, one)))
            if in_a:
                self._inserted.add(one.number)
        return True

    def _note_all(self, only_a: list[Work], only_b: list[Work]) -> None:
        for one in only_a:
            if isinstance(one, Event):
                self._note(one, None)
        for one in only_b:
            if isinstance(one, Event):
                self._note(None, one)

    def _note(self, a: Event | None, b: Event | None) -> None:
        one = a or b
        assert one is not None
        key = (one.kind, one.what, one.stack, a is None, b is None)
        known = self._kinds.get(key)
        if known is not None:
            known.last = one.number
        elif len(self._kinds) < _KINDS:
            self._kinds[key] = Evidence(a, b, one.number)

    def _end(self, a: Record | None, b: Record | None) -> None:
        """Compare the ends of both: they differ if they ended in different ways."""
        end_a, end_b = a if isinstance(a, End) else None, b if isinstance(b, End) else None
        if end_a is None or end_b is None:
            return  # cut off: the caller has to say so
        if (end_a.reason, end_a.status, end_a.exception) != (end_b.reason, end_b.status, end_b.exception):
            self._found.divergence = Divergence(end_a, end_b, self._equal)


def _is_cut(record: Record | None) -> bool:
    """Return whether a record of a stream is none, or an end that was not the program's own."""
    return record is None or (isinstance(record, End) and record.reason in ("bound", "signal"))


def _key(record: Record | None) -> tuple[object, ...]:
    if isinstance(record, Op):
        return ("op", record.name, record.stack)
    return (record.kind, record.what, record.stack) if isinstance(record, Event) else ("end",)


def _end(record: Record | None) -> End | None:
    return record if isinstance(record, End) else None


def _until_equal(a: list[tuple[object, ...]], b: list[tuple[object, ...]]) -> tuple[int, int, bool]:
    """Return how many records of each come before both continue alike, and whether they do.

    An insertion on one side may be long; a replacement is searched among fewer records.
    """
    found = [(more, side) for side, more in enumerate((_inserted(a, b), _inserted(b, a))) if more]
    if found:
        more, side = min(found)
        return (more, 0, True) if side == 0 else (0, more, True)
    matcher = SequenceMatcher(None, a[:_WINDOW], b[:_WINDOW], autojunk=False)
    codes = matcher.get_opcodes()
    _, _, end_a, _, end_b = codes[0]
    return end_a, end_b, len(codes) > 1


def _inserted(longer: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> int:
    """Return how many records `longer` has before it continues as `other` does; 0 if it does not."""
    head = other[:_ALIKE]
    return next((i for i in range(1, len(longer)) if head and longer[i : i + len(head)] == head), 0)

"""Facts as bytes, of which a run only reads what its programs reach: most functions are never entered.

The same bytes are kept for later runs, so what is read of them is checked. They are lines: the texts of the file, its
top level, and its functions in order, each as `codec` writes a function.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, overload

from detlint.facts.codec import Codec, Reading, Writing
from detlint.facts.facts import TOP, Call, Facts, Function, Import, Statement, walk
from detlint.facts.resumed import Resuming
from detlint.facts.touches import Memory
from detlint.finding import Place
from detlint.questions import Flow
from detlint.support.records import record

_FAST = 1  # zlib level: packs to a quarter of the size, in a hundredth of the time of the analysis
_LONGEST = 64 * 2**20  # bytes of the lines of a file
_MOST_OPEN = 16  # files whose lines are held


@record(frozen=True, slots=True)
class Head:
    """What is needed of a function that is defined but not entered. `calls`: a default of a parameter is a call."""

    kind: str
    captured: tuple[str, ...]
    calls: bool


@record(frozen=True, slots=True)
class Outline:
    """The facts of a file except its statements.

    `heads` are those of its functions by qualified name, `targets` are as `imports` yields them.
    """

    module: str
    path: str
    heads: dict[str, Head]
    targets: str
    guarded: bool
    acts: bool
    lasting: bool
    learns: bool
    finds: bool
    tests: bool
    flows: tuple[Flow, ...]
    telling: tuple[tuple[str, Place], ...]
    resuming: Resuming | None
    samples: bool
    convolving: tuple[str, ...]
    memory: Memory
    draws: tuple[str, ...]
    holding: tuple[str, ...]
    gpu: bool


class Body:
    """The statements of a file: the lines of its functions, including the top level, packed."""

    __slots__ = ("content", "outline")

    def __init__(self, outline: Outline, content: bytes) -> None:
        self.outline = outline
        self.content = content

    def function(self, qualified: str) -> Function:
        """Return a function, read anew. Raises any kind of error if others wrote what is read."""
        texts, lines = _opened(self)
        return _functions().read(lines[qualified], texts)


@lru_cache(_MOST_OPEN)
def _opened(body: Body) -> tuple[Reading, dict[str, str]]:
    """Return the texts of a file, and the lines of its functions."""
    content = zlib.decompressobj().decompress(body.content, _LONGEST)
    table, *lines = content.decode("ascii").split("\n")
    names = (TOP, *body.outline.heads)
    return Reading(json.loads(table), body.outline.path), dict(zip(names, lines, strict=True))


class PackedFunctions(Mapping[str, Function]):
    """Functions by qualified name, each read anew on each access."""

    __slots__ = ("body",)

    def __init__(self, body: Body) -> None:
        self.body = body

    def __getitem__(self, qualified: str) -> Function:
        return self.body.function(qualified)

    def __contains__(self, qualified: object) -> bool:
        return qualified in self.body.outline.heads

    def __iter__(self) -> Iterator[str]:
        return iter(self.body.outline.heads)

    def __len__(self) -> int:
        return len(self.body.outline.heads)


class PackedStatements(Sequence[Statement]):
    """The statements of a top level, read anew on each access."""

    __slots__ = ("_body",)

    def __init__(self, body: Body) -> None:
        self._body = body

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        return self._statements()[index]

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._statements())

    def __len__(self) -> int:
        return len(self._statements())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._statements() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _statements(self) -> tuple[Statement, ...]:
        return self._body.function(TOP).body


def packed(facts: Facts) -> Facts:
    """Return equal facts in a tenth of the space. Raises RecursionError, and CodecError for what cannot be written."""
    heads = {qualified: _head(function) for qualified, function in facts.functions.items()}
    targets = "\n".join(dict.fromkeys("." * level + target for level, target in imports(facts)))
    outline = Outline(facts.module, facts.path, heads, targets, **_told(facts))
    texts = Writing(facts.path)
    top = Function(TOP, TOP, (), tuple(facts.top), "", (), False, None, Place(facts.path, 1, 1, 1, 1))
    lines = [_functions().write(each, texts) for each in (top, *facts.functions.values())]
    return unfolded(outline, zlib.compress("\n".join((texts.table(), *lines)).encode("ascii"), _FAST))


def unfolded(outline: Outline, content: bytes) -> Facts:
    """Return the facts of an outline and of the bytes of its body."""
    known: dict[Head, Head] = {}
    for qualified, head in outline.heads.items():
        outline.heads[qualified] = known.setdefault(head, head)  # equal heads become one object
    body = Body(outline, content)
    top, functions = PackedStatements(body), PackedFunctions(body)
    return Facts(outline.module, outline.path, top, functions, **_told(outline))


def _told(facts: Facts | Outline) -> dict[str, Any]:
    """Return the facts of a file other than its statements, by name."""
    names = Outline.__match_args__[Outline.__match_args__.index("guarded") :]
    return {name: getattr(facts, name) for name in names}


def head(functions: Mapping[str, Function], qualified: str) -> Head:
    """Return what is needed of a function that is not entered."""
    if isinstance(functions, PackedFunctions):
        return functions.body.outline.heads[qualified]
    return _head(functions[qualified])


def _head(function: Function) -> Head:
    calls = any(isinstance(parameter.default, Call) for parameter in function.parameters)
    return Head(function.kind, function.captured, calls)


def imports(facts: Facts) -> Iterator[tuple[int, str]]:
    """Yield what a file may import, at its top level or in a function: modules and names in them.

    Each is the number of its leading dots, and its dotted name.
    """
    if isinstance(facts.functions, PackedFunctions):
        targets = facts.functions.body.outline.targets
        for target in targets.split("\n") if targets else ():
            name = target.lstrip(".")
            yield len(target) - len(name), name
        return
    for statements in (facts.top, *(function.body for function in facts.functions.values())):
        yield from _imported(statements)


def _imported(statements: Iterable[Statement]) -> Iterator[tuple[int, str]]:
    for statement in walk(statements):
        if isinstance(statement, Import):
            yield statement.level, statement.module
            for name, _ in statement.names or ():
                yield statement.level, f"{statement.module}.{name}" if statement.module else name


def mentioned(files: Iterable[Facts]) -> dict[str, frozenset[str]]:
    """Return the words in the facts of each file that is no test, by path: names, and the parts of dotted ones."""
    return {each.path: _texts(each) for each in files if not each.tests}


def _texts(facts: Facts) -> frozenset[str]:
    if not isinstance(facts.functions, PackedFunctions):
        facts = packed(facts)
    assert isinstance(facts.functions, PackedFunctions)
    content = zlib.decompressobj().decompress(facts.functions.body.content, _LONGEST)
    return frozenset(part for text in json.loads(content.partition(b"\n")[0]) for part in (text, *text.split(".")))


def is_somewhere(place: Place) -> bool:
    """Return whether there can be such a place, since it may have been read."""
    cell = 0 if place.cell is None else place.cell
    return min(place.line, place.column, place.end_line, place.end_column, cell + 1) > 0


@cache
def _functions() -> Codec[Function]:
    return Codec(Function, {Place: is_somewhere})

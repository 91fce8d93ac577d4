"""Facts as bytes, of which a run unpacks what its programs come to: most functions are never entered."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, overload

from detlint.facts import Call, Facts, Function, Import, Statement, walk
from detlint.packing import pack, unpack

_FAST = 1  # of zlib: half of what it is packed to, and a tenth of the time of analysing it


class Head(NamedTuple):
    """What is asked of a function that is defined but not entered. `calls` says that a default of a parameter does."""

    kind: str
    captured: tuple[str, ...]
    calls: bool


class PackedFunctions(Mapping[str, Function]):
    """Functions by qualified name, each unpacked anew where it is asked for. `targets` are as `imports` gives them."""

    __slots__ = ("_packed", "targets")

    def __init__(self, packed: Mapping[str, tuple[Head, bytes]], targets: str) -> None:
        self._packed = packed
        self.targets = targets

    def __getitem__(self, qualified: str) -> Function:
        return _opened(self._packed[qualified][1])  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def head(self, qualified: str) -> Head:
        """What is known of a function without unpacking it."""
        return self._packed[qualified][0]


class PackedStatements(Sequence[Statement]):
    """Statements, unpacked anew where they are gone through."""

    __slots__ = ("_packed",)

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        return self._opened()[index]

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._opened())

    def __len__(self) -> int:
        return len(self._opened())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._opened() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _opened(self) -> tuple[Statement, ...]:
        return _opened(self._packed)  # type: ignore[no-any-return]


def packed(facts: Facts) -> Facts:
    """Equal facts that take a tenth of the room. Raises RecursionError."""
    heads: dict[Head, Head] = {}  # equal ones are one object
    functions = {}
    for qualified, function in facts.functions.items():
        head = _head(function)
        functions[qualified] = heads.setdefault(head, head), _closed(function)
    targets = "\n".join(dict.fromkeys("." * level + target for level, target in imports(facts)))
    return replace(
        facts, top=PackedStatements(_closed(tuple(facts.top))), functions=PackedFunctions(functions, targets)
    )


def head(functions: Mapping[str, Function], qualified: str) -> Head:
    """What is asked of a function that is not entered."""
    if isinstance(functions, PackedFunctions):
        return functions.head(qualified)
    return _head(functions[qualified])


def _head(function: Function) -> Head:
    calls = any(isinstance(parameter.default, Call) for parameter in function.parameters)
    return Head(function.kind, function.captured, calls)


def imports(facts: Facts) -> Iterator[tuple[int, str]]:
    """What a file may import, at its top level or in a function: modules and names in them.

    Each is the number of its leading dots, and its dotted name.
    """
    if isinstance(facts.functions, PackedFunctions):
        for target in facts.functions.targets.split("\n") if facts.functions.targets else ():
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


def _closed(value: object) -> bytes:
    return zlib.compress(pack(value), _FAST)


def _opened(content: bytes) -> Any:
    return unpack(zlib.decompress(content))

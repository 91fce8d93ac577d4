"""What is known of one thread while it is recorded: its stream, where it is, what its tensors came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from detlint.bisect.lines import Key, Lines
from detlint.bisect.recorded.storages import Storages
from detlint.bisect.records import Value
from detlint.bisect.writer import Writer

_MOST_SEQUENCES = 1 << 18  # forward operations whose backward may still come


@dataclass(slots=True)
class _Draws:
    """Draws in a row from one generator outside torch, by one function at one line."""

    which: str
    function: str
    key: Key
    count: int = 0
    values: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=8))


class Track:
    """A recorded thread. `quiet` counts the reasons not to record now, `optimizing` the optimizers at work."""

    def __init__(self, name: str, writer: Writer, lines: Lines) -> None:
        self.name = name
        self.writer = writer
        self.storages = Storages()
        self.quiet = 0
        self.optimizing = 0
        self.sequence = 0
        self.generators: dict[Key, int] = {}  # seeds of generators that operations were given, by line
        self._keys: dict[int, Key] = {}
        self._lines = lines
        self._draws: _Draws | None = None

    def stack(self, key: Key) -> int:
        """Return the number in the stream of the stack that a key stands for."""
        known = self.writer.known_stack(key)
        return self.writer.stack(key, self._lines.places(key)) if known is None else known

    def forward(self, sequence: int, key: Key) -> None:
        """Assign autograd's new numbers below `sequence` to the operation at `key`."""
        for number in range(max(self.sequence, sequence - 16), sequence):
            self._keys[number] = key
        self.sequence = sequence
        if len(self._keys) > _MOST_SEQUENCES:
            for number in list(self._keys)[: _MOST_SEQUENCES // 2]:
                del self._keys[number]

    def backward(self, sequence: int) -> Key | None:
        """Return where the forward operation with this number was, or None."""
        return self._keys.get(sequence)

    def event(self, kind: str, what: str, key: Key, digests: Sequence[str], data: Mapping[str, Value]) -> int:
        """Record an event; return its number."""
        self.settle()
        return self.writer.event(kind, what, self.stack(key), digests, data)

    def draw(self, which: str, function: str, key: Key, value: bytes) -> None:
        """Record a draw outside torch; draws in a row at one line become one event."""
        draws = self._draws
        if draws is None or draws.key != key or draws.function != function or draws.which != which:
            self.settle()
            draws = self._draws = _Draws(which, function, key)
        draws.count += 1
        draws.values.update(value)

    def settle(self) -> None:
        """Write the pending draws as an event: something else comes next."""
        draws = self._draws
        if draws is not None:
            self._draws = None
            data: dict[str, Value] = {"function": draws.function, "count": draws.count}
            self.writer.event("draw", draws.which, self.stack(draws.key), (draws.values.hexdigest(),), data)

    def end(self, data: Mapping[str, object]) -> None:
        """Write how the stream ended."""
        self.settle()
        self.writer.end(data)

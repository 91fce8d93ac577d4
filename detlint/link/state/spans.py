"""Notes taken while something runs, kept with its result: a reuse of the result counts as taking the same notes."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.programs.events import State

Name = tuple[str, str]  # a function: the path of its file, and its qualified name
Walk = tuple[tuple[int, State], ...]  # the states in which a function runs, each with its order
Walked = tuple[Name, Walk | None]  # None if the states do not count


class Span:
    """The notes of a function or top level that runs: the `walks` that begin, and the module variables that are `asked`
    for, by path and name. `inner` are the spans that run within it, or are reused there without running again.
    """

    __slots__ = ("asked", "begun", "inner", "walks")

    def __init__(self) -> None:
        self.asked: set[tuple[str, str]] = set()
        self.begun: list[tuple[Name, list[tuple[int, State]]]] = []
        self.walks: list[Walked] = []  # those that have ended
        self.inner: dict[Span, None] = {}

    def end(self) -> None:
        """Freeze the walks that began here, which have all ended."""
        self.walks += ((name, tuple(walk)) for name, walk in self.begun)
        self.begun.clear()


def spans(root: Span) -> Iterator[Span]:
    """Yield a span and all spans within it, each once."""
    seen, waiting = {root}, [root]
    while waiting:
        span = waiting.pop()
        yield span
        new = [inner for inner in span.inner if inner not in seen]
        seen.update(new)
        waiting += new

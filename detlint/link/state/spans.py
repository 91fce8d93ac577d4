"""What is noted while something runs, kept with its outcome: whoever takes the outcome over has noted as much."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.programs.events import State

Name = tuple[str, str]  # of a function: the path of its file, and its qualified name
Walk = tuple[tuple[int, State], ...]  # the states in which a function is gone through, each with an order
Walked = tuple[Name, Walk | None]  # None where the states do not count


class Span:
    """What is noted while a function or the top level of a file runs: the `walks` that begin, and the variables of
    modules that are `asked` for, by path and name. `inner` is what runs within it, or has run and is not run again.
    """

    __slots__ = ("asked", "begun", "inner", "walks")

    def __init__(self) -> None:
        self.asked: set[tuple[str, str]] = set()
        self.begun: list[tuple[Name, list[tuple[int, State]]]] = []
        self.walks: list[Walked] = []  # those that have ended
        self.inner: dict[Span, None] = {}

    def end(self) -> None:
        """All that began here has ended."""
        self.walks += ((name, tuple(walk)) for name, walk in self.begun)
        self.begun.clear()


def spans(root: Span) -> Iterator[Span]:
    """A span and all within it, each once."""
    seen, waiting = {root}, [root]
    while waiting:
        span = waiting.pop()
        yield span
        new = [inner for inner in span.inner if inner not in seen]
        seen.update(new)
        waiting += new

"""What the text of a project says, whatever its values are: what is stored, decorated and made where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property

from detlint.ir import counting
from detlint.ir import nodes as ir


class Index:
    """Questions about the text of a project's files, from what was counted in each."""

    def __init__(self, files: Mapping[str, ir.File]) -> None:
        self.files = files

    def decorates(self, decorator: ir.Expression) -> int:
        """How many functions and classes have a decorator of the name of one."""
        return self._decorating[counting.decorator(decorator)]

    @cached_property
    def _decorating(self) -> Counter[str]:
        """How many functions and classes each name decorates."""
        found = Counter[str]()
        for file in self.files.values():
            found.update(file.counts.decorating)
        return found

    @cached_property
    def stored(self) -> frozenset[str]:
        """The attributes that are stored on anything anywhere."""
        return frozenset(name for file in self.files.values() for name in file.counts.stored)

    def makers(self, klass: str) -> tuple[int, int] | None:
        """How many places, in how many files, make objects of a class; None where it is handed on as a value.

        Told from the names that are called: who makes an object of a class that is handed on, no text tells.
        """
        name = klass.rpartition(".")[2]
        return None if self._used[name] > 0 else self._made.get(name, (0, 0))

    @cached_property
    def _used(self) -> Counter[str]:
        """How often each name is used as a value."""
        found = Counter[str]()
        for file in self.files.values():
            found.update(file.counts.used)
        return found

    @cached_property
    def _made(self) -> Mapping[str, tuple[int, int]]:
        """In how many places, and in how many files, each name is called."""
        found: dict[str, tuple[int, int]] = {}
        for file in self.files.values():
            for name, count in file.counts.called.items():
                places, files = found.get(name, (0, 0))
                found[name] = places + count, files + 1
        return found

    @cached_property
    def methods(self) -> Mapping[str, list[tuple[str, str]]]:
        """The methods of each name, by their file and qualified name."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for file in self.files.values():
            for function in file.functions.values():
                if function.klass:
                    found[function.name].append((file.path, function.qualified))
        return found

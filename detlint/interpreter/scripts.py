"""The programs in which a file may run, as the imports of the text tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate

from detlint.ir import nodes as ir
from detlint.sources.imports import Imports


class Scripts:
    """Tells which of the files that are started import a file, at once or by way of others."""

    def __init__(self, files: Mapping[str, ir.File], imports: Imports, started: frozenset[str]) -> None:
        self._files = files
        self._imports = imports
        self._started = started
        self._known: dict[str, tuple[str, ...]] = {}
        self._importers: dict[str, set[str]] | None = None

    def of(self, path: str) -> tuple[str, ...]:
        """The started files in which a file may run; itself where none is known to import it."""
        if path not in self._known:
            if self._importers is None:
                self._importers = self._find()
            waiting, seen = [path], {path}
            while waiting:
                more = self._importers.get(waiting.pop(), set()) - seen
                seen |= more
                waiting += more
            self._known[path] = tuple(sorted(seen & self._started)) or (path,)
        return self._known[path]

    def _find(self) -> dict[str, set[str]]:
        """The files that import each file, or what is in a package of its own file."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, file in self._files.items():
            for level, name in file.counts.imports:
                for module in (name,) if level else accumulate(name.split("."), "{}.{}".format):
                    other = self._imports.relative(path, level, module) if level else self._imports.find(module, path)
                    if other is not None:
                        found[other].add(path)
        return found

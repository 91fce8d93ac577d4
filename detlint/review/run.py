"""A run as filters see it: its files and the results for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from detlint.analyse import Collected, Source
from detlint.listing import ALONE, Around
from detlint.sources import notebook
from detlint.sources.source import UnreadableError
from detlint.support.records import record


@record(frozen=True)
class Run:
    """What a report was made from: the files, the results for some of them by path, and what is around them."""

    sources: Sequence[Source]
    collected: Mapping[str, Collected]
    around: Around = ALONE

    @cached_property
    def by_path(self) -> Mapping[str, Source]:
        """The files by path."""
        return {item.path: item for item in self.sources}

    def texts(self, path: str) -> Mapping[int | None, str]:
        """Return the texts of a file by cell; empty if it cannot be read."""
        try:
            return notebook.texts(path, self.by_path[path].read())
        except UnreadableError:
            return {}

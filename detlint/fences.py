"""Fenced examples of the pages of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from detlint.records import record


@record(frozen=True, slots=True)
class Fence:
    """A fenced example of a page. `info` is what follows the language; `line` is its first line."""

    text: str
    info: str
    line: int

    @property
    def title(self) -> str | None:
        """The file name of a fence that is part of a project."""
        match = re.search(r'title="([^"]+)"', self.info)
        return match.group(1) if match else None


def fences(prose: str, first_line: int, languages: str = "py|python") -> Iterator[Fence]:
    """The examples in a page's prose, which begins on `first_line`."""
    pattern = re.compile(rf"^```(?:{languages})\b([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for match in pattern.finditer(prose):
        yield Fence(match.group(2), match.group(1).strip(), first_line + prose.count("\n", 0, match.start(2)))

"""A `# noqa` comment for one finding."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator

from detlint.analyse import UNPARSED
from detlint.finding import Edit, Finding, Place
from detlint.sources import notebook
from detlint.sources.magics import LINES
from detlint.sources.source import lines_of
from detlint.sources.suppressions import Suppressions
from detlint.tree.positions import Lines

_CODES = re.compile(r"#\s*noqa:\s*[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*", re.IGNORECASE)
_ENDS = (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT)
_NEVER = (UNPARSED, "DET001")  # no comment helps where the file is not read, or where a comment is what is found


def suppression(finding: Finding, text: str) -> Edit | None:
    """The edit that suppresses a finding in the text of its file, on its first or its last line; None if it cannot be.

    A comment that has codes gets one more.
    """
    place = finding.place
    document = notebook.read(place.path, text)
    own = document.texts.get(place.cell)
    if own is None or finding.code in _NEVER:
        return None
    free = set(_free(document))
    lines = lines_of(own)
    for number in (place.line, place.end_line):
        line = lines[number - 1]
        known = _CODES.search(line)
        if known is not None:
            column, added = known.end() + 1, f", {finding.code}"
        elif (place.cell, number) in free:
            column, added = len(line) + 1, f"  # noqa: {finding.code}"
        else:
            continue
        changed = [*lines[: number - 1], line[: column - 1] + added + line[column - 1 :], *lines[number:]]
        if Suppressions.of(place.path, {place.cell: "\n".join(changed)}).covering(finding.code, place):
            return Edit(Place(place.path, number, column, number, column, place.cell), added)
    return None


def _free(document: notebook.Document) -> Iterator[tuple[int | None, int]]:
    """Cell and line of each line that a comment can end: no string goes on there, nor a backslash."""
    lines = Lines(document.text, document.origins)
    rows = iter(LINES.findall(document.text))
    try:
        for token in tokenize.generate_tokens(lambda: next(rows, "")):
            if token.type in _ENDS:
                cell, number, _ = lines.locate(lines.starts[token.start[0] - 1])
                yield cell, number
    except (tokenize.TokenError, SyntaxError):
        return  # the lines so far are known

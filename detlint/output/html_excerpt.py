"""Source lines as HTML: the place of a finding marked, with a few lines around it, and the changes of a fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from detlint.finding import Place
from detlint.output.html_diff import Hunk
from detlint.support.page import text

_AROUND = 2  # lines before and after what is marked
_TALLEST = 12  # lines shown of what is marked
_WIDEST = 240  # characters shown of a line


def excerpt(place: Place, lines: Sequence[str]) -> str:
    """Return the lines around a marked place, without their common indentation; "" if there is no such line."""
    if place.line > len(lines):
        return ""
    last = min(place.end_line, place.line + _TALLEST - 1, len(lines))
    begin, end = max(place.line - _AROUND, 1), min(last + _AROUND, len(lines))
    begin = next(number for number in range(begin, place.line + 1) if number == place.line or lines[number - 1].strip())
    end = next(number for number in range(end, last - 1, -1) if number == last or lines[number - 1].strip())
    numbers = range(begin, end + 1)
    blank = _indent(lines[number - 1] for number in numbers)
    rows = []
    for number in numbers:
        rows.append(f"<i>{number}</i>{_line(number, place, lines[number - 1], blank)}")
        if number == last < place.end_line:
            rows.append(f"<i></i>... {place.end_line - last} more lines")
    shown = "\n".join(rows)
    return f"<pre>{shown}</pre>"


def _indent(lines: Iterable[str]) -> int:
    """Return the number of blank characters that all non-blank lines begin with."""
    blanks = [line[: len(line) - len(line.lstrip())] for line in lines if line.strip()] or [""]
    pairs = zip(min(blanks), max(blanks), strict=False)  # what these two have in common, all others have too
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _line(number: int, place: Place, line: str, blank: int) -> str:
    line = line.rstrip()
    if not place.line <= number <= place.end_line:
        return _code(_cut(line[blank:]))
    start = place.column - 1 if number == place.line else len(line) - len(line.lstrip())
    end = place.end_column - 1 if number == place.end_line else len(line)
    first = max(start - 40, blank) if len(line) - blank > _WIDEST else blank
    stop = min(first + _WIDEST, len(line))
    start = max(min(start, stop), first)
    end = max(min(end, stop), start)
    marked = f"<mark>{_code(line[start:end])}</mark>" if end > start else ""
    head, tail = "..." if first > blank else "", "..." if stop < len(line) else ""
    return f"{head}{_code(line[first:start])}{marked}{_code(line[end:stop])}{tail}"


def change(hunks: Sequence[Hunk], home: Place) -> str:
    """Return what a fix changes; a file or cell is named if it is not that of the finding."""
    parts = []
    for hunk in hunks:
        rows = "\n".join(_rows(hunk))
        parts.append(f"{_named(hunk, home)}<pre>{rows}</pre>")
    return "".join(parts)


def _named(hunk: Hunk, home: Place) -> str:
    if (hunk.path, hunk.cell) == (home.path, home.cell):
        return ""
    cell = "" if hunk.cell is None else f", cell {hunk.cell + 1}"
    return f'<p class="at name">{text(hunk.path)}{cell}</p>'


def _rows(hunk: Hunk) -> Iterator[str]:
    number = hunk.line
    lines = list(hunk.lines())
    blank = _indent(line for _, line in lines)
    for mark, line in lines:
        shown = _code(_cut(line.rstrip()[blank:]))
        if mark == " ":
            yield f"<i>{number}</i>  {shown}"
        else:
            tag = "ins" if mark == "+" else "del"
            yield f"<i>{number if mark == '-' else ''}</i><{tag}>{mark} {shown}</{tag}>"
        number += mark != "+"


def _code(part: str) -> str:
    """Return a part of a line with tabs expanded: after the line number, a tab's width would vary."""
    return text(part.replace("\t", "    "))


def _cut(line: str) -> str:
    return line if len(line) <= _WIDEST else f"{line[:_WIDEST]}..."

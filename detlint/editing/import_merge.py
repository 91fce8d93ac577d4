"""One more name in an import statement, whose own layout is kept."""

from __future__ import annotations

import re
from bisect import bisect_right

from detlint.editing.import_order import name_key

_NAME = re.compile(r"(\w+)(?:[\s\\]+as[\s\\]+\w+)?")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def merged(statement: str, name: str, width: int, comment: str = "") -> str:
    """`from module import a`, followed by `comment`, with `name` imported too.

    The name goes to its sorted place among names that are sorted, else to the end. A line that gets longer than
    `width` is broken to one name a line. New lines end in `\\n`.
    """
    code = re.sub("#[^\r\n]*", lambda match: " " * len(match[0]), statement)
    head = re.match(r"from\b.*?\bimport\b", code, re.DOTALL)
    assert head is not None, statement
    found = list(_NAME.finditer(code, head.end()))
    keys = [name_key(match[1]) for match in found]
    place = bisect_right(keys, name_key(name)) if keys == sorted(keys) else len(keys)
    before = found[place - 1].end() if place else code.find("(", head.end()) + 1
    neighbour = found[min(place, len(found) - 1)]
    begun = max(code.rfind("\n", 0, neighbour.start()), code.rfind("\r", 0, neighbour.start())) + 1
    indent = statement[begun : neighbour.start()]
    alone = begun and not code[begun : neighbour.start()].strip() and "(" in code
    if not alone:
        text = _beside(statement, code, found, place, name)
        long = _NEWLINE.search(statement) is None and len(text + comment) > width
        return _one_a_line(text, head.end(), comment) if long else text + comment
    newline = _NEWLINE.search(statement, before)
    if place < len(found):
        assert newline is not None
        return f"{statement[: newline.end()]}{indent}{name},\n{statement[newline.end() :]}{comment}"
    if newline is None:  # the bracket closes right behind the last name
        return f"{statement[:before]},\n{indent}{name}{statement[before:]}{comment}"
    if _comma(code, before) is not None:
        return f"{statement[: newline.end()]}{indent}{name},\n{statement[newline.end() :]}{comment}"
    kept = statement[before : newline.start()]
    return f"{statement[:before]},{kept}\n{indent}{name}{statement[newline.start() :]}{comment}"


def _beside(statement: str, code: str, found: list[re.Match[str]], place: int, name: str) -> str:
    """The name put on the line of those beside it."""
    if place < len(found):
        start = found[place].start()
        return f"{statement[:start]}{name}, {statement[start:]}"
    end = found[-1].end()
    comma = _comma(code, end)
    if comma is not None:
        return f"{statement[:comma]} {name},{statement[comma:]}"
    return f"{statement[:end]}, {name}{statement[end:]}"


def _comma(code: str, place: int) -> int | None:
    """Where the comma ends that comes next, if one does."""
    match = re.compile(r"\s*,").match(code, place)
    return None if match is None else match.end()


def _one_a_line(statement: str, head: int, comment: str) -> str:
    names = "".join(f"    {match[0]},\n" for match in _NAME.finditer(statement, head))
    return f"{statement[:head]} ({comment}\n{names})"

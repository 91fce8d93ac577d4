"""The f-strings of a text, which `ast` does not show as they are written: their pieces, and the parts of each piece.

Implicit concatenation is one node in `ast`, and before Python 3.12 the nodes of a replacement field have wrong
positions.
"""

from __future__ import annotations

import ast
import re

from detlint.support.records import record

_OPENING = re.compile(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")
_PLAIN = {
    quote: re.compile(  # no nested repetition: an unclosed string would backtrack through every way to split it
        rf"[^\\{quote[0]}]*(?:(?:\\.{more})[^\\{quote[0]}]*)*{quote}", re.S
    )
    for quote, more in (("'", ""), ('"', ""), ("'''", "|'(?!'')"), ('"""', '|"(?!"")'))
}
_NAMED = r"\\N\{[^{}]*\}|"  # a character by its name
_TEXT = {
    (quote, raw): re.compile(
        rf"(?:[^\\{{}}{quote[0]}]+|{'' if raw else _NAMED}\\(?:(?=[{{}}])|.)|\{{\{{|\}}\}}"
        rf"{'' if len(quote) == 1 else f'|{quote[0]}(?!{quote[:2]})'})*",
        re.S,
    )
    for quote in ("'", '"', "'''", '"""')
    for raw in (False, True)
}
_SPECIFICATION = re.compile(rf"(?:[^\\{{}}]+|{_NAMED}\\)*")
_CONVERSION = re.compile(r"!\w*\s*")
_TOKEN = re.compile(
    r"(?P<string>(?:[A-Za-z]{0,2})(?:'''|\"\"\"|'|\"))|\w+|#[^\r\n]*|[=!<>]=|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<end>[=!:])|.",
    re.S,
)


class UnclearError(Exception):
    """Raised for a string that cannot be followed to its end."""


@record(frozen=True)
class Text:
    """Literal text in an f-string, as it is written."""

    start: int
    end: int


@record(frozen=True)
class Field:
    """A replacement field, from brace to brace, and the expression in it. It is `plain` without a format."""

    start: int
    end: int
    expression: tuple[int, int]
    plain: bool


@record(frozen=True)
class Piece:
    """One string of an implicit concatenation; `parts` is None if it is not an f-string."""

    start: int
    end: int
    parts: list[Text | Field] | None


def pieces(text: str, start: int, end: int) -> list[Piece]:
    """Return the strings between `start` and `end`. Raises UnclearError."""
    found: list[Piece] = []
    while start < end:
        piece = _piece(text, start)
        found.append(piece)
        start = _match(_BLANK, text, piece.end).end()
    return found


def expression(source: str, line: int, column: int) -> ast.expr:
    """Return the expression of a field, whose source starts at `line` and `column`, as `ast` counts them.

    Raises UnclearError.
    """
    bare = source.lstrip(" \t\f")
    column += len(source) - len(bare)
    is_wrapped = "\n" in source or "\r" in source
    try:
        body = ast.parse(f"({bare})" if is_wrapped else bare.rstrip()).body
    except SyntaxError as error:  # a comment at the end, or syntax that is valid only in parentheses
        raise UnclearError from error
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise UnclearError
    for node in ast.walk(body[0].value):
        if isinstance(node, (ast.expr, ast.arg, ast.keyword)):
            _move(node, line - 1, column - is_wrapped)
    return body[0].value


def _move(node: ast.expr | ast.arg | ast.keyword, lines: int, columns: int) -> None:
    """Move a node down by some lines, and what is on the first line to the right by some columns."""
    if node.lineno == 1:
        node.col_offset += columns
    if node.end_lineno == 1 and node.end_col_offset is not None:
        node.end_col_offset += columns
    node.lineno += lines
    node.end_lineno = (node.end_lineno or 1) + lines


def _match(pattern: re.Pattern[str], text: str, place: int) -> re.Match[str]:
    match = pattern.match(text, place)
    if match is None:
        raise UnclearError
    return match


def _piece(text: str, start: int) -> Piece:
    opening = _match(_OPENING, text, start)
    prefix, quote = opening[1].lower(), opening[2]
    if "f" not in prefix:
        return Piece(start, _match(_PLAIN[quote], text, opening.end()).end(), None)
    pattern = _TEXT[quote, "r" in prefix]
    parts: list[Text | Field] = []
    place = opening.end()
    while True:
        end = _match(pattern, text, place).end()
        if end > place:
            parts.append(Text(place, end))
        if text.startswith(quote, end):
            return Piece(start, end + len(quote), parts)
        field = _field(text, end)
        parts.append(field)
        place = field.end


def _field(text: str, start: int) -> Field:
    """Return the replacement field whose opening brace is at `start`. Raises UnclearError."""
    if not text.startswith("{", start):
        raise UnclearError
    end = place = _expression_end(text, start + 1)
    if text[place] == "=":
        place = _match(_BLANK, text, place + 1).end()
    if text[place] == "!":
        place = _match(_CONVERSION, text, place).end()
    if text[place] == ":":
        place = _specification_end(text, place + 1)
    if text[place] != "}":
        raise UnclearError
    return Field(start, place + 1, (start + 1, end), place == end)


def _expression_end(text: str, place: int) -> int:
    """Return where a field's expression that starts at `place` ends: at its closing brace or its format."""
    depth = 0
    while True:
        token = _match(_TOKEN, text, place)
        if token["string"]:
            place = _piece(text, place).end
            continue
        if depth == 0 and (token["end"] or token[0] == "}"):
            return place
        depth += bool(token["open"]) - bool(token["close"])
        place = token.end()


def _specification_end(text: str, place: int) -> int:
    """Return where a format specification that starts at `place` ends: at the closing brace."""
    while True:
        place = _match(_SPECIFICATION, text, place).end()
        if text.startswith("}", place):
            return place
        place = _field(text, place).end

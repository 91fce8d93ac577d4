"""Texts of others as they may be shown: what drives a terminal, hides or turns what stands beside it is written out."""

from __future__ import annotations

import re

# Controls, which a terminal obeys and XML 1.0 cannot hold; what changes the direction of a line, and so what a reader
# takes it for (https://www.unicode.org/reports/tr9/, 2.1 to 2.6); line separators; what UTF-8 cannot hold.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_BREAKS = re.compile("[\t\n\r]")


def printable(text: str) -> str:
    """The text with control characters, lone surrogates and noncharacters as Python escapes them."""
    return _UNPRINTABLE.sub(_escaped, text)


def one_line(text: str) -> str:
    """The text as `printable` has it, in one line: newlines and tabs are escaped, too."""
    return _BREAKS.sub(_escaped, printable(text))


def no_command(text: str) -> str:
    """A path that begins a line, as one line: `::` there would be a command to GitHub Actions, whatever the format."""
    text = one_line(text)
    return f"./{text}" if text.lstrip().startswith("::") else text


def in_json(text: str) -> str:
    """A JSON document that says the same, and drives no terminal: such characters stand nowhere but in its strings."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()

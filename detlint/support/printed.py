"""Safe display of foreign texts: characters that drive a terminal, or hide or reorder nearby text, are escaped."""

from __future__ import annotations

import re

# Control characters, which a terminal obeys and XML 1.0 cannot contain; characters that change the direction of a line,
# and so how it reads (https://www.unicode.org/reports/tr9/, 2.1 to 2.6); line separators; what UTF-8 cannot encode.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_BREAKS = re.compile("[\t\n\r]")


def printable(text: str) -> str:
    """Return the text with control characters, lone surrogates and noncharacters as Python escapes."""
    return _UNPRINTABLE.sub(_escaped, text)


def one_line(text: str) -> str:
    """Return the text escaped as by `printable`, with newlines and tabs escaped too."""
    return _BREAKS.sub(_escaped, printable(text))


def no_command(text: str) -> str:
    """Return a path as one line that is safe at the start of a line, where `::` is a command to GitHub Actions."""
    text = one_line(text)
    return f"./{text}" if text.lstrip().startswith("::") else text


def in_json(text: str) -> str:
    """Return an equivalent JSON document that drives no terminal; such characters occur only inside its strings."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()

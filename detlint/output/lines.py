"""Lines of text whose parts have styles: coloured by rich if it is installed, else plain."""

from __future__ import annotations

import io
import unicodedata
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]  # a text, or a text with its style
_WIDE = ("W", "F")  # https://www.unicode.org/reports/tr11/
_NO_WIDTH = ("Mn", "Me", "Cf")


class Lines:
    """Lines as they are printed. A coloured line is broken after `width` characters."""

    def __init__(self, color: bool, width: int) -> None:
        self._file = io.StringIO()
        self._color = color
        self._width = width

    @cached_property
    def _console(self) -> Console | None:
        if self._color:
            with suppress(ModuleNotFoundError):
                from rich.console import Console  # plain output, such as most piped output, does not need it

                return Console(file=self._file, force_terminal=True, no_color=False, width=self._width, highlight=False)
        return None

    def line(self, *parts: Part) -> None:
        """Print a line."""
        if self._console is None:
            self._file.write("".join([part if isinstance(part, str) else part[0] for part in parts]) + "\n")
            return
        from rich.text import Text

        self._console.print(Text.assemble(*parts))

    def text(self) -> str:
        """Return all that was printed."""
        return self._file.getvalue()


def cells(text: str) -> int:
    """Return how many columns of a terminal a text fills."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(each) in _WIDE else 1 for each in text if not _is_part(each))


def _is_part(character: str) -> bool:
    """Return whether a character only changes the one before it, or is invisible."""
    return unicodedata.category(character) in _NO_WIDTH

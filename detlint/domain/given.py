"""What a call of a library gives, by the names of its parameters."""

from __future__ import annotations

from msgspec import Struct

from detlint.domain.values import NOTHING, UNKNOWN, Value


class Turns(Struct, frozen=True):
    """What going over something gives: first `items`, one after the other, and then any number of `rest`.

    `sure` where that is all that it may be.
    """

    items: tuple[Value, ...]
    rest: Value = NOTHING
    sure: bool = True


class Given(Struct, frozen=True):
    """The arguments of a call: by position, by keyword, and whether some are unpacked and not known: any of `more`.

    With `options` a parameter with a default that is left out is an option of a command line.
    """

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = {}
    open: bool = False
    options: bool = False
    more: Value = NOTHING

    def value(self, name: str, position: int = -1) -> Value | None:
        """What is given for a parameter; None where nothing is, `UNKNOWN` where something may be."""
        found = self.keywords.get(name)
        if found is None and 0 <= position < len(self.positional):
            found = self.positional[position]
        return UNKNOWN if found is None and self.open else found

    def after(self, count: int) -> Given:
        """The arguments after so many by position; anything where some are unpacked, for how many is not known yet."""
        return Given(open=True) if self.open else Given(self.positional[count:], self.keywords)

    @property
    def first(self) -> Value:
        """The first argument by position; nothing where there is none."""
        return self.positional[0] if self.positional else UNKNOWN if self.open else NOTHING

    def without_first(self) -> Given:
        """These, without the first by position."""
        return Given(self.positional[1:], self.keywords, self.open, more=self.more)

    @property
    def each(self) -> tuple[Value, ...]:
        """All arguments."""
        return (*self.positional, *self.keywords.values())

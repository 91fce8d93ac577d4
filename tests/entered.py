"""Commands entered as from a terminal, in this process: what they end with."""

from __future__ import annotations

from collections.abc import Iterable

from detlint import cli


def bisect(arguments: Iterable[str]) -> int:
    """The exit status of `detlint bisect`."""
    return entered("bisect", *arguments)


def verify(arguments: Iterable[str]) -> int:
    """The exit status of `detlint verify`."""
    return entered("verify", *arguments)


def entered(*arguments: str) -> int:
    """The exit status of a command."""
    try:
        cli.main([*arguments])
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code
    return 0

"""Numbers on the command line: each is read, or refused with a reason."""

from __future__ import annotations

import math

import click

_MOST = 1_000_000  # of anything that is counted; a larger number is a mistake


def count(text: str) -> int:
    """Return a whole number. Raises BadParameter."""
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r} is not a whole number")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number from 1 to 1,000,000. Raises BadParameter."""
    if not text.isdecimal() or not 0 < int(text) <= _MOST:
        raise click.BadParameter(f"{text!r} is not a number from 1 to {_MOST}")
    return int(text)


def bound(text: str) -> int:
    """Return a whole number from 1 to 1,000,000, or 0 for no bound. Raises BadParameter."""
    return 0 if text == "0" else positive(text)


def seconds(text: str) -> float:
    """Return a number of seconds above 0, up to 1,000,000. Raises BadParameter."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found <= _MOST:
        raise click.BadParameter(f"{text!r} is not a number of seconds above 0, up to {_MOST}")
    return found


def span(text: str) -> float:
    """Return a number of seconds above 0, or 0 for no limit. Raises BadParameter."""
    return 0.0 if text == "0" else seconds(text)

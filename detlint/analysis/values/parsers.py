"""Methods of a command-line parser, recognised by name alone, by the table `role` of `program.toml`."""

from __future__ import annotations

from functools import cache

from detlint import catalogue

GROUPS = ("parser-groups",)
COMMANDS = ("subparser",)
OPTIONS = ("option",)
PARSING = ("arguments", "arguments-and-rest")
ALL = (*GROUPS, *COMMANDS, *OPTIONS, *PARSING, "parser-commands", "defaults")


@cache
def libraries(rows: tuple[str, ...]) -> frozenset[str]:
    """Return the libraries that the names in these rows of the table belong to."""
    names = (name for row in rows for name in catalogue.load().names("program", "role", id=row))
    return frozenset(name.partition(".")[0] for name in names)


@cache
def methods(rows: tuple[str, ...]) -> frozenset[str]:
    """Return the last parts of the names in these rows of the table."""
    names = (name for row in rows for name in catalogue.load().names("program", "role", id=row))
    return frozenset(name.rpartition(".")[2] for name in names)

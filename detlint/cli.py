"""The command line: its commands under one name."""

from __future__ import annotations

import click

from detlint import __version__
from detlint.commands.cache import cache
from detlint.commands.check import check
from detlint.commands.entries import entries
from detlint.commands.rules import rule
from detlint.commands.server import server


class _DefaultsToCheck(click.Group):
    """`detlint PATHS` is `detlint check PATHS`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "--version", "-h")):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_DefaultsToCheck, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="detlint")
def cli() -> None:
    """Find what makes two runs of PyTorch code differ.

    `detlint PATHS` checks files and folders; it is short for `detlint check PATHS`.
    """


@cli.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def verify(arguments: tuple[str, ...]) -> None:
    """Run the operations that findings name on a device, and confirm or refute each."""
    from detlint.commands import verify

    raise SystemExit(verify.main(arguments))


@cli.command(add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def bisect(arguments: tuple[str, ...]) -> None:
    """Run a program twice, and name the first operation that differs and why. It runs the code it is given."""
    from detlint.commands import bisect

    raise SystemExit(bisect.main(arguments))


for _command in (cache, check, entries, rule, server):
    cli.add_command(_command)


def main(arguments: list[str]) -> None:
    """The console script."""
    cli(arguments, obj=tuple(arguments))

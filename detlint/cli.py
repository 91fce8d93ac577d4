"""The command line: its commands under one name, each imported on first use."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from detlint import __version__

COMMANDS = {  # the one-line help of each command
    "bisect": "Run a program twice, name the first operation that differs.",
    "cache": "Manage the cache of a project.",
    "check": "Check files and folders (the default command).",
    "completion": "Print what makes a shell complete commands, options and rules.",
    "entries": "Show where programs start, and what each one seeds and draws.",
    "help": "Show the manual of a command.",
    "repeat": "Run a program twice, fix what differs, until it repeats.",
    "rule": "List the rules, or show the page of one.",
    "runtime": "Print or write the functions that fixes insert.",
    "server": "Serve an editor by the language server protocol.",
    "verify": "Run operations that findings name, confirm or refute each.",
}
_PLACES = {"rule": ("rules", "rule"), "help": ("help", "help_")}  # commands whose module or function has another name


class _DefaultsToCheck(click.Group):
    """A group where `detlint PATHS` means `detlint check PATHS`, and a wrong command line is reported in one line."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command that the arguments name, and exit with its status."""
        try:
            super().main(*args, **extra | {"standalone_mode": False})
        except click.ClickException as error:
            from detlint.commands.failing import refuse

            raise SystemExit(refuse(error)) from None
        except click.Abort:
            raise SystemExit(130) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--debug" in args:
            from detlint.commands.failing import without_debug

            args = without_debug(args)
        if not args and ctx.resilient_parsing:  # a line that is being completed may go on with a command
            return super().parse_args(ctx, args)
        if args and args[0].isalpha() and args[0] not in COMMANDS and not Path(args[0]).exists():
            from detlint.catalogue import nearest

            meant = nearest(args[0], COMMANDS)
            if meant:
                raise click.UsageError(f"{args[0]!r} is neither a command nor a file or folder{meant}", ctx)
        if not args or (args[0] not in COMMANDS and args[0] not in ("--help", "--version", "-h")):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS or cmd_name in self.commands:
            return self.commands.get(cmd_name)
        module, name = _PLACES.get(cmd_name, (cmd_name, cmd_name))
        command: click.Command = getattr(import_module(f"detlint.commands.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with what each does, without importing them."""
        named = {name: click.Command(name, help=text) for name, text in COMMANDS.items()}
        click.Group(commands=named).format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what a line may begin with: a command, an option of the default one, or a path to check."""
        commands = [CompletionItem(name, help=text) for name, text in sorted(COMMANDS.items())]
        found = [item for item in commands if item.value.startswith(incomplete)]
        check = self.get_command(ctx, "check")
        if incomplete.startswith("-") and check is not None:
            return check.shell_complete(click.Context(check, parent=ctx), incomplete)
        return found or [CompletionItem(incomplete, type="file")]


@click.group(cls=_DefaultsToCheck, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, expose_value=False, help="Show where in detlint an error came from.")
@click.version_option(__version__, prog_name="detlint")
def cli() -> None:
    """Find what makes two runs of PyTorch code differ.

    `detlint PATHS` checks files and folders; it is short for `detlint check PATHS`. Only `bisect` and `repeat` run the
    code that they are given; all other commands read it, and `verify` runs operations of its own.
    """


def main(arguments: list[str]) -> None:
    """Run the console script."""
    cli(arguments, obj=tuple(arguments))

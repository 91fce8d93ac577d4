"""What a shell offers when a line with detlint is to be completed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from importlib import import_module

import click
from click.shell_completion import CompletionItem


def rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rules, with commas between several: codes, names where the beginning is of one."""
    from detlint import catalogue

    before, comma, last = incomplete.rpartition(",")
    general = (catalogue.ALL, "all rules"), (catalogue.DEFAULT, "the rules that are on by default")
    every = [*((rule.code, rule.summary) for rule in catalogue.load().rules.values()), *general]
    names = [(rule.name, rule.summary) for rule in catalogue.load().rules.values() if last]
    return [
        CompletionItem(f"{before}{comma}{name}", help=text)
        for name, text in (*every, *names)
        if name.startswith((last, last.upper()))
    ]


class Parsed(click.Command):
    """A command whose arguments another parser reads: `parser()` of its module, which makes an ArgumentParser."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The options that begin so."""
        return [item for item in self._options() if item.value.startswith(incomplete)]

    def following(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What may stand behind the words that are there: values of the option before, or files."""
        given = ctx.params.get(param.name or "") or ()
        before = next((action for action in self._actions() if given and given[-1] in action.option_strings), None)
        if before is not None and before.choices is not None:
            return [CompletionItem(str(c)) for c in before.choices if str(c).startswith(incomplete)]
        if before is not None and before.nargs != 0 and before.metavar not in ("FILE", "DIR"):
            return []
        return [CompletionItem(incomplete, type="file")]

    def _options(self) -> Iterator[CompletionItem]:
        for action in self._actions():
            for option in action.option_strings:
                yield CompletionItem(option, help=action.help)

    def _actions(self) -> Iterable[argparse.Action]:
        made: argparse.ArgumentParser = import_module(f"detlint.commands.{self.name}").parser()
        return made._actions  # what argparse has no public name for, as the libraries for completion use it

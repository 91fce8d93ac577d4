"""What a shell offers to complete a detlint command line."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return an item that lets the shell complete files."""
    return [CompletionItem(incomplete, type="file")]


def rules(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the rules, in a comma-separated list: codes, and names once something is typed."""
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

"""`detlint rule`: the rules, and the page of one."""

from __future__ import annotations

import click

from detlint import catalogue
from detlint.commands.terminal import clear_errors


@click.command()
@click.argument("code", required=False)
def rule(code: str | None) -> None:
    """List the rules, or show the page of one."""
    from rich.console import Console

    console = Console()
    with clear_errors():
        rules = catalogue.load()
        if code is None:
            for each in rules.rules.values():
                state = "" if each.default else "  (off by default)"
                click.echo(f"{each.code}  {each.severity.value:8} {each.name:40} {each.summary}{state}")
            return
        pages = [rules.rules[found] for found in rules.matching(code)]
    for page in pages:
        text = (
            f"# {page.code} {page.name}\n\n{page.summary}.\n\nSeverity: {page.severity.value}. "
            f"Breaks: {', '.join(page.breaks) or 'nothing'}. Family: {page.family}. "
            f"Fix: {'none' if page.fix is None else page.fix.value}.\n\n{page.prose}\n"
            + "\n".join(f"- {ref}" for ref in page.refs)
        )
        if console.is_terminal:
            from rich.markdown import Markdown

            console.print(Markdown(text))
        else:
            click.echo(text)

"""`detlint rule`: the rules, and the page of one."""

from __future__ import annotations

import click

from detlint import catalogue
from detlint.commands.completing import rules
from detlint.commands.terminal import clear_errors, show_page


@click.command()
@click.argument("code", required=False, shell_complete=rules)
def rule(code: str | None) -> None:
    """List the rules, or show the page of one."""
    with clear_errors():
        _show(code)


def _show(code: str | None) -> None:
    pages = [catalogue.read_page(path) for path in catalogue.pages("ALL" if code is None else code)]
    if code is None:
        for each in pages:
            state = "" if each.default else "  (off by default)"
            click.echo(f"{each.code}  {each.severity.value:8} {each.name:40} {each.summary}{state}")
        return
    for page in pages:
        text = (
            f"# {page.code} {page.name}\n\n{page.summary}.\n\nSeverity: {page.severity.value}. "
            f"Breaks: {', '.join(page.breaks) or 'nothing'}. Family: {page.family}. "
            f"Fix: {'none' if page.fix is None else page.fix.value}.\n\n{page.text}"
        )
        show_page(text)

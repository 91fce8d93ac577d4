"""`detlint help`: the manual, a page for each command."""

from __future__ import annotations

from pathlib import Path

import click

from detlint.catalogue import nearest
from detlint.commands import failing
from detlint.commands.terminal import show_page

_INSIDE = Path(__file__).parent.parent / "manual"
_BESIDE = Path(__file__).parent.parent.parent / "docs" / "commands"


def pages() -> dict[str, Path]:
    """Return the pages of the manual by command: those of the installed package, or the docs of a source tree."""
    folder = _INSIDE if _INSIDE.is_dir() else _BESIDE
    return {path.stem: path for path in sorted(folder.glob("*.md"))}


@click.command("help")
@click.argument("command", required=False, shell_complete=lambda _ctx, _param, begun: _beginning(begun))
@click.pass_context
def help_(ctx: click.Context, command: str | None) -> None:
    """Show the manual of a command."""
    found = pages()
    if command is None:
        assert ctx.parent is not None
        click.echo(ctx.parent.get_help())
    elif command in found:
        show_page(found[command].read_text(encoding="utf-8").rstrip())
    else:
        meant = nearest(command, found) or f": {', '.join(found)}"
        raise SystemExit(failing.complain(f"there is no command {command!r}{meant}"))


def _beginning(begun: str) -> list[str]:
    return [name for name in pages() if name.startswith(begun)]

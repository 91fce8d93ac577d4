"""`detlint server`: the language server, if pygls is installed."""

from __future__ import annotations

import click

from detlint.commands.terminal import clear_errors


@click.command()
def server() -> None:
    """Serve an editor by the language server protocol."""
    try:
        from detlint.plugins.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        click.echo('detlint: the server needs pygls: pip install "pygls>=2"', err=True)
        raise SystemExit(2) from None
    with clear_errors():
        serve()

"""`detlint cache`: the command that manages the cache of a project."""

from __future__ import annotations

from pathlib import Path

import click

from detlint import config
from detlint.cache.store import Store
from detlint.commands.terminal import clear_errors
from detlint.support.printed import one_line


@click.group()
def cache() -> None:
    """Manage the cache of a project."""


@cache.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
def clean(path: Path) -> None:
    """Remove the cache of the project that a file or folder belongs to."""
    with clear_errors():
        folder = config.of_run([path]).cache_dir
        removed = folder is not None and Store(folder).remove()
        click.echo(f"removed {one_line(str(folder))}" if removed else "there is no cache")

"""`detlint runtime`: the functions that fixes insert, as one file."""

from __future__ import annotations

from pathlib import Path

import click

from detlint.commands.terminal import clear_errors
from detlint.config import ConfigError
from detlint.editing.vendoring import FILE, is_foreign, whole_text
from detlint.support.printed import one_line


@click.command()
@click.option("--write", "path", type=click.Path(path_type=Path), metavar="PATH", help="write them to a file or folder")
def runtime(path: Path | None) -> None:
    """Print or write the functions that fixes insert."""
    with clear_errors():
        if path is None:
            click.echo(whole_text(), nl=False)
            return
        file = path / FILE if path.is_dir() else path
        if is_foreign(file):
            raise ConfigError(
                f"{file} was not written by detlint and stays as it is; name another file or folder with --write"
            )
        _write(file)
        click.echo(f"written: {one_line(str(file))}")


def _write(file: Path) -> None:
    from detlint.applying.writing import put

    try:
        put(file, whole_text().encode())
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror}); name another with --write") from error

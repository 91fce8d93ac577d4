"""What commands share: what they were given, what they print, and how they fail."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from detlint import catalogue
from detlint.config import ConfigError

if TYPE_CHECKING:
    from detlint.gathering import Progress


def split(values: tuple[str, ...]) -> tuple[str, ...]:
    """The values of an option that may be given many times, and hold several with commas between them."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn what a user can mend into one line and exit status 2."""
    try:
        yield
    except (ConfigError, catalogue.CatalogueError, OSError) as error:
        click.echo(f"detlint: {error}", err=True)
        raise SystemExit(2) from None


def nothing_there(files: int, paths: tuple[Path, ...]) -> tuple[str, ...]:
    """What is said of a run that found no files to read."""
    return () if files else (f"no Python files under {', '.join(map(str, paths))}",)


def complaints(lines: Iterable[str]) -> str:
    """Sentences for the person who started a run, as they are printed."""
    return "".join(f"detlint: {line}\n" for line in lines)


def write(text: str, output: Path | None) -> None:
    """Print a text, or write it to the file that was asked for."""
    if output is not None:
        output.write_text(text, encoding="utf-8")
    else:
        click.echo(text, nl=False, color=True)  # what is coloured was meant to be


def in_color(stream: TextIO) -> bool:
    """Whether to write in colours: on a terminal or with `FORCE_COLOR`, but never with `NO_COLOR` (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def show_page(markdown: str) -> None:
    """Print a page: set for a terminal where it goes to one, else as it is written."""
    if not sys.stdout.isatty():
        click.echo(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not in_color(sys.stdout)).print(Markdown(markdown))


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A progress bar on a terminal, once a run proves long."""
    if not sys.stderr.isatty():
        yield None
        return
    with ExitStack() as shown:
        shows: list[Progress] = []

        def advance(done: int, total: int) -> None:
            if total >= 100 and not shows:
                shows.append(_shown(shown))
            for show in shows:
                show(done, total)

        yield advance


def _shown(until: ExitStack) -> Progress:
    """A bar that is shown. It has a thread: processes that are copies of this one have to be started before."""
    from rich import progress
    from rich.console import Console

    columns = (*progress.Progress.get_default_columns(), progress.MofNCompleteColumn())
    bar = until.enter_context(progress.Progress(*columns, console=Console(stderr=True), transient=True))
    task = bar.add_task("Analysing", total=None)
    return lambda done, total: bar.update(task, completed=done, total=total)

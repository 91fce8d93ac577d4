"""What commands share: reading options, printing, and failing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from detlint import catalogue
from detlint.commands import failing
from detlint.config import ConfigError
from detlint.support.printed import one_line

if TYPE_CHECKING:
    from detlint.gathering import Progress


def split(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of an option that may be given several times, each with commas between values."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


class OneOf(click.Choice):  # type: ignore[type-arg]  # which has none before click 8.2
    """A choice of words that suggests the nearest one for a word that is not among them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word. Raises BadParameter."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = catalogue.nearest(str(value), map(str, self.choices))
            raise click.BadParameter(f"{error.message.rstrip('.')}{meant}", ctx, param) from None


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn every error into one line and exit status 2, those that a user can mend as well as detlint's own."""
    try:
        yield
    except BrokenPipeError:
        raise SystemExit(failing.leave_pipe()) from None
    except (ConfigError, catalogue.CatalogueError, OSError) as error:
        raise SystemExit(failing.complain(failing.reason(error))) from None
    except KeyboardInterrupt:
        raise SystemExit(failing.complain("interrupted")) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except ModuleNotFoundError as error:
        raise SystemExit(failing.missing(error)) from None
    except Exception as error:
        raise SystemExit(failing.defect(error)) from None


def is_terminal() -> bool:
    """Return whether output goes to a terminal. A program may be started without any stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def nothing_there(files: int, paths: tuple[Path, ...]) -> tuple[str, ...]:
    """Return the message for a run that found no files to read."""
    return () if files else (f"no Python files under {', '.join(map(str, paths))}",)


def complaints(lines: Iterable[str]) -> str:
    """Return sentences for the person who started a run, as they are printed."""
    return "".join(f"detlint: {one_line(line)}\n" for line in lines)


def write(text: str, output: Path | None) -> None:
    """Print a text, or write it to the file that was asked for."""
    if output is None:
        click.echo(text, nl=False, color=True)  # colours in the text are meant to be there
    else:
        write_bytes(text.encode("utf-8"), output)


def write_bytes(content: bytes, output: Path | None) -> None:
    """Write bytes as `write` does a text. Raises ConfigError if the file cannot be written."""
    if output is None:
        click.echo(content, nl=False)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"{output} cannot be written ({error.strerror}); name another file with --output") from error


def in_color() -> bool:
    """Return whether to print colours: on a terminal or with `FORCE_COLOR`, never with `NO_COLOR` (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal() and os.environ.get("TERM") != "dumb")


def show_page(markdown: str) -> None:
    """Print a page: formatted on a terminal, as it is written elsewhere."""
    if is_terminal():
        with suppress(ModuleNotFoundError):
            from rich.console import Console
            from rich.markdown import Markdown

            Console(no_color=not in_color()).print(Markdown(markdown))
            return
    click.echo(markdown)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress | None]:
    """Show a progress bar on a terminal if a run proves long, unless `quiet`."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
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
    """Show a progress bar if rich is installed.

    The bar has a thread, so processes that are copies of this one must be started before.
    """
    try:
        from rich import progress
        from rich.console import Console
    except ModuleNotFoundError:
        return lambda done, total: None

    columns = (*progress.Progress.get_default_columns(), progress.MofNCompleteColumn())
    bar = until.enter_context(progress.Progress(*columns, console=Console(stderr=True), transient=True))
    task = bar.add_task("Analysing", total=None)
    return lambda done, total: bar.update(task, completed=done, total=total)

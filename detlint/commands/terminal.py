"""What commands share: what they were given, what they print, and how they fail."""

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
    """The values of an option that may be given many times, and hold several with commas between them."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


class OneOf(click.Choice):  # type: ignore[type-arg]  # which has none before click 8.2
    """A word of several, where one that is none of them is told which it may be meant for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word. Raises BadParameter."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = catalogue.nearest(str(value), map(str, self.choices))
            raise click.BadParameter(f"{error.message.rstrip('.')}{meant}", ctx, param) from None


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn whatever goes wrong into one line and exit status 2: what a user can mend, and what is detlint's own."""
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
    """Whether what is printed goes to a terminal. A program may be started without any stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def nothing_there(files: int, paths: tuple[Path, ...]) -> tuple[str, ...]:
    """What is said of a run that found no files to read."""
    return () if files else (f"no Python files under {', '.join(map(str, paths))}",)


def complaints(lines: Iterable[str]) -> str:
    """Sentences for the person who started a run, as they are printed."""
    return "".join(f"detlint: {one_line(line)}\n" for line in lines)


def write(text: str, output: Path | None) -> None:
    """Print a text, or write it to the file that was asked for."""
    if output is None:
        click.echo(text, nl=False, color=True)  # what is coloured is meant to be
    else:
        write_bytes(text.encode("utf-8"), output)


def write_bytes(content: bytes, output: Path | None) -> None:
    """As `write`, where the bytes matter. Raises ConfigError where the file cannot be written."""
    if output is None:
        click.echo(content, nl=False)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"{output} cannot be written ({error.strerror}); name another file with --output") from error


def in_color() -> bool:
    """Whether to print in colours: on a terminal or with `FORCE_COLOR`, but never with `NO_COLOR` (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal() and os.environ.get("TERM") != "dumb")


def show_page(markdown: str) -> None:
    """Print a page: set for a terminal where it goes to one, else as it is written."""
    if is_terminal():
        with suppress(ModuleNotFoundError):
            from rich.console import Console
            from rich.markdown import Markdown

            Console(no_color=not in_color()).print(Markdown(markdown))
            return
    click.echo(markdown)


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Progress | None]:
    """A progress bar on a terminal, once a run proves long, unless it is to be `quiet`."""
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
    """A bar that is shown, if rich is there.

    It has a thread: processes that are copies of this one have to be started before.
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

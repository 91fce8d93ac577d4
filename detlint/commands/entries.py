"""`detlint entries`: where programs start, and what they seed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import click

from detlint import catalogue, config
from detlint.commands.terminal import (
    OneOf,
    clear_errors,
    complaints,
    in_color,
    is_terminal,
    nothing_there,
    progress_bar,
    split,
    write,
)
from detlint.config import Config


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="all columns, what is in order, and what draws nothing")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="leave these files and folders out")
@click.option("--respect-gitignore", is_flag=True, hidden=True)
@click.option("--no-respect-gitignore", is_flag=True, help="read what git ignores, too")
@click.option("--torch-version", metavar="V", help="judge by this PyTorch [the one the project requires]")
@click.option("--config", "file", type=click.Path(path_type=Path), metavar="FILE", help="take settings from this file")
@click.option("--isolated", is_flag=True, help="read no file of settings")
@click.option(
    "--format", "format_", type=OneOf(("text", "json")), default="text", metavar="NAME", help="text, json [text]"
)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="write it to this file")
@click.option("--jobs", type=click.IntRange(min=0), metavar="N", default=0, help="processes [one a core]")
@click.option("--no-cache", is_flag=True, help="neither use nor keep what runs find")
def entries(
    paths: tuple[Path, ...],
    everything: bool,
    exclude: tuple[str, ...],
    respect_gitignore: bool,
    no_respect_gitignore: bool,
    torch_version: str | None,
    file: Path | None,
    isolated: bool,
    format_: str,
    output: Path | None,
    jobs: int,
    no_cache: bool,
) -> None:
    """Show where programs start, and what each one seeds and draws.

    Exit status: 0, or 2 if the run itself failed. `detlint help entries` says more.
    """
    paths = paths or (Path(),)
    with clear_errors():
        settings = config.of_run(paths, file, isolated)
        cache_dir = None if no_cache else settings.cache_dir
        settings = replace(
            settings,
            exclude=settings.exclude + split(exclude),
            respect_gitignore=(settings.respect_gitignore or respect_gitignore) and not no_respect_gitignore,
            cache_dir=cache_dir,
        )
        _show_entries(paths, settings, torch_version, jobs, format_, output, everything)


def _show_entries(
    paths: tuple[Path, ...],
    settings: Config,
    torch_version: str | None,
    jobs: int,
    format_: str,
    output: Path | None,
    everything: bool,
) -> None:
    from detlint import engine

    torch = config.target_torch(torch_version or settings.torch_version, settings.root, catalogue.load())
    with progress_bar() as progress:
        programs = engine.entries_of(paths, settings, torch, jobs, progress)
    click.echo(complaints(nothing_there(programs.files, paths)), err=True, nl=False)
    if format_ == "json":
        from detlint.output import entries_json

        text = entries_json.render(programs) + "\n"
    else:
        from detlint.output import entries_text

        click.echo(complaints(programs.errors), err=True, nl=False)
        terminal = output is None and is_terminal()
        width = shutil.get_terminal_size().columns if terminal else None
        color = output is None and in_color()
        text = entries_text.render(programs, color, width, everything)
    write(text, output)

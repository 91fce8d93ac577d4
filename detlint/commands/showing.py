"""`detlint check --show-files` and `--show-settings`: the files and settings of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from detlint import catalogue
from detlint.commands.choosing import Chosen, file_of
from detlint.commands.options import Options
from detlint.commands.terminal import complaints, nothing_there, write
from detlint.config import Config
from detlint.support.printed import one_line


def show_files(chosen: Chosen, options: Options) -> None:
    """Print the files of a run, one per line, as findings name them."""
    from detlint.listing import listed

    sources, around = listed(chosen.paths, replace(chosen.settings, context=()))
    notes = () if options.quiet else (*around.notes, *nothing_there(len(sources), chosen.paths))
    click.echo(complaints((*around.errors, *notes)), err=True, nl=False)
    write("".join(f"{one_line(item.path)}\n" for item in sources), options.output)


def show_settings(chosen: Chosen, options: Options) -> None:
    """Print the settings of a run as a detlint.toml file has them, and where they come from."""
    write("".join(f"{line}\n" for line in _lines(chosen, options)), options.output)


def _lines(chosen: Chosen, options: Options) -> Iterator[str]:
    settings, file = chosen.settings, file_of(chosen, options)
    rules = sorted(catalogue.load().choose(settings.select, settings.ignore))
    yield f"# settings: {'none' if file is None else one_line(str(file.absolute()))}"
    yield f"# project: {one_line(str(settings.root.absolute()))}"
    yield f"# PyTorch: {chosen.torch}"
    yield f"# rules: {', '.join(rules) or 'none'}"
    for key, value in _values(settings).items():
        yield f"{key} = {_toml(value)}"
    yield "[per-file-ignores]"
    for pattern, selectors in settings.per_file_ignores.items():
        yield f"{_toml(pattern)} = {_toml(selectors)}"


def _values(settings: Config) -> dict[str, object]:
    """Return the settings by key, without tables and without what is not set."""
    values = {
        "select": settings.select or (catalogue.DEFAULT,),
        "ignore": settings.ignore,
        "exclude": settings.exclude,
        "respect-gitignore": settings.respect_gitignore,
        "severity": settings.severity.value,
        "breaks": settings.breaks or catalogue.PROMISES,
        "torch-version": settings.torch_version,
        "runtime": settings.runtime,
        "baseline": settings.baseline,
        "cache-dir": settings.cache_dir,
    }
    return {key: value for key, value in values.items() if value not in ("", None)}


def _toml(value: object) -> str:
    """Return a value in TOML, which equals JSON for strings, lists of strings and booleans."""
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)

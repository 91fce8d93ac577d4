"""The files of a run, and their surroundings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from detlint.analyse import Source
from detlint.config import Config, is_installable, outermost, requirements
from detlint.documents.documents import Content, OnDisk, none
from detlint.editing.placement import is_vendored
from detlint.report import Report
from detlint.sources import source
from detlint.sources.console_scripts import Command, commands
from detlint.support.records import record


@record(frozen=True)
class Around:
    """What is known of a project besides the files of a run: its console scripts, files that were not analysed, whether
    fixes give it a copy of the runtime, how they do (the setting `runtime`), whether pip installs it, whether the run
    has the whole of it, and whether it has all but what is excluded or outside its folder. `documents` gives the
    contents of configuration files; `errors` and `notes` say which folders were not read.
    """

    commands: tuple[Command, ...] = ()
    unread: frozenset[str] = frozenset()
    vendored: bool = True
    runtime: str = "auto"
    installable: bool = False
    whole: bool = False
    complete: bool = False
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    documents: Content = none


ALONE = Around()


@record(frozen=True)
class Buffer:
    """A file whose content is given instead of read from the disk; there need be no such file."""

    path: Path
    content: bytes

    def is_at(self, path: Path) -> bool:
        """Return whether the file is the one at a path, in any form of the path."""
        place = source.places()
        return place(path) == place(self.path)


def listed(paths: Sequence[Path], config: Config, given: Buffer | None = None) -> tuple[list[Source], Around]:
    """Return the Python files under `paths` and in their context, sorted by path, and what is around them.

    The `given` file is among them, with its content.
    """
    read = roots(paths, config)
    skipped = source.Skipped()
    files = list(source.discover(read, config.exclude, skipped, config.respect_gitignore))
    name = source.module_names(cache(source.is_file))
    items = [Source(path.as_posix(), name(path)) for path in files]
    if given is not None:
        there = next((path for path in files if given.is_at(path)), given.path)
        others = [item for item in items if item.path != there.as_posix()]
        items = [*others, Source(there.as_posix(), name(there), given.content)]
    sources = sorted(items, key=lambda item: item.path)
    unread = source.neighbours(files)
    vendored = is_vendored(config.runtime, requirements(config.root))
    beyond = frozenset(unread.difference(item.path for item in sources))
    asked = [path.resolve() for path in read]
    complete = any(config.root.resolve().is_relative_to(path) for path in asked)
    whole = not config.exclude and any(outermost(config.root).is_relative_to(path) for path in asked)
    errors, notes = _told(skipped, asked)
    whole = whole and not errors and not skipped.ignored
    installed = commands(config.root, [item.path for item in sources])
    folders = (path if path.is_dir() else path.parent for path in read)
    documents = OnDisk.of((config.root, *folders))
    installable = is_installable(config.root)
    return sources, Around(
        installed, beyond, vendored, config.runtime, installable, whole, complete, errors, notes, documents
    )


def _told(skipped: source.Skipped, read: Sequence[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the messages on folders that were not read: errors, and a note on links that lead out of what is read."""
    errors = tuple(sorted({f"{error.filename}: not read: {error.strerror or error}" for error in skipped.errors}))
    links = [link for link in skipped.links if not any(link.resolve().is_relative_to(path) for path in read)]
    named = ", ".join(sorted({link.as_posix() for link in links}))
    return errors, (f"linked folders are not read unless they are named: {named}",) if links else ()


def with_folders(report: Report, around: Around) -> Report:
    """Return a report with the messages on folders that were not read added."""
    return replace(report, errors=(*report.errors, *around.errors), notes=(*report.notes, *around.notes))


def roots(paths: Sequence[Path], config: Config) -> list[Path]:
    """Return the files and folders that a run reads: the context, and the paths that are not below it.

    Files find each other by their paths. So if these have several forms they all get one: relative to the working
    folder if all are in it, else absolute.
    """
    read = [*config.context, *(path for path in paths if not _is_below(path, config.context))]
    if len(read) == 1 or all(map(Path.is_absolute, read)) or not any(map(_leads_out, read)):
        return read
    whole, here = [Path(os.path.abspath(path)) for path in read], Path.cwd()  # noqa: PTH100 - removes `..`
    return [path.relative_to(here) for path in whole] if all(each.is_relative_to(here) for each in whole) else whole


def _leads_out(path: Path) -> bool:
    return path.is_absolute() or ".." in path.parts


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    """Return whether a path is one of these folders or below one. What they exclude stays out, even if it is named."""
    real = Path(os.path.realpath(path) if path.is_dir() else source.places()(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)

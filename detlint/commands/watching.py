"""`detlint check --watch`: the run again, whenever a file that it looked at has changed.

What a run looks at is known, down to the configuration files that programs read, since that decides whether a run may
be replayed. So the stamps of these files are compared twice a second, which needs no library and works on every disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click

from detlint.cache.remembered import names, stamp
from detlint.cache.snapshot import Snapshot
from detlint.catalogue import CatalogueError
from detlint.commands import failing
from detlint.commands.choosing import Chosen, choose
from detlint.commands.options import Options
from detlint.commands.terminal import complaints
from detlint.config import ConfigError

_PERIOD = 0.5  # seconds between two looks
_SETTINGS = ("detlint.toml", "pyproject.toml")
Run = Callable[[Chosen, Options], tuple[int, Mapping[str, str]]]


class Watched:
    """What a run looks at: the stamps of files, and the names in folders, by path."""

    def __init__(self, files: Mapping[str, str], folders: Mapping[str, str]) -> None:
        self._files, self._folders = dict(files), dict(folders)

    @classmethod
    def of(cls, options: Options, chosen: Chosen | None) -> Watched:
        """Return what a run with these options looks at; without settings, the places where these may be."""
        places = [*options.context, *(options.paths or (Path(),))]
        beside = [path for path in (options.file, options.baseline, *options.evidence) if path is not None]
        beside += [
            above / name
            for path in places
            for above in (path.absolute(), *path.absolute().parents)
            for name in _SETTINGS
        ]
        files = {str(path): stamp(str(path)) for path in beside}
        if chosen is None:
            return cls(files | {str(path): stamp(str(path)) for path in places}, {})
        roots = (*chosen.settings.context, *chosen.paths)
        seen = Snapshot(roots, chosen.settings, Path(), time.time_ns())
        return cls(files | seen.files, seen.folders)

    def add(self, path: str) -> None:
        """Look at one more file from now on."""
        self._files.setdefault(path, stamp(path))

    def has_changed(self) -> bool:
        """Return whether anything has changed."""
        return any(stamp(path) != known for path, known in self._files.items()) or any(
            names(path) != known for path, known in self._folders.items()
        )


def watch(options: Options, chosen: Chosen, run: Run) -> None:
    """Run, wait for a change, and repeat until the user interrupts.

    An error in a settings file is printed, and the loop waits for the file to change.
    """
    asked: Chosen | None = chosen
    with suppress(KeyboardInterrupt):
        while True:
            if options.output is None:
                click.clear()  # does nothing except on a terminal
            watched = Watched.of(options, asked)
            try:
                asked = asked or choose(options)
                watched = Watched.of(options, asked)
                for path in run(asked, options)[1]:
                    watched.add(path)
            except SystemExit:  # a file that could not be written was reported
                pass
            except BrokenPipeError:
                raise
            except (ConfigError, CatalogueError, OSError) as error:
                failing.complain(failing.reason(error))
            if not options.quiet:
                now = f"{datetime.now():%H:%M:%S}"
                click.echo(complaints([f"{now} waiting for changes; Ctrl-C ends"]), err=True, nl=False)
            while not watched.has_changed():
                time.sleep(_PERIOD)
            asked = None

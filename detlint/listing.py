"""The files of a run, and what is around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from detlint import source
from detlint.analyse import Source
from detlint.config import Config, requirements
from detlint.console_scripts import console_scripts
from detlint.placement import is_vendored


@dataclass(frozen=True)
class Around:
    """What is known of a project beside the files of a run: its console scripts, files that were not analysed, whether
    fixes give it a copy of the runtime, and whether the run has the whole of it.
    """

    commands: tuple[tuple[str, str], ...] = ()
    unread: frozenset[str] = frozenset()
    vendored: bool = True
    whole: bool = False


ALONE = Around()


def listed(paths: Sequence[Path], config: Config) -> tuple[list[Source], Around]:
    """The Python files under `paths` and in their context, sorted by path, and what is around them."""
    read = (*config.context, *(path for path in paths if not _is_below(path, config.context)))
    files = list(source.discover(read, config.exclude))
    sources = sorted((Source(p.as_posix(), source.module_name(p)) for p in files), key=lambda item: item.path)
    folders = {path.parent: path for path in files}
    unread = {near.as_posix() for path in folders.values() for near in source.neighbours(path)}
    vendored = is_vendored(config.runtime, requirements(config.root))
    beyond = frozenset(unread.difference(item.path for item in sources))
    root = config.root.resolve()
    whole = not config.exclude and any(root.is_relative_to(path.resolve()) for path in read)
    return sources, Around(tuple(console_scripts(config.root)), beyond, vendored, whole)


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a path is one of these folders or below one. What is excluded there stays out, even if it is named."""
    return any(path.absolute().is_relative_to(folder.absolute()) for folder in folders)

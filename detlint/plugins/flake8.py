"""The rules as a plugin of flake8.

flake8 chooses what is shown: all rules run, those that are off by default are on its list of what is ignored by
default, and `# noqa` and `per-file-ignores` are its own. The other settings of detlint apply here too. A file is judged
with its project if a run of detlint over the project has filled its cache, else by itself.
"""

from __future__ import annotations

import ast
import atexit
import gc
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from detlint import __version__

if TYPE_CHECKING:
    from flake8.options.manager import OptionManager

    from detlint.config import Config
    from detlint.workspace import Workspace

Violation = tuple[int, int, str, type]


class Plugin:
    """The checker of one file, as flake8 calls it."""

    name = "detlint"
    version = __version__
    _torch = ""
    _project = True
    _stdin = ""

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        """Create the checker. `tree` tells flake8 that the plugin needs files that parse; `lines` is the text."""
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Add the options, and put the rules that are off by default on flake8's list."""
        from detlint import catalogue

        manager.add_option(
            "--detlint-torch-version",
            metavar="V",
            default="",
            parse_from_config=True,
            help="The PyTorch version to judge by (default: that of detlint's settings, else the project's)",
        )
        manager.add_option(
            "--detlint-project",
            choices=("auto", "never"),
            default="auto",
            parse_from_config=True,
            help="Answer for a file as its whole project does, once `detlint` was run over that, or by itself",
        )
        rules = catalogue.load().rules.values()
        manager.extend_default_ignore([rule.code for rule in rules if not rule.default])

    @classmethod
    def parse_options(cls, options: Namespace) -> None:
        """Take the values of the options; a new run begins, whose files may differ from those of the one before."""
        _settings.cache_clear()
        _workspace.cache_clear()
        atexit.register(_end)
        cls._torch = options.detlint_torch_version
        cls._project = options.detlint_project == "auto"
        cls._stdin = options.stdin_display_name if "-" in options.filenames else ""

    def run(self) -> Iterator[Violation]:
        """Yield line, column from 0, text and checker of each finding. Raises what flake8 reports as one line."""
        from flake8.exceptions import ExecutionError

        from detlint.catalogue import CatalogueError
        from detlint.config import ConfigError

        try:
            with _undisturbed():
                found = list(self._findings())
            for place, code, message in found:
                yield place[0], place[1] - 1, f"{code} {message}", type(self)
        except (ConfigError, CatalogueError) as error:
            raise ExecutionError(f"detlint: {error}") from None

    def _findings(self) -> Iterator[tuple[tuple[int, int], str, str]]:
        workspace = _workspace(_settings(_folder(Path(self._filename))).root, self._torch)
        if workspace.excludes(self._filename):
            return
        text = "".join(self._lines) if self._filename == self._stdin else None  # else the file on disk is read
        if self._project and workspace.is_whole():
            workspace.update(self._filename, text)
            findings = workspace.findings(self._filename)
        else:
            findings = workspace.alone(self._filename, text)
        from detlint.support.printed import one_line

        for judged in findings:
            place = judged.finding.place
            yield (place.line, place.column), judged.rule.code, one_line(judged.finding.message)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Switch the garbage collector off, also while modules are imported."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _end() -> None:
    """Release the projects, and keep the garbage collector from searching all that is left at the end."""
    _workspace.cache_clear()
    gc.freeze()


def _folder(path: Path) -> Path:
    """Return the nearest existing folder of a file, which need not exist."""
    return next(folder for folder in path.absolute().parents if folder.is_dir())


@cache
def _settings(folder: Path) -> Config:
    from detlint import config

    return config.for_paths([folder])


@cache
def _workspace(root: Path, torch: str) -> Workspace:
    """Return a project, which this process keeps for all of its files."""
    from detlint import catalogue, config
    from detlint.workspace import Workspace

    settings = replace(_settings(root), select=("ALL",), ignore=(), noqa=False)
    version = config.target_torch(torch or settings.torch_version, settings.root, catalogue.load())
    return Workspace(settings, version)

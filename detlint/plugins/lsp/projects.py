"""The projects that open files belong to."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from detlint import catalogue, config
from detlint.analyse import UNPARSED, undisturbed
from detlint.catalogue import CatalogueError
from detlint.config import Config, ConfigError
from detlint.editing.placement import Placement, is_vendored
from detlint.finding import Finding
from detlint.fixing import settings_of
from detlint.gathering import Progress
from detlint.plugins.lsp.actions import Bench
from detlint.plugins.lsp.documents import Opened, is_file
from detlint.plugins.lsp.options import Options
from detlint.report import Judged
from detlint.sources import source
from detlint.workspace import Workspace

_WRONG = (ConfigError, CatalogueError, OSError)  # with the settings of a project, or its folder
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Home:
    """The project of some open files, with their texts by path; for a file in no project, that file alone."""

    workspace: Workspace
    alone: bool
    texts: dict[str, str] = field(default_factory=dict)

    def take(self, texts: Mapping[str, str]) -> None:
        """Pass the texts of its open files to the project."""
        if not self.alone and any(
            Path(path).exists() for path in texts.keys() - self.texts.keys() - self.workspace.paths
        ):
            self.workspace.refresh()
        for path in self.texts.keys() - texts.keys():
            self.workspace.update(path, None)
        for path, text in texts.items():
            if self.texts.get(path) != text:
                self.workspace.update(path, text)
        self.texts = dict(texts)

    def found(self, path: str) -> Sequence[Judged]:
        """Return the findings in an open file: none if it is excluded, and only the syntax error if it is broken."""
        if self._is_excluded(path):
            return ()
        found = self.workspace.alone(path, self.texts[path]) if self.alone else self.workspace.findings(path)
        return self.shown(path, found)

    def shown(self, path: str, found: Sequence[Judged]) -> Sequence[Judged]:
        """Return those of these findings in an open file that are shown."""
        if self._is_excluded(path):
            return ()
        broken = [judged for judged in found if judged.finding.code == UNPARSED and judged.finding.place.cell is None]
        return broken or found

    def _is_excluded(self, path: str) -> bool:
        if self.alone:
            return "site-packages" in Path(path).parts
        known = path.endswith((".py", ".ipynb")) and Path(path).exists()
        return known and path not in self.workspace.paths


class Projects:
    """All projects of a session. Not safe for use by several threads at once."""

    def __init__(self) -> None:
        self.options = Options()
        self.halted = threading.Event()  # while set, `found` raises HaltedError where it has to link a project
        self.folders: Sequence[Path] = ()
        self.problems: tuple[str, ...] = ()
        self._opened: Mapping[str, Opened] = {}
        self._homes: dict[Path, _Home] = {}
        self._of: dict[str, _Home] = {}

    def take(self, opened: Mapping[str, Opened]) -> int:
        """Pass on what is open; return how many files must be analysed before all projects can answer.

        Then `problems` says what is wrong with their settings.
        """
        self._opened = opened
        self._of = {}
        problems: dict[str, None] = {}
        for path in opened:
            try:
                self._of[path] = self._home(path)
            except _WRONG as error:
                problems[str(error)] = None
        self.problems = tuple(problems)
        self._homes = {root: home for root, home in self._homes.items() if not home.alone or home in self._of.values()}
        for home in self._homes.values():
            home.take({path: opened[path].text for path, own in self._of.items() if own is home})
        return sum(home.workspace.missing() for home in self._in_use())

    def load(self, progress: Progress) -> None:
        """Analyse the files that must be, with a process for each core."""
        for home in self._in_use():
            home.workspace.load(0, progress)

    def found(self) -> dict[str, Sequence[Judged]]:
        """Return the findings in each open file. A project whose analysis fails has none, and is logged."""
        found: dict[str, Sequence[Judged]] = {}
        for path, home in self._of.items():
            try:
                found[path] = home.found(path)
            except _WRONG as error:
                self.problems += (str(error),)
            except Exception:
                _log.exception("%s: its analysis failed", path)
        return found

    def standing(self) -> dict[str, Sequence[Judged]]:
        """Return the findings known so far in open files of the projects that must be linked again for `found`."""
        found: dict[str, Sequence[Judged]] = {}
        for home in self._in_use():
            try:
                report = home.workspace.standing()
            except _WRONG:
                continue  # `found` reports what is wrong
            except Exception:
                _log.exception("%s: its analysis failed", home.workspace.config.root)
                continue
            for path, own in self._of.items():
                if report is not None and own is home:
                    found[path] = home.shown(
                        path, [each for each in report.findings if each.finding.place.path == path]
                    )
        return found

    def refresh(self) -> None:
        """Look for what changed on disk. Projects that cannot be read now are recreated once they can be."""
        for root, home in list(self._homes.items()):
            try:
                if not home.alone:
                    home.workspace.refresh()
            except _WRONG:
                del self._homes[root]  # `take` reports what is wrong

    def read(self, path: str) -> str:
        """Return the text of a file, as it is open or as it is on disk. Raises UnreadableError."""
        opened = self._opened.get(path)
        return source.read(Path(path)) if opened is None else opened.text

    @contextmanager
    def bench(self, path: str) -> Iterator[Bench]:
        """Yield the tools with which an open file's fixes are made. Raises KeyError for a file without a project."""
        home = self._of[path]
        workspace = home.workspace
        before = dict(home.texts)

        def check(texts: Mapping[str, str]) -> Iterable[Finding]:
            home.take({**before, **texts})
            return [judged.finding for judged in home.found(path)]

        vendored = is_vendored(workspace.config.runtime, config.requirements(workspace.config.root))
        members = {path} if home.alone else {path, *workspace.paths}
        placement = Placement(vendored, {each: source.module_name(Path(each)) for each in members}, self.read)
        settings = settings_of(workspace.config, self.options.unsafe_fixes)
        try:
            with undisturbed():
                yield Bench(check, self.read, placement.copies, settings)
        finally:
            home.take(before)

    def _in_use(self) -> list[_Home]:
        return [home for home in self._homes.values() if not home.alone and home.texts]

    def _home(self, path: str) -> _Home:
        """Return the project of a file, created anew if its settings have changed."""
        known = self._settings(path)
        alone = known is None
        root = Path(path) if known is None else known.root.absolute()
        settings = self.options.over(Config(root=Path(path).parent) if known is None else known)
        torch = config.target_torch(settings.torch_version, settings.root, catalogue.load())
        home = self._homes.get(root)
        if home is None or (home.workspace.config, home.workspace.torch) != (settings, torch):
            home = self._homes[root] = _Home(Workspace(settings, torch), alone)
            home.workspace.halted = self.halted
        return home

    def _settings(self, path: str) -> Config | None:
        """Return the settings of the project that a file is in, or None if it is in none: a home folder under version
        control is not taken for a project.
        """
        folder = Path(path).absolute().parent
        if not is_file(path) or not folder.is_dir():
            return None
        settings = config.for_paths([folder])
        root = settings.root.absolute()
        if root != Path.home() and (config.is_root(root) or config.find(folder) is not None):
            return settings
        around = [each for each in self.folders if each in folder.parents or each == folder]
        return Config(root=max(around, key=lambda each: len(each.parts))) if around else None

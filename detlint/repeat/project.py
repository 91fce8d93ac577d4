"""What the static analysis finds in the copy, and fixes applied to its texts one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from detlint import bisecting, catalogue, engine
from detlint.analyse import Models, Source, undisturbed
from detlint.applying import fixer
from detlint.applying.writing import Files
from detlint.bisect.records import Line
from detlint.config import Config, ConfigError
from detlint.editing.placement import Placement
from detlint.finding import Finding
from detlint.fixing import settings_of
from detlint.listing import Around, listed
from detlint.registered import registered
from detlint.repeat.tree import Tree
from detlint.report import Judged
from detlint.semantics.model import Module


class Project:
    """The texts of the copy as they are now."""

    def __init__(self, tree: Tree, files: Sequence[Path]) -> None:
        """`files` are those that the program has loaded, with its script first."""
        whole = tree.folder if bisecting.few_files(tree.folder) else None
        self._tree = tree
        self._paths = [whole] if whole is not None else [path for path in files if path.is_file()]

    @cached_property
    def _settled(self) -> tuple[Config, Version]:
        return bisecting.everything(self._paths)

    @cached_property
    def findings(self) -> tuple[Judged, ...]:
        """All findings of the static analysis; empty if the configuration is invalid."""
        try:
            config, torch = self._settled
            return engine.check_paths(self._paths, config, torch).findings if self._paths else ()
        except ConfigError:
            return ()

    def module(self, line: Line) -> Module | None:
        """Return the model of the file that contains a line; None if the file is outside the copy or cannot be read."""
        path = Path(line.path).resolve()
        if not path.is_relative_to(self._tree.folder.resolve()):
            return None
        return self._models(self._known.get(str(path), ""))

    @cached_property
    def _models(self) -> Models:
        return Models({source.path: source for source in self._listed[0]}, self._settled[1])

    @cached_property
    def _listed(self) -> tuple[list[Source], Around]:
        return listed(self._paths, self._settled[0])

    @cached_property
    def _known(self) -> Mapping[str, str]:
        return {str(Path(source.path).resolve()): source.path for source in self._listed[0]}

    @cached_property
    def _placement(self) -> Placement:
        sources, around = self._listed
        names = {source.path: source.name for source in sources}
        return Placement(around.vendored, names, Files().read, around.installable)

    def applied(self, findings: Sequence[Finding]) -> dict[str, bytes] | None:
        """Return the contents of all changed files of the copy, by path from its root, with the fixes also applied.

        Return None if one of the fixes cannot be applied.
        """
        files, (config, _) = Files(), self._settled
        with registered(config.registered), undisturbed():
            placed = [replace(each, fix=each.fix and self._placement.placed(each.fix)) for each in findings]
            made = fixer.apply(placed, files.read, settings_of(config, unsafe=True))
            texts = {**made.texts, **self._placement.copies(made.imports)}
        if len(made.fixed) < len(findings):
            return None
        contents = dict(self._tree.texts)
        for path, text in texts.items():
            old = files.read(path) if Path(path).exists() else None
            contents[self._tree.path_of(path)] = files.contents(fixer.Change(path, old, text))[1]
        return contents


def rules(select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """Return the codes of the rules whose fixes may be made. Raises CatalogueError."""
    return catalogue.load().choose(select, ignore)

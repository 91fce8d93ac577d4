"""Findings judged by the settings and by the comments of their files: shown, withheld, or dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from detlint.analyse import UNPARSED
from detlint.catalogue import Catalogue, Rule
from detlint.config import Config
from detlint.finding import Finding, Place
from detlint.report import Judged, Suppressed
from detlint.sources.suppressions import INLINE, Coverage, Suppression, Suppressions

CONFIG = "config"
_Key = tuple[Place, str, str]


class Judgement:
    """The judgement of the findings of a run."""

    def __init__(self, catalogue: Catalogue, config: Config, suppressions: Mapping[str, Suppressions]) -> None:
        """`suppressions` are those of the files, by path."""
        self._catalogue = catalogue
        self._config = config
        self._suppressions = suppressions
        self._coverages: dict[str, Coverage] = {}
        self._shown: dict[_Key, Judged] = {}
        self._withheld: dict[_Key, Suppressed] = {}
        self.used: set[Suppression] = set()  # those that cover a finding

    def cover(self, finding: Finding) -> list[Suppression]:
        """Return the comments that cover a finding, the narrowest first."""
        path = finding.place.path
        if path not in self._coverages:
            self._coverages[path] = Coverage(self._suppressions[path])
        found = self._coverages[path](finding.code, finding.place)
        covering = [each for each in found if self._counts(each)]
        self.used.update(covering)
        return covering

    def add(self, judged: Judged) -> None:
        """Judge a finding that stands."""
        finding = judged.finding
        covering = self.cover(finding)
        if judged.severity.rank > self._config.severity.rank or not self._asked_for(judged.rule):
            return
        key = (finding.place, finding.code, finding.message)
        if covering:
            narrowest = covering[0]
            self._withheld[key] = Suppressed(judged, narrowest.kind, narrowest.comment.place, narrowest.reason)
        elif self._ignored(finding):
            self._withheld[key] = Suppressed(judged, CONFIG)
        else:
            self._shown[key] = judged

    def heeded(self) -> Iterator[tuple[str, list[Suppression]]]:
        """Yield the path of each file with its suppressions that count."""
        for path, suppressions in self._suppressions.items():
            yield path, [each for each in suppressions.all if self._counts(each)]

    def shown(self) -> tuple[Judged, ...]:
        """Return the findings that are shown, sorted."""
        return tuple(self._shown[key] for key in sorted(self._shown))

    def withheld(self) -> tuple[Suppressed, ...]:
        """Return the findings that are suppressed, sorted."""
        return tuple(self._withheld[key] for key in sorted(self._withheld))

    def _counts(self, each: Suppression) -> bool:
        return self._config.comments and (self._config.noqa or each.kind != INLINE)

    def _asked_for(self, rule: Rule) -> bool:
        """Return whether a rule is about one of the promises that are asked for; a broken file always counts."""
        promises = self._config.breaks
        return not promises or rule.code == UNPARSED or not set(promises).isdisjoint(rule.breaks)

    def _ignored(self, finding: Finding) -> bool:
        """Return whether the settings ignore a rule in the finding's file."""
        if not self._config.per_file_ignores:
            return False
        path = Path(finding.place.path)
        absolute = path.absolute().as_posix()
        relative = absolute.removeprefix(self._config.root.absolute().as_posix() + "/")
        return any(
            finding.code in self._catalogue.matching(selector)
            for pattern, selectors in self._config.per_file_ignores.items()
            if fnmatch(relative, pattern) or fnmatch(path.name, pattern)
            for selector in selectors
        )

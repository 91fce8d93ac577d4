"""Findings recorded in a file: they are known, and not shown."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED
from detlint.config import Config, ConfigError
from detlint.report import Judged, Report, Suppressed
from detlint.review.fingerprints import Texts, fingerprints
from detlint.review.run import Run
from detlint.sources.source import is_discovered

VERSION = 1


@dataclass(frozen=True, order=True)
class Entry:
    """A known finding: its file from the folder of the baseline, its code, and what its lines are known by.

    `message` is for those who read the file.
    """

    path: str
    code: str
    fingerprint: str
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is told by."""
        return self.path, self.code, self.fingerprint


@dataclass(frozen=True)
class Baseline:
    """A filter that leaves out what a baseline has. `file` is where that is from."""

    file: Path
    entries: tuple[Entry, ...]
    config: Config

    @classmethod
    def read(cls, file: Path, config: Config) -> Baseline:
        """The baseline in a file. Raises ConfigError."""
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise ConfigError(f"{file} was written by another version of detlint; delete it and write it again")
            entries = tuple(Entry(**{key: str(value) for key, value in each.items()}) for each in content["findings"])
        except FileNotFoundError:
            raise ConfigError(f"{file} does not exist; `--write-baseline` writes a baseline") from None
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}: {error.msg}"
            raise ConfigError(f"{file} is no baseline ({where}); mend it, or delete it and write it again") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ConfigError(f"{file} is no baseline (its form is wrong); delete it and write it again") from None
        return cls(file, entries, config)

    def __call__(self, report: Report, run: Run) -> Report:
        """The report without what the baseline has; a note tells of its entries that no longer occur."""
        found = _entries(report.findings, run.texts, self.file)
        names = self._renamed(found)
        known = {entry.key for entry in self.entries}
        left_out = [replace(entry, path=names.get(entry.path, entry.path)).key in known for entry in found]
        suppressed = [Suppressed(j, "baseline") for j, out in zip(report.findings, left_out, strict=True) if out]
        everything = [*report.suppressed, *suppressed]
        everything.sort(key=lambda s: (s.judged.finding.place, s.judged.finding.code, s.judged.finding.message))
        return replace(
            report,
            findings=tuple(j for j, out in zip(report.findings, left_out, strict=True) if not out),
            suppressed=tuple(everything),
            notes=(*report.notes, *self._notes(len(suppressed), run)),
        )

    def _notes(self, count: int, run: Run) -> Iterator[str]:
        """What to tell of `count` findings that are left out, and of entries without one, if all had a chance."""
        if count:
            findings, are = ("finding", "is") if count == 1 else ("findings", "are")
            yield f"{count} {findings} of {self.file} {are} not shown"
        gone = len(self.entries) - count
        if gone > 0 and not _unasked(self, run):
            entries, occur, them = ("entry", "occurs", "it") if gone == 1 else ("entries", "occur", "them")
            yield f"{gone} {entries} of {self.file} no longer {occur}; `--write-baseline` takes {them} out"

    def _renamed(self, found: Iterable[Entry]) -> dict[str, str]:
        """The names that files have in the baseline, of those that are gone under these and seem to be here now.

        A file is known again where it has kept its name or has half of the findings, and two at least.
        """
        gone: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for entry in self.entries:
            if not (self.file.parent / entry.path).is_file():
                gone[entry.path].add((entry.code, entry.fingerprint))
        named = {entry.path for entry in self.entries}
        alike: Counter[tuple[str, str]] = Counter()
        owners = defaultdict(list)
        for path, keys in gone.items():
            for key in keys:
                owners[key].append(path)
        for entry in found:
            if entry.path not in named:
                alike.update((entry.path, path) for path in owners[entry.code, entry.fingerprint])
        names: dict[str, str] = {}
        for (new, old), count in sorted(alike.items(), key=lambda pair: (-pair[1], pair[0])):
            same_name = PurePosixPath(new).name == PurePosixPath(old).name
            known = same_name or (count > 1 and 2 * count >= len(gone[old]))
            if known and new not in names and old not in names.values():
                names[new] = old
        return names


def write(file: Path, report: Report, run: Run, config: Config) -> None:
    """Record the findings of a report in a file.

    What the file has already of files that were not read, or of rules that were not asked for, is kept. Raises
    ConfigError.
    """
    found = {entry.key: entry for entry in (_unasked(Baseline.read(file, config), run) if file.exists() else [])}
    found |= {entry.key: entry for entry in _entries(report.findings, run.texts, file)}
    entries = sorted(found.values())
    rows = ",\n".join(json.dumps(vars(entry), ensure_ascii=False) for entry in entries)
    text = f'{{"version": {VERSION}, "findings": [\n{rows}\n]}}\n'
    from detlint.applying.writing import put  # which imports what fixes need

    try:
        put(file, text.encode("utf-8", "backslashreplace"))  # as JSON escapes what no UTF-8 can hold
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror or error}); it is as it was") from error


def _entries(findings: Sequence[Judged], texts: Texts, file: Path) -> list[Entry]:
    """What findings are in a baseline."""
    by_path: dict[str, list[int]] = defaultdict(list)
    for index, judged in enumerate(findings):
        by_path[judged.finding.place.path].append(index)
    known: dict[int, str] = {}
    for path, indices in by_path.items():
        found = [findings[index].finding for index in indices]
        known.update(zip(indices, fingerprints(found, texts, {path: ""}), strict=True))
    return [
        Entry(_from(file, judged.finding.place.path), judged.finding.code, known[index], judged.finding.message)
        for index, judged in enumerate(findings)
    ]


def _from(file: Path, path: str) -> str:
    """A path from the folder of a baseline."""
    folder, name = os.path.split(path)
    return Path(os.path.relpath(os.path.realpath(folder), os.path.realpath(file.parent)), name).as_posix()


def _unasked(baseline: Baseline, run: Run) -> list[Entry]:
    """The entries that a run might not find though they are there: of files that it did not read, of other rules, and,
    where it has a part of the project, of those that ask for all of it.
    """
    file, config, catalogue = baseline.file, baseline.config, catalogues.load()
    read = {_from(file, item.path) for item in run.sources}
    asked = catalogue.choose(config.select, config.ignore) | {UNPARSED}
    hidden = {
        code
        for code, rule in catalogue.rules.items()
        if code not in asked
        or rule.least.rank > config.severity.rank
        or not rule.speaks_of(config.breaks)
        or not (run.around.complete or rule.over == "file" or code == UNPARSED)
    }

    def is_elsewhere(path: Path) -> bool:
        ours = path.suffix not in (".py", ".ipynb") or is_discovered(
            path, file.parent, config.exclude, config.respect_gitignore
        )
        return ours and path.is_file()

    return [
        entry
        for entry in baseline.entries
        if entry.code in hidden or (entry.path not in read and is_elsewhere(file.parent / entry.path))
    ]

"""Findings recorded in a file: they are known and not shown."""

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
    """A known finding: its file, relative to the folder of the baseline, its code and its fingerprint.

    `message` is for those who read the file.
    """

    path: str
    code: str
    fingerprint: str
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the entry."""
        return self.path, self.code, self.fingerprint


@dataclass(frozen=True)
class Baseline:
    """A filter that leaves out the findings of a baseline. `file` is where the baseline was read from."""

    file: Path
    entries: tuple[Entry, ...]
    config: Config

    @classmethod
    def read(cls, file: Path, config: Config) -> Baseline:
        """Return the baseline in a file. Raises ConfigError."""
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
        """Return the report without what the baseline has; a note names the number of entries that no longer occur."""
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
        """Yield notes on `count` findings that are left out, and on entries that the run could find but did not."""
        if count:
            findings, are = ("finding", "is") if count == 1 else ("findings", "are")
            yield f"{count} {findings} of {self.file} {are} not shown"
        gone = len(self.entries) - count
        if gone > 0 and not _unasked(self, run):
            entries, occur, them = ("entry", "occurs", "it") if gone == 1 else ("entries", "occur", "them")
            yield f"{gone} {entries} of {self.file} no longer {occur}; `--write-baseline` takes {them} out"

    def _renamed(self, found: Iterable[Entry]) -> dict[str, str]:
        """Return, by new path, the old path in the baseline of files that seem to be renamed.

        The old file must be gone, and the new one must have kept its name, or have half of the findings and at least
        two.
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

    Entries that the file already has for files that were not read, or for rules that were not asked for, are kept.
    Raises ConfigError.
    """
    found = {entry.key: entry for entry in (_unasked(Baseline.read(file, config), run) if file.exists() else [])}
    found |= {entry.key: entry for entry in _entries(report.findings, run.texts, file)}
    entries = sorted(found.values())
    rows = ",\n".join(json.dumps(vars(entry), ensure_ascii=False) for entry in entries)
    text = f'{{"version": {VERSION}, "findings": [\n{rows}\n]}}\n'
    from detlint.applying.writing import put  # it imports what fixes need

    try:
        put(file, text.encode("utf-8", "backslashreplace"))  # characters that UTF-8 cannot encode become JSON escapes
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror or error}); it is as it was") from error


def _entries(findings: Sequence[Judged], texts: Texts, file: Path) -> list[Entry]:
    """Return the entries of findings in a baseline."""
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
    """Return a path relative to the folder of a baseline."""
    folder, name = os.path.split(path)
    return Path(os.path.relpath(os.path.realpath(folder), os.path.realpath(file.parent)), name).as_posix()


def _unasked(baseline: Baseline, run: Run) -> list[Entry]:
    """Return the entries that a run might miss though they still apply.

    These are those of files that it did not read, of rules that it did not ask for and, where it has only a part of the
    project, of rules that need all of it.
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

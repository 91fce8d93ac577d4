"""Two states of some files compared line by line: git pairs the files and aligns the lines, as reviewers see them."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from detlint.config import ConfigError
from detlint.finding import Place
from detlint.review.git import program
from detlint.sources import notebook
from detlint.sources.source import UnreadableError, decode, lines_of
from detlint.support.records import record

_DIFF = (
    *("--no-pager", "diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--no-prefix"),
    *("--text", "--find-renames", "--unified=0", "old", "new"),
)
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_RENAMED = re.compile(rb"rename from old/(\d+)/")
_NUMBERED = re.compile(rb"diff --git (?:old|new)/\d+/\S* (?:old|new)/(\d+)/")
_CELL = "# %%"
Line = tuple[int | None, int]  # a cell and a line number in it


@record(frozen=True)
class Lines:
    """The lines of a file, and where each one is: those of a notebook are the lines of its code cells."""

    texts: tuple[str, ...]
    places: tuple[Line | None, ...]


def lines(path: str, content: bytes | str) -> Lines:
    """Return the lines of a file to compare; a notebook that cannot be read is compared like any other file."""
    try:
        text = (decode(content) if isinstance(content, bytes) else content).removeprefix("\ufeff")
        cells = notebook.texts(path, text)
    except UnreadableError:
        text = content.decode("latin-1") if isinstance(content, bytes) else content
        cells = {None: text}
    texts: list[str] = []
    places: list[Line | None] = []
    for cell, text in cells.items():
        if cell is not None:
            texts.append(_CELL)
            places.append(None)
        found = lines_of(text)
        texts += found
        places += ((cell, number) for number in range(1, len(found) + 1))
    return Lines(tuple(texts), tuple(places))


@record(frozen=True)
class Alignment:
    """Where a file and its lines come from: its old path and, for each line, its origin, None if the change touched it.

    A file without an old path is new.
    """

    path: str | None
    origins: Mapping[Line, tuple[int, Line] | None]

    def before(self, place: Place) -> Place | None:
        """Return where a place was before the change; None if the change touched a line in it or removed one."""
        if self.path is None:
            return None
        spanned = [self.origins.get((place.cell, number)) for number in range(place.line, place.end_line + 1)]
        found = [each for each in spanned if each is not None]
        if len(found) < len(spanned) or found[-1][0] - found[0][0] != len(found) - 1:
            return None
        cell, line = found[0][1]
        return Place(self.path, line, place.column, found[-1][1][1], place.end_column, cell)


def align(old: Mapping[str, Lines], new: Mapping[str, Lines]) -> dict[str, Alignment]:
    """Return the alignment of each file of `new`, by path; a file may be found in `old` under another name.

    Raises ConfigError where git cannot be run.
    """
    found: dict[str, Alignment] = {}
    both = sorted(old.keys() | new.keys())
    parts = _parts(_compared(both, old, new))
    for number, path in enumerate(both):
        if path in new:
            source, hunks = parts.get(number, (None, ()))
            before = both[source] if source is not None else path if path in old else None
            origins = _origins(old[before], new[path], hunks) if before is not None else {}
            found[path] = Alignment(before, origins)
    return found


def _compared(paths: Iterable[str], old: Mapping[str, Lines], new: Mapping[str, Lines]) -> bytes:
    """Return git's patch between two folders of texts, each text in a folder named by the number of its path.

    They are outside any repository, so that only git's own settings count.
    """
    with tempfile.TemporaryDirectory(prefix="detlint-") as name:
        here = Path(name)
        for side, texts in (("old", old), ("new", new)):
            (here / side).mkdir()
            for number, path in enumerate(paths):
                if path in texts:
                    file = here / side / str(number) / re.sub(r"[^\w.-]", "_", PurePath(path).name, flags=re.ASCII)
                    file.parent.mkdir()
                    text = "".join(f"{line}\n" for line in texts[path].texts)
                    file.write_bytes(text.encode("utf-8", "surrogatepass"))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        environment |= dict.fromkeys(("HOME", "XDG_CONFIG_HOME"), name)
        environment |= dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"), "1")
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CEILING_DIRECTORIES": str(here.parent), "LC_ALL": "C"}
        done = subprocess.run([program(), *_DIFF], input=b"", capture_output=True, env=environment, cwd=here)
    if done.returncode not in (0, 1):
        raise ConfigError(f"git cannot tell what changed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


Hunk = tuple[int, int, int, int]  # first line and number of lines, old and new


def _parts(patch: bytes) -> dict[int, tuple[int | None, list[Hunk]]]:
    """Return the files of a patch by number: the number of the old name of each that has one, and its hunks."""
    parts: dict[int, tuple[int | None, list[Hunk]]] = {}
    number, skipped = -1, 0
    for line in patch.split(b"\n"):
        if skipped:
            skipped -= not line.startswith(b"\\")
        elif head := _NUMBERED.match(line):
            number = int(head[1])
            parts[number] = (None, [])
        elif renamed := _RENAMED.match(line):
            parts[number] = (int(renamed[1]), parts[number][1])
        elif at := _HUNK.match(line):
            hunk = int(at[1]), int(at[2] or 1), int(at[3]), int(at[4] or 1)
            parts[number][1].append(hunk)
            skipped = hunk[1] + hunk[3]
    return parts


def _origins(old: Lines, new: Lines, hunks: Iterable[Hunk]) -> dict[Line, tuple[int, Line] | None]:
    found: dict[Line, tuple[int, Line] | None] = {}
    for place, before in zip(new.places, _untouched(len(new.texts), hunks), strict=True):
        if place is not None:
            there = None if before is None else old.places[before]
            found[place] = None if before is None or there is None else (before, there)
    return found


def _untouched(count: int, hunks: Iterable[Hunk]) -> Iterator[int | None]:
    """Yield, for each of `count` new lines, the number of the old line that it is, from 0, or None if it is new."""
    line = shift = 0
    for _, removed, first, added in (*hunks, (0, 0, count + 1, 0)):
        start = first - 1 if added else first  # after the line that it names if nothing was added
        start = min(start, count)
        while line < start:
            yield line + shift
            line += 1
        for _ in range(added):
            yield None
            line += 1
        shift += removed - added

"""A run that was made before, repeated while everything that it looked at is unchanged.

What `detlint check` prints follows from its arguments, from detlint itself, and from the files and folders that it
looks at. A run keeps these in a file in the cache's folder, with what it printed. The same command finds the file by
its arguments, compares the stamps of the files and the names in the folders, and is done: nothing is read, parsed or
linked, and no module of detlint but this one is imported.

For each file, a record holds the inode and the time of the last change, which nobody chooses: a record that came with a
project fits no copy of it.
"""

from __future__ import annotations

import os
import stat
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress

FOLDER = ".detlint_cache"
SUFFIXES = (".py", ".ipynb", ".gitignore")  # of the files whose appearance or removal counts
UNIMPORTABLE = frozenset(  # folders that no run enters and no import can name
    """.detlint_cache .git .hg .ipynb_checkpoints .mypy_cache .pytest_cache .ruff_cache .svn .tox .venv .vscode
    __pycache__""".split()
)
_NO_CACHE = "DETLINT_NO_CACHE"
COMPLETING = "_DETLINT_COMPLETE"  # set when a shell asks for completions
_ASKED = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLORTERM")  # what a terminal's colours depend on
_MAGIC = b"detlint run 1\n"
_PREFIX = "run-"
_SECONDS = '"seconds": '
GONE = "-"
BEGINS = "//.git"  # ends the names in a folder where a repository begins
_LONGEST = 64 * 2**20  # bytes of a record
_MOST = 16  # records in a folder


class Said:
    """The output of a run: on stdout, on stderr, and its exit status.

    With `timed`, its JSON has the number of seconds that it took; a repeated run puts in its own.
    """

    def __init__(self, out: str, err: str, status: int, timed: bool = False) -> None:
        self.out, self.err, self.status, self.timed = out, err, status, timed

    def after(self, seconds: float) -> str:
        """Return what a run that took this many seconds prints on stdout."""
        if not self.timed:
            return self.out
        before, mark, number = self.out.rpartition(_SECONDS)
        return f"{before}{mark}{round(seconds, 3)}{number.lstrip('0123456789.e-')}"


def say_again(arguments: Sequence[str]) -> int | None:
    """Print what the same run printed and return its exit status; None if none is known or something has changed."""
    begun = time.monotonic()
    said = recall(arguments)
    if said is None:
        return None
    try:
        print(said.err, end="", file=sys.stderr, flush=True)
        sys.stdout.write(said.after(time.monotonic() - begun))
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"detlint: {error.strerror or error}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that nothing fails when the program ends
        return 2
    return said.status


def recall(arguments: Sequence[str]) -> Said | None:
    """Return the output of a run with these arguments, if nothing has changed since; otherwise None."""
    if os.environ.get(_NO_CACHE) or os.environ.get(COMPLETING) or sys.stdout is None:
        return None
    try:
        folder = folder_of(arguments)
        if folder is None:
            return None
        key = _key(arguments)
        parts = _read(_file(folder, key))
        if not parts or parts[0] != key:
            return None
        _, files, folders, status, out, err, timed = parts
        said = Said(out, err, int(status), bool(timed))
    except (OSError, ValueError):
        return None
    same = all(stamp(path) == known for path, known in _pairs(files))
    return said if same and all(names(path) == known for path, known in _pairs(folders)) else None


def keep(arguments: Sequence[str], files: dict[str, str], folders: dict[str, str], said: Said) -> None:
    """Keep the output of a run, with the stamps of files and the names in folders that it looked at.

    If that cannot be written, it is not kept.
    """
    if sys.stdout is None:
        return
    folder, key = folder_of(arguments), _key(arguments)
    parts = [key, _lines(files), _lines(folders), str(said.status), said.out, said.err, "timed" if said.timed else ""]
    if folder is None or [_count(part) for part in parts[1:3]] != [len(files), len(folders)]:
        return  # there are names with tabs or newlines
    with suppress(OSError, ValueError):
        _write(_file(folder, key), parts)
        _make_room(folder)


def folder_of(arguments: Sequence[str]) -> str | None:
    """Return the nearest cache folder above the first argument that is a file or folder; None if there is none."""
    start = next((each for each in arguments if not each.startswith("-") and os.path.exists(each)), ".")
    place = os.path.abspath(start)
    while True:
        found = os.path.join(place, FOLDER)
        if os.path.isdir(found):
            return None if os.path.islink(found) else found  # a link may lead to what is not ours to write
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above


def stamp(path: str) -> str:
    """Return what changes with a file: times, size and inode; `GONE` if there is no file."""
    try:
        return stamped(os.stat(path))
    except (OSError, ValueError):
        return GONE


def stamped(status: os.stat_result) -> str:
    """Return the stamp of a file with this status."""
    return f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}:{status.st_ino}"


def names(path: str) -> str:
    """Return the names of the files and folders in a folder that count, as one text; `GONE` if it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return listing(entries)[2]
    except OSError:
        return GONE


def listing(entries: Iterator[os.DirEntry[str]]) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]], str]:
    """Return the files and the folders that count among the entries of a folder, and their names as one text."""
    files, folders, begins = [], [], ""
    for entry in entries:
        try:
            is_folder = entry.is_dir()
        except OSError:  # links that lead to each other
            is_folder = False
        if entry.name == ".git":  # another repository begins, with its own ignore patterns
            begins = BEGINS
        elif is_folder:
            if entry.name not in UNIMPORTABLE:
                folders.append(entry)
        elif entry.name.endswith(SUFFIXES):
            files.append(entry)
    text = "/".join(sorted([entry.name for entry in files]))
    return files, folders, f"{text}//{'/'.join(sorted([entry.name for entry in folders]))}{begins}"


def _lines(known: dict[str, str]) -> str:
    return "\n".join([f"{path}\t{each}" for path, each in known.items()])


def _count(lines: str) -> int:
    """Return how many lines there are; -1 if one does not have two parts."""
    count = lines.count("\n") + 1
    return count if lines.count("\t") == count else -1


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        path, _, known = line.partition("\t")
        yield path, known


def _key(arguments: Sequence[str]) -> str:
    """Return what a run depends on besides files: its arguments, the folder and Python it runs in, where it writes."""
    terminal = sys.stdout.isatty(), *[os.environ.get(name) for name in _ASKED]
    program = sys.version, sys.executable, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return repr((list(arguments), os.getcwd(), terminal, sys.stdout.encoding, program))


def _file(folder: str, key: str) -> str:
    return os.path.join(folder, f"{_PREFIX}{zlib.crc32(key.encode('utf-8', 'backslashreplace')):08x}")


def _read(path: str) -> list[str] | None:
    """Return the parts of a record; None if it is damaged or something else. Raises OSError and ValueError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LONGEST:
            return None
        content = file.read()
    sum_, _, rest = content.removeprefix(_MAGIC).partition(b"\n")
    if not content.startswith(_MAGIC) or int(sum_, 16) != zlib.crc32(rest):
        return None
    sizes, _, rest = rest.partition(b"\n")
    parts = []
    for size in map(int, sizes.split()):
        parts.append(rest[:size].decode("utf-8", "surrogateescape"))
        rest = rest[size:]
    return parts


def _write(path: str, parts: Sequence[str]) -> None:
    content = [part.encode("utf-8", "surrogateescape") for part in parts]
    rest = b" ".join(b"%d" % len(part) for part in content) + b"\n" + b"".join(content)
    if len(rest) > _LONGEST:
        return
    new = f"{path}.{os.getpid()}"
    try:
        with open(new, "xb") as file:
            file.write(b"%s%08x\n" % (_MAGIC, zlib.crc32(rest)) + rest)
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise


def _make_room(folder: str) -> None:
    """Remove the oldest records, if there are more than 16."""
    for path in sorted(records(folder), key=os.path.getmtime)[:-_MOST]:
        os.unlink(path)


def records(folder: str) -> list[str]:
    """Return the paths of the records in a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.name.startswith(_PREFIX) and entry.is_file()]
    return []

"""Bytes by key, and what is known of files by path, in one SQLite file that many processes may share.

The file lies in a project, so it may be damaged, locked, or made by somebody else. Apart from `remove`, nothing here
raises: what cannot be read is missing, and what cannot be kept is not. Only its own two plain tables are ever read.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from detlint.cache.remembered import records

T = TypeVar("T")
FILE = "cache.db"
LIMIT = 200 * 2**20  # bytes of values
_MARKS = {
    ".gitignore": "*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of detlint; it can be removed.\n",
}
_APPLICATION = 0x4445544C
_HEAD = 72  # bytes of a database's head, the last four its application id (https://sqlite.org/fileformat.html)
_SCHEMA = 3  # it also stands for the kind of digests that are kept
_TABLES = {
    "results": "CREATE TABLE results (key BLOB PRIMARY KEY, day INTEGER NOT NULL, value BLOB NOT NULL)",
    "files": "CREATE TABLE files (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, digest BLOB NOT NULL)",
}
_LONGEST = 64 * 2**20  # bytes of a value, unpacked
_MOST_FILES = 200_000
_PATIENCE = 10.0  # seconds to wait for another process that writes
_AT_ONCE = 500  # values in one statement


class Store:
    """A folder's store. It is opened when it is first used, and made when something is first kept."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        """Keep at most `limit` bytes; what has not been used for longest goes first."""
        self.path = folder / FILE
        self._limit = limit
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._closed = False

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values under those of the keys that have one."""
        today = _today()

        def look(connection: sqlite3.Connection) -> dict[bytes, bytes]:
            found, old = {}, []
            for some in _batches(keys):
                query = f"SELECT key, day, value FROM results WHERE key IN ({','.join('?' * len(some))})"
                for key, day, value in connection.execute(query, some):
                    content = _unpacked(key, value)
                    if content is not None:
                        found[bytes(key)] = content
                        old += [bytes(key)] if day != today else []
            if old:
                _write(connection, "UPDATE results SET day = ? WHERE key = ?", ((today, key) for key in old))
            return found

        return self._use(look, False) or {}

    def has(self, keys: Iterable[bytes]) -> set[bytes]:
        """Return those of the keys that have a value."""

        def look(connection: sqlite3.Connection) -> set[bytes]:
            found = set()
            for some in _batches(keys):
                query = f"SELECT key FROM results WHERE key IN ({','.join('?' * len(some))})"
                found |= {bytes(key) for (key,) in connection.execute(query, some)}
            return found

        return self._use(look, False) or set()

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values under their keys."""
        today = _today()
        rows = [(key, today, zlib.compress(key + value, 1)) for key, value in values.items()]

        def keep(connection: sqlite3.Connection) -> None:
            _write(connection, "INSERT OR REPLACE INTO results VALUES (?, ?, ?)", rows)
            self._make_room(connection)

        if rows:
            self._use(keep, True)

    def files(self) -> dict[str, tuple[str, bytes]]:
        """Return what is known of files, by path: a stamp and a digest."""

        def look(connection: sqlite3.Connection) -> dict[str, tuple[str, bytes]]:
            rows = connection.execute("SELECT path, stamp, digest FROM files LIMIT ?", (_MOST_FILES,))
            return {p: (s, d) for p, s, d in rows if (type(p), type(s), type(d)) == (str, str, bytes)}

        return self._use(look, False) or {}

    def put_files(self, files: Mapping[str, tuple[str, bytes]]) -> None:
        """Keep what is known of files."""

        def keep(connection: sqlite3.Connection) -> None:
            (count,) = connection.execute("SELECT count(*) FROM files").fetchone()
            if count > _MOST_FILES:
                connection.execute("DELETE FROM files")
            rows = ((path, *known) for path, known in files.items())
            _write(connection, "INSERT OR REPLACE INTO files VALUES (?, ?, ?)", rows)

        if files:
            self._use(keep, True)

    def __del__(self) -> None:
        if os is not None:  # module globals may be gone while Python exits
            self._disconnect()  # Python 3.13 warns of what is left open

    def close(self) -> None:
        """Close the file; nothing is found or kept from now on."""
        self._closed = True
        self._disconnect()

    def remove(self) -> bool:
        """Remove the file, and its folder if nothing else is in it; return whether there was one. Raises OSError."""
        self.close()
        if self.path.parent.is_symlink():
            return False
        there = self.path.is_file()
        for path in (self.path, self.path.with_name(f"{FILE}-journal"), *map(Path, records(str(self.path.parent)))):
            path.unlink(missing_ok=True)
        for name, text in _MARKS.items():
            mark = self.path.parent / name
            if mark.is_file() and mark.read_bytes() == text.encode():
                mark.unlink()
        with suppress(OSError):
            self.path.parent.rmdir()
        return there

    def _use(self, action: Callable[[sqlite3.Connection], T], make: bool) -> T | None:
        """Return the result of an action on the database; None if there is none, or it cannot be used now."""
        if self._closed:
            return None
        try:
            connection = self._connect(make)
            return None if connection is None else action(connection)
        except sqlite3.OperationalError:  # locked, full, read-only: leave it to others
            self.close()
        except (sqlite3.Error, OSError, OverflowError, UnicodeError, ValueError) as error:
            self.close()
            if isinstance(error, sqlite3.DatabaseError):
                with suppress(OSError):
                    if self._is_own():
                        self.path.unlink()  # damaged: the next process makes a new one
        return None

    def _connect(self, make: bool) -> sqlite3.Connection | None:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        if self.path.is_symlink() or self.path.parent.is_symlink() or not (self.path.is_file() or make):
            return None  # a link may lead to what is not ours to write; `cache-dir` can name another folder
        if make:
            _make_folder(self.path.parent)
        self._connection, self._process = None, os.getpid()  # the connection of a parent process stays open
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA synchronous = OFF")  # what a crash damages is made again
            usable = _is_ours(connection) or _prepare(connection)
        except BaseException:
            connection.close()
            raise
        if not usable:
            connection.close()
            return None
        self._connection = connection
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None

    def _is_own(self) -> bool:
        """Return whether the file is one of ours, by its head or by the marks of its folder."""
        with self.path.open("rb") as file:
            head = file.read(_HEAD)
        mark = self.path.parent / "CACHEDIR.TAG"
        marked = mark.is_file() and mark.read_bytes() == _MARKS["CACHEDIR.TAG"].encode()
        return marked or head[_HEAD - 4 :] == _APPLICATION.to_bytes(4, "big")

    def _make_room(self, connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        if count * size <= self._limit:
            return
        total, keys = 0, []
        for key, length in connection.execute("SELECT key, length(value) FROM results ORDER BY day DESC, rowid DESC"):
            total += length
            if total > self._limit // 2:
                keys.append((key,))
        _write(connection, "DELETE FROM results WHERE key = ?", keys)
        connection.execute("VACUUM")


def _make_folder(folder: Path) -> None:
    """Make the folder, marked as a cache for git and for backups; leave an existing one as it is."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    for name, text in _MARKS.items():
        (folder / name).write_text(text, encoding="ascii")


def _is_ours(connection: sqlite3.Connection) -> bool:
    """Return whether the database is of this version, with nothing in it but its tables."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return version == _SCHEMA and _application(connection) == _APPLICATION and dict(found) == _TABLES


def _prepare(connection: sqlite3.Connection) -> bool:
    """Make the tables in a new database; return whether it may be used. Raises DatabaseError for another version's."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if _is_ours(connection):  # another process was faster
            return True
        if count:
            if _application(connection) != _APPLICATION:
                return False  # somebody else's
            raise sqlite3.DatabaseError("its tables are others")
        for sql in _TABLES.values():
            connection.execute(sql)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_SCHEMA}")
        return True
    finally:
        connection.execute("COMMIT")


def _application(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    return int(found)


def _write(connection: sqlite3.Connection, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(sql, rows)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _unpacked(key: bytes, value: object) -> bytes | None:
    """Return a value as it was kept, without its key; None if it is damaged, or belongs to another key."""
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(value, _LONGEST)  # type: ignore[arg-type]
    except (zlib.error, TypeError):
        return None
    return content[len(key) :] if unpacking.eof and content.startswith(key) else None


def _batches(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(keys)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _today() -> int:
    return int(time.time()) // 86_400

"""The rows of the tables of facts, and the versions that they apply to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from packaging.version import Version

from detlint.releases import holds, includes
from detlint.rulebook import Content
from detlint.support.records import record


@record(frozen=True)
class Row:
    """A row of a table of facts: strings, and lists of strings."""

    id: str
    data: Mapping[str, Any]

    def text(self, key: str) -> str:
        """Return the string under `key`, or ""."""
        value = self.data.get(key, "")
        return value if isinstance(value, str) else ""

    def list(self, key: str) -> tuple[str, ...]:
        """Return the strings under `key`, or an empty tuple."""
        value = self.data.get(key, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def set(self, key: str) -> frozenset[str]:
        """Return the strings under `key` as a set, to look up names in."""
        return _as_set(self.list(key))

    def holds_for(self, torch: Version, key: str = "torch") -> bool:
        """Return whether the versions under `key` include `torch`; a row without the key applies to all."""
        return includes(self.text(key), torch)


@cache
def _as_set(strings: tuple[str, ...]) -> frozenset[str]:
    return frozenset(strings)


class Tables(Mapping[str, Mapping[str, tuple[Row, ...]]]):
    """The tables of each file, made on demand: few runs need all files."""

    def __init__(self, content: Content, releases: Mapping[str, str]) -> None:
        """`releases` are those that a project requires, by library: rows for other releases are left out."""
        self._content, self._releases = content, releases
        self._made: dict[str, Mapping[str, tuple[Row, ...]]] = {}

    def __getitem__(self, file: str) -> Mapping[str, tuple[Row, ...]]:
        if file not in self._made:
            tables = self._content.tables_of(file)
            self._made[file] = {
                table: tuple(
                    [_row(row) for row in rows if "release" not in row or holds(row["release"], self._releases)]
                )
                for table, rows in tables.items()
            }
        return self._made[file]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content.tables)

    def __len__(self) -> int:
        return len(self._content.tables)


def _row(data: Mapping[str, Any]) -> Row:
    return Row(data["id"], {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()})

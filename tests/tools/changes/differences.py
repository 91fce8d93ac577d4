"""What two records differ in."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from .records import Record, Row

LOST, GAINED, CHANGED = "lost", "gained", "changed"
_PLACE = tuple("path code cell line column kind function started_by".split())


@dataclass(frozen=True, order=True)
class Key:
    """What an item of a record is known by.

    `code` is that of a finding's rule, or says what else it is: an `entry` point, an `error` that a run told of, a run
    that `failed`, the count of `files`, a whole `record` or `program`. `name` tells apart what shares a place.
    """

    path: str
    code: str
    cell: int = -1  # in no notebook
    line: int = 0
    column: int = 0
    name: str = ""

    def __str__(self) -> str:
        cell = "" if self.cell < 0 else f":{self.cell}"
        place = f"{self.path}{cell}:{self.line}" + (f":{self.column}" if self.column else "")
        return " ".join(part for part in (place if self.line else self.path, self.name) if part)


@dataclass(frozen=True)
class Difference:
    """An item that is in one record alone, or not the same in both; `tests` are those that its program comes from."""

    repository: str
    kind: str
    key: Key
    old: Row = field(default_factory=dict)
    new: Row = field(default_factory=dict)
    tests: tuple[str, ...] = ()

    def told(self) -> str:
        """What is lost or gained, or what has changed in it, in words."""
        if self.kind != CHANGED:
            return _told(self.new if self.kind == GAINED else self.old)
        old, new = _leaves(self.old), _leaves(self.new)
        names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        return "; ".join(f"{name}: {old.get(name, 'nothing')} -> {new.get(name, 'nothing')}" for name in names)


def differences(old: Mapping[str, Record], new: Mapping[str, Record]) -> list[Difference]:
    """All that is lost, gained or changed from old records to new ones, by repository, code and place."""
    found: list[Difference] = []
    for repository in sorted({*old, *new}):
        if repository in old and repository in new:
            found += _of_repository(old[repository], new[repository])
        else:
            found.append(Difference(repository, GAINED if repository in new else LOST, Key("", "record")))
    return sorted(found, key=lambda each: (each.repository, each.key.code, each.key, each.kind))


def _of_repository(old: Record, new: Record) -> Iterator[Difference]:
    before, after = ({row.get("name", ""): row for row in record.asked} for record in (old, new))
    for name in sorted({*before, *after}):
        tests = tuple((after.get(name) or before[name]).get("tests", ()))
        if name in before and name in after:
            pairs = _pairs(_items(before[name], after[name]), _items(after[name], before[name]))
            for key, one, other in pairs:
                kind = LOST if other is None else GAINED if one is None else CHANGED
                yield Difference(old.repository, kind, key, one or {}, other or {}, tests)
        else:
            kind = GAINED if name in after else LOST
            yield Difference(old.repository, kind, Key(name, "program"), tests=tests)


def _items(row: Row, other: Row) -> Iterator[tuple[Key, Row]]:
    """The items of an answer. Where another one failed, there is nothing to compare it with."""
    base = f"{row['name']}/" if row.get("name") else ""
    for command, what in (("check", "findings"), ("entries", "entries")):
        answer = row[command]
        if "failed" in answer:
            yield Key(base, "failed", name=command), {"failed": answer["failed"]}
        elif "failed" not in other[command]:
            yield Key(base, "files", name=command), {"files": answer["files"]}
            yield from ((Key(f"{base}{error}", "error", name=command), {}) for error in answer["errors"])
            for each in answer[what]:
                yield _key(base, each), {name: value for name, value in each.items() if name not in _PLACE}


def _key(base: str, row: Row) -> Key:
    cell = -1 if row["cell"] is None else row["cell"]
    starter = row.get("started_by")
    by = starter and f"started by {starter['path']}:{starter['line']}"
    name = " ".join(str(part) for part in (row.get("kind"), row.get("function"), by) if part)
    return Key(f"{base}{row['path']}", row.get("code", "entry"), cell, row["line"], row.get("column", 0), name)


def _pairs(
    old: Iterator[tuple[Key, Row]], new: Iterator[tuple[Key, Row]]
) -> Iterator[tuple[Key, Row | None, Row | None]]:
    """What is not in both. Of items that share a key equal ones are left out, the others laid side by side."""
    before, after = _by_key(old), _by_key(new)
    for key in sorted({*before, *after}):
        sides = [sorted((one[key] - other[key]).elements()) for one, other in ((before, after), (after, before))]
        for one, other in zip_longest(*sides):
            yield key, json.loads(one or "null"), json.loads(other or "null")


def _by_key(items: Iterator[tuple[Key, Row]]) -> defaultdict[Key, Counter[str]]:
    found: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    for key, row in items:
        found[key][json.dumps(row, sort_keys=True)] += 1
    return found


def _told(row: Row) -> str:
    """What an item says: a finding, a failure, or the states of an entry point."""
    if "message" in row:
        return f"{row['severity']}: {row['message']}"
    if "generators" in row:
        return ", ".join(f"{name} {stream['state']}" for name, stream in row["generators"].items())
    return ", ".join(str(value) for value in row.values())


def _leaves(value: object, name: str = "") -> dict[str, str]:
    """The parts of a value by where they are in it; a list is one part."""
    if isinstance(value, dict):
        return {path: leaf for key in value for path, leaf in _leaves(value[key], f"{name}.{key}".lstrip(".")).items()}
    return {name: value if isinstance(value, str) else json.dumps(value)}

"""What a project says of libraries, in force while it is looked at: rows that its settings register in the tables of
facts, and the releases that it requires.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from detlint.rulebook import Content

Tables = dict[str, dict[str, list[dict[str, Any]]]]  # rows by file and table
NOTHING = ""
UNREAD = "<unread>"  # begins the names of what belongs to the project, but was not analysed
_IN_FORCE: ContextVar[str] = ContextVar("registered", default=NOTHING)
_REPLACED = {  # the tables whose rows do not speak any more of what is registered in one
    ("randomness", "seeder"): [("randomness", "seeder"), ("randomness", "entropy"), ("program", "role")],
    ("randomness", "consumer"): [("randomness", "consumer"), ("libraries", "draw")],
    ("libraries", "draw"): [("randomness", "consumer"), ("libraries", "draw")],
    ("order", "use"): [("order", "use"), ("order", "listing"), ("order", "completion")],
}
_OF_GENERATORS = ("randomness", "libraries")


def in_force() -> str:
    """What is registered where this is asked, in the words of `written`; "" for nothing."""
    return _IN_FORCE.get()


@contextmanager
def registered(rows: str) -> Iterator[None]:
    """Have the catalogue say what these rows do, in this thread."""
    token = _IN_FORCE.set(rows)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def written(tables: Tables, signatures: Mapping[str, str], releases: Mapping[str, str] | None = None) -> str:
    """Rows, signatures and required releases as one text, which processes and caches can be given."""
    return json.dumps([tables, signatures, releases or {}], sort_keys=True) if tables or releases else NOTHING


def with_releases(rows: str, releases: Mapping[str, str]) -> str:
    """The same rows in a project that requires these releases of libraries."""
    tables, signatures, _ = _read(rows)
    return written(tables, signatures, releases)


def releases(rows: str) -> Mapping[str, str]:
    """The specifiers of the releases that are required, by library."""
    return _read(rows)[2]


def _read(rows: str) -> tuple[Tables, dict[str, str], dict[str, str]]:
    tables, signatures, required = json.loads(rows) if rows else ({}, {}, {})
    return tables, signatures, required


def added(content: Content, rows: str) -> Content:
    """What is in `rules/`, with rows that go before those that speak of the same names."""
    own, signatures, _ = _read(rows)
    tables = {file: content.tables_of(file) for file in {file for file, _ in _replaced(own)}}
    for (file, table), names in _replaced(own).items():
        if table in tables[file]:
            tables[file][table] = [_without(row, names) for row in tables[file][table]]
    for file, by_table in own.items():
        for table, new in by_table.items():
            tables[file][table] = [*new, *tables[file][table]]
    if not own:
        return content
    texts = content.tables | {file: json.dumps(each) for file, each in tables.items()}
    return replace(content, tables=texts, signatures=json.dumps(content.all_signatures() | signatures))


def renamed(rows: str, canonical: Callable[[str], str]) -> str:
    """The same rows, speaking of things by their one name."""
    tables, signatures, required = _read(rows)
    for row in _rows(tables):
        row["names"] = [canonical(name) for name in row["names"]]
    return written(tables, {canonical(name): signature for name, signature in signatures.items()}, required)


def names(rows: str) -> frozenset[str]:
    """All names of which rows speak."""
    return frozenset(name for row in _rows(_read(rows)[0]) for name in row["names"])


def called(rows: str) -> frozenset[str]:
    """The names of which rows say what a call does to generators."""
    tables = _read(rows)[0]
    found = _rows({file: tables.get(file, {}) for file in _OF_GENERATORS})
    return frozenset(name for row in found if row.get("kind", "call") == "call" for name in row["names"])


def defined(files: Mapping[str, tuple[str, Collection[str]]], names: Iterable[str]) -> dict[tuple[str, str], str]:
    """What a project defines under these names: by the path of the file and by its name in there.

    `files` are, by path, the name of the module and the names in it, that of a method behind its class. A name begins
    with that of the module, or with what else the end of the file's path tells where only one file fits that.
    """
    found: dict[tuple[str, str], str] = {}
    for name in names:
        fitting = [(path, own) for path, (module, known) in files.items() for own in _own(path, module, known, name)]
        exact = [(path, own) for path, own in fitting if f"{files[path][0]}.{own}" == name]
        found |= dict.fromkeys(exact or (fitting if len(fitting) == 1 else ()), name)
    return found


def _own(path: str, module: str, known: Collection[str], name: str) -> Iterator[str]:
    """What a file defines that a name may be that of."""
    parts = name.split(".")
    place = f".{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
    for end in range(len(parts) - 1, 0, -1):
        prefix, own = ".".join(parts[:end]), ".".join(parts[end:])
        if (module == prefix or place.endswith(f".{prefix}")) and any(
            f"{each}.".startswith(f"{own}.") for each in known
        ):
            yield own


def offered(rows: str) -> dict[str, str]:
    """All names of which rows speak, by themselves and by those that packages around them may give them."""
    known = names(rows)
    return shortened(known) | {name: name for name in known}


def at_end(name: str, offered: Mapping[str, str]) -> str:
    """What is offered that the name of something which was not analysed ends in; that name for nothing."""
    parts = [part for part in name.split(".")[1:] if part != "__init__"]
    ends = (".".join(parts[start:]) for start in range(len(parts)))
    return next((offered[end] for end in ends if end in offered), name)


def shortened(names: Iterable[str]) -> dict[str, str]:
    """The names by which the packages around it may offer what has one of these, unless that may be several things."""
    found: dict[str, set[str]] = {}
    for name in names:
        parts = name.split(".")
        own = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
        for end in range(1, own):
            found.setdefault(".".join((*parts[:end], *parts[own:])), set()).add(name)
    return {short: meant.pop() for short, meant in found.items() if len(meant) == 1}


def _rows(tables: Tables) -> Iterator[dict[str, Any]]:
    return (row for by_table in tables.values() for rows in by_table.values() for row in rows)


def _replaced(own: Tables) -> dict[tuple[str, str], set[str]]:
    """The names that each table does not speak of any more."""
    found: dict[tuple[str, str], set[str]] = {}
    for file, by_table in own.items():
        for table, rows in by_table.items():
            for place in _REPLACED[file, table]:
                found.setdefault(place, set()).update(name for row in rows for name in row["names"])
    return found


def _without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    kept = [name for name in row.get("names", ()) if name not in names]
    return row if len(kept) == len(row.get("names", ())) else {**row, "names": kept}

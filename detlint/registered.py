"""What a project says about libraries, in force while the project is analysed.

It says this in the rows that its settings register in the tables of facts, and in the releases that it requires.
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
UNREAD = "<unread>"  # the prefix of names in the project that were not analysed
_IN_FORCE: ContextVar[str] = ContextVar("registered", default=NOTHING)
_REPLACED = {  # by table: those whose rows lose the names that are registered in it
    ("randomness", "seeder"): [("randomness", "seeder"), ("randomness", "entropy"), ("program", "role")],
    ("randomness", "consumer"): [("randomness", "consumer"), ("libraries", "draw")],
    ("libraries", "draw"): [("randomness", "consumer"), ("libraries", "draw")],
    ("order", "use"): [("order", "use"), ("order", "listing"), ("order", "completion")],
}
_OF_GENERATORS = ("randomness", "libraries")


def in_force() -> str:
    """Return what is registered in this context, in the form of `written`; "" for nothing."""
    return _IN_FORCE.get()


@contextmanager
def registered(rows: str) -> Iterator[None]:
    """Make the catalogue include these rows while the context lasts."""
    token = _IN_FORCE.set(rows)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


def written(tables: Tables, signatures: Mapping[str, str], releases: Mapping[str, str] | None = None) -> str:
    """Return rows, signatures and required releases as one text, which can be passed to processes and caches."""
    return json.dumps([tables, signatures, releases or {}], sort_keys=True) if tables or releases else NOTHING


def with_releases(rows: str, releases: Mapping[str, str]) -> str:
    """Return the same rows in a project that requires these releases of libraries."""
    tables, signatures, _ = _read(rows)
    return written(tables, signatures, releases)


def releases(rows: str) -> Mapping[str, str]:
    """Return the specifiers of the required releases, by library."""
    return _read(rows)[2]


def _read(rows: str) -> tuple[Tables, dict[str, str], dict[str, str]]:
    tables, signatures, required = json.loads(rows) if rows else ({}, {}, {})
    return tables, signatures, required


def added(content: Content, rows: str) -> Content:
    """Return the content of `rules/` with these rows ahead, in place of rows of the same names."""
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
    """Return the same rows with all names replaced by their canonical ones."""
    tables, signatures, required = _read(rows)
    for row in _rows(tables):
        row["names"] = [canonical(name) for name in row["names"]]
    return written(tables, {canonical(name): signature for name, signature in signatures.items()}, required)


def names(rows: str) -> frozenset[str]:
    """Return all names in the rows."""
    return frozenset(name for row in _rows(_read(rows)[0]) for name in row["names"])


def called(rows: str) -> frozenset[str]:
    """Return the names for which rows say what a call does to generators."""
    tables = _read(rows)[0]
    found = _rows({file: tables.get(file, {}) for file in _OF_GENERATORS})
    return frozenset(name for row in found if row.get("kind", "call") == "call" for name in row["names"])


def defined(files: Mapping[str, tuple[str, Collection[str]]], names: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the names that a project defines, by the path of the file and the name in that file.

    `files` maps each path to the name of the module and the names in it, a method with its class in front. A name
    begins with that of the module, or with another suffix of the file's path if only one file fits it.
    """
    found: dict[tuple[str, str], str] = {}
    for name in names:
        fitting = [(path, own) for path, (module, known) in files.items() for own in _own(path, module, known, name)]
        exact = [(path, own) for path, own in fitting if f"{files[path][0]}.{own}" == name]
        found |= dict.fromkeys(exact or (fitting if len(fitting) == 1 else ()), name)
    return found


def _own(path: str, module: str, known: Collection[str], name: str) -> Iterator[str]:
    """Yield the names in a file, relative to its module, that a name may refer to."""
    parts = name.split(".")
    place = f".{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
    for end in range(len(parts) - 1, 0, -1):
        prefix, own = ".".join(parts[:end]), ".".join(parts[end:])
        if (module == prefix or place.endswith(f".{prefix}")) and any(
            f"{each}.".startswith(f"{own}.") for each in known
        ):
            yield own


def offered(rows: str) -> dict[str, str]:
    """Return all names in the rows, by themselves and by the shorter names that enclosing packages may give them."""
    known = names(rows)
    return shortened(known) | {name: name for name in known}


def at_end(name: str, offered: Mapping[str, str]) -> str:
    """Return the full name for the longest end of an unanalysed name that is offered; that name itself if none is."""
    parts = [part for part in name.split(".")[1:] if part != "__init__"]
    ends = (".".join(parts[start:]) for start in range(len(parts)))
    return next((offered[end] for end in ends if end in offered), name)


def shortened(names: Iterable[str]) -> dict[str, str]:
    """Return the full name for each shorter name that enclosing packages may offer, unless that is ambiguous."""
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
    """Return the names that are to be removed from each table."""
    found: dict[tuple[str, str], set[str]] = {}
    for file, by_table in own.items():
        for table, rows in by_table.items():
            for place in _REPLACED[file, table]:
                found.setdefault(place, set()).update(name for row in rows for name in row["names"])
    return found


def _without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
    kept = [name for name in row.get("names", ()) if name not in names]
    return row if len(kept) == len(row.get("names", ())) else {**row, "names": kept}

"""The texts of `rules/` as plain data: parsed once, then kept as one JSON document that is read in their place.

A wheel brings the document along. A source tree makes it in the first run, with the digest of all that it was made
from, so that with every edit of `rules/` it is made again. Where it cannot be written, each run parses the texts.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from detlint.support import toml
from detlint.support.digests import digest
from detlint.support.records import record

FILE = Path(__file__).with_name("catalogue.json")
TABLES = ("facts", "libraries")  # of tables: by subject, and by library, where `[[FILE.TABLE]]` adds a row to a table
CHECKS = "checks"  # the folder of what the checks read, a file a rule
FOLDERS = (*TABLES, CHECKS)
_MARK = "+++\n"  # before and after the header of a page
_DAMAGED = (OSError, ValueError, LookupError, TypeError)  # what comes of a document that is not as it was written


@record(frozen=True)
class Content:
    """The headers of the pages by file name; by file the JSON of its tables, and that of all signatures.

    `released` are the libraries of some rows that speak of some releases alone.
    """

    headers: dict[str, dict[str, Any]]
    tables: dict[str, str]
    signatures: str
    released: list[str]

    def tables_of(self, file: str) -> dict[str, list[dict[str, Any]]]:
        """The rows of the tables of a file, by table. Raises KeyError where there is no such file."""
        found: dict[str, list[dict[str, Any]]] = json.loads(self.tables[file])
        return found

    def all_signatures(self) -> dict[str, str]:
        """The signatures by name."""
        found: dict[str, str] = json.loads(self.signatures)
        return found


def folder() -> Path:
    """Where `rules/` is: inside the installed package, or beside it in a source tree."""
    inside = Path(__file__).parent / "rules"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "rules"


def is_installed() -> bool:
    """Whether `rules/` and the document that was made of it lie in an installed package, where nobody edits them."""
    return folder().parent == FILE.parent


def pages() -> list[Path]:
    """The files of the rules, by code."""
    return sorted(folder().glob("DET*.md"))


def facts() -> list[Path]:
    """The files of facts: those by subject, then those by library."""
    return [path for name in TABLES for path in sorted((folder() / name).glob("*.toml"))]


def checks() -> list[Path]:
    """Return the files of what checks read, by code."""
    return sorted((folder() / CHECKS).glob("DET*.toml"))


def content() -> Content:
    """What is in `rules/`. Raises ValueError where a page or a table is not well formed."""
    if is_installed():
        with suppress(*_DAMAGED):
            return Content(**json.loads(FILE.read_bytes())["content"])
    texts = {path: path.read_bytes() for path in (*pages(), *facts(), *checks())}
    digest = _digest(texts)
    with suppress(*_DAMAGED):
        kept = json.loads(FILE.read_bytes())
        if kept["digest"] == digest:
            return Content(**kept["content"])
    parsed = _parsed(texts)
    _keep({"digest": digest, "content": vars(parsed)})
    return parsed


def prose(path: Path) -> str:
    """Return the Markdown below the header of a page. Raises ValueError where there is no header."""
    return _parts(path.read_text(encoding="utf-8"))[1]


def header(path: Path) -> dict[str, Any]:
    """Return the header of a page, with what its check reads as `data`.

    Raises ValueError, which names the page, where it is not well formed.
    """
    read = path.parent / CHECKS / f"{_code(path)}.toml"
    data = toml.loads(_decoded(read.read_bytes())) if read.exists() else {}
    return {**_header(path, path.read_bytes()), "data": data}


def _code(page: Path) -> str:
    """Return the code of the rule of a page."""
    return page.stem.partition("-")[0]


def _parts(text: str) -> tuple[str, str]:
    """Return a page's header, as TOML, and the Markdown below it. Raises ValueError."""
    _, header, below = text.split(_MARK, 2)
    return header, below


def _header(page: Path, text: bytes) -> dict[str, Any]:
    try:
        found = toml.loads(_parts(_decoded(text))[0])
    except ValueError as error:
        raise ValueError(f"{page.name}: {error}") from error
    if "data" in found:
        raise ValueError(f"{page.name}: what the check reads stands in {CHECKS}/{_code(page)}.toml")
    return found


def _parsed(texts: dict[Path, bytes]) -> Content:
    read = {path: toml.loads(_decoded(text)) for path, text in texts.items() if path.suffix == ".toml"}
    data = {path.stem: read.pop(path) for path in [*read] if path.parent.name == CHECKS}
    headers = {
        path.name: {**_header(path, text), "data": data.get(_code(path), {})}
        for path, text in texts.items()
        if path.suffix == ".md"
    }
    signatures: dict[str, str] = {}
    for content in read.values():
        signatures |= content.pop("signatures", {})
    tables = {path.stem: content for path, content in read.items() if path.parent.name == TABLES[0]}
    for path, content in read.items():
        if path.parent.name != TABLES[0]:
            _add(tables, path.stem, content)
    released = {
        re.split("[<>=!~]", row["release"])[0]
        for by_table in tables.values()
        for rows in by_table.values()
        for row in rows
        if "release" in row
    }
    in_json = {file: json.dumps(each) for file, each in tables.items()}
    return Content(headers, in_json, json.dumps(signatures), sorted(released))


def _add(tables: dict[str, Any], library: str, content: dict[str, Any]) -> None:
    """Add the rows of a library to the tables that they belong to, each with the name of its file.

    Raises ValueError where there is no such table.
    """
    for file, by_table in content.items():
        for table, rows in by_table.items():
            if table not in tables.get(file, {}):
                raise ValueError(f"{library}.toml: there is no table {table!r} in facts/{file}.toml")
            tables[file][table] = [*tables[file][table], *({**row, "file": library} for row in rows)]


def _decoded(text: bytes) -> str:
    return text.decode().replace("\r\n", "\n")  # as files are read as text


def _digest(texts: dict[Path, bytes]) -> str:
    """What tells these texts, and this way of parsing them, from others."""
    own = Path(__file__)
    parts = [(path.name, digest(text).hex()) for path, text in ((own, own.read_bytes()), *texts.items())]
    return digest(repr(parts).encode()).hex()


def _keep(document: dict[str, Any]) -> None:
    """Write the document in one step, for other processes may read it; where that fails, it is not kept."""
    new = FILE.with_name(f"{FILE.name}.{os.getpid()}")
    with suppress(OSError, TypeError):
        new.write_text(json.dumps(document), encoding="utf-8")
        new.replace(FILE)

"""The texts of `rules/` as plain data: parsed once, then kept as one JSON document that is read in their place.

A wheel contains the document. A source tree makes it in the first run, with the digest of all that it was made from, so
that it is made again after every edit of `rules/`. Where it cannot be written, each run parses the texts.
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
TABLES = ("facts", "libraries")  # tables by subject, and by library, where `[[FILE.TABLE]]` adds a row to a table
CHECKS = "checks"  # the folder of what the checks read, one file per rule
FOLDERS = (*TABLES, CHECKS)
_MARK = "+++\n"  # before and after the header of a page
_DAMAGED = (OSError, ValueError, LookupError, TypeError)  # the errors that a damaged document may raise


@record(frozen=True)
class Content:
    """The headers of the pages by file name, the JSON of the tables by file, and the JSON of all signatures.

    `released` are the libraries with rows that apply only to some of their releases.
    """

    headers: dict[str, dict[str, Any]]
    tables: dict[str, str]
    signatures: str
    released: list[str]

    def tables_of(self, file: str) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of the tables of a file, by table. Raises KeyError if there is no such file."""
        found: dict[str, list[dict[str, Any]]] = json.loads(self.tables[file])
        return found

    def all_signatures(self) -> dict[str, str]:
        """Return the signatures by name."""
        found: dict[str, str] = json.loads(self.signatures)
        return found


def folder() -> Path:
    """Return where `rules/` is: inside the installed package, or beside it in a source tree."""
    inside = Path(__file__).parent / "rules"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "rules"


def is_installed() -> bool:
    """Return whether `rules/` and the document made from it are in an installed package, where nobody edits them."""
    return folder().parent == FILE.parent


def pages() -> list[Path]:
    """Return the pages of the rules, sorted by code."""
    return sorted(folder().glob("DET*.md"))


def facts() -> list[Path]:
    """Return the files of facts: those by subject, then those by library."""
    return [path for name in TABLES for path in sorted((folder() / name).glob("*.toml"))]


def checks() -> list[Path]:
    """Return the files that checks read, sorted by code."""
    return sorted((folder() / CHECKS).glob("DET*.toml"))


def content() -> Content:
    """Return the content of `rules/`. Raises ValueError if a page or a table is not well formed."""
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
    """Return the Markdown below the header of a page. Raises ValueError if there is no header."""
    return _parts(path.read_text(encoding="utf-8"))[1]


def header(path: Path) -> dict[str, Any]:
    """Return the header of a page, with what its check reads as `data`.

    Raises ValueError, which names the page, if the header is not well formed.
    """
    read = path.parent / CHECKS / f"{_code(path)}.toml"
    data = toml.loads(_decoded(read.read_bytes())) if read.exists() else {}
    return {**_header(path, path.read_bytes()), "data": data}


def _code(page: Path) -> str:
    """Return the code of the rule that a page describes."""
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

    Raises ValueError if there is no such table.
    """
    for file, by_table in content.items():
        for table, rows in by_table.items():
            if table not in tables.get(file, {}):
                raise ValueError(f"{library}.toml: there is no table {table!r} in facts/{file}.toml")
            tables[file][table] = [*tables[file][table], *({**row, "file": library} for row in rows)]


def _decoded(text: bytes) -> str:
    return text.decode().replace("\r\n", "\n")  # as in files read as text


def _digest(texts: dict[Path, bytes]) -> str:
    """Return a digest of these texts and of this module, which parses them."""
    own = Path(__file__)
    parts = [(path.name, digest(text).hex()) for path, text in ((own, own.read_bytes()), *texts.items())]
    return digest(repr(parts).encode()).hex()


def _keep(document: dict[str, Any]) -> None:
    """Write the document in one step, as other processes may read it; if that fails, it is not kept."""
    new = FILE.with_name(f"{FILE.name}.{os.getpid()}")
    with suppress(OSError, TypeError):
        new.write_text(json.dumps(document), encoding="utf-8")
        new.replace(FILE)

"""The form of a record: a JSON file for each repository, and beside them what all of it cost."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from detlint.support.digests import digest

from .asking import Answer, Cost

COSTS, TOTALS = "costs.json", "totals.json"  # of files beside the records
_OF_FINDING = tuple("code severity path cell line column end_line end_column message related".split())

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """What is said of a repository, or of the programs of a file of tests.

    Each row of `asked` has the answers of `check` and of `entries`, and that of a program its `name`, the `tests` that
    it comes from, its `texts` by path, and the version of torch that it is judged by.
    """

    repository: str
    asked: list[Row]

    def write(self, folder: Path) -> None:
        """Write it to its file in a folder, whole or not at all."""
        _write(path_of(folder, self.repository), _json({"asked": self.asked, "repository": self.repository}) + "\n")


def path_of(folder: Path, repository: str) -> Path:
    """The file in a folder that holds the record of a repository."""
    return folder / f"{repository}.json"


def read(folder: Path, only: Collection[str] = ()) -> dict[str, Record]:
    """The records in a folder by name, or `only` some. Raises ValueError where there is none, or a file is none."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        if path.name not in (COSTS, TOTALS):
            try:
                data = json.loads(path.read_bytes())
                found[data["repository"]] = Record(data["repository"], data["asked"])
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path} is no record: {type(error).__name__}: {error}") from None
    if not found:
        raise ValueError(f"{folder} has no records")
    return {name: record for name, record in found.items() if not only or name in only}


def row(check: Answer, entries: Answer) -> Row:
    """What is kept of two answers, in an order that does not depend on the run."""
    return {"check": _kept(check, "findings"), "entries": _kept(entries, "entries")}


def _kept(answer: Answer, what: str) -> Row:
    if "failed" in answer:
        return answer
    rows = [_finding(each) if what == "findings" else each for each in answer[what]]
    return {"errors": sorted(answer["errors"]), "files": answer["summary"]["files"], what: sorted(rows, key=_order)}


def _finding(finding: Mapping[str, Any]) -> Row:
    fix = finding["fix"]
    kept = {name: finding[name] for name in _OF_FINDING}
    return kept | {"fix": fix and {"title": fix["title"], "safety": fix["applicability"], "edits": key(fix["edits"])}}


def _order(row: Row) -> tuple[str, int, int, int, str]:
    cell = row["cell"]
    return row["path"], -1 if cell is None else cell, row["line"], row.get("column", 0), _json(row)


def key(data: object) -> str:
    """A few letters that tell one content from another."""
    return digest(_json(data).encode()).hex()[:12]


class Costs:
    """What it cost to record each repository, and the revision of detlint that was asked, kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / COSTS
        self.rows: dict[str, Row] = json.loads(self._path.read_bytes()) if self._path.exists() else {}

    def add(self, repository: str, revision: str, costs: Mapping[str, Cost]) -> None:
        """Keep what the commands took."""
        self.rows[repository] = {"revision": revision} | {name: rounded(cost) for name, cost in costs.items()}
        lines = ",\n".join(f"{_json(name)}: {_json(row)}" for name, row in sorted(self.rows.items()))
        _write(self._path, f"{{\n{lines}\n}}\n")


def rounded(cost: Cost) -> Row:
    """A cost as it is written."""
    return {name: round(value, 2) for name, value in asdict(cost).items()}


def _json(data: object) -> str:
    """JSON on one line, pure ASCII, so that what is no UTF-8 in a file can be written, too."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _write(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)

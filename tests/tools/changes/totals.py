"""What detlint says of repositories whose files and findings nobody may read: counts alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from detlint.support.digests import digest
from tests.tools.revision import revision

from .asking import Asked, Cost
from .corpus import Answers, each_asked, say
from .records import TOTALS

_STATES = ("deterministic_algorithms", "cudnn_benchmark", "cudnn_deterministic", "cublas_workspace")
_NO_COUNT = ("revision", "left", "rows")
_MEMORY = "megabytes"

Counts = dict[str, float]


def record(paths: Sequence[Path], out: Path, asked: Asked, jobs: int, again: bool) -> None:
    """Count what is said of repositories, and print that.

    A run that is begun again goes on where it was: until all are done, the counts of each are kept under a digest of
    its name. Counts by another revision of detlint begin anew.
    """
    out.mkdir(parents=True, exist_ok=True)
    file, which = out / TOTALS, revision()
    stored = json.loads(file.read_bytes()) if file.exists() and not again else {}
    if stored.get("revision") != which:
        stored = {"left": len(paths)}
    if stored["left"]:
        rows: dict[str, Counts] = stored.get("rows", {})
        left = [path for path in paths if _hidden(path) not in rows]

        def keep(path: Path, answers: Answers, taken: Mapping[str, Cost]) -> None:
            rows[_hidden(path)] = dict(Counter(_counted(answers))) | _measured(taken)
            _write(file, which, rows, len(paths) - len(rows))
            say(f"{len(paths) - len(rows)} left")

        each_asked(left, asked, jobs, keep)
        stored = json.loads(file.read_bytes())
    print("\n".join(f"{name}: {value}" for name, value in stored.items() if name not in _NO_COUNT))


def compared(old: Path, new: Path) -> list[str]:
    """Lines on the counts that differ between two folders. Raises ValueError where one of them is not complete."""
    before, after = (json.loads((folder / TOTALS).read_bytes()) for folder in (old, new))
    for folder, totals in ((old, before), (new, after)):
        if totals["left"]:
            raise ValueError(f"{folder}: {totals['left']} repositories have not been counted")
    names = sorted({*before, *after} - {*_NO_COUNT})
    pairs = {name: (before.get(name, 0), after.get(name, 0)) for name in names}
    return [f"{name}: {one} -> {other}" for name, (one, other) in pairs.items() if one != other]


def _counted(answers: Answers) -> Iterator[str]:
    yield "repositories"
    for command, answer in answers.items():
        if "failed" in answer:
            yield f"failed: {command}"
    for finding in answers["check"].get("findings", ()):
        yield f"{finding['code']} {finding['severity']}"
        yield f"findings: {finding['severity']}"
    for entry in answers["entries"].get("entries", ()):
        yield "entries"
        for name, stream in entry["generators"].items():
            yield f"entries: {name} {stream['state']}"
        yield from (f"entries: {name} {entry[name]['state']}" for name in _STATES)


def _measured(taken: Mapping[str, Cost]) -> Counts:
    return {
        "seconds": round(sum(cost.seconds for cost in taken.values()), 1),
        "seconds of CPU": round(sum(cost.cpu for cost in taken.values()), 1),
        _MEMORY: round(max(cost.megabytes for cost in taken.values())),
    }


def _write(file: Path, revision: str, rows: Mapping[str, Counts], left: int) -> None:
    names = sorted({name for row in rows.values() for name in row})
    columns = {name: [row.get(name, 0) for row in rows.values()] for name in names}
    totals: dict[str, Any] = {name: max(each) if name == _MEMORY else sum(each) for name, each in columns.items()}
    totals |= {"revision": revision, "left": left} | ({"rows": rows} if left else {})
    new = file.with_name(f"{file.name}.new")
    new.write_text(json.dumps(totals, indent=1) + "\n", encoding="utf-8")
    new.replace(file)


def _hidden(path: Path) -> str:
    return digest(path.name.encode()).hex()[:16]

"""Sessions as files, so that results measured on one machine can be shown on another."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from detlint import __version__
from detlint.verify.session import Measurement, Session, Settings, Subject
from detlint.verify.verdicts import Outcome, Verdict

_VERSION = 1
_INFINITE = "infinity"  # JSON cannot represent it


class EvidenceError(Exception):
    """A file that is not evidence this version can read. The message says which file, and why."""


def render(session: Session) -> str:
    """Return a session as one JSON document, with one entry per measurement; default values are left out."""
    document = {
        "version": _VERSION,
        "tool": {"name": "detlint", "version": __version__},
        "date": session.date,
        "environment": dict(session.environment),
        "settings": {"processes": session.settings.processes, "repeats": session.settings.repeats},
        "complaint": session.complaint,
        "interrupted": session.interrupted,
        "controls": [_measurement(one) for one in session.controls],
        "measurements": [_measurement(one) for one in session.measurements],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def read(path: Path) -> Session:
    """Return the session in a file written by `render`. Raises EvidenceError, and OSError."""
    try:
        data = _plain(json.loads(path.read_text(encoding="utf-8")))
        if data["version"] != _VERSION:
            raise EvidenceError(f"{path}: evidence of version {data['version']}, not {_VERSION}; gather it again")
        settings = data["settings"]
        return Session(
            environment=_environment(data["environment"]),
            settings=Settings(processes=_count(settings["processes"]), repeats=_count(settings["repeats"])),
            controls=tuple(_read(one) for one in data["controls"]),
            measurements=tuple(_read(one) for one in data["measurements"]),
            complaint=str(data["complaint"]),
            interrupted=bool(data["interrupted"]),
            date=str(data["date"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise EvidenceError(f"{path} is not evidence of `detlint verify --format json` ({reason})") from None


def read_all(paths: Sequence[Path]) -> list[Session]:
    """Return the sessions of files, and of all JSON files in folders. Raises EvidenceError, and OSError."""
    found = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    if paths and not found:
        raise EvidenceError(f"no JSON files in {', '.join(map(str, paths))}; `detlint verify --output` writes them")
    return [read(file) for file in found]


def file_name(environment: Mapping[str, str]) -> str:
    """Return a name for a session's file from its key: the device, torch, and torch's CUDA or HIP version."""
    parts = [environment["device"], "torch", environment["torch"].partition("+")[0]]
    parts += [f"{key}{environment[key]}" for key in ("cuda", "hip") if environment.get(key)]
    return "-".join("".join(c if c.isalnum() or c in "._" else "-" for c in part) for part in parts).lower() + ".json"


def outcome(one: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON-compatible values."""
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    if values["absolute"] is not None and math.isinf(values["absolute"]):
        values["absolute"] = _INFINITE
    kept = {f.name: values[f.name] for f in fields(one) if f.default is MISSING or values[f.name] != f.default}
    return {**kept, "verdict": one.verdict.value}


def _measurement(one: Measurement) -> dict[str, Any]:
    subject = one.subject
    called = {"called": subject.called, "arguments": dict(subject.arguments)} if subject.called else {}
    literals = {"taken": dict(one.taken), "assumed": dict(one.assumed)}
    outcomes = {"outcomes": {mode: outcome(found) for mode, found in one.outcomes.items()}}
    used = {key: value for key, value in literals.items() if value}
    return {"row": subject.row, "dtype": subject.dtype, **called, **used, **outcomes}


def _plain(data: Any) -> Any:
    """Return a file's data with unprintable characters replaced. Raises ValueError for NaN and infinity."""
    if isinstance(data, dict):
        return {_plain(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    if isinstance(data, str):
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in data)
    if isinstance(data, float) and not math.isfinite(data):
        raise ValueError(f"{data} is not JSON")
    return data


def _environment(data: Mapping[str, Any]) -> dict[str, str]:
    found = {key: str(value) for key, value in data.items()}
    missing = {"device", "type", "torch"} - found.keys()
    if missing:
        raise ValueError(f"the environment lacks {', '.join(sorted(missing))}")
    return found


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is no mapping")
    return value


def _read(data: Mapping[str, Any]) -> Measurement:
    arguments = tuple((str(name), str(text)) for name, text in data.get("arguments", {}).items())
    subject = Subject(str(data["row"]), str(data["dtype"]), str(data.get("called", "")), arguments)
    outcomes = {str(mode): _outcome(found) for mode, found in data["outcomes"].items()}
    return Measurement(subject, outcomes, _mapping(data.get("taken", {})), _mapping(data.get("assumed", {})))


def _outcome(data: Mapping[str, Any]) -> Outcome:
    absolute, ulp = data.get("absolute"), data.get("ulp")
    return Outcome(
        Verdict(data["verdict"]),
        runs=_count(data.get("runs", 0)),
        processes=_count(data.get("processes", 0)),
        distinct=_count(data.get("distinct", 0)),
        absolute=math.inf if absolute == _INFINITE else None if absolute is None else float(absolute),
        ulp=None if ulp is None else _count(ulp),
        warned=bool(data.get("warned", False)),
        reason=str(data.get("reason", "")),
        permuted=str(data.get("permuted", "")),
    )

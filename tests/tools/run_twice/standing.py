"""What detlint says of a program: the findings of its repository that are the program's, and what `bisect` finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .running import PROJECT, Place

SEVERITIES = ("error", "warning", "note")
_SEEN = {"run-to-run", "cross-machine"}  # what two runs show; to resume is another matter
_BY_PROGRAM = ("DET101", "DET102", "DET103", "DET106")  # one finding for many programs: their rows tell which
_ON_CUDA = ("DET3", "DET5")  # families of what differs on a GPU alone
_NOT_SEEDED = ("unseeded", "late", "optional")


@cache
def findings(checkout: Path) -> tuple[Mapping[str, Any], ...]:
    """All findings of a repository, with paths relative to it. Raises RuntimeError where the run itself failed."""
    found: list[dict[str, Any]] = _asked(checkout, "check", "--exit-zero")["findings"]
    for each in found:
        each["path"] = os.path.relpath(each["path"], checkout)
    return tuple(found)


@cache
def entries(checkout: Path) -> tuple[Mapping[str, Any], ...]:
    """The rows of all programs of a repository, with paths relative to it. Raises RuntimeError as `findings` does."""
    rows: list[dict[str, Any]] = _asked(checkout, "entries", "--all")["entries"]
    return tuple(row | {"path": os.path.relpath(row["path"], checkout)} for row in rows)


def _asked(checkout: Path, command: str, option: str) -> dict[str, Any]:
    arguments = [sys.executable, "-m", "detlint", command, option, "--format", "json", "--no-cache", str(checkout)]
    ran = subprocess.run(arguments, cwd=PROJECT, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"detlint {command} failed on {checkout.name}\n{ran.stderr[-2000:]}")
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def of_program(found: Iterable[Mapping[str, Any]], loaded: Iterable[str]) -> list[Mapping[str, Any]]:
    """The findings that lie in files that a program loaded, but for those on seeds, for which `not_seeded` stands."""
    files = set(loaded)
    return [one for one in found if one["path"] in files and one["code"] not in _BY_PROGRAM]


def not_seeded(rows: Iterable[Mapping[str, Any]], script: str) -> list[str]:
    """The generators that a script draws from without a seed, or before it, by the rows of its repository."""
    states = [row["generators"] for row in rows if row["path"] == script]
    return sorted({name for each in states for name, one in each.items() if one["state"] in _NOT_SEEDED})


def codes(found: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """How many findings there are of each code, by severity."""
    counts = Counter((one["severity"], one["code"]) for one in found)
    return {
        severity: {code: count for (of, code), count in sorted(counts.items()) if of == severity}
        for severity in SEVERITIES
    }


def names_a_cause(found: Iterable[Mapping[str, Any]]) -> bool:
    """Whether an error or a warning says that two runs differ on a CPU, or with files listed in another order."""
    return any(
        one["severity"] != "note" and _SEEN & set(one["breaks"]) and not one["code"].startswith(_ON_CUDA)
        for one in found
    )


def has_error(counts: Mapping[str, Mapping[str, int]]) -> bool:
    """Whether an error is among the findings of a program, by their `codes`, other than on what differs on a GPU alone."""
    return any(not code.startswith(_ON_CUDA) for code in counts["error"])


def bisect(place: Place, python: str, seconds: float) -> dict[str, Any]:
    """What `detlint bisect` says of a program that has differed, with the listings of its second run reversed.

    Its verdict, the first operation that differs, the kind of cause, the code of the rule that it names and whether
    that rule has a finding there. It is run by the program's interpreter, each run for so many seconds at most.
    """
    said = _told(place, [python, "-m", "detlint", "bisect", "--timeout", f"{seconds:g}"], 5 * seconds)
    if "first" not in said:
        return said
    first = said["first"] or {}
    rule = first.get("rule") or {}
    return {
        "verdict": said["verdict"],
        "reason": said["reason"],
        "operation": (first.get("a") or first.get("b") or {}).get("op", ""),
        "line": _place(first.get("line")),
        "cause": (first.get("cause") or {}).get("kind", ""),
        "code": rule.get("code", ""),
        "finding": rule.get("place", ""),
        "seconds": said["seconds"],
    }


def repeat(place: Place, python: str, seconds: float) -> dict[str, Any]:
    """What `detlint repeat` makes of a program that has differed, with the listings of its second run reversed.

    Its verdict, the causes that it names, in order, the changes that it makes and the cause that remains. All of it
    takes so many seconds at most.
    """
    said = _told(place, [python, "-m", "detlint", "repeat", "--timeout", f"{seconds:g}"], seconds + 60)
    if "changes" not in said:
        return said
    remains = said["remains"]
    causes = [*(one["cause"] for one in said["changes"]), *([remains] if remains else [])]
    return {
        "verdict": said["verdict"],
        "reason": said["reason"],
        "causes": [_cause(one) for one in causes],
        "changes": [f"{one['path']}:{one['line']}: {one['title']} [{one['code']}]" for one in said["changes"]],
        "remains": _cause(remains) if remains else "",
        "tried": [f"{one['title']}: {one['reason']}" for one in (remains or {}).get("tried", ())],
        "equal": said["equal"],
        "runs": said["runs"],
        "seconds": said["seconds"],
    }


def _told(place: Place, command: list[str], seconds: float) -> dict[str, Any]:
    """The JSON document of a command that is given a program, or a verdict of its own where there is none."""
    (place.fresh() / ".git").mkdir()  # as a checkout has
    environment = place.environment()
    environment["PYTHONPATH"] += os.pathsep + str(PROJECT)
    try:
        ran = subprocess.run(
            [*command, "--format", "json", "--perturb", "listing", "--", *place.command()],
            cwd=place.working_folder(),
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return {"verdict": "timed out"}
    try:
        told: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        return {"verdict": "failed", "exit": ran.returncode, "reason": ran.stderr.strip()[-300:]}
    return told


def _cause(cause: Mapping[str, Any]) -> str:
    words = ": ".join(filter(None, (cause["kind"], cause["why"])))
    return f"{cause['title']} ({_place(cause['line'])}) [{words}]"


def _place(line: Mapping[str, Any] | None) -> str:
    return "{path}:{line}".format(**line) if line else ""


def fix(checkout: Path, folder: Path, *, unsafe: bool) -> None:
    """Fix all that can be fixed in a copy of a repository. Raises RuntimeError where the run itself failed."""
    command = [sys.executable, "-m", "detlint", "--fix", *(["--unsafe-fixes"] if unsafe else []), "--no-cache"]
    ran = subprocess.run([*command, "--exit-zero", str(folder)], cwd=PROJECT, capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"detlint --fix failed on {checkout.name}\n{ran.stderr[-2000:]}")

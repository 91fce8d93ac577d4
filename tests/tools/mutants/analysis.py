"""detlint run on a repository as a user runs it, and what a mutation changed in its findings."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.tools.mutants.classes import MutantClass

if sys.platform == "linux":
    import resource

PROJECT = Path(__file__).parents[3]
CAUGHT, NOTED, MISSED = "caught", "noted", "missed"
BROKEN, FAILED = "broken", "failed"  # the mutant is not Python any more; the analysis failed or took too long
_WAITING = 20  # times as long as it may take of the processor
_SHOWN = ("code", "severity", "path", "cell", "line", "message")

Finding = Mapping[str, Any]  # as `--format json` writes it
Key = tuple[str, str, str, str]


class FailedError(Exception):
    """An analysis that failed, or took too long."""


def analyse(root: Path, limit: float, cached: bool = True) -> list[Finding]:
    """The findings in a folder, by a process of its own that may take `limit` seconds of the processor. Raises FailedError.

    With `cached` it has a cache in the folder, so that after an edit only what changed is read again.
    """
    variables = {name: value for name, value in os.environ.items() if name != "DETLINT_NO_CACHE"}
    variables |= {"PYTHONPATH": str(PROJECT), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "detlint", ".", "--format", "json", "--jobs", "1"]
    process = subprocess.Popen(
        command if cached else [*command, "--no-cache"],
        cwd=root, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    with process:
        if sys.platform == "linux":  # where other work on the machine makes no analysis fail
            seconds = math.ceil(limit)
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
        try:
            out, told = process.communicate(timeout=limit * (_WAITING if sys.platform == "linux" else 1))
        except BaseException as error:
            process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise FailedError(f"took more than {limit:g} s") from None
            raise
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise FailedError(f"took more than {limit:g} s")
    if process.returncode not in (0, 1):
        raise FailedError(told[-500:].strip())
    try:
        findings: list[Finding] = json.loads(out)["findings"]
    except ValueError:
        raise FailedError(f"wrote no JSON: {told[-500:].strip()}") from None
    return findings


def changed(before: Iterable[Finding], after: Iterable[Finding]) -> tuple[list[Finding], list[Key]]:
    """The findings that are new, and what is gone, whatever the line of either."""
    left = Counter(map(_key, before))
    new = []
    for finding in after:
        key = _key(finding)
        if left[key]:
            left[key] -= 1
        else:
            new.append(finding)
    return new, list(left.elements())


def _key(finding: Finding) -> Key:
    message = re.sub(r"\blines? \d+", "line N", finding["message"])
    return finding["code"], finding["severity"], finding["path"], message


def judged(undone: MutantClass, new: Sequence[Finding]) -> str:
    """Whether new findings name what was undone: `caught` as an error or a warning, `noted` as a note, else `missed`."""
    severities = {finding["severity"] for finding in new if undone.concerns(finding["code"])}
    if severities & {"error", "warning"}:
        return CAUGHT
    return NOTED if severities else MISSED


def shortened(finding: Finding) -> dict[str, object]:
    """What is kept of a finding."""
    related = [{name: each[name] for name in ("path", "cell", "line", "message")} for each in finding["related"][:4]]
    return {name: finding[name] for name in _SHOWN} | {"related": related}

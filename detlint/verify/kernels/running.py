"""The user's own kernels run under Triton's interpreter: a process for each file, and its report."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from detlint.finding import Verification
from detlint.verify.verdicts import Verdict

_PACKAGE = Path(__file__).resolve().parents[3]
_CHILD = """\
import sys
sys.path.insert(0, sys.argv.pop(1))
import detlint
sys.path.append(sys.path.pop(0))
from detlint.verify.kernels.child import main
main()
"""


def of_file(path: Path, kernels: Sequence[str], seconds: float) -> dict[str, Verification]:
    """Return what running a file's kernels showed, by name. Imports the file and calls its functions."""
    missing = next((name for name in ("torch", "triton") if find_spec(name) is None), "")
    if missing:
        return dict.fromkeys(kernels, Verification(Verdict.UNAVAILABLE.value, f"needs the package {missing}"))
    found = _asked(path.resolve(), kernels, seconds)
    return {kernel: _verification(found[kernel]) for kernel in kernels}


def _asked(path: Path, kernels: Sequence[str], seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="detlint-verify-", ignore_cleanup_errors=True) as folder:
        answer = Path(folder) / "answer.json"
        arguments = [str(_PACKAGE), str(path), json.dumps(list(kernels)), str(answer)]
        running = subprocess.Popen(
            [sys.executable, "-c", _CHILD, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        reason = ""
        try:
            running.wait(seconds)
        except subprocess.TimeoutExpired:
            reason = f"no result within {seconds:g} s"
        finally:
            with contextlib.suppress(OSError):
                running.kill() if sys.platform == "win32" else os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        if answer.exists():
            read: dict[str, Any] = json.loads(answer.read_text())
            return read
        reason = reason or f"the process ended with status {running.returncode}"
        return {kernel: {"reason": reason} for kernel in kernels}


def _verification(found: Mapping[str, Any]) -> Verification:
    if "kernel" not in found:
        return Verification(Verdict.UNAVAILABLE.value, str(found["reason"]))
    programs = "its one program has no other order"
    if found["programs"] > 1:
        programs = _counted(found, f"{found['orders']} orders of its {found['programs']:,} programs")
    told = [f"called by `{found['called']}()`, {programs}"]
    if "configurations" in found:
        told.append(_counted(found["configurations"], f"{found['configurations']['tried']} configurations"))
    where = {"device": f"Triton {metadata.version('triton')}, interpreted"}
    return Verification(Verdict.SIMULATED.value, "; ".join(told), {**where, **found})


def _counted(found: Mapping[str, Any], what: str) -> str:
    if found["distinct"] == 1:
        return f"{what} give the same bits"
    told = f"{found['distinct']} distinct results of {what}"
    if found.get("absolute") is not None:
        told += f", up to {found['absolute']:.3g} apart"
    return told + (f" ({found['ulp']:,} ULP)" if found.get("ulp") else "")

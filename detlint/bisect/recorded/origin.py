"""The process that runs are forked from: `serve` imports torch, and returns once in each fork.

A fork has its own environment, folder, streams and session, as a fresh process would, and generators in a new state.
What Python and the C library read at startup, it has from its origin: the hash seed, addresses.
"""

from __future__ import annotations

import atexit
import multiprocessing.process
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from detlint.bisect.recorded import child, hidden
from detlint.forking import serving

UNLIKE = "unlike.txt"
"""In the folder of a trace: why the run was of no use, and has to be done in a fresh process."""
IMPORTED = "imported.txt"
"""In the folder of a trace: what of torch the program has imported beyond torch itself."""
_RECORDING = ("recorder", "hooks_torch", "hooks_loader", "keeping", "compiling", "fingerprint")


def serve(number: int) -> Callable[[], None]:
    """Fork for each job that the socket brings; in each fork, return a function that runs its program."""
    before = dict(sys.modules)
    job = serving.serve(number, [f"detlint.bisect.recorded.{name}" for name in _RECORDING])
    return lambda: _run(job, before)


def _run(job: Mapping[str, Any], before: Mapping[str, ModuleType]) -> None:
    """Become the process of a job."""
    os.chdir(job["cwd"])
    vars(multiprocessing.process)["ORIGINAL_DIR"] = job["cwd"]  # where a spawned process finds the script
    os.environ.clear()
    os.environ.update(job["environment"])
    folder = Path(job["argv"][0])
    serving.renew()
    pid, end = os.getpid(), os._exit
    warm = set(sys.modules)

    def unlike(reason: str) -> None:
        if os.getpid() == pid:
            (folder / UNLIKE).write_text(reason)
            end(1)

    script = job["script"]
    found = hidden.shadows(script) if script else ""
    if found:
        unlike(f"the program may mean its own {found} by a name that torch imports, too")
    hidden.hide(before, unlike)
    atexit.register(_tell, folder, warm)
    child.main(job["argv"])


def _tell(folder: Path, warm: set[str]) -> None:
    """Write which parts of torch were imported in addition to those in `warm`."""
    found = {".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("torch.") and name not in warm}
    (folder / IMPORTED).write_text("\n".join(sorted(found)))

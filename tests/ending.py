"""Runs forked from processes that have imported torch, which end without taking apart all that those have imported.

That takes three quarters of the time of a run of a few lines. By then the run is recorded, its threads have ended, and
what it has registered with `atexit` has been called, as in each run.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from detlint.bisect.options import Options
from detlint.bisect.recorded import origin
from detlint.bisect.running import warm
from detlint.bisect.running.warm import Origins
from detlint.forking.origin import Origin

_SERVE = "tests.ending:serve"


@contextmanager
def origins(cwd: Path | None = None) -> Iterator[Origins]:
    """The origins of runs in a folder, whose hashes are their own."""
    with patch.object(warm, "_SERVE", _SERVE), Origins(cwd) as found:
        yield found


@contextmanager
def kept(*modules: ModuleType) -> Iterator[None]:
    """Have all commands that these modules begin fork their runs from the same two processes.

    There are two more for each other path on which modules are looked up, as what forks has it from its start.
    """
    known: dict[tuple[str | None, ...], Origin] = {}

    class Kept(Origins):
        def _origin(self, name: str, options: Options, environment: Mapping[str, str]) -> Origin:
            key = (name, options.hash_seed, environment.get("PYTHONPATH"))
            if key not in known:
                known[key] = Origin(_SERVE, environment)
            return known[key]

    patches = [patch.object(module, "Origins", Kept) for module in modules]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
        while known:
            known.popitem()[1].stop()


# In the process that forks


def serve(number: int) -> Callable[[], None]:
    """Forks for each job; gives back, in each fork, what runs it and ends it.

    Its code counts as that of detlint: no file of the tests is among those that the program loads and runs.
    """
    job = origin.serve(number)
    for name in ("tests", __name__):
        del sys.modules[name]
    _run.__code__ = _run.__code__.replace(co_filename=origin.__file__)
    return partial(_run, job)


def _run(job: Callable[[], None]) -> None:
    status = 0
    try:
        job()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

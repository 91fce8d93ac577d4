"""Python programs in forks of a process that has imported torch, for tests in which the import itself is no matter.

`forks` has detlint start its programs so. A fork has the environment, the folder, the path, the streams and the session
of its own that it would have, and generators in a new state. What Python and the C library read as they start is that
of the process it comes from: there is one for each environment that differs in that.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, Any
from unittest.mock import patch

from detlint.forking import origin, serving

_STARTING = ("PYTHONHASHSEED", "MALLOC_PERTURB_", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "TORCHDYNAMO_DISABLE")
_MOST = 2  # processes that are kept: each holds torch in memory
_ORIGINS: dict[tuple[str | None, ...], origin.Origin] = {}


@atexit.register
def _stop() -> None:
    while _ORIGINS:
        _ORIGINS.popitem()[1].stop()


class Kept(origin.Origin):
    """A process that forks workers, one for all sessions of a process of tests."""

    _one: Kept | None = None

    def __new__(cls, *_: object) -> Kept:
        cls._one = cls._one or super().__new__(cls)
        return cls._one

    def __init__(self, serve: str, environment: Mapping[str, str], cwd: Path | None = None) -> None:
        if not hasattr(self, "_process"):
            super().__init__(serve, environment, cwd)
            atexit.register(super().stop)

    def stop(self) -> None:
        """Leaves it for the next session."""


def _origin(environment: Mapping[str, str]) -> origin.Origin:
    """The process for an environment, as the one that was used last."""
    key = tuple(environment.get(name) for name in _STARTING)
    path = os.pathsep.join([str(Path(__file__).parent.parent), environment.get("PYTHONPATH", "")])
    found = _ORIGINS.pop(key, None) or origin.Origin("tests.forks:serve", {**environment, "PYTHONPATH": path})
    while len(_ORIGINS) >= _MOST:
        _ORIGINS.pop(next(iter(_ORIGINS))).stop()
    _ORIGINS[key] = found
    assert found.reason() == ""
    return found


class Fork(origin.Fork):
    """What `subprocess.Popen` would be for `python -c`, as far as detlint asks for it."""

    def __init__(
        self,
        args: Sequence[str],
        *,
        stdin: int,
        stdout: int | None,
        stderr: IO[bytes],
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str],
        start_new_session: bool,
        text: bool = False,
        encoding: str | None = None,
    ) -> None:
        assert list(args[:2]) == [sys.executable, "-c"] and start_new_session
        self.stdin: IO[Any] | None = None
        self.stdout: IO[Any] | None = None
        job = {"argv": args[2:], "cwd": str(Path(cwd or "").resolve()), "environment": dict(env)}
        mode, buffering = ("", -1) if text else ("b", 0)
        if stdin == subprocess.PIPE:
            given, writing = os.pipe()
            self.stdin = os.fdopen(writing, f"w{mode}", buffering, encoding=encoding)
        else:
            given = os.open(os.devnull, os.O_RDONLY)
        if stdout == subprocess.PIPE:
            reading, told = os.pipe()
            self.stdout = os.fdopen(reading, f"r{mode}", buffering, encoding=encoding)
        else:
            told = os.dup(1) if stdout is None else os.open(os.devnull, os.O_WRONLY)
        made = _origin(env).fork(job, (given, told, stderr.fileno()))
        assert made is not None
        super().__init__(made.pid, made._ended)
        for number in (given, told):
            os.close(number)


@contextmanager
def forks(*modules: ModuleType) -> Iterator[None]:
    """Have what these modules start as `python -c` be forked, where there are forks, and what forks be kept."""
    replaced = SimpleNamespace(**vars(subprocess) | {"Popen": Fork})
    patches: list[Any] = [patch.object(module, "subprocess", replaced) for module in modules if hasattr(os, "fork")]
    patches += [patch.object(module, "Origin", Kept) for module in modules if hasattr(module, "Origin")]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


# In the process that forks


def serve(number: int) -> Callable[[], None]:
    """Forks for each job; gives back, in each fork, what runs it."""
    import numpy  # noqa: F401

    # torch._inductor.config is what turning the deterministic mode on imports, for as long again
    job = serving.serve(number, ["torch._inductor.config"])
    return lambda: _run(job)


def _run(job: Mapping[str, Any]) -> None:
    """Becomes `python -c` with the arguments of a job."""
    own = {part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part}
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["environment"])
    code, *arguments = job["argv"]
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.argv = ["-c", *arguments]
    sys.path[:] = ["", *before, *(part for part in sys.path if part not in own)]
    sys.modules["__main__"] = ModuleType("__main__")
    serving.renew()
    status = 0
    try:
        exec(compile(code, "<string>", "exec"), vars(sys.modules["__main__"]))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else bool(end.code)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

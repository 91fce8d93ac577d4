"""A program run in a fresh copy of its repository, and what came of it."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .child.masking import masked
from .recipes import Program

PROJECT = Path(__file__).parent.parent.parent.parent
_CHILD = Path(__file__).parent / "child"
_SITE = "from run_twice_child import install\n\ninstall()\n"
_UNSET = {"PYTHONHASHSEED", "PYTHONPATH", "VIRTUAL_ENV"}


@dataclass(frozen=True)
class Run:
    """What came of a run: its exit status (None after a time-out), and digests of what it left.

    `parameters` are digests of tensors, `saved` paths with digests of files, `output` masked lines, `loaded` files of
    the repository that it loaded as modules. `error` says why it did not run; it is empty where it did.
    """

    seconds: float
    error: str = ""
    parameters: tuple[str, ...] = ()
    saved: tuple[tuple[str, str], ...] = ()
    output: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


class Place:
    """A folder in which a program runs, each time from the same path: a copy of the repository, a home, what is recorded.

    `python` is the interpreter of an environment that has what programs import. After each run its folder is moved to
    `run-0`, `run-1` and so on.
    """

    def __init__(self, program: Program, checkout: Path, folder: Path, python: str, *, shuffle: bool = True) -> None:
        self.program = program
        self.folder = folder.resolve()
        self.root = self.folder / "run" / "copy"
        self._original = self.folder / "original"
        self._python = python
        self._shuffle = shuffle
        self._runs = 0
        hook = self.folder / "hook"
        shutil.copytree(_CHILD, hook / "run_twice_child", ignore=shutil.ignore_patterns("__pycache__"))
        (hook / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
        self._hook = hook
        shutil.copytree(checkout, self.root, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        if program.data:
            self._make_data()
        shutil.move(self.root, self._original)

    def fresh(self) -> Path:
        """Make a fresh copy of the repository with its data, and return its root."""
        shutil.rmtree(self.root.parent, ignore_errors=True)
        shutil.copytree(self._original, self.root, symlinks=True)
        for name in ("home", "tmp", "record"):
            (self.root.parent / name).mkdir()
        return self.root

    def environment(self) -> dict[str, str]:
        """The environment of the program, without what makes it record."""
        inherited = {key: value for key, value in os.environ.items() if key not in _UNSET}
        given = {key: value.replace("{root}", str(self.root)) for key, value in self.program.environment.items()}
        path = os.pathsep.join([str(self._hook), *filter(None, [given.pop("PYTHONPATH", "")])])
        return (
            inherited
            | {"HOME": str(self.root.parent / "home"), "TMPDIR": str(self.root.parent / "tmp"), "PYTHONPATH": path}
            | {"MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "CUDA_VISIBLE_DEVICES": ""}
            | given
        )

    def command(self) -> list[str]:
        """What follows `python`."""
        return [each.replace("{root}", str(self.root)) for each in self.program.command]

    def working_folder(self) -> Path:
        """Where the program is started."""
        return self.root / self.program.folder

    def run(self, seconds: float) -> Run:
        """Run the program once, for so many seconds at most."""
        self.fresh()
        beside = self.root.parent
        recording = {"RUN_TWICE_RECORD": str(beside / "record"), "RUN_TWICE_ROOT": str(self.root)}
        if self._shuffle:
            recording["RUN_TWICE_SHUFFLE"] = "1"
        started = time.monotonic()
        with (beside / "stdout").open("wb") as out, (beside / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [self._python, *self.command()],
                cwd=self.working_folder(),
                env=self.environment() | recording,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                status: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                with suppress(ProcessLookupError):  # its loaders' workers and other processes of its own, too
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        took = time.monotonic() - started
        try:
            return self._result(status, process.pid, took)
        finally:
            shutil.move(beside, self.folder / f"run-{self._runs}")
            self._runs += 1

    def _result(self, status: int | None, process: int, seconds: float) -> Run:
        beside = self.root.parent
        if status != 0:
            last = (beside / "stderr").read_text("utf-8", "replace").strip().rpartition("\n")[2]
            return Run(seconds, "timed out" if status is None else f"exit status {status}: {last[:200]}")
        records = {path.stem: json.loads(path.read_text("utf-8")) for path in (beside / "record").glob("*.json")}
        if str(process) not in records:
            return Run(seconds, "ended without a record")
        text = (beside / "stdout").read_text(encoding="utf-8", errors="replace")
        return Run(
            seconds,
            parameters=tuple(sorted(each for record in records.values() for each in record["parameters"])),
            saved=self._digests(),
            output=tuple(masked(text).splitlines()),
            loaded=tuple(sorted({each for record in records.values() for each in record["loaded"]})),
        )

    def _digests(self) -> tuple[tuple[str, str], ...]:
        """Paths and digests of the files of the copy that are new or have changed."""
        files = "\n".join(sorted(self._changed()))
        if not files:
            return ()
        digests = subprocess.run(
            [self._python, "-m", "run_twice_child.files", str(self.root)],
            cwd=self.folder,
            env=self.environment(),
            input=files,
            text=True,
            capture_output=True,
        )
        if digests.returncode:
            raise RuntimeError(f"{self.program.name}: saved files cannot be read\n{digests.stderr[-2000:]}")
        return tuple((path, digest) for path, digest in json.loads(digests.stdout.splitlines()[-1]))

    def _changed(self) -> Iterator[str]:
        for path in self.root.rglob("*"):
            inner = path.relative_to(self.root)
            original = self._original / inner
            if not path.is_file() or path.is_symlink() or "__pycache__" in inner.parts:
                continue
            if not original.is_file() or not filecmp.cmp(path, original, shallow=False):
                yield inner.as_posix()

    def _make_data(self) -> None:
        made = subprocess.run(
            [self._python, "-m", "tests.tools.run_twice.data", self.program.data, str(self.root)],
            cwd=PROJECT,
            env={key: value for key, value in os.environ.items() if key not in _UNSET}
            | {"PYTHONPATH": str(self._hook)},
            capture_output=True,
            text=True,
        )
        if made.returncode:
            raise RuntimeError(f"{self.program.name}: its data cannot be made\n{made.stderr[-2000:]}")

"""The pool of worker processes: a probe that hangs, crashes or exhausts memory costs its own row, not the run."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from detlint.forking.origin import Fork, Origin, obstacle
from detlint.verify import modes
from detlint.verify.job import Answer, Job

_PACKAGE = Path(__file__).resolve().parents[2]
# detlint's own folder comes first only while detlint is imported: if it is site-packages, it may hold old copies of
# standard modules
_WORKER = """\
import sys
sys.path.insert(0, sys.argv[3])
import detlint
sys.path.append(sys.path.pop(0))
from detlint.verify.worker import main
main()
"""
_GRADIENTS = ["torch.fx.experimental.symbolic_shapes"]  # what the first gradient imports, which takes a second
_SERVE = "detlint.verify.worker:serve"
_START = 300.0  # seconds: importing torch and initialising a device for the first time can take minutes
_END = 10.0
_FATAL = ("time", "crash", "device")  # a process whose device tripped an assertion can no longer use it


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one probe: seconds of wall time, MiB of memory, and threads of a CPU thread pool.

    The memory limit applies to Linux only; 0 means no limit. 0 threads means as many as there are cores.
    """

    seconds: float = 60.0
    megabytes: int = 8192
    threads: int = 0


class StartError(Exception):
    """The failure of a worker process to start: no torch, or no such device. The message says why."""


class Pool:
    """Processes, each forked from one that has imported torch if that is sound, else started afresh.

    `environment` describes where they run once the first has started. `cold` says why none is forked, or is "".
    """

    def __init__(self, limits: Limits) -> None:
        self.environment: Mapping[str, str] = {}
        self.cold = obstacle()
        self._limits = limits
        self._running: set[_Worker] = set()
        self._ended = False
        self._origin: Origin | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._origin is not None:
            self._origin.stop()

    def end(self) -> None:
        """End all processes, those of other threads too; no further job is answered."""
        self._ended = True
        for worker in list(self._running):
            worker.kill()

    def _warm(self, job: Job) -> Origin | None:
        """Return the process that forks for a job; None if the job's process has to be started afresh."""
        if job.device.partition(":")[0] != "cpu":  # a device may be in use before the fork, which breaks it
            self.cold = self.cold or "a process that uses a device is never forked"
        with self._lock:
            if job.fresh or self.cold:
                return None
            if self._origin is None:
                self._origin = Origin(_SERVE, _environment(job, self._limits), Path(tempfile.gettempdir()))
            self.cold = self._origin.reason()
            return None if self.cold else self._origin

    def answers(self, jobs: Sequence[Job]) -> Iterator[Answer]:
        """Do jobs of one mode, process number and device in one fresh process, in order; yield an answer to each.

        A process that is lost is replaced, and the next one continues after the job that ended it. Raises StartError if
        the very first process does not start.
        """
        left = list(jobs)
        while left and not self._ended:
            try:
                worker = _Worker(left[0], self._limits, self._warm(left[0]))
                with self._noted(worker), worker:
                    self.environment = worker.environment
                    while left:
                        answer = worker.ask(left.pop(0))
                        if self._ended:
                            return
                        yield answer
                        if answer.error in _FATAL:
                            break
            except StartError as error:
                if self._ended:
                    return
                if not self.environment:
                    raise
                yield from (Answer(job.key, error="crash", reason=str(error)) for job in left)
                return

    @contextlib.contextmanager
    def _noted(self, worker: _Worker) -> Iterator[None]:
        self._running.add(worker)
        if self._ended:  # it was started while the others were being ended
            worker.kill()
        try:
            yield
        finally:
            self._running.discard(worker)


class _Worker:
    """One process for jobs that share a mode, a process number and a device; forked if an origin is given."""

    def __init__(self, job: Job, limits: Limits, origin: Origin | None = None) -> None:
        self._limits = limits
        self._device = job.device
        self._folder = tempfile.TemporaryDirectory(prefix="detlint-verify-", ignore_cleanup_errors=True)
        self._errors: IO[bytes] = (Path(self._folder.name) / "stderr").open("w+b")
        environment, arguments = _environment(job, limits), [job.device, str(limits.megabytes)]
        if origin is None:
            self._begin(environment, arguments)
        else:
            self._fork(origin, environment, arguments)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _begin(self, environment: Mapping[str, str], arguments: Sequence[str]) -> None:
        started = subprocess.Popen(
            [sys.executable, "-c", _WORKER, *arguments, str(_PACKAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=self._folder.name,
            env=environment,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # the parent handles Ctrl-C and can end all that a probe starts
        )
        assert started.stdin is not None and started.stdout is not None
        self._process: subprocess.Popen[str] | Fork = started
        self._stdin: IO[str] = started.stdin
        self._stdout: IO[str] = started.stdout

    def _fork(self, origin: Origin, environment: Mapping[str, str], arguments: Sequence[str]) -> None:
        given, writing = os.pipe()
        reading, told = os.pipe()
        self._stdin, self._stdout = os.fdopen(writing, "w", encoding="utf-8"), os.fdopen(reading, encoding="utf-8")
        job = {"environment": environment, "folder": self._folder.name, "arguments": arguments, "imports": _GRADIENTS}
        try:
            made = origin.fork(job, (given, told, self._errors.fileno()))
        finally:
            os.close(given)
            os.close(told)
        if made is None:
            raise StartError("the process that forks has ended")
        self._process = made

    def __enter__(self) -> _Worker:
        try:
            ready = self._next(_START)
            if ready is None:
                raise StartError(f"no answer within {_START:.0f} s of starting on {self._device}")
            if not ready:
                raise StartError(self._last_words())
            self.environment: dict[str, str] = json.loads(ready)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def ask(self, job: Job) -> Answer:
        """Return the answer to a job, or one that says how the process failed."""
        try:
            self._stdin.write(json.dumps(job.plain()) + "\n")
            self._stdin.flush()
            line = self._next(self._limits.seconds)
        except OSError:
            line = ""
        if line is None:
            return Answer(job.key, error="time", reason=f"no result within {self._limits.seconds:g} s")
        try:
            return Answer.read(json.loads(line))
        except ValueError:  # the process ended before the line did
            return Answer(job.key, error="crash", reason=self._end())

    def _listen(self) -> None:
        with contextlib.suppress(ValueError):  # closed while it was being read
            for line in self._stdout:
                self._lines.put(line)
        self._lines.put("")

    def _next(self, seconds: float) -> str | None:
        """Return the next line; "" if the process has ended, None if it writes nothing in time."""
        try:
            return self._lines.get(timeout=seconds)
        except queue.Empty:
            return None

    def _end(self) -> str:
        """Return a description of how the process ended."""
        try:
            status = self._process.wait(_END)
        except subprocess.TimeoutExpired:
            return "the process closed its output"
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"the process was ended by {signal.Signals(-status).name}"
        return f"the process ended with status {status}: {self._last_words()}"

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"

    def kill(self) -> None:
        """Kill the process and all that it started."""
        with contextlib.suppress(OSError):
            if isinstance(self._process, subprocess.Popen) and sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    def _close(self) -> None:
        self.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout, self._errors):
            with contextlib.suppress(OSError):
                stream.close()
        self._folder.cleanup()


def _environment(job: Job, limits: Limits) -> dict[str, str]:
    """Return the environment of a process for a job."""
    made = modes.environment(job.mode, job.process)
    # it runs in an empty folder, so that no module of the user's is imported in place of one of the same name
    made["PYTHONPATH"] = os.pathsep.join(filter(os.path.isabs, made.get("PYTHONPATH", "").split(os.pathsep)))
    if limits.threads:
        made.setdefault("OMP_NUM_THREADS", str(limits.threads))
    if job.device.partition(":")[0] == "cpu":
        made.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin keep others, and each other, from running
    return made

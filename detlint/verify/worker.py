"""A worker process: it reads jobs, one JSON object per line, and answers each with a line. It runs only probes."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import textwrap
import threading
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from detlint.forking import serving
from detlint.verify import bits, environment, modes
from detlint.verify.bench import Bench
from detlint.verify.churn import Churn
from detlint.verify.job import ORDERS, Answer, Job
from detlint.verify.orders import table
from detlint.verify.probe import Kind, Probe, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LONGEST = 200  # characters of an error
_LEAST = {Kind.BATCHES: 5, Kind.MEMORY: 4}  # runs, regardless of time: batches of each size, each pattern


def main() -> None:
    """Report the environment, then answer the jobs on standard input.

    The arguments are a device to prepare and a memory limit in MiB. Output of probes goes to standard error.
    """
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if obstacle := environment.obstacle(sys.argv[1]):
        raise SystemExit(obstacle)
    _say(answers, environment.describe(sys.argv[1]))
    unseed = modes.fresh_state(sys.argv[1])
    limit_memory(int(sys.argv[2]))
    for line in sys.stdin:
        _say(answers, run(Job(**json.loads(line)), unseed).plain())


def serve(number: int) -> Callable[[], None]:
    """Serve as a process that forks; return, in each fork, a function that makes the fork a worker."""
    job = serving.serve(number, ["numpy"] if find_spec("numpy") else [])
    return lambda: _forked(job)


def _forked(job: Mapping[str, Any]) -> None:
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv[1:] = job["arguments"]
    serving.renew()
    main()


def _end_with(parent: int) -> None:
    """End this process and all that it started once its parent is gone, even in the middle of a probe."""
    while os.getppid() == parent:
        time.sleep(1)
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)


def _say(answers: TextIO, data: Mapping[str, Any]) -> None:
    answers.write(json.dumps(data) + "\n")
    answers.flush()


def limit_memory(megabytes: int) -> None:
    """Limit the memory that this process can add to what it holds, on Linux. 0: no limit."""
    if not megabytes or sys.platform != "linux":
        return
    import resource

    # RLIMIT_DATA counts only writable memory and so leaves out the addresses that CUDA only reserves
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + (megabytes << 20), resource.getrlimit(resource.RLIMIT_DATA)[1]))


def run(job: Job, unseed: Callable[[], None] = lambda: None) -> Answer:
    """Do a job in this process. If anything goes wrong within the probe, the answer says so.

    `unseed` resets the generators to their state at the start of the process: earlier jobs may have seeded them.
    """
    start = time.perf_counter()
    answer: dict[str, Any] = {"key": job.key}
    try:
        probe: Probe = importlib.import_module(job.table).PROBES[job.row]
        if job.mode == ORDERS:
            answer.update(table.permuted(job, probe))
            return Answer(**answer, seconds=round(time.perf_counter() - start, 3))
        bench = Bench(job.device, job.dtype, job.arguments, job.called)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                answer.update(_repeat(job, probe, bench, unseed))
            finally:
                answer["warned"] = any(modes.refuses(str(warning.message)) for warning in caught)
                answer.update(taken=bench.taken, assumed=bench.assumed)
    except Exception as error:
        answer["error"], answer["reason"] = _kind(error), _words(error)
    return Answer(**answer, seconds=round(time.perf_counter() - start, 3))


def _repeat(job: Job, probe: Probe, bench: Bench, unseed: Callable[[], None]) -> dict[str, Any]:
    """Run the probe repeatedly; return the digests and the largest differences from the reference."""
    import torch

    once = probe.kind in (Kind.PROCESSES, Kind.DRAWS)
    prepare = unseed if probe.kind is Kind.DRAWS and job.mode != "seeded" else modes.seed_all
    churn = Churn(job.device, job.process)
    begun = time.perf_counter()
    least = 1 if job.process else _LEAST.get(probe.kind, 2)
    digests: list[str] = []
    first: tuple[str, list[Any]] | None = None
    differences: list[tuple[float | None, int | None]] = []
    expected: tuple[str, list[Any]] = "", []
    prepare()
    repeated = probe.build(bench)
    for turn in range(1 if once else job.repeats):
        if job.seconds and turn >= least and time.perf_counter() - begun > job.seconds:
            break
        if not once:
            churn.shake()
        if probe.kind is Kind.MEMORY:
            bench.pattern = modes.pattern(job.process + turn)
        prepare()
        with modes.in_force(job.mode, probe.kind):
            result = repeated()
            if bench.device.type == "cuda":
                torch.cuda.synchronize(bench.device)
        held = list(bits.leaves(result))
        if first is None:
            first = bits.digest(held), [one.clone() if isinstance(one, torch.Tensor) else one for one in held]
            expected = _reference(Path(job.reference), first)
        found = first[0] if bits.equal(first[1], held) else bits.digest(held)
        if found not in (expected[0], *digests):
            differences.append(bits.apart(expected[1], held))
        digests.append(found)
        if job.stops and found != expected[0]:
            break
    absolute = max((one for one, _ in differences if one is not None), default=None)
    ulp = max((one for _, one in differences if one is not None), default=None)
    return {"digests": tuple(digests), "absolute": absolute, "ulp": ulp}


def _reference(file: Path, first: tuple[str, list[Any]]) -> tuple[str, list[Any]]:
    """Return the first result of the first process; if there is no such file, save and return `first`."""
    import torch

    if file.exists():
        before: tuple[str, list[Any]] = torch.load(file, weights_only=True)
        return before
    partial = file.with_name(f"{file.name}.part")
    with contextlib.suppress(OSError, RuntimeError):  # with a full disk, only the size of the differences is lost
        torch.save(first, partial)
        partial.replace(file)
    return first


def _kind(error: Exception) -> str:
    import torch

    message = str(error)
    if modes.refuses(message):
        return "raises"
    exhausted = getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError)  # since torch 2.5
    if isinstance(error, (MemoryError, exhausted)) or "can't allocate memory" in message:
        return "memory"
    if type(error).__name__ == "AcceleratorError" or "CUDA error" in message:
        return "device"
    missing = (
        "not implemented for",
        "Could not run",
        "' has no attribute",  # of a module or a class: no such operation in this version
        "'Tensor' object has no attribute",
        "'_OpNamespace'",
        "not compiled with",
        "No available kernel",
        "No viable backend",
        "not supported on",
    )
    if isinstance(error, (UnavailableError, NotImplementedError)) or any(words in message for words in missing):
        return "unavailable"
    return "failed"


def _words(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0]
    told = first if isinstance(error, UnavailableError) else f"{type(error).__name__}: {first}".removesuffix(": ")
    return textwrap.shorten(told, _LONGEST, placeholder=" ...")

"""A worker process: reads jobs, a JSON object a line, and answers each with a line. It runs nothing but probes."""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from detlint.verify import bits, environment, modes
from detlint.verify.bench import Bench
from detlint.verify.churn import Churn
from detlint.verify.job import Answer, Job
from detlint.verify.probe import Kind, Probe, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_LONGEST = 200  # characters of an error


def main() -> None:
    """Say where this is, then answer the jobs on standard input.

    The arguments are a device to make ready and a limit in MiB. What probes print goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _say(answers, environment.describe(sys.argv[1]))
    unseed = modes.fresh_state(sys.argv[1])
    limit_memory(int(sys.argv[2]))
    for line in sys.stdin:
        _say(answers, run(Job(**json.loads(line)), unseed).plain())


def _say(answers: TextIO, data: Mapping[str, Any]) -> None:
    answers.write(json.dumps(data) + "\n")
    answers.flush()


def limit_memory(megabytes: int) -> None:
    """Let this process hold so much more memory than it does, on Linux. 0: no limit."""
    if not megabytes or sys.platform != "linux":
        return
    import resource

    # RLIMIT_DATA counts what may be written, and so leaves out the addresses that CUDA only reserves
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + (megabytes << 20), resource.getrlimit(resource.RLIMIT_DATA)[1]))


def run(job: Job, unseed: Callable[[], None] = lambda: None) -> Answer:
    """Do a job in this process. Whatever goes wrong within the probe is its answer.

    `unseed` puts the generators back to where they were when the process began: jobs before may have seeded them.
    """
    start = time.perf_counter()
    answer: dict[str, Any] = {"key": job.key}
    try:
        probe: Probe = importlib.import_module(job.table).PROBES[job.row]
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
    """The probe's runs, their digests, and how far the first differing one is from the reference."""
    import torch

    once = probe.kind in (Kind.PROCESSES, Kind.DRAWS)
    prepare = unseed if probe.kind is Kind.DRAWS and job.mode != "seeded" else modes.seed_all
    churn = Churn(job.device, job.process)
    digests: list[str] = []
    difference: tuple[float | None, int | None] = None, None
    reference = Path(job.reference)
    prepare()
    repeated = probe.build(bench)
    for turn in range(1 if once else job.repeats):
        if not once:
            churn.shake()
        if probe.kind is Kind.MEMORY:
            bench.pattern = modes.pattern(job.process + turn)
        prepare()
        with modes.in_force(job.mode, probe.kind):
            result = repeated()
            if bench.device.type == "cuda":
                torch.cuda.synchronize(bench.device)
        digests.append(bits.digest(result))
        if not reference.exists():
            torch.save((digests[0], list(bits.leaves(result))), reference)
            continue
        if turn == 0 or (difference == (None, None) and digests[-1] != digests[0]):
            expected, values = torch.load(reference, weights_only=True)
            if digests[-1] != expected:
                difference = bits.apart(values, result)
    return {"digests": tuple(digests), "absolute": difference[0], "ulp": difference[1]}


def _kind(error: Exception) -> str:
    import torch

    message = str(error)
    if modes.refuses(message):
        return "raises"
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in message:
        return "memory"
    if type(error).__name__ == "AcceleratorError" or "CUDA error" in message:
        return "device"
    missing = (
        "not implemented for",
        "Could not run",
        "no attribute",
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
    told = first if isinstance(error, UnavailableError) else f"{type(error).__name__}: {first}"
    return textwrap.shorten(told, _LONGEST, placeholder=" ...")


if __name__ == "__main__":
    main()

"""Records programs in forks of one process that has imported torch, which takes most of the time of a short program.

Reads a job a line, JSON: the folder to run in, the folder of the trace, the options and the command. Writes a line when
it is ready and one with the exit status of each job. What a program prints goes to `log.txt` beside the trace.
"""

from __future__ import annotations

import json
import multiprocessing.process
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy  # noqa: F401
import torch
import torch._dynamo
import torch.utils.data

from detlint.bisect.recorded import child


def run(folder: Path, trace: Path, options: str, command: Sequence[str]) -> NoReturn:
    """Records the program in this process and ends it."""
    signal.alarm(120)
    trace.mkdir(parents=True)
    os.chdir(folder)
    vars(multiprocessing.process)["ORIGINAL_DIR"] = str(folder)  # where a spawned process finds the script
    with trace.with_suffix(".log").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.close(0)
    torch.seed()  # a fork has its parent's state of torch's generator; a process on its own has a new one
    status = 0
    try:
        child.main([str(trace), options, *command])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    """Serves until its input ends."""
    sys.path.pop(0)
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        process = os.fork()
        if process == 0:
            run(Path(job["folder"]), Path(job["trace"]), job["options"], job["command"])
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


if __name__ == "__main__":
    main()

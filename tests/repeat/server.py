"""Runs Python programs in forks of one process that has imported torch, which takes most of the time of a short program.

Reads a job a line, JSON: the folder to run in, the command, a script and its arguments, and what is added to
the environment, if anything. Writes a line when it is
ready and one with the exit status of each job. A program's output goes to `log.txt` in its folder.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy  # noqa: F401
import torch
import torch._dynamo


def run(folder: Path, command: Sequence[str]) -> NoReturn:
    """Runs the program in this process and ends it."""
    signal.alarm(120)
    os.chdir(folder)
    with Path("log.txt").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.close(0)
    torch.seed()  # a fork has its parent's state of torch's generator; a process on its own has a new one
    sys.argv = list(command)
    sys.path[0] = str(folder)
    status = 0
    try:
        runpy.run_path(str(folder / command[0]), run_name="__main__")
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    """Serves until its input ends."""
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            os.environ.update(job.get("environment", {}))
            run(Path(job["folder"]), job["command"])
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()

"""Runs Python programs in forks of one process that has imported torch, which takes most of the time of a short program.

Reads a job a line, JSON: the folder to run in; the command, a script, a notebook or `-m` and a module, with arguments;
the folders that modules are looked up in, too, and what is added to the environment, if anything. Writes a line when it
is ready and one with the exit status of each job. A program's output goes to `log.txt` in its folder, the seconds of a
processor that it took to `cpu.txt`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import runpy
import signal
import sys
import traceback
import types
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy  # noqa: F401
import torch
import torch._dynamo


def run(folder: Path, command: Sequence[str], path: Sequence[str]) -> NoReturn:
    """Runs the program in this process and ends it."""
    signal.alarm(120)
    os.chdir(folder)
    with Path("log.txt").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.close(0)
    torch.seed()  # a fork has its parent's state of torch's generator; a process on its own has a new one
    script = folder / command[0]
    sys.argv = list(command)
    sys.path[:1] = [str(folder if command[0] == "-m" else script.parent), *path]
    status = 0
    try:
        if command[0] == "-m":
            sys.argv = list(command[1:])
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        elif script.suffix == ".ipynb":
            run_notebook(script)
        else:
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        status = int(ended.code not in (None, 0))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    Path(folder, "cpu.txt").write_text(repr(sum(each.ru_utime + each.ru_stime for each in used)))
    os._exit(status)


def run_notebook(path: Path) -> None:
    """Runs the cells of code of a notebook one by one, without their magics."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            source = re.sub(r"^(?=[%!])", "# ", "".join(cell["source"]), flags=re.M)
            exec(compile(source, f"<cell {number}>", "exec"), module.__dict__)


def main() -> None:
    """Serves until its input ends."""
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            os.environ.update(job.get("environment", {}))
            run(Path(job["folder"]), job["command"], job.get("path", ()))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()

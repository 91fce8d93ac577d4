"""A record that a program makes of itself, without a command around it, for `detlint bisect A B` to compare.

It covers a block, `with recording("a.trace"): ...`, or the whole program: with the folder of `startup.py` in
PYTHONPATH, each process of a program whose environment has DETLINT_RECORD begins a record there, however it is
launched.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from detlint.bisect.options import Options
from detlint.bisect.recorded import child, installing, session
from detlint.bisect.recorded.session import Session
from detlint.bisect.writer import SUFFIX

FOLDER, LEVEL = "DETLINT_RECORD", "DETLINT_RECORD_LEVEL"
LEVELS = ("step", "op")
_BEGUN = "DETLINT_RECORD_BEGUN"  # set for what a recorded process starts: "main" or "rank"
_RESTARTS = "TORCHELASTIC_RESTART_COUNT"  # https://docs.pytorch.org/docs/stable/elastic/run.html
_RANKS = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)


@contextmanager
def recording(folder: str | Path | None = None, *, level: str = "") -> Iterator[None]:
    """Record what a block does, into a folder that `detlint bisect A.trace B.trace` compares with another one.

    `folder` is created. Its default is the value of the environment variable DETLINT_RECORD; without that, nothing is
    recorded, so that a program may always have the block. `level` is "step" (losses, batches, and parameters after each
    optimizer step) or "op" (all operations of torch); its default is the value of DETLINT_RECORD_LEVEL, or "step". The
    ranks of a distributed program have streams of their own in the same folder, without a collective. Functions that
    seed, draw or load are not seen if a file imported them by name before the block. Within a program that is already
    recorded, by `detlint bisect` or around the block, this does nothing.

    Raises FileExistsError if the folder already has a record of this process, and ValueError for another level.
    """
    wanted = folder or os.environ.get(FOLDER)
    if not wanted or session.active() is not None:
        yield
        return
    held = _session(Path(wanted), level or os.environ.get(LEVEL, LEVELS[0]))
    installing.install(held)
    try:
        yield
    except BaseException as error:
        held.ended(error)
        raise
    finally:
        held.finish()
        installing.leave()


def begin() -> None:
    """Record this process from now on, if its environment asks for that; what it starts is part of its record.

    A launcher of ranks and each of its ranks begin records of their own. If a record cannot begin, report it and end
    the process with status 2; a process that was restarted after a failure continues unrecorded.
    """
    folder, rank = os.environ.get(FOLDER), _rank()
    kind = "rank" if rank else "main"
    if not folder or os.environ.get(_BEGUN) in ("rank", kind):
        return
    os.environ[_BEGUN] = kind
    try:
        held = _session(Path(folder), os.environ.get(LEVEL, LEVELS[0]))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"detlint: {error}\n")
        if os.environ.get(_RESTARTS, "0") == "0":
            os._exit(2)
        return
    installing.install(held)
    child.end_with(held)
    atexit.register(held.finish)


def _session(folder: Path, level: str) -> Session:
    if level not in LEVELS:
        raise ValueError(f"{level!r} is no level of recording: {' or '.join(LEVELS)}")
    name = f"rank{rank}" if (rank := _rank()) else ""
    path = folder / f"{name or 'main'}{SUFFIX}"
    if path.exists():
        raise FileExistsError(f"{path} is a record already: name another folder, or remove it")
    folder.mkdir(parents=True, exist_ok=True)
    return Session(folder, Options(level=level), name, getattr(sys, "argv", sys.orig_argv[1:]))


def _rank() -> str:
    """Return the rank of this process in a distributed program, "" if it is not part of one."""
    for rank, size in _RANKS:
        number = os.environ.get(rank, "")
        if number.isdecimal() and os.environ.get(size, "") != "1":
            return number
    return ""

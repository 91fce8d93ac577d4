"""Training programs of tests/repeat: their pages, the data they read, runs of them in processes of their own."""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from .forking import Forking, read_page
from .repeat.data import DATA

FOLDER = Path(__file__).parent / "repeat"
EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
FILLS = (85, 170)

_FILE = re.compile(r'^```py title="(?P<path>[^"]+)"\n(?P<text>.*?)^```$', re.S | re.M)


@dataclass(frozen=True)
class Program:
    """A page of tests/repeat: a program as people write them.

    `command` is what follows `python`, `data` names what it reads in `repeat.data.DATA`. `unsafe` says that it takes
    unsafe fixes to make it repeat, `listing` that the order of a directory's entries matters, `apart` that its runs
    differ only if they begin in different seconds, `repeats` that it repeats as it is.
    """

    name: str
    files: Mapping[str, bytes]
    command: tuple[str, ...]
    data: str = ""
    unsafe: bool = False
    listing: bool = False
    apart: bool = False
    repeats: bool = False

    def __str__(self) -> str:
        return self.name

    def write(self, folder: Path) -> Path:
        """Writes its files into a new folder and returns that."""
        folder.mkdir(parents=True)
        for path, content in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return folder


def programs() -> list[Program]:
    """All pages of tests/repeat, by name."""
    return [_read(path) for path in sorted(FOLDER.glob("*.md"))]


def examples() -> list[Program]:
    """The projects of docs/examples that run on a CPU."""
    commands = {
        "language_model": (("train.py", "input.txt", "2"), "text"),
        "processes": (("train.py", "table.csv"), "table"),
    }
    return [
        Program(name, {path.name: path.read_bytes() for path in sorted((EXAMPLES / name).glob("*.py"))}, command, data)
        for name, (command, data) in commands.items()
    ]


def _read(path: Path) -> Program:
    header, text = read_page(path)
    newline = "\r\n" if header.pop("newline", "lf") == "crlf" else "\n"
    files = {one["path"]: one["text"].replace("\n", newline).encode() for one in _FILE.finditer(text)}
    command = tuple(header.pop("run", next(iter(files))).split())
    unsafe = header.pop("fixes", "safe") == "unsafe"
    return Program(path.stem, files, command, unsafe=unsafe, **header)


class Server(Forking):
    """A fresh process that forks for each run: a tenth of the time, as all runs share one import of torch.

    Two runs in two servers differ wherever two fresh processes do: in the hash seed, in addresses, in what the
    generators start from (numpy's is the server's own; torch's and Python's are new in each fork).
    """

    def __init__(self, fill: int) -> None:
        super().__init__(FOLDER / "server.py", environment(fill))

    def start(self, command: Sequence[str], folder: Path) -> Server:
        """Starts a run, whose exit status `wait` returns."""
        self.send({"folder": str(folder), "command": command})
        return self


def environment(fill: int) -> dict[str, str]:
    """The environment of a run: one thread, hash randomisation, memory that malloc fills with bytes made from `fill`."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
    return inherited | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_PERTURB_": str(fill)}


def run(
    program: Program, scripts: tuple[Path, Path], place: Path, servers: tuple[Server, Server]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """What the program saves when it is run once from each of two folders, by file and path within it.

    Each run has a new folder in `place`, a copy of the scripts and of the data, whose files are made in another order
    each time; a process of its own, forked from one of two servers; and fresh memory filled with other bytes.
    They run at once unless the program's runs must be `apart`.
    """
    folders = [place / "run-0", place / "run-1"]
    started: list[Server] = []
    statuses: list[int] = []
    for number, (source, folder, server) in enumerate(zip(scripts, folders, servers, strict=True)):
        shutil.copytree(source, folder)
        if program.data:
            write_data(program.data, folder, order=number)
        started.append(server.start(program.command, folder))
        if program.apart:
            statuses.append(started[-1].wait())
            time.sleep(1)
    statuses += [one.wait() for one in started[len(statuses) :]]
    for status, folder in zip(statuses, folders, strict=True):
        assert status == 0, (folder / "log.txt").read_text(encoding="utf-8")
    return results(folders[0]), results(folders[1])


def write_data(name: str, folder: Path, order: int) -> None:
    """Writes a set of files of `repeat.data.DATA`, in an order that the number `order` picks."""
    files = list(DATA[name]().items())
    random.Random(order).shuffle(files)
    for path, content in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def lists_by_age(folder: Path) -> bool:
    """Whether the order in which files are made in a folder decides the order in which they are listed.

    So it is on tmpfs, for one; ext4 goes by a hash of the names that is the same in the whole file system.
    """
    listings = []
    for order in range(2):
        write_data("folders", folder / f"probe-{order}", order)
        classes = sorted((folder / f"probe-{order}" / "data").iterdir())
        listings.append([[file.name for file in each.iterdir()] for each in classes])
        shutil.rmtree(folder / f"probe-{order}")
    return listings[0] != listings[1]


def results(folder: Path) -> dict[str, bytes]:
    """What lies in the `.pt` files of a folder, by file and path within it."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*.pt")):
        saved = torch.load(io.BytesIO(path.read_bytes()), weights_only=False)
        found |= dict(_flat(saved, path.relative_to(folder).as_posix()))
    assert found, f"{folder} holds no results"
    return found


def _flat(value: object, at: str) -> Iterator[tuple[str, bytes]]:
    """The leaves of nested containers by their paths; those of tensors, arrays and floats to the bit."""
    if isinstance(value, Mapping):
        yield at, repr(list(value)).encode()
        for key, each in value.items():
            yield from _flat(each, f"{at}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        yield at, str(len(value)).encode()
        for index, each in enumerate(value):
            yield from _flat(each, f"{at}[{index}]")
    elif isinstance(value, torch.Tensor):
        yield from _flat(value.detach().numpy(), at)
    elif isinstance(value, (np.ndarray, np.generic)):
        yield at, f"{value.dtype} {value.shape} ".encode() + value.tobytes()
    elif isinstance(value, float):
        yield at, value.hex().encode()
    else:
        assert value is None or isinstance(value, (bool, int, str, bytes)), f"{at}: {type(value)}"
        yield at, repr(value).encode()

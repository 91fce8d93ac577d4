"""Training programs of tests/repeat: their pages, the data they read, runs of them in processes of their own."""

from __future__ import annotations

import io
import json
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
PACKAGES = FOLDER / "packages"
EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
FILLS = (85, 170)

_FILE = re.compile(r'^```\w+ title="(?P<path>[^"]+)"\n(?P<text>.*?)^```$', re.S | re.M)
_CELL = re.compile(r"^# %%( \[markdown\])?\n", re.M)


@dataclass(frozen=True)
class Program:
    """A page of tests/repeat: a program as people write them.

    Of `commands` each is what follows `python`; a run is one after the other. `data` names what it reads in
    `repeat.data.DATA`, `packages` what it imports from tests/repeat/packages. `unsafe` says that it takes unsafe fixes
    to make it repeat, `listing` that the order of a directory's entries matters, `apart` that its runs differ only if
    they begin in different seconds, `repeats` that it repeats as it is, `left` why two runs of it still differ when it
    is fixed: what the fixes do not do yet.
    """

    name: str
    files: Mapping[str, bytes]
    commands: tuple[tuple[str, ...], ...]
    data: str = ""
    packages: tuple[str, ...] = ()
    unsafe: bool = False
    listing: bool = False
    apart: bool = False
    repeats: bool = False
    left: str = ""

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
        Program(
            name, {path.name: path.read_bytes() for path in sorted((EXAMPLES / name).glob("*.py"))}, (command,), data
        )
        for name, (command, data) in commands.items()
    ]


def _read(path: Path) -> Program:
    header, text = read_page(path)
    newline = "\r\n" if header.pop("newline", "lf") == "crlf" else "\n"
    texts = {one["path"]: one["text"] for one in _FILE.finditer(text)}
    texts |= {name: _notebook(cells) for name, cells in texts.items() if name.endswith(".ipynb")}
    files = {name: content.replace("\n", newline).encode() for name, content in texts.items()}
    run = header.pop("run", next(iter(files)))
    commands = tuple(tuple(one.split()) for one in ([run] if isinstance(run, str) else run))
    unsafe = header.pop("fixes", "safe") == "unsafe"
    packages = tuple(header.pop("packages", ()))
    return Program(path.stem, files, commands, unsafe=unsafe, packages=packages, **header)


def _notebook(text: str) -> str:
    """A notebook of the cells that begin with lines `# %%`, or `# %% [markdown]`."""
    before, *parts = _CELL.split(text)
    assert not before and parts, "the first line of a notebook begins a cell"
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "metadata": {}, "source": source.strip("\n").splitlines(keepends=True)}
        if markdown
        else {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": source.strip("\n").splitlines(keepends=True),
        }
        for markdown, source in zip(parts[::2], parts[1::2], strict=True)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(notebook, indent=1) + "\n"


class RunError(AssertionError):
    """A run ended with an error."""


class Server(Forking):
    """A fresh process that forks for each run: a tenth of the time, as all runs share one import of torch.

    Two runs in two servers differ wherever two fresh processes do: in the hash seed, in addresses, in what the
    generators start from (numpy's is the server's own; torch's and Python's are new in each fork).
    """

    def __init__(self, fill: int) -> None:
        super().__init__(FOLDER / "server.py", environment(fill))

    def start(self, command: Sequence[str], folder: Path, packages: Sequence[str] = ()) -> Server:
        """Starts a run, whose exit status `wait` returns."""
        path = [str(PACKAGES / name) for name in packages]
        self.send({"folder": str(folder), "command": command, "path": path})
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
    for number, (source, folder) in enumerate(zip(scripts, folders, strict=True)):
        shutil.copytree(source, folder)
        if program.data:
            write_data(program.data, folder, order=number)
    for command in program.commands:
        statuses: list[int] = []
        for server, folder in zip(servers, folders, strict=True):
            server.start(command, folder, program.packages)
            if program.apart:
                statuses.append(server.wait())
                time.sleep(1)
        statuses += [server.wait() for server in servers[len(statuses) :]]
        for status, folder in zip(statuses, folders, strict=True):
            if status != 0:
                raise RunError((folder / "log.txt").read_text(encoding="utf-8"))
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
    """What lies in the `.pt` files of a folder, and in the `result*.npz`, by file and path within it."""
    found: dict[str, bytes] = {}
    for path in sorted([*folder.rglob("*.pt"), *folder.rglob("result*.npz")]):
        content = io.BytesIO(path.read_bytes())
        saved = torch.load(content, weights_only=False) if path.suffix == ".pt" else dict(np.load(content))
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

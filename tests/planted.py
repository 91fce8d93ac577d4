"""Programs of tests/bisect, each with one planted cause of a difference and its repaired twin, and records of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from detlint.bisect.options import Options
from detlint.bisect.running.runs import Plan
from tests.forking import Forking, read_page

FOLDER = Path(__file__).parent / "bisect"
SCRIPT = "train.py"
MARK = "# planted"
_FILE = re.compile(r'^```py title="train.py"\n(?P<text>.*?)^```$', re.S | re.M)


@dataclass(frozen=True)
class Planted:
    """A page: the program with the cause, its twin, the cause's kind, and the rule that belongs to it ("": none).

    `perturb` is what the second run is made to differ in; `resumed` says that the program has run before in the folder.
    """

    name: str
    faulty: str
    repaired: str
    cause: str
    rule: str = ""
    perturb: tuple[str, ...] = ()
    resumed: bool = False

    @property
    def line(self) -> int:
        """The line that is marked."""
        return next(number for number, line in enumerate(self.faulty.splitlines(), 1) if line.endswith(MARK))

    def plan(self) -> Plan:
        """How it is run."""
        return Plan((SCRIPT,), perturbed=self.perturb)


def pages() -> list[Planted]:
    """All pages of tests/bisect, by name."""
    return [_read(path) for path in sorted(FOLDER.glob("*.md"))]


def _read(path: Path) -> Planted:
    header, text = read_page(path)
    faulty, repaired = _FILE.findall(text)
    return Planted(path.stem, faulty, repaired, perturb=tuple(header.pop("perturb", ())), **header)


class Recorder(Forking):
    """A fresh process that forks for each program that it records, so that all share one import of torch.

    Two of them differ wherever two fresh processes do: in the hash seed, in addresses, in what generators start from.
    """

    def __init__(self, options: Options) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
        environment |= {"MALLOC_PERTURB_": str(max(options.poison, 0)), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"PYTHONPATH": os.pathsep.join([str(FOLDER.parents[1]), *sys.path])}
        super().__init__(FOLDER / "server.py", environment)

    def start(self, folder: Path, trace: Path, options: Options) -> None:
        """Starts to record the script of a folder."""
        self.send({"folder": str(folder), "trace": str(trace), "options": options.dump(), "command": [SCRIPT]})


@contextmanager
def recorders() -> Iterator[tuple[Recorder, Recorder]]:
    """Where to record the first run and the second."""
    a, b = Plan((SCRIPT,)).pair()
    both = Recorder(a), Recorder(b)
    try:
        yield both
    finally:
        for one in both:
            one.stop()

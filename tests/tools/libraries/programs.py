"""The programs that measure rows, one file a library: `programs/NAME.md`.

A list ahead of the first heading names the releases, each by what pip installs; every program is run with each of them.
A heading tells the rows of a program by their tables, and after a colon what is special about it:

    ## draw sklearn.kmeans
    ## draw node2vec.python, draw node2vec.numpy: both together
    ## outside draw sklearn.kmeans: what its conditions leave out, so that two runs agree
    ## outside all rows: what no row speaks of, as two runs agree

Each is large enough for what draws only with much data, and says how large. The fence below the heading is run: its
leading imports, then what a way of seeding seeds, then the rest, which leaves what is compared in `result`. `seed` is a
mapping with the parameter that takes the seed, empty but where it is to be given.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from detlint import catalogue
from detlint.catalogue import Row

FOLDER = Path(__file__).parent / "programs"
TABLES = {
    "draw": ("libraries", "draw"),
    "method": ("libraries", "method"),
    "consumer": ("randomness", "consumer"),
    "seeder": ("randomness", "seeder"),
    "entropy": ("randomness", "entropy"),
    "generator": ("randomness", "generator"),
    "compiled": ("program", "role"),
}
_RELEASE = re.compile(r"^- `([^`]+)`", re.MULTILINE)
_PROGRAM = re.compile(
    r"^## (?P<outside>outside )?(?P<rows>[^:\n]+)(?:: (?P<about>.+))?\n(?:(?!## |```).*\n)*```py\n(?P<text>[\s\S]*?)^```$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Program:
    """A program: the rows that it measures, as "TABLE ID", whether it is outside of their conditions, and its text."""

    rows: tuple[str, ...]
    outside: bool
    about: str
    text: str

    @property
    def name(self) -> str:
        """What tells it from the others of its library."""
        return f"{'outside ' * self.outside}{', '.join(self.rows) or 'all rows'}{': ' * bool(self.about)}{self.about}"

    @property
    def digest(self) -> str:
        """What tells whether it has changed since it was measured, in more than its layout or the rows it is for."""
        return hashlib.sha256(ast.dump(ast.parse(self.text)).encode()).hexdigest()[:12]

    @property
    def parameter(self) -> str:
        """The parameter that takes the seed, "seed" where no row has one."""
        return next((name for row in self.rows if (name := find(row).text("parameter"))), "seed")

    @property
    def seeded(self) -> bool:
        """Whether it can be given a seed."""
        return any(isinstance(node, ast.Name) and node.id == "seed" for node in ast.walk(ast.parse(self.text)))


@dataclass(frozen=True)
class Library:
    """The programs of a library, and the releases that they are run with, as what pip installs."""

    name: str
    releases: tuple[str, ...]
    programs: tuple[Program, ...]


def find(row: str) -> Row:
    """The row of "TABLE ID"."""
    table, _, identity = row.partition(" ")
    found = [each for each in catalogue.load().rows(*TABLES[table]) if each.id == identity] if table in TABLES else []
    if not found:
        raise ValueError(f"no row {row}")
    return found[0]


def third_party() -> Iterator[tuple[str, Row]]:
    """All rows of other libraries than torch, NumPy and Python, with the library's name."""
    own = ("torch", "numpy", "random", "builtins", "os", "time", "datetime", "uuid", "secrets", "detlint", "threading")
    for table, (file, name) in TABLES.items():
        for row in catalogue.load().rows(file, name):
            if table == "compiled" and row.text("kind") != "compiles":
                continue
            names = row.list("names") or row.list("made")
            of = {each.partition(".")[0] for each in names} - {*own}
            if of and (file == "libraries" or not {each.partition(".")[0] for each in names} & {*own}):
                yield f"{table} {row.id}", row


def read(folder: Path = FOLDER) -> tuple[Library, ...]:
    """All libraries, by name."""
    return tuple(parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md")))


def parse(name: str, text: str) -> Library:
    """The library of one file."""
    head, _, _ = text.partition("\n## ")
    programs = tuple(_program(match) for match in _PROGRAM.finditer(text))
    if len(programs) != len(re.findall(r"^## ", text, re.MULTILINE)):
        raise ValueError(f"{name}: a heading without a program")
    if len({program.name for program in programs}) != len(programs):
        raise ValueError(f"{name}: two programs of one name")
    return Library(name, tuple(_RELEASE.findall(head)), programs)


def _program(match: re.Match[str]) -> Program:
    rows = () if match["rows"] == "all rows" else tuple(match["rows"].split(", "))
    for row in rows:
        find(row)
    return Program(rows, bool(match["outside"]), match["about"] or "", match["text"])

"""Recipes: which program to run, with which arguments and data. The format stands in `Program`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from detlint.support import toml

FOLDER = Path(__file__).parent
PARTS = ("open", "counted")


@dataclass(frozen=True)
class Program:
    """A table `[[program]]` of a file of recipes.

    `name` is its own among all. `repository` is OWNER/NAME, found as OWNER+NAME in the folder of the corpus; `folder`
    the working folder in it. `command` is what follows `python`. `data` names a function of the package `data`, called
    with the root of the repository's copy. `environment` is added to the environment. In values of both, `{root}`
    stands for the root. `packages` are the distributions that it imports beside torch and numpy.
    """

    name: str
    repository: str
    command: tuple[str, ...]
    folder: str = "."
    data: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    @property
    def checkout(self) -> str:
        """The name of the repository's folder in the corpus."""
        return self.repository.replace("/", "+")

    def script(self, loaded: Iterable[str]) -> str:
        """The file that is run, relative to the repository's root; of the files that it loaded if it is a module."""
        if self.command[0] != "-m":
            return posixpath.normpath(posixpath.join(self.folder, self.command[0]))
        inner = self.command[1].replace(".", "/")
        ends = (f"{inner}.py", f"{inner}/__main__.py")
        return next((path for path in sorted(loaded, key=len) if path.endswith(ends)), "")


def read(part: str, folder: Path = FOLDER) -> list[Program]:
    """The programs of a part, from all files whose names begin with it. Raises ValueError for a recipe that is wrong."""
    known = {each.name for each in fields(Program)}
    programs: list[Program] = []
    for path in sorted(folder.glob(f"{part}*.toml")):
        for table in toml.loads(path.read_text(encoding="utf-8")).get("program", []):
            if not known >= table.keys() >= {"name", "repository", "command"}:
                raise ValueError(f"{path.name}: {table.get('name')}: {sorted(table.keys() - known)}")
            lists = {key: tuple(table[key]) for key in ("command", "packages") if key in table}
            programs.append(Program(**(table | lists)))
    names = [program.name for program in programs]
    if len(set(names)) < len(names):
        raise ValueError(f"two recipes of {part} have the same name")
    return programs

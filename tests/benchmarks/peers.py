"""What is compared: how each tool is installed, and how it is asked for its findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OWN = "detlint"
FASTEST = "ruff"
CLOSEST = "TorchFix"
SOURCE = "."  # stands for the source tree of detlint, among what is installed


@dataclass(frozen=True)
class Peer:
    """A tool. `command` begins with a program of its environment; what is to be read follows.

    `caches` are the folders where it keeps what it found, in the folder where it runs; it `grows` if it is fast enough
    to be run on many times the tree.
    """

    name: str
    environment: str
    command: tuple[str, ...]
    caches: tuple[str, ...] = ()
    grows: bool = False
    note: str = ""

    def program(self, environments: Path) -> Path:
        """Where its program is, if its environment was made."""
        return environments / self.environment / "bin" / self.command[0]

    def line(self, environments: Path, paths: Sequence[str]) -> list[str]:
        """The command line that reads these files and folders."""
        return [str(self.program(environments)), *self.command[1:], *paths]


# The packages of each environment. TorchFix reads code by libcst and never imports torch.
ENVIRONMENTS = {
    "detlint": (SOURCE,),
    "ruff": ("ruff==0.17.6",),
    "flake8": ("flake8==7.5.0",),
    "flake8-detlint": ("flake8==7.5.0", SOURCE),
    "torchfix": ("TorchFix==0.7.0", "flake8==7.5.0"),
    "pylint": ("pylint==4.1.4",),
}

_PARSING = str(Path(__file__).with_name("parsing.py"))
_FLAKE8 = ("flake8", "--isolated", "--exit-zero")
_PYLINT = ("pylint", "--rcfile=/dev/null", "--persistent=n", "--exit-zero", "--recursive=y", "--jobs=0")
_SEEN = "unused-import,unused-variable,undefined-variable,redefined-outer-name"

PEERS = (
    Peer(OWN, "detlint", ("detlint", "--exit-zero"), (".detlint_cache",), grows=True, note="default rules"),
    Peer(
        FASTEST,
        "ruff",
        ("ruff", "check", "--isolated", "--no-respect-gitignore", "--quiet", "--exit-zero", "--select", "NPY,S311"),
        (".ruff_cache",),
        grows=True,
        note="`--select NPY,S311`",
    ),
    Peer("ast.parse", "flake8", ("python", _PARSING), note="nothing: parses each file with the standard library"),
    Peer("flake8", "flake8", _FLAKE8, note="default checks"),
    Peer("flake8 with detlint", "flake8-detlint", _FLAKE8, (".detlint_cache",), note="default checks"),
    Peer("flake8 with TorchFix", "torchfix", _FLAKE8, note="default checks"),
    Peer(CLOSEST, "torchfix", ("torchfix",), note="its own command, default rules"),
    Peer(
        "pylint",
        "pylint",
        (*_PYLINT, "--disable=all", f"--enable={_SEEN}"),
        note=f"`--disable=all --enable={_SEEN}`: names alone",
    ),
)

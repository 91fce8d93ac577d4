"""A project in a folder: its files written, and what `detlint entries` tells of the programs in it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from detlint.cli import cli


def written(folder: Path, files: Mapping[str, str]) -> None:
    """Write files of a project."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


def entries(folder: Path) -> list[dict[str, Any]]:
    """What is told of all programs in a folder, which is a project."""
    (folder / "pyproject.toml").touch()
    arguments = ["entries", "--no-cache", "--format", "json", "--jobs", "1", str(folder)]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)["entries"]
    return found


def told(folder: Path, program: str) -> dict[str, Any]:
    """What is told of a program."""
    written(folder, {"program.py": program})
    (entry,) = entries(folder)
    return entry


def states_of(folder: Path) -> dict[str, dict[str, str]]:
    """The states of the generators of all programs."""
    found = {Path(each["path"]).name: each["generators"] for each in entries(folder)}
    return {name: {key: each["state"] for key, each in streams.items()} for name, streams in found.items()}


def states(folder: Path, program: str) -> dict[str, str]:
    """The states of the generators of a program, which draws from numpy's at its end."""
    text = f"{textwrap.dedent(program).lstrip()}\nimport numpy\nnumpy.random.rand()\n"
    written(folder, {"program.py": text})
    return states_of(folder)["program.py"]

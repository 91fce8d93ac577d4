"""Which detlint was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

from detlint import __version__

_PROJECT = Path(__file__).parents[2]


def revision() -> str:
    """The commit that last changed the package or the rules, with a `+` where they have been edited since.

    Without git it is the version.
    """
    try:
        commit = _git("log", "-1", "--format=%h")
        edited = _git("status", "--porcelain")
    except (OSError, subprocess.CalledProcessError):
        return __version__
    return f"{commit}{'+' if edited else ''}" if commit else __version__


def _git(*arguments: str) -> str:
    command = ["git", *arguments, "--", "detlint", "rules"]
    return subprocess.run(command, cwd=_PROJECT, capture_output=True, text=True, check=True).stdout.strip()

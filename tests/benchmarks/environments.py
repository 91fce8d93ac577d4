"""An environment for each peer, so that none sees the plugins of another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.peers import ENVIRONMENTS, SOURCE, Peer

ROOT = Path(__file__).parent.parent.parent


def prepare(folder: Path) -> Iterator[str]:
    """Make all environments below `folder`, with what is installed there already but detlint, which is built anew.

    Gives a line on each once it is made. Raises CalledProcessError where pip fails, and says on stderr why.
    """
    for name, packages in ENVIRONMENTS.items():
        place = folder / name
        if not (place / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        wanted = [str(ROOT) if package == SOURCE else package for package in packages]
        subprocess.run([str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", *wanted], check=True)
        yield f"{name}: {', '.join(f'{package} {version}' for package, version in installed(place).items())}"


def installed(environment: Path) -> dict[str, str]:
    """The versions of the packages of an environment, Python's among them."""
    listed = subprocess.run(
        [environment / "bin" / "python", "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        check=True, capture_output=True, text=True, env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    python = subprocess.run([environment / "bin" / "python", "-V"], check=True, capture_output=True, text=True)
    found = {each["name"]: each["version"] for each in json.loads(listed.stdout)}
    return {"python": python.stdout.split()[1]} | {k: v for k, v in found.items() if k not in ("pip", "setuptools")}


def versions(peer: Peer, environments: Path) -> dict[str, str]:
    """What of an environment tells one result from another: the tool, its parts that read code, Python."""
    told = {"python", "detlint", "ruff", "flake8", "torchfix", "pylint", "astroid", "libcst"}
    return {k: v for k, v in installed(environments / peer.environment).items() if k.lower() in told}

"""The README's first commands on a machine that has Python alone: `python -m tests.tools.fresh`.

The files that git tracks are copied to an empty folder, and what the fences under "Try it" say is typed there as
printed, by `sh`, in a new virtual environment, with a new home and without any other variable; then what those under
"Fix it" say, in a project. It prints how long each command took and its last line; a status that is not that of
findings is an error. It needs a package index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTIONS = {"Try it": ".", "Fix it": "docs/examples/segmentation"}  # with the folders to be in
KEPT = ("LANG", "LC_ALL", "TMPDIR")  # and what tells pip of a package index
OF_PIP = ("PIP_", "SSL_", "REQUESTS_", "HTTP_", "HTTPS_", "http_", "https_", "NO_PROXY", "no_proxy")
ALLOWED = {"detlint": (0, 1)}  # 1: something was found


def commands(readme: str) -> Iterator[tuple[str, str]]:
    """The folder and the command of each line of the sections' fences without a language, without comments."""
    for section, folder in SECTIONS.items():
        text = readme.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        for fence in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            yield from ((folder, line.partition("#")[0].strip()) for line in fence.splitlines())


def environment(folder: Path) -> dict[str, str]:
    """What a shell of a new user has, in a new virtual environment."""
    venv.create(folder / "venv", with_pip=True)
    (folder / "home").mkdir()
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(OF_PIP)}
    path = os.pathsep.join((str(folder / "venv" / "bin"), *filter(_is_of_the_system, os.environ["PATH"].split(":"))))
    return kept | {"HOME": str(folder / "home"), "PATH": path}


def _is_of_the_system(folder: str) -> bool:
    return folder in ("/usr/local/bin", "/usr/bin", "/bin")


def copied(folder: Path) -> Path:
    """A copy of the files that git tracks, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    project = folder / "detlint"
    for name in filter(None, listed.split("\0")):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes((ROOT / name).read_bytes())
    return project


def typed(command: str, project: Path, variables: Mapping[str, str]) -> None:
    """Run a line; raise SystemExit where it fails."""
    begun = time.monotonic()
    done = subprocess.run(["sh", "-c", command], cwd=project, env=dict(variables), capture_output=True, text=True)
    program = command.rpartition("&&")[2].split()[0]
    if done.returncode not in ALLOWED.get(program, (0,)):
        raise SystemExit(f"`{command}` ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    last = (done.stdout or done.stderr).rstrip().rpartition("\n")[2]
    print(f"{time.monotonic() - begun:6.1f} s  {command}\n          {last}")


def main() -> None:
    """Type the commands."""
    lines = list(commands((ROOT / "README.md").read_text(encoding="utf-8")))
    if len(lines) < 3:
        raise SystemExit(f"the README has no commands under {', '.join(SECTIONS)}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project, variables = copied(folder), environment(folder)
        for inner, line in lines:
            typed(line, project / inner, variables)
    print(f"{len(lines)} commands of the README on {sys.version.split()[0]}")


if __name__ == "__main__":
    main()

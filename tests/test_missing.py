"""What detlint does where a package that it needs is not installed: plain text, or a line that names the package."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from detlint.cli import COMMANDS
from detlint.support import toml

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
CHECK = "check --no-cache --jobs 1 ."
ENTRIES = "entries --no-cache --jobs 1 ."
LINES = [  # of every command, what it can do with what is in each environment
    "bisect nowhere.py", "cache clean", CHECK, "check --no-cache --jobs 1 --diff train.py", "completion bash",
    ENTRIES, "help check", "repeat -- nowhere.py", "rule DET501", "runtime", "server", "verify --op nothing",
]  # fmt: skip
MODULES = {"pyyaml": "yaml"}  # of packages that are not called like their module
MANY = 100  # files from which a run shows how far it is
_RUN = """
import io, json, sys

hidden, terminal, *commands = sys.argv[1:]
if hidden:
    sys.modules[hidden] = None
from detlint.__main__ import main

class Stream(io.TextIOWrapper):
    def __init__(self): super().__init__(io.BytesIO(), "utf-8", write_through=True)  # no server can serve on it
    def isatty(self): return bool(terminal)
    def text(self): return self.buffer.getvalue().decode()

said, out = {}, sys.stdout
for command in commands:
    sys.argv = ["detlint", *command.split()]
    sys.stdout, sys.stderr = Stream(), Stream()
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    except BaseException as error:
        status = repr(error)
    said[command] = (status, sys.stdout.text(), sys.stderr.text())
out.write(json.dumps(said))
out.flush()
"""
Said = Mapping[str, tuple[object, str, str]]


def dependencies() -> list[str]:
    """The modules of the packages that an installation brings."""
    lines = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = [re.split(r"[<>=;]", line)[0].strip() for line in lines if "python_version" not in line]
    return [MODULES.get(name, name) for name in names]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    text = "import torch\n\ntorch.backends.cudnn.benchmark = True; print('\u6f22\u5b57', torch.rand(3))\n"
    (folder / "train.py").write_text(text, encoding="utf-8")
    for number in range(MANY):
        (folder / f"part{number}.py").touch()
    return folder


@cache
def ran(folder: Path, hidden: str = "", terminal: str = "") -> Said:
    """What each command says in an environment without a package."""
    left_out = ("NO_COLOR", "DETLINT_DEBUG", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    variables = {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "TERM": "xterm", "COLUMNS": "100"}
    variables["PYTHONPYCACHEPREFIX"] = str(folder.with_name("compiled"))  # once for all environments
    command = [sys.executable, "-c", _RUN, hidden, terminal, *LINES]
    done = subprocess.run(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said: Said = json.loads(done.stdout)
    return said


def test_every_command_is_gone_through() -> None:
    assert {line.split()[0] for line in LINES} == set(COMMANDS)
    assert len(dependencies()) > 4


@pytest.mark.parametrize("terminal", ["", "terminal"])
def test_every_command_does_without_rich_what_it_does_with_it(project: Path, terminal: str) -> None:
    without, all_there = ran(project, "rich", terminal), ran(project, "", terminal)
    assert [each[0] for each in without.values()] == [each[0] for each in all_there.values()]
    for command, (_, out, err) in without.items():
        assert (out, err) == tuple(ran(project)[command][1:]) or (terminal and command.startswith("entries")), command
    assert "\x1b[" not in str(without)
    assert "DET501" in without[CHECK][1] and "\u6f22\u5b57" in without[CHECK][1]
    assert "train.py" in without[ENTRIES][1]
    assert "\x1b[" in ran(project, "", "terminal")[ENTRIES][1]


@pytest.mark.parametrize("module", dependencies())
def test_a_command_works_or_names_the_package_that_it_needs(project: Path, module: str) -> None:
    for command, (status, out, err) in ran(project, module).items():
        if [status, out, err] != list(ran(project)[command]):
            *before, last = err.splitlines()
            assert (status, out, before) == (2, "", []), (command, err)
            assert last.startswith("detlint") and f"needs {module}, which is not installed" in last, command

"""The extension for VS Code: its package, and the server driven by the library that the extension speaks with."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from detlint.plugins.lsp import options

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "editors" / "vscode"
PACKAGE = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension with the packages that it is made of."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    made = tmp_path_factory.mktemp("extension") / "vscode"
    shutil.copytree(SOURCE, made, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    shutil.copy(ROOT / "LICENSE", made)
    run(made, npm, "ci", "--no-audit", "--no-fund")
    return made


def test_the_settings_are_those_that_the_server_takes() -> None:
    offered = {name.removeprefix("detlint.") for name in PACKAGE["contributes"]["configuration"]["properties"]}
    assert offered == {*options.KNOWN, "path"}  # the path of the command is the extension's own


@pytest.mark.slow
def test_the_package_holds_one_script_and_no_other_package(folder: Path) -> None:
    run(folder, "npm", "run", "package")
    with zipfile.ZipFile(folder / "detlint.vsix") as package:
        names = {name.lower() for name in package.namelist() if name.startswith("extension/")}
    parts = ("package.json", "readme.md", "license.txt", "dist/extension.js")
    assert names == {f"extension/{part}" for part in parts}


@pytest.mark.slow
def test_the_server_answers_the_library_of_the_extension(folder: Path) -> None:
    told = json.loads(run(folder, "node", "test.js", sys.executable, "-m", "detlint"))
    assert told["findings"] == [["DET501", 3]]
    assert told["title"] == "detlint: Set it to False (unsafe)"
    assert "torch.backends.cudnn.benchmark = False\n" in told["fixed"]
    assert told["page"].startswith("**DET501**")

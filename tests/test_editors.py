"""Editors that speak the language server protocol, set up as the page says: findings shown, fixes made."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .support import documented

pytest.importorskip("pygls")

from detlint.plugins.lsp import options

SCRIPTS = Path(__file__).parent / "editors"
PAGE = "docs/editors.md"
PROGRAM = """import torch

torch.backends.cudnn.benchmark = True
model = torch.nn.Linear(3, 3)
"""
COMMANDS = {
    "nvim": ("--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {SCRIPTS / 'neovim.lua'}", "-c", "cquit"),
    "emacs": ("--no-init-file", "--batch", "--load", str(SCRIPTS / "emacs.el")),
}


@pytest.mark.slow
@pytest.mark.parametrize("editor", COMMANDS)
def test_an_editor_shows_findings_and_makes_fixes(editor: str, tmp_path: Path) -> None:
    if shutil.which(editor) is None:
        pytest.skip(f"{editor} is not installed")
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\n")
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "setup.lua").write_text(documented(PAGE, "Before 0.11", "lua"))
    (tmp_path / "setup.el").write_text(documented(PAGE, "## Emacs", "elisp"))
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path)}
    done = subprocess.run(
        [editor, *COMMANDS[editor]], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
    )
    if re.search("Cannot open load file.*eglot", done.stderr):
        pytest.skip("Emacs has no Eglot")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "DET101 in line 4", "DET501 in line 3"]
    fixed = (tmp_path / "train.py").read_text()
    assert "torch.manual_seed(0)\nmodel = " in fixed


def test_the_configuration_for_jupyterlab_starts_the_server() -> None:
    configuration = json.loads(documented(PAGE, "## JupyterLab", "json"))
    server = configuration["LanguageServerManager"]["language_servers"]["detlint"]
    name, *arguments = server.pop("argv")
    assert server == {
        "version": 2,  # of this format: the only one that jupyter-lsp reads
        "languages": ["python"],
        "display_name": "detlint",
        "requires_documents_on_disk": False,
    }
    texts = [
        '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": null, "capabilities": {}}}',
        '{"jsonrpc": "2.0", "id": 2, "method": "shutdown"}',
        '{"jsonrpc": "2.0", "method": "exit"}',
    ]
    sent = "".join(f"Content-Length: {len(each)}\r\n\r\n{each}" for each in texts)
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], input=sent.encode(), capture_output=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"textDocumentSync"' in done.stdout


def test_the_settings_for_jupyterlab_are_those_that_the_server_takes() -> None:
    settings = json.loads(documented(PAGE, "JSON Settings Editor", "json"))
    given = settings["language_servers"]["detlint"]["serverSettings"]
    assert {name.removeprefix("detlint.") for name in given} <= set(options.KNOWN)

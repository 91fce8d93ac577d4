"""`neovim.svg`, `emacs.svg`: what editors show of a file, as a terminal had it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.text import Text

from tests.support import documented
from tests.tools.pictures import terminal

FILE = Path(__file__).parent.parent.parent.parent / "docs" / "pictures" / "editors.json"
_PAGE = "docs/editors.md"
_PROGRAM = """import torch

torch.backends.cudnn.benchmark = True
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
_NEOVIM = "nvim -u NONE -i NONE -n -c 'filetype on' -c 'syntax on' -c 'set termguicolors' -c 'luafile setup.lua' -c 'edit train.py'"
_SHOW = "(run-with-timer 8 nil (lambda () (flymake-show-buffer-diagnostics) (message nil)))"
_EMACS = f"""emacs --no-init-file -nw --load eglot --load setup.el --eval "(add-hook 'python-mode-hook #'eglot-ensure)" \\
    train.py --eval "{_SHOW}" """
_COMMANDS = {"neovim": _NEOVIM, "emacs": _EMACS}


def editors() -> dict[str, str]:
    """The screens of editors that show a file, by their names, as text with escape sequences. Needs tmux."""
    return {name: _screen(command) for name, command in _COMMANDS.items()}


def drawn() -> dict[str, str]:
    """The pictures by the names of their editors."""
    screens = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: terminal.drawn("train.py", Text.from_ansi(screens[name].rstrip())) for name in _COMMANDS}


def _screen(command: str) -> str:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "pyproject.toml").write_text("[tool.detlint]\n")
        (folder / "train.py").write_text(_PROGRAM)
        (folder / "setup.lua").write_text(documented(_PAGE, "Before 0.11", "lua"))
        (folder / "setup.el").write_text(documented(_PAGE, "## Emacs", "elisp"))
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        environment = {**os.environ, "HOME": made, "PATH": path, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        tmux = ["tmux", "-f", "/dev/null", "-L", "pictures"]
        subprocess.run(
            [*tmux, "new-session", "-d", "-x", "116", "-y", "18", command], cwd=folder, env=environment, check=True
        )
        try:
            time.sleep(20)  # until the findings are there, and what the editor says meanwhile has gone
            screen = [*tmux, "capture-pane", "-e", "-p"]
            return subprocess.run(screen, env=environment, check=True, capture_output=True, text=True).stdout
        finally:
            subprocess.run([*tmux, "kill-server"], check=True)

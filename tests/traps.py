"""A project that tries to be run: whatever of it is imported, executed or unpickled leaves a file behind."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import zlib
from pathlib import Path

MODULES = """
    __future__ _bootlocale _typeshed ast asyncio attr atexit base64 bisect click codecs collections colorama concurrent
    configparser conftest contextlib copy ctypes dataclasses datetime detlint_runtime difflib dis email encodings enum
    fnmatch functools gc getpass glob gzip hashlib heapq html importlib_metadata inspect io IPython ipywidgets
    itertools json keyword libcst linecache locale logging lsprotocol markdown_it multiprocessing numpy operator
    packaging pathlib pickle pkg_resources pkgutil platform posixpath pygls pygments queue random re rich runpy secrets
    select selectors setup shlex shutil signal site sitecustomize sqlite3 stat string struct subprocess symtable
    tempfile textwrap threading tokenize token tomli tomllib torch traceback types typing typing_extensions
    unicodedata urllib usercustomize uuid warnings weakref xml yaml zipfile zlib zoneinfo
""".split()
PACKAGES = frozenset(
    "asyncio click collections concurrent importlib_metadata json libcst logging numpy rich torch".split()
)
CODE = "import torch\nfrom torch.utils.data import DataLoader\n\ntorch.backends.cudnn.benchmark = True\n"
_PYPROJECT = """\
[build-system]
requires = []
build-backend = "setup"
backend-path = ["."]

[project]
name = "trap"
version = "1"
scripts = {trap = "train:main"}
entry-points."flake8.extension" = {DET = "conftest:Plugin"}

[tool.detlint]
select = ["ALL"]

[tool.pytest.ini_options]
addopts = "-p conftest"
"""


class Boom:
    """What leaves a file behind when it is unpickled."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (self._command,)


def trap(folder: Path, ran: Path) -> None:
    """Make `folder` such a project, a repository with one commit; what runs of it makes a file in `ran`."""

    def springs(name: str) -> str:
        return f"open({str(ran / name)!r}, 'w').close()\n"

    for name in MODULES:
        path = folder / name / "__init__.py" if name in PACKAGES else folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(springs(name))
    (folder / "src").mkdir()
    text = f"{springs('train')}{CODE}import numpy as np\nimport click\nimport conftest\n\n\ndef main():\n"
    text += "    print(torch.rand(2), np.random.rand(3), torch.empty(3))\n\n\nif __name__ == '__main__':\n    main()\n"
    for path in (folder / "train.py", folder / "src" / "train.py", folder / "test_train.py"):
        path.write_text(text)
    (folder / "book.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "!touch %s"}]}' % (ran / "cell"))
    (folder / "evil.pth").write_text(f"import os; {springs('pth')}")
    (folder / "pyproject.toml").write_text(_PYPROJECT)
    command = f"touch '{ran / 'command'}'"
    plugin = "[flake8:local-plugins]\nextension = XX = conftest:Plugin\npaths = .\n"
    (folder / "setup.cfg").write_text(f"[options.entry_points]\nconsole_scripts = trap = train:main\n{plugin}")
    (folder / "tox.ini").write_text(f"[testenv]\ncommands = {command}\n")
    (folder / "requirements.txt").write_text(f"torch>=2; {command}\n-e .\n")
    for name in ("model.pt", "data.pkl"):
        (folder / name).write_bytes(pickle.dumps(Boom(command)))
    _repository(folder, ran)


def _repository(folder: Path, ran: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for arguments in (["init", "-q"], ["add", "train.py", "pyproject.toml"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True, capture_output=True)
    script = folder / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch '{ran / 'git'}'\ncat\n")
    script.chmod(0o755)
    for name in ("git", "python", "python3"):  # for a PATH that has the working folder
        (folder / name).write_bytes(script.read_bytes())
        (folder / name).chmod(0o755)
    (folder / ".gitattributes").write_text("*.py filter=evil diff=evil merge=evil\n")
    keys = """core.fsmonitor core.pager core.sshCommand core.askPass core.editor credential.helper diff.external
        diff.evil.command diff.evil.textconv filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver
        alias.rev-parse alias.ls-tree pager.ls-tree gpg.program sequence.editor interactive.diffFilter
        uploadpack.packObjectsHook core.gitProxy core.alternateRefsCommand""".split()
    rows = [
        f"[{key.rpartition('.')[0].partition('.')[0]}{_sub(key)}]\n\t{key.rpartition('.')[2]} = {script}\n"
        for key in keys
    ]
    with (folder / ".git" / "config").open("a") as file:
        file.write("".join(rows) + f"[core]\n\thooksPath = {folder}\n")
    for name in ("post-index-change", "post-checkout", "reference-transaction", "pre-commit"):
        for where in (folder, folder / ".git" / "hooks"):
            where.mkdir(exist_ok=True)
            (where / name).write_bytes(script.read_bytes())
            (where / name).chmod(0o755)


def _sub(key: str) -> str:
    section = key.rpartition(".")[0]
    return f' "{section.partition(".")[2]}"' if "." in section else ""


def poison(folder: Path, ran: Path) -> int:
    """Put pickles in place of all that the cache of a project has; how many."""
    boom = pickle.dumps(Boom(f"touch '{ran / 'pickle'}'"))
    place = folder / ".detlint_cache"
    with sqlite3.connect(place / "cache.db") as connection:
        count = 0
        for number, (key,) in enumerate(connection.execute("SELECT key FROM results").fetchall()):
            value = boom if number % 2 else zlib.compress(boom)
            connection.execute("UPDATE results SET value = ? WHERE key = ?", (value, key))
            count += 1
    connection.close()
    for record in place.glob("run-*"):
        record.write_bytes(boom)
        count += 1
    return count

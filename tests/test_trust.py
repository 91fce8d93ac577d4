"""Nothing of what is analysed is run: not its code, its settings, its plugins, its repository's, nor what is in a cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from detlint.config import ConfigError
from detlint.review import git
from tests.editor import Editor
from tests.support import FLAKE8_PLUGIN
from tests.traps import MODULES, poison, trap

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
_COMMAND = "import sys\n\nfrom detlint.__main__ import main\n\nsys.exit(main())\n"  # what pip installs as `detlint`
FORMATS = ("text", "json", "sarif", "github", "gitlab", "rdjson", "junit")


def _early() -> set[str]:
    """The modules that `python -m` itself imports, with the working folder first on the path: nobody can keep it."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import runpy; runpy._get_module_details('early'); print(*sys.modules)"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "early.py").touch()
        done = subprocess.run([sys.executable, "-I", "-c", code, folder], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that shows which traps have sprung."""
    return tmp_path_factory.mktemp("ran")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory, ran: Path) -> Path:
    """A project of traps."""
    folder = tmp_path_factory.mktemp("traps")
    trap(folder, ran)
    return folder


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, ran: Path) -> Path:
    """The same, without what Python itself runs of it where it begins with `-m`."""
    folder = tmp_path_factory.mktemp("fewer")
    trap(folder, ran)
    early = _early()
    left = [path for path in folder.iterdir() if path.stem in MODULES and path.stem in early]
    for path in left:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert len(MODULES) - len(left) > 60
    return folder


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DETLINT_NO_CACHE"}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **more}


def run(
    folder: Path, command: Sequence[str | Path], *status: int, given: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=given,
        env=environment(**more),
    )
    assert done.returncode in (status or (0, 1)), done.stderr
    assert "Traceback" not in done.stderr
    return done


def sprung(ran: Path) -> list[str]:
    return sorted(path.name for path in ran.iterdir())


def test_the_traps_work(tmp_path: Path) -> None:
    folder, ran = tmp_path / "project", tmp_path / "ran"
    ran.mkdir()
    trap(folder, ran)
    code = "import pickle, sys; pickle.load(open('data.pkl', 'rb')); sys.path.insert(0, '')"
    run(folder, ["-I", "-c", f"{code}; import click, libcst, torch, conftest"])
    for arguments in (["status"], ["add", "-A"]):
        subprocess.run(["git", *arguments], cwd=folder, capture_output=True)
    assert set(sprung(ran)) >= {"click", "libcst", "torch", "conftest", "git", "command"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--jobs", "2", "--select", "ALL", "--statistics", "."],
        ["--changed-since", "HEAD", "--no-cache"],
        ["rule", "DET501"],
        ["--fix", "--unsafe-fixes", "src"],
    ],
    ids=" ".join,
)
def test_a_command_from_within_the_folder_runs_nothing_of_it(project: Path, ran: Path, arguments: list[str]) -> None:
    run(project, ["-m", "detlint", *arguments])
    assert sprung(ran) == []


def test_the_command_of_an_installation_runs_nothing_of_the_folder(full: Path, ran: Path, tmp_path: Path) -> None:
    script = tmp_path / "detlint"
    script.write_text(_COMMAND)
    run(full, [script, "--jobs", "2", "--fix", "--unsafe-fixes", "src"])
    assert sprung(ran) == []


def test_a_poisoned_cache_is_not_run(project: Path, ran: Path) -> None:
    first = run(project, ["-m", "detlint", "--format", "github"], 1)
    assert poison(project, ran) > 2
    assert run(project, ["-m", "detlint", "--format", "github"], 1).stdout == first.stdout
    assert run(project, ["-m", "detlint", "cache", "clean"]).stdout.startswith("removed")
    assert sprung(ran) == []


def test_the_working_folder_may_be_on_every_path(project: Path, ran: Path, tmp_path: Path) -> None:
    """As `PYTHONPATH=.` has it. What Python itself imports to begin with is out of reach, so less is laid out."""
    for name in ("click", "rich", "libcst", "torch", "pygls"):
        source = project / name if (project / name).is_dir() else project / f"{name}.py"
        target = tmp_path / source.name
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    shutil.copy(project / "train.py", tmp_path)
    paths = {"PYTHONPATH": os.pathsep.join((".", str(ROOT))), "PATH": os.pathsep.join((".", "", os.environ["PATH"]))}
    run(tmp_path, ["-m", "detlint", "--diff"], 1, **paths)
    assert sprung(ran) == []


def test_git_is_not_taken_from_the_project(project: Path, ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", os.pathsep.join((".", "", os.environ["PATH"])))
    assert git.Repository(Path()).base("HEAD")
    monkeypatch.setenv("PATH", os.pathsep.join((".", "")))
    with pytest.raises(ConfigError, match="is not installed or not on the PATH"):
        git.Repository(Path())
    assert sprung(ran) == []


def test_the_plugin_of_flake8_runs_nothing_of_it(full: Path, ran: Path, tmp_path: Path) -> None:
    """Started as a command, with settings from elsewhere: what flake8 runs of a project's settings is its own affair."""
    (tmp_path / "flake8.ini").write_text(f"[flake8]\n{FLAKE8_PLUGIN}")
    script = tmp_path / "flake8"
    script.write_text("import sys\n\nfrom flake8.main.cli import main\n\nsys.exit(main())\n")
    done = run(full, [script, "--config", tmp_path / "flake8.ini", "--select", "DET", "-j1", "src", "train.py"], 1)
    assert "DET501" in done.stdout
    assert sprung(ran) == []


def test_the_language_server_runs_nothing_of_it(project: Path, ran: Path) -> None:
    editor = Editor([project], environment=environment(), folder=project)
    uri = editor.open(project / "train.py", (project / "train.py").read_text(encoding="utf-8"))
    assert "DET501" in {each.code for each in editor.diagnostics(uri)}
    editor.open_notebook(project / "book.ipynb", ["import torch\n!touch marker\n"])
    assert editor.actions(uri, editor.diagnostics(uri)[0].range)
    assert editor.quit() == 0
    assert sprung(ran) == []


_WATCHED = """
import os
import sys

folder, own, *commands = sys.argv[1:]
seen = []


def watch(event, given):
    if event == "exec" and str(given[0].co_filename).startswith(folder):
        seen.append(f"runs {given[0].co_filename}")
    elif event == "compile" and str(given[1]).startswith(folder):
        seen.append(f"compiles {given[1]}")
    elif event == "import" and str(given[1] or "").startswith(folder):
        seen.append(f"imports {given[1]}")
    elif event in ("subprocess.Popen", "os.posix_spawn"):
        if os.path.basename(str(given[0])) != "git" or not os.path.isabs(given[0]):
            seen.append(f"starts {given[0]} {given[1]}")
    elif event == "open" and isinstance(given[0], str) and isinstance(given[2], int):
        path = os.path.abspath(given[0])
        if given[2] & (os.O_WRONLY | os.O_RDWR) and not path.startswith((own, os.devnull)) and ".detlint" not in path:
            seen.append(f"writes {path}")
    elif event.startswith(("pickle.", "marshal.loads", "socket.", "urllib.", "ctypes.", "os.system", "os.exec",
                           "os.posix_spawn", "os.spawn", "os.startfile", "sqlite3.enable", "sqlite3.load", "pty.")):
        if event != "marshal.loads" or not sys._getframe(1).f_code.co_filename.startswith("<frozen"):
            seen.append(f"{event} {given}")


from detlint.__main__ import main
for name in ("click", "rich.markdown", "libcst", "packaging.requirements", "sqlite3", "detlint.plugins.lsp.server"):
    __import__(name)  # what libraries do as they are imported is theirs
sys.addaudithook(watch)
for command in commands:
    sys.argv = ["detlint", *command.split()]
    try:
        main()
        print("status", 0, command, file=sys.stderr)
    except SystemExit as end:
        print("status", end.code, command, file=sys.stderr)
print(*seen, "in the end", sep="\\n", file=sys.stderr)
for module in list(sys.modules.values()):
    assert not str(getattr(module, "__file__", "")).startswith(folder), module
"""


def test_python_itself_tells_of_nothing_that_is_run_unpickled_or_sent(full: Path, ran: Path, tmp_path: Path) -> None:
    script = tmp_path / "watched.py"
    script.write_text(_WATCHED)
    commands = [
        *(f"check --jobs 1 --format {name}" for name in FORMATS),
        "check --no-cache --jobs 1 --select ALL --ignore-noqa",
        "--diff --unsafe-fixes --no-cache --jobs 1",
        "--changed-since HEAD --no-cache --jobs 1",
        f"--write-baseline --baseline {tmp_path / 'baseline.json'} --jobs 1",
        f"--baseline {tmp_path / 'baseline.json'} --jobs 1 --output {tmp_path / 'report'}",
        "entries --all --format json --jobs 1",
        "entries",
        "rule",
        "cache clean",
    ]
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(tmp_path)}
    done = run(full, [script, str(full), str(tmp_path), *commands], 0, **quiet)
    lines = done.stderr.splitlines()
    statuses = [line for line in lines if line.startswith("status")]
    assert [line.split()[1] for line in statuses] and all(line.split()[1] in "01" for line in statuses), statuses
    assert len(statuses) == len(commands)
    assert lines[-1] == "in the end"
    assert [
        line for line in lines if line.startswith(("runs", "compiles", "imports", "starts", "writes", "pickle."))
    ] == []
    told = set(lines) - set(statuses) - {"in the end"}
    assert [line for line in told if not line.startswith("detlint: ")] == []
    assert json.loads((tmp_path / "baseline.json").read_text())
    assert sprung(ran) == []

"""What a warm run does: nothing that takes long, counted rather than timed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from packaging.version import Version

from detlint.analyse import Collected, Source, analyse
from detlint.applying.fixer import Read, imports
from detlint.cli import COMMANDS, cli
from detlint.finding import Edit, Import, Place

FILES = 12
_COUNTING = """
import sys

events = []
sys.addaudithook(lambda event, given: events.append((event, given)) if event == "open" else None)
before = set(sys.modules)
from detlint.__main__ import main

sys.argv = ["detlint", *sys.argv[1:]]
status = None
try:
    main()
except SystemExit as end:
    status = end.code
paths = [given[0] for event, given in events if event == "open" and isinstance(given[0], str)]
opened = [path for path in paths if not path.endswith(".py") and "__pycache__" not in path]
sources = [path for path in paths if path.endswith(".py")]
print([status, sorted(set(sys.modules) - before), opened, sources], file=sys.stderr)
"""
LIGHT = {"detlint", "detlint.__main__", "detlint.cache", "detlint.cache.remembered"}
HEAVY = """libcst click rich asyncio multiprocessing concurrent tomllib tomli packaging sqlite3 dataclasses inspect typing
    pathlib json enum hashlib importlib.metadata logging subprocess""".split()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that a run has been over."""
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.setattr("detlint.cache.snapshot._SETTLES", -(10**12))  # nothing is too new to be trusted
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    for number in range(FILES):
        path = tmp_path / f"part{number % 4}" / f"train{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("import torch\ntorch.backends.cudnn.benchmark = True\n")
    result = CliRunner().invoke(cli, ["."], obj=(".",))
    assert result.exit_code == 1
    (tmp_path / "said").write_text(result.stdout)
    return tmp_path


def test_a_run_in_which_nothing_changed_opens_one_file_and_imports_one_module(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _COUNTING, "."], capture_output=True, text=True, encoding="utf-8", cwd=project
    )
    status, modules, opened, sources = ast.literal_eval(done.stderr)
    assert (status, done.stdout) == (1, (project / "said").read_text())
    assert {name for name in modules if name.startswith("detlint")} == LIGHT
    assert not {name for name in modules for heavy in HEAVY if name == heavy or name.startswith(f"{heavy}.")}
    assert len(opened) == 1 and ".detlint_cache" in opened[0]
    assert not [path for path in sources if project.name in path]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
def test_no_command_is_imported_to_be_named(arguments: list[str], tmp_path: Path) -> None:
    code = "import sys; from detlint.cli import main\ntry: main(sys.argv[1:])\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {name for name in loaded if name.startswith("detlint.")} == {"detlint.cli"}
    assert loaded.isdisjoint({"rich", "libcst", "packaging", "pygls", "tomllib", "sqlite3", "torch", "numpy"})


def test_the_list_of_commands_says_what_they_say_of_themselves() -> None:
    context = click.Context(cli)
    for name, text in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None and (command.help or "").startswith(text)


def test_an_edit_that_moves_lines_is_answered_without_linking(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project / "part1" / "train1.py"
    path.write_text("# a comment\n" + path.read_text())
    analysed: list[str] = []

    def noted(item: Source, codes: frozenset[str], torch: Version) -> Collected:
        analysed.append(item.path)
        return analyse(item, codes, torch)

    with monkeypatch.context() as patch:
        patch.setattr("detlint.gathering.analyse", noted)
        patch.setattr("detlint.settling.answering.answer", None)
        result = CliRunner().invoke(cli, ["."])
    assert analysed == ["part1/train1.py"]
    assert result.stdout == CliRunner().invoke(cli, [".", "--no-cache", "--jobs", "1"]).stdout
    assert "part1/train1.py:3:" in result.stdout
    path.write_text("import torch\nimport part2\nif __name__ == '__main__':\n    torch.rand(3)\n")
    result = CliRunner().invoke(cli, ["."])
    assert result.stdout == CliRunner().invoke(cli, [".", "--no-cache", "--jobs", "1"]).stdout
    assert "DET101" in result.stdout


def test_the_imports_of_fixes_are_found_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        text = "from torch.utils.data import DataLoader\nloader = DataLoader([1], shuffle=True, num_workers=2)\n"
        (project / f"load{number}.py").write_text(text)
    asked = [".", "--select", "DET2", "--format", "json"]
    assert '"from detlint' in CliRunner().invoke(cli, asked).stdout
    (project / "load1.py").write_text(f"# a comment\n{text}")
    parsed: set[str] = set()

    def noted(need: Import, before: Place, read: Read) -> tuple[Edit, ...] | None:
        parsed.add(need.path)
        return imports(need, before, read)

    with monkeypatch.context() as patch:
        patch.setattr("detlint.output.json.imports", noted)
        result = CliRunner().invoke(cli, asked)
    assert parsed == {"load1.py"}
    shown, anew = json.loads(result.stdout), json.loads(CliRunner().invoke(cli, [*asked, "--no-cache"]).stdout)
    assert shown["findings"] == anew["findings"] and len(shown["findings"]) > 3


def test_answers_that_are_known_need_nothing_that_parses_models_or_links(project: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from detlint.workspace import Workspace\n"
        "found = Workspace.of(Path()).findings('part1/train1.py')\n"
        "print([each.rule.code for each in found]); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=project, check=True)
    codes, modules = done.stdout.splitlines()
    loaded = set(modules.split())
    assert "DET501" in codes
    assert not {name for name in loaded if name.startswith(("detlint.link", "detlint.checks", "detlint.analysis"))}
    assert loaded.isdisjoint(
        {"detlint.tree.syntax", "detlint.semantics.model", "detlint.project.project", "detlint.editing.importing"}
    )
    assert loaded.isdisjoint({"click", "rich", "libcst", "asyncio", "multiprocessing", "packaging.specifiers"})


def test_a_file_that_starts_and_asks_nothing_needs_what_reads_it_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "layers.py").write_text("import torch\n\n\ndef double(x):\n    return torch.cat([x, x])\n")
    code = (
        "import sys; from pathlib import Path; from detlint.workspace import Workspace\n"
        "assert not Workspace.of(Path()).alone('layers.py'); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    loaded = set(done.stdout.split())
    checks = {name.rpartition(".")[2] for name in loaded if name.startswith("detlint.checks.")}
    assert checks <= set(
        """autotuning calls checkpoint dataset_generator entropy_seed kernels recomputation set_order switches""".split()
    )
    assert not {name for name in loaded if name.startswith(("detlint.link", "detlint.repairs"))}
    heavy = {"libcst", "click", "rich", "tomllib", "packaging.specifiers", "_hashlib", "multiprocessing"}
    assert loaded.isdisjoint(heavy)

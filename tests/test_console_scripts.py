"""The commands that a project installs."""

from __future__ import annotations

from pathlib import Path

import pytest

from detlint import catalogue
from detlint.listing import Around
from detlint.settling.settling import link
from detlint.sources.console_scripts import Command, console_scripts
from tests.project import entries

TRAIN = ("train", "pkg.cli:main")
EVAL = ("evaluate", "pkg.tools.evaluate:run")


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("pyproject.toml", '[project.scripts]\ntrain = "pkg.cli:main"\nevaluate = "pkg.tools.evaluate:run"', [TRAIN, EVAL]),
        ("pyproject.toml", '[project.gui-scripts]\ntrain = "pkg.cli:main"', [TRAIN]),
        ("pyproject.toml", '[project]\nscripts = {train = "pkg.cli:main [all]"}', [TRAIN]),
        ("pyproject.toml", '[tool.poetry.scripts]\ntrain = "pkg.cli:main"', [TRAIN]),
        ("pyproject.toml", '[tool.poetry.scripts.train]\nreference = "pkg.cli:main"\ntype = "console"', [TRAIN]),
        ("pyproject.toml", '[tool.poetry.scripts]\ntrain = {callable = "pkg.cli:main", extras = ["a"]}', [TRAIN]),
        ("pyproject.toml", '[tool.poetry.scripts]\nx = {reference = "bin/x.sh", type = "file"}', []),
        ("pyproject.toml", '[project.scripts]\ntrain = "pkg.cli:Main.run"', [("train", "pkg.cli:Main.run")]),
        ("pyproject.toml", '[project.scripts]\ntrain = "pkg.cli"\nx = 3\ny = ["pkg:f"]', []),
        ("pyproject.toml", '[project]\nscripts = "pkg.cli:main"', []),
        ("pyproject.toml", 'project = 3\n[tool]\npoetry = []', []),
        ("pyproject.toml", '[project.scripts\ntrain = "pkg.cli:main"', []),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    train = pkg.cli:main\n    evaluate=pkg.tools.evaluate:run", [TRAIN, EVAL]),
        ("setup.cfg", "[options.entry_points]\ngui_scripts =\n    train = pkg.cli:main\n", [TRAIN]),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    # old = pkg.old:main\n    train = pkg.cli:main", [TRAIN]),
        ("setup.cfg", "[options.entry_points]\npytest11 =\n    train = pkg.cli:main\n", []),
        ("setup.cfg", "[metadata]\nversion = %(nothing)s\n[options.entry_points]\nconsole_scripts = train = pkg.cli:main", [TRAIN]),
        ("setup.cfg", "console_scripts = train = pkg.cli:main", []),
        ("setup.py", "setup(entry_points={'console_scripts': ['train = pkg.cli:main', 'evaluate=pkg.tools.evaluate:run']})", [TRAIN, EVAL]),
        ("setup.py", "setuptools.setup(entry_points={'gui_scripts': ('train=pkg.cli:main',)})", [TRAIN]),
        ("setup.py", "setup(entry_points={'console_scripts': 'train=pkg.cli:main'})", [TRAIN]),
        ("setup.py", "setup(entry_points='''\n    [console_scripts]\n    train=pkg.cli:main\n    [other]\n    a=b:c\n''')", [TRAIN]),
        ("setup.py", "setup(entry_points='[console_scripts]\\nTrain=pkg.cli:main')", [("Train", "pkg.cli:main")]),
        ("setup.py", "setup(entry_points='train=pkg.cli:main')", []),
        ("setup.py", "E = {'console_scripts': S}\nS = ['train=pkg.cli:main']\nsetup(entry_points=E)", [TRAIN]),
        ("setup.py", "E: dict = {'console_scripts': ['train=pkg.cli:main']}\nif __name__ == '__main__':\n    setup(entry_points=E)", [TRAIN]),
        ("setup.py", "A = 'train=pkg.cli:main'\nsetup(entry_points={'console_scripts': [A, f'{x}=a:b', make()]})", [TRAIN]),
        ("setup.py", "E = {'console_scripts': ['a=b:c']}\nE = {'console_scripts': ['train=pkg.cli:main']}\nsetup(entry_points=E)", []),
        ("setup.py", "E = {'console_scripts': ['a=b:c']}\nfor E in x: pass\nsetup(entry_points=E)", []),
        ("setup.py", "A = B\nB = {'console_scripts': ['train=pkg.cli:main']}\nsetup(entry_points=A)", [TRAIN]),
        ("pyproject.toml", '[project.scripts]\n"" = "pkg.cli:main"', []),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n    100% = no\n    train = pkg.cli:main", [TRAIN]),
        ("setup.py", "A = B\nB = A\nsetup(entry_points=A)", []),
        ("setup.py", "setup(entry_points={**base, 'console_scripts': ['train=pkg.cli:main']})", [TRAIN]),
        ("setup.py", "setup(entry_points=make())", []),
        ("setup.py", "other(entry_points={'console_scripts': ['train=pkg.cli:main']})", []),
        ("setup.py", "x = '\\d'\nsetup(entry_points={'console_scripts': ['train=pkg.cli:main']})", [TRAIN]),
        ("setup.py", "setup(entry_points={'console_scripts': ['train=pkg.cli:main']}", []),
    ],
)  # fmt: skip
def test_the_commands_of_a_file(tmp_path: Path, file: str, text: str, expected: list[tuple[str, str]]) -> None:
    (tmp_path / file).write_text(text)
    assert console_scripts(tmp_path) == expected


def test_a_project_without_any_of_the_files_has_no_commands(tmp_path: Path) -> None:
    assert console_scripts(tmp_path) == []
    assert console_scripts(tmp_path / "nowhere") == []


def test_a_command_that_two_files_name_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\ntrain = "pkg.cli:main"\n')
    (tmp_path / "setup.py").write_text(
        "setup(entry_points={'console_scripts': ['train=pkg.cli:main', 'evaluate = pkg.tools.evaluate:run']})\n"
    )
    assert console_scripts(tmp_path) == [TRAIN, EVAL]


@pytest.mark.parametrize(
    "broken",
    [b"\xff\xfe\x00", b"\0", b"x = " + b"[" * 100_000, b"x = " + b"-" * 100_000 + b"1"],
    ids=["encoding", "nul", "brackets", "signs"],
)
def test_a_broken_file_leaves_the_others_their_commands(tmp_path: Path, broken: bytes) -> None:
    for file in ("pyproject.toml", "setup.py"):
        (tmp_path / file).write_bytes(broken)
    (tmp_path / "setup.cfg").write_text("[options.entry_points]\nconsole_scripts =\n  train = pkg.cli:main\n")
    assert console_scripts(tmp_path) == [TRAIN]


def test_a_setup_file_is_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    (tmp_path / "setup.py").write_text(
        f"open({str(marker)!r}, 'w')\nsetup(entry_points={{'console_scripts': ['train=pkg.cli:main']}})"
    )
    assert console_scripts(tmp_path) == [TRAIN]
    assert not marker.exists()


def test_this_project_has_its_own_command() -> None:
    assert console_scripts(Path(__file__).parent.parent) == [("detlint", "detlint.__main__:main")]


def test_a_command_whose_file_is_not_analysed_is_no_entry_point() -> None:
    around = Around(commands=(Command("train", "pkg.cli:main"),), unread=frozenset(("pkg/cli.py",)))
    assert link([], catalogue.load().newest_release(), around).entries == []


def test_a_command_that_a_launcher_may_start_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project.scripts]\ntrain = "pkg.cli:main"\n')
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "cli.py").write_text(
        "import os\nimport torch\n\n\ndef main():\n"
        "    if int(os.environ.get('LOCAL_RANK', -1)) >= 0:\n        torch.distributed.init_process_group()\n"
        "    print(torch.rand(2))\n"
    )
    (entry,) = entries(Path())
    assert entry["generators"]["torch"]["state"] == "unseeded"

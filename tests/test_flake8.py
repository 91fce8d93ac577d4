"""The plugin of flake8: the findings of detlint, chosen as flake8 chooses."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from flake8.main.cli import main

from detlint import catalogue
from detlint.cli import cli
from detlint.plugins.flake8 import Plugin
from detlint.reading.lowering import TooDeepError
from tests.examples import python

Shown = list[tuple[str, int, int, str]]  # path, line, column, code and message
RULES = catalogue.load().rules
INSTALLED = any(each.value == f"{Plugin.__module__}:Plugin" for each in entry_points(group="flake8.extension"))
LINE = re.compile(r"(?:\./)?(.+?):(\d+):(\d+): ((?:DET|E9)\d+ .+)")
BENCHMARK = "torch.backends.cudnn.benchmark = True"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    settings("")
    yield tmp_path


def settings(text: str) -> None:
    """Settings of flake8, which may not know the plugin as installed."""
    local = "" if INSTALLED else f"\n[flake8:local-plugins]\nextension = DET = {Plugin.__module__}:Plugin\n"
    Path(".flake8").write_text(f"[flake8]\n{textwrap.dedent(text)}\n{local}")


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(textwrap.dedent(text).lstrip())


def shown(output: str) -> Shown:
    found = [match for line in output.splitlines() if (match := LINE.fullmatch(line))]
    return sorted((path, int(line), int(column), text) for path, line, column, text in map(re.Match.groups, found))


@pytest.fixture
def flake8(root: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Flake8]:
    yield Flake8(capfd)


class Flake8:
    """Runs flake8 in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def full(self, *arguments: str) -> Shown:
        """All that the plugin and the parser of Python say."""
        main(["--jobs", "1", *arguments])
        return shown(self._capfd.readouterr().out)

    def __call__(self, *arguments: str) -> list[tuple[str, int, int, str]]:
        """What is found, without the words."""
        return [(path, line, column, text.split()[0]) for path, line, column, text in self.full(*arguments)]


def detlint(*arguments: str) -> Shown:
    """What detlint shows with all rules."""
    result = CliRunner().invoke(cli, ["--select", "ALL", "--format", "json", "--jobs", "1", *arguments])
    findings = json.loads(result.stdout)["findings"]
    return sorted((f["path"], f["line"], f["column"], f"{f['code']} {f['message']}") for f in findings)


# The same findings


def test_places_and_messages_are_those_of_detlint(flake8: Flake8) -> None:
    for rule in list(RULES.values())[::3]:
        write(f"{rule.code}.py", "".join(fence.text for fence in python(rule.page)[:1]))
    alone = [found for path in sorted(Path().glob("*.py")) for found in detlint(path.name)]
    assert len({text.split()[0] for *_, text in alone}) > 8
    assert flake8.full("--select", "DET") == alone
    whole = detlint()
    assert flake8.full("--select", "DET") == whole
    assert flake8.full("--select", "DET", "--detlint-project", "never") == alone


PROJECT = {
    "train.py": """
        import torch
        from seeding import seed

        seed()
        x = torch.rand(3)
        """,
    "seeding.py": "def seed(): pass\n",
}


def test_the_project_answers_once_detlint_was_run_over_it(flake8: Flake8) -> None:
    for path, text in PROJECT.items():
        write(path, text)
    assert flake8("--select", "DET") == []
    assert detlint("train.py") == []  # not the whole of it
    assert flake8("--select", "DET") == []
    assert len(detlint()) == 1
    assert flake8("--select", "DET") == [("train.py", 5, 5, "DET101")]
    write("seeding.py", "import torch\n\ndef seed(): torch.manual_seed(0)\n")
    assert flake8("--select", "DET") == []  # as it is now, and whoever analyses it
    CliRunner().invoke(cli, ["cache", "clean"])
    assert flake8("--select", "DET") == []


def test_what_comes_by_standard_input_takes_the_place_of_the_file_it_names(
    flake8: Flake8, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in PROJECT.items():
        write(path, text)
    detlint()
    text = "import torch\ndef seed(): torch.manual_seed(0)\n" + BENCHMARK + "\n"

    def given(*arguments: str) -> list[tuple[str, int, int, str]]:
        source = io.TextIOWrapper(io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", source)
        cached = sys.modules["flake8.utils"].stdin_get_value
        cached.cache_clear()
        return flake8("--select", "DET", *arguments, "-")

    assert given() == [("stdin", 3, 1, "DET501")]
    assert given("--stdin-display-name", "seeding.py") == [("seeding.py", 3, 1, "DET501")]
    text = PROJECT["train.py"].replace("seed()", "pass").replace("\n        ", "\n")
    assert given("--stdin-display-name", "train.py") == [("train.py", 6, 5, "DET101")]
    assert given("--stdin-display-name", "nowhere/new.py") == [("nowhere/new.py", 6, 5, "DET101")]


# What is shown


def test_flake8_selects(flake8: Flake8) -> None:
    write("train.py", f"import torch\nimport os\n{BENCHMARK}\n")
    assert flake8("--extend-ignore", "DET5") == []
    assert flake8("--select", "DET1") == []
    assert flake8("--ignore", "F,E,W") == [("train.py", 3, 1, "DET501")]
    Path("detlint.toml").write_text("select = ['DET2']\nignore = ['DET501']\n")
    assert flake8() == [("train.py", 3, 1, "DET501")]


def test_rules_that_are_off_by_default_are_so_in_flake8(flake8: Flake8) -> None:
    write("pkg/__init__.py", "")
    write("pkg/library.py", "import torch\n\n\ndef noise(x):\n    return x + torch.rand(3)\n")
    assert not RULES["DET109"].default
    assert flake8() == []
    assert flake8("--extend-select", "DET109") == [("pkg/library.py", 5, 16, "DET109")]
    settings("extend-select = DET109")
    assert flake8() == [("pkg/library.py", 5, 16, "DET109")]


def test_noqa_is_flake8s_own(flake8: Flake8) -> None:
    write("train.py", f"import torch\n{BENCHMARK}  # noqa: DET501\n{BENCHMARK}  # noqa: E501\n")
    assert flake8() == [("train.py", 3, 1, "DET501")]
    assert flake8("--disable-noqa") == [("train.py", 2, 1, "DET501"), ("train.py", 3, 1, "DET501")]
    write("train.py", f"import torch\n# detlint: noqa: DET501\n{BENCHMARK}\n")
    assert flake8("--disable-noqa") == []
    write("train.py", f"# flake8: noqa\nimport torch\n{BENCHMARK}\n")
    assert flake8() == []


def test_settings_of_both_hold_for_single_files(flake8: Flake8) -> None:
    for path in ("a.py", "b.py", "third_party/c.py"):
        write(path, f"import torch\n{BENCHMARK}\n")
    settings("per-file-ignores =\n    a.py: DET")
    Path("detlint.toml").write_text("exclude = ['third_party']\n[per-file-ignores]\n'b.py' = ['DET501']\n")
    assert flake8() == []
    assert flake8("--isolated") == [] if not INSTALLED else [("a.py", 2, 1, "DET501")]
    Path("detlint.toml").write_text("severity = 'error'\n")
    settings("")
    assert flake8() == []


def test_the_version_of_pytorch_is_an_option_a_setting_or_the_projects(flake8: Flake8) -> None:
    write(
        "train.py",
        "import torch\nfrom torch.utils.data import DataLoader\n\ntorch.use_deterministic_algorithms(True)\ntorch.manual_seed(0)\ntorch.nn.functional.grid_sample(torch.ones(1), torch.ones(1)).sum().backward()\n",
    )
    both = [flake8("--detlint-torch-version", version, "--select", "DET3") for version in ("1.9", "2.9")]
    settings("detlint-torch-version = 1.9")
    assert flake8("--select", "DET3") == both[0]


def test_a_broken_file_is_flake8s_and_one_that_only_our_parser_refuses_is_ours(
    flake8: Flake8, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("train.py", "def f(:\n")
    assert [code for *_, code in flake8("--select", "DET,E9")] == ["E999"]
    write("train.py", f"import torch\n{BENCHMARK}\n")
    monkeypatch.setattr("detlint.reading.lower", Mock(side_effect=TooDeepError))
    assert flake8("--select", "DET,E9") == [("train.py", 1, 1, "DET000")]


def test_a_wrong_setting_is_one_clear_line(flake8: Flake8, capfd: pytest.CaptureFixture[str]) -> None:
    write("train.py", BENCHMARK)
    Path("detlint.toml").write_text("sellect = []\n")
    assert main(["--jobs", "1"]) == 1
    assert "unknown setting 'sellect'" in capfd.readouterr().out


# Real processes


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "flake8", *arguments], capture_output=True, text=True)


@pytest.mark.slow
def test_many_processes_share_a_cache_that_is_damaged(root: Path) -> None:
    for path, text in PROJECT.items():
        write(path, text)
    detlint()
    for number in range(3):
        write(f"other{number}.py", f"import torch\n{BENCHMARK}\n")
    expected = [*((f"other{n}.py", 2, 1, "DET501") for n in range(3)), ("train.py", 5, 5, "DET101")]
    together = run("-j", "2", "--select", "DET")
    assert [(*place, text.split()[0]) for *place, text in shown(together.stdout)] == expected, together.stderr
    (root / ".detlint_cache" / "cache.db").write_bytes(b"garbage" * 4000)
    together = run("-j", "2", "--select", "DET")
    assert [(*place, text.split()[0]) for *place, text in shown(together.stdout)] == expected[:-1], together.stderr
    assert not together.stderr


@pytest.mark.skipif(not INSTALLED, reason="detlint was installed here before it had the plugin: pip install -e .")
def test_flake8_lists_the_plugin_and_its_options(root: Path) -> None:
    assert "detlint: " in run("--version").stdout
    assert "--detlint-project {auto,never}" in run("--help").stdout


def test_the_plugin_is_loaded_without_what_only_an_analysis_needs() -> None:
    code = "import sys, detlint.plugins.flake8; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"libcst", "click", "rich", "flake8", "sqlite3", "detlint.semantics.model"}.isdisjoint(done.stdout.split())

"""Which settings a run of `detlint check` takes, and what it shows of them and of its findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli
from detlint.config import KNOWN
from detlint.support import toml

BENCHMARK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
OFF = "import torch\n\ntorch.backends.cudnn.deterministic = False\n"
RESEEDS = "import torch\n\n\ndef load():\n    torch.manual_seed(0)\n"  # DET108, which is off by default


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "a.py").write_text(BENCHMARK + OFF)
    (tmp_path / "pkg" / "b.py").write_text(RESEEDS)
    return tmp_path


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def codes(*arguments: str) -> list[str]:
    found = json.loads(detlint(*arguments, "--format", "json").stdout)
    return [finding["code"] for finding in found["findings"]]


# Rules


def test_extend_select_adds_to_what_is_selected(project: Path) -> None:
    assert codes() == ["DET501", "DET502"]
    assert codes("--extend-select", "DET108") == ["DET501", "DET502", "DET108"]
    assert codes("--select", "DET501", "--extend-select", "DET108") == ["DET501", "DET108"]
    assert codes("--select", "DEFAULT,DET108", "--extend-ignore", "DET502") == ["DET501", "DET108"]
    (project / "detlint.toml").write_text('select = ["DET502"]\nextend-select = ["DET108"]\n')
    assert codes() == ["DET502", "DET108"]
    assert codes("--extend-select", "DET501") == ["DET501", "DET502", "DET108"]
    (project / "detlint.toml").write_text('extend-select = ["DET108"]\nignore = ["DET5"]\n')
    assert codes() == ["DET108"]


def test_a_selection_of_nothing_is_told() -> None:
    result = detlint("--select", "DET5", "--ignore", "DET5")
    assert (result.exit_code, result.stdout) == (0, "Nothing found in 3 files (0 entry points).\n")
    assert result.stderr == (
        "detlint: no rule is left: `select` and `ignore`, of the options and the settings, leave out all\n"
    )


# Files of settings


def test_settings_of_another_file_are_for_the_same_project(project: Path) -> None:
    (project / "detlint.toml").write_text('ignore = ["DET501"]\nper-file-ignores = {"pkg/a.py" = ["DET502"]}\n')
    (project / "ci").mkdir()
    (project / "ci" / "strict.toml").write_text('select = ["DET5"]\nper-file-ignores = {"pkg/a.py" = ["DET501"]}\n')
    (project / "ci" / "pyproject.toml").write_text('[tool.detlint]\nselect = ["DET108"]\n')
    assert codes() == []
    assert codes("--config", "detlint.toml") == []
    assert codes("--config", "ci/strict.toml", "pkg") == ["DET502"]
    assert codes("--config", "ci/pyproject.toml") == ["DET108"]
    assert codes("--isolated") == ["DET501", "DET502"]
    assert codes("--isolated", "--ignore", "DET501") == ["DET502"]
    assert not list((project / "ci").glob(".detlint_cache"))


def test_what_is_wrong_in_a_named_file_is_told_with_its_name(project: Path) -> None:
    (project / "strict.toml").write_text('select = ["DET5O1"]\n')
    result = detlint("--config", "strict.toml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "strict.toml: select: no rule matches 'DET5O1', did you mean DET501?" in result.stderr


# What is shown


def test_files_that_would_be_checked_are_listed(project: Path) -> None:
    assert detlint("--show-files").stdout == "pkg/__init__.py\npkg/a.py\npkg/b.py\n"
    assert detlint("--show-files", "--exclude", "b.py", str(project)).stdout.splitlines() == [
        f"{project.as_posix()}/pkg/__init__.py",
        f"{project.as_posix()}/pkg/a.py",
    ]
    assert detlint("--show-files", "--context", ".", "pkg/b.py").stdout == "pkg/b.py\n"
    (project / "empty").mkdir()
    result = detlint("--show-files", "empty")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "detlint: no Python files under empty\n"
    assert detlint("--show-files", "-q", "empty").stderr == ""


def test_settings_in_force_are_shown_and_may_be_given_back(project: Path) -> None:
    (project / "detlint.toml").write_text(
        'select = ["DET5"]\nexclude = ["x\\"y"]\nbaseline = "known.json"\nper-file-ignores = {"pkg/a.py" = ["DET502"]}\n'
    )
    shown = detlint("--show-settings", "--ignore", "DET501", "--torch-version", "2.4", "pkg").stdout
    settings = toml.loads(shown)
    assert settings.keys() <= set(KNOWN)
    assert settings["ignore"] == ["DET501"]
    assert settings["exclude"] == ['x"y']
    assert settings["per-file-ignores"] == {"pkg/a.py": ["DET502"]}
    head = shown.splitlines()[:4]
    assert head[:3] == [f"# settings: {project}/detlint.toml", f"# project: {project}", "# PyTorch: 2.4"]
    assert "DET502, DET503" in head[3] and "DET501" not in head[3]
    (project / "known.json").write_text('{"version": 1, "findings": []}')
    (project / "again.toml").write_text(shown)
    again = detlint("--show-settings", "--config", "again.toml", "pkg").stdout
    assert again.splitlines()[1:] == shown.splitlines()[1:]


def test_a_run_that_is_isolated_shows_that_it_has_no_settings(project: Path) -> None:
    (project / "detlint.toml").write_text('select = ["DET5"]\n')
    assert detlint("--isolated", "--show-settings").stdout.startswith("# settings: none\n")


def test_a_line_a_finding() -> None:
    message = "`torch.backends.cudnn.benchmark = True` makes cuDNN choose convolution algorithms by timing them"
    concise = detlint("--format", "concise", "--select", "DET501,DET108").stdout.splitlines()
    assert concise == [
        f"pkg/a.py:3:1: warning DET501 {message}",
        "pkg/b.py:5:5: note DET108 " + concise[1].partition("DET108 ")[2],
        "2 findings in 3 files (0 entry points): 1 warning, 1 note.",
    ]
    grouped = detlint("--output-format", "grouped", "--select", "DET501,DET108").stdout.splitlines()
    assert grouped == [
        "pkg/a.py:",
        f"  3:1: warning DET501 {message}",
        "",
        "pkg/b.py:",
        "  5:5: note DET108 " + concise[1].partition("DET108 ")[2],
        "",
        concise[-1],
    ]


def test_a_cell_is_named_where_findings_are_grouped(project: Path) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": BENCHMARK,
    }
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    (project / "n.ipynb").write_text(text)
    assert detlint("--format", "grouped", "n.ipynb").stdout.startswith("n.ipynb:\n  cell 1:3:1: warning DET501 ")


@pytest.mark.parametrize("more", [2, 3])
def test_many_places_of_one_cause_are_one_finding_in_text(project: Path, more: int) -> None:
    call = "    total += F.scaled_dot_product_attention(q, k, v)\n"
    begin = "import torch.nn.functional as F\n\n\ndef attend(q, k, v):\n    total = 0\n"
    (project / "pkg" / "a.py").write_text(f"{begin}{call}    return total\n")
    (project / "pkg" / "b.py").write_text(f"{begin}{call * more}    return total\n")
    text = detlint("pkg").stdout
    assert text.endswith(f"{more + 1} findings in 3 files (0 entry points): {more + 1} notes.\n")
    if more == 3:
        assert text.count("DET303") == 1
        assert "  = likewise: at 3 more places\n    pkg/b.py:6:14, 7:14, 8:14\n  = why: " in text
    else:
        assert text.count("DET303") == 3 and "likewise" not in text
    assert codes("pkg") == ["DET303"] * (more + 1)
    assert detlint("--format", "concise", "pkg").stdout.count("DET303") == more + 1


def test_a_quiet_run_prints_findings_and_nothing_else(project: Path) -> None:
    found = detlint("-q", "--format", "concise")
    assert found.exit_code == 1
    assert [line[:9] for line in found.stdout.splitlines()] == ["pkg/a.py:", "pkg/a.py:"]
    clean = detlint("-q", "pkg/__init__.py")
    assert (clean.exit_code, clean.stdout, clean.stderr) == (0, "", "")
    (project / "empty").mkdir()
    assert detlint("-q", "empty").stderr == ""
    fixed = detlint("-q", "--fix", "--unsafe-fixes")
    assert fixed.stderr == ""
    assert "benchmark = False" in (project / "pkg" / "a.py").read_text()


def test_a_verbose_run_says_what_it_takes(project: Path) -> None:
    (project / "detlint.toml").write_text('torch-version = "2.4"\n')
    result = detlint("-v", "--format", "concise", "pkg")
    assert result.stdout == detlint("--format", "concise", "pkg").stdout
    lines = result.stderr.splitlines()
    assert lines[:3] == [
        f"detlint: settings: {project}/detlint.toml",
        f"detlint: project: {project}",
        "detlint: PyTorch: 2.4",
    ]
    assert lines[-1].startswith("detlint: 3 files, 0 entry points, ")
    assert detlint("-v", "--format", "concise", "pkg").stderr.splitlines()[-1].startswith("detlint: 3 files")


def test_letters_and_names_that_users_of_other_linters_know(project: Path) -> None:
    result = detlint("-n", "-e", "-o", "found.txt", "--output-format", "concise", "--extend-exclude", "b.py")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (project / "found.txt").read_text().count("pkg/a.py:") == 2
    assert not (project / ".detlint_cache").exists()

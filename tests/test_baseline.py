"""`--baseline` and `--write-baseline`: what is recorded is not shown, wherever it moves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint import catalogue, config, engine
from detlint.analyse import Source
from detlint.cli import cli

BENCHMARK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
OFF = "torch.backends.cudnn.deterministic = False\n"
EMPTY = "import torch\n\nprint(torch.empty(2))\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def write(name: str, content: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(content, encoding="utf-8")


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["--jobs", "1", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def record(*arguments: str) -> Result:
    return detlint("--baseline", "known.json", "--write-baseline", *(arguments or (".",)))


def shown(*arguments: str) -> list[tuple[str, int, str]]:
    """Path, line and code of what is shown."""
    result = detlint("--baseline", "known.json", "--format", "json", *(arguments or (".",)))
    found = json.loads(result.stdout)["findings"]
    assert result.exit_code == bool(found)
    return [(each["path"], each["line"], each["code"]) for each in found]


def recorded() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("known.json").read_text(encoding="utf-8"))["findings"]
    return found


# What is shown


def test_what_is_recorded_is_not_shown_and_is_counted() -> None:
    write("train.py", BENCHMARK + OFF)
    result = record()
    assert (result.exit_code, result.stderr) == (
        0,
        "detlint: known.json has 2 findings now, which are not shown with it\n",
    )
    result = detlint("--baseline", "known.json", ".")
    assert (result.exit_code, result.stderr) == (0, "detlint: 2 findings of known.json are not shown\n")
    assert result.stdout == "Nothing found in 1 file (0 entry points).\n"


def test_what_comes_later_is_shown() -> None:
    write("train.py", BENCHMARK)
    record()
    write("train.py", f"# a head\n{BENCHMARK}{OFF}")
    write("other.py", BENCHMARK)
    assert shown() == [("other.py", 3, "DET501"), ("train.py", 5, "DET502")]


def test_an_edited_line_is_new() -> None:
    write("train.py", BENCHMARK)
    record()
    write("train.py", BENCHMARK.replace("True", "True  # fast"))
    assert shown() == [("train.py", 3, "DET501")]


def test_a_line_that_is_spaced_otherwise_is_known_again() -> None:
    write("train.py", BENCHMARK)
    record()
    write("train.py", BENCHMARK.replace(" = ", "  =   "))
    assert shown() == []


def test_lines_that_are_alike_are_counted() -> None:
    line = BENCHMARK.splitlines()[-1] + "\n"
    write("train.py", BENCHMARK + line)
    record()
    assert shown() == []
    write("train.py", BENCHMARK + line + line)
    assert [code for _, _, code in shown()] == ["DET501"]


def test_a_file_that_moves_is_known_again() -> None:
    write("train.py", BENCHMARK)
    record()
    Path("lib").mkdir()
    Path("train.py").rename("lib/train.py")
    assert shown() == []


def test_a_file_that_gets_another_name_is_known_by_half_of_its_findings() -> None:
    write("train.py", BENCHMARK + OFF)
    write("short.py", EMPTY)
    record()
    Path("train.py").rename("other.py")
    Path("short.py").rename("long.py")
    assert shown() == [("long.py", 3, "DET401")]


def test_what_cannot_be_parsed_can_be_recorded() -> None:
    write("broken.py", "def f(:\n")
    record()
    assert shown() == []
    write("broken.py", "def f(:\n    pass\n\nclass\n")
    assert shown() == []
    write("broken.py", "def g(:\n")
    assert shown() == [("broken.py", 1, "DET000")]


def test_the_cells_of_a_notebook_may_move() -> None:
    def notebook(*cells: str) -> str:
        rows = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in cells]
        return json.dumps({"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    write("a.ipynb", notebook("import torch", "torch.backends.cudnn.benchmark = True"))
    record()
    write("a.ipynb", notebook("import torch", "x = 1", "\ntorch.backends.cudnn.benchmark = True"))
    assert shown() == []


def test_what_is_left_out_is_in_the_report_as_suppressed() -> None:
    write("train.py", BENCHMARK)
    record()
    settings = replace(config.for_paths([Path()]), baseline=Path("known.json"))
    torch = catalogue.load().newest_release()
    report = engine.check_paths([Path()], settings, torch, jobs=1)
    assert [(each.kind, each.judged.rule.code) for each in report.suppressed] == [("baseline", "DET501")]
    buffer = engine.check_sources([Source("train.py", "train", BENCHMARK + OFF)], settings, torch)
    assert [judged.rule.code for judged in buffer.findings] == ["DET502"]


# The file


def test_the_file_has_a_finding_on_each_line_and_its_order_never_varies() -> None:
    write("b/train.py", BENCHMARK + OFF)
    write("a.py", EMPTY)
    record()
    first = Path("known.json").read_bytes()
    rows = first.decode().splitlines()
    assert (rows[0], rows[-1]) == ('{"version": 1, "findings": [', "]}")
    found = [json.loads(row.rstrip(",")) for row in rows[1:-1]]
    assert [(each["path"], each["code"]) for each in found] == [
        ("a.py", "DET401"),
        ("b/train.py", "DET501"),
        ("b/train.py", "DET502"),
    ]
    assert all(list(each) == ["path", "code", "fingerprint", "message"] for each in found)
    write("a.py", f"\n\n{EMPTY}")
    record()
    assert Path("known.json").read_bytes() == first


def test_an_empty_project_has_an_empty_baseline() -> None:
    write("clean.py", "x = 1\n")
    record()
    assert (recorded(), shown()) == ([], [])


def test_it_works_from_any_folder(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    write("src/train.py", BENCHMARK)
    write("settings/known.json", "")
    Path("settings/known.json").unlink()
    detlint("--baseline", "settings/known.json", "--write-baseline", "src")
    monkeypatch.chdir("src")
    for path in (".", "train.py", str(project)):
        assert detlint("--baseline", "../settings/known.json", path).exit_code == 0


def test_the_settings_name_it_from_their_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", '[tool.detlint]\nbaseline = "known.json"\n')
    write("src/train.py", BENCHMARK)
    assert detlint("--write-baseline", ".").exit_code == 0
    assert [each["path"] for each in recorded()] == ["src/train.py"]
    monkeypatch.chdir("src")
    assert detlint(".").exit_code == 0


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "known.json does not exist; `--write-baseline` writes a baseline"),
        ('{"version": 1, "findings": [\n<<<<<<< HEAD\n', "known.json is no baseline (line 2: Expecting value)"),
        ("[]", "known.json is no baseline (its form is wrong)"),
        ('{"version": 1, "findings": [{"path": "a.py"}]}', "known.json is no baseline (its form is wrong)"),
        ('{"version": 2, "findings": []}', "known.json was written by another version of detlint"),
    ],
)
def test_a_file_that_is_no_baseline_is_one_line(content: str | None, complaint: str) -> None:
    write("train.py", BENCHMARK)
    if content is not None:
        write("known.json", content)
    result = detlint("--baseline", "known.json", ".")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert complaint in result.stderr
    if content is not None:
        assert record().exit_code == 2
        assert Path("known.json").read_text() == content


# What no longer occurs


def test_entries_that_no_longer_occur_are_told_and_taken_out() -> None:
    write("train.py", BENCHMARK + OFF)
    write("gone.py", BENCHMARK)
    record()
    write("train.py", BENCHMARK)
    Path("gone.py").unlink()
    result = detlint("--baseline", "known.json", ".")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "detlint: 1 finding of known.json is not shown",
        "detlint: 2 entries of known.json no longer occur; `--write-baseline` takes them out",
    ]
    record()
    assert [(each["path"], each["code"]) for each in recorded()] == [("train.py", "DET501")]


def test_entries_of_files_that_are_now_excluded_are_taken_out() -> None:
    write("train.py", BENCHMARK)
    write("lib/other.py", BENCHMARK)
    record()
    assert (
        "1 entry of known.json no longer occurs" in detlint("--baseline", "known.json", "--exclude", "lib", ".").stderr
    )
    record("--exclude", "lib", ".")
    assert [each["path"] for each in recorded()] == ["train.py"]


@pytest.mark.parametrize(
    "arguments",
    [
        *(["one.py"], ["--context", ".", "one.py"], ["--select", "DET501", "."]),
        *(["--severity", "error", "."], ["--breaks", "cross-version", "."]),
    ],
)
def test_a_run_over_a_part_says_nothing_of_the_rest_and_keeps_it(arguments: list[str]) -> None:
    write("one.py", BENCHMARK)
    write("two.py", EMPTY)
    record()
    before = Path("known.json").read_bytes()
    assert "no longer" not in detlint("--baseline", "known.json", *arguments).stderr
    record(*arguments)
    assert Path("known.json").read_bytes() == before


def test_a_run_over_a_part_keeps_what_other_files_decide() -> None:
    write("noise.py", "import torch\n\n\ndef noise():\n    return torch.rand(2)\n")
    write("train.py", "from noise import noise\n\nif __name__ == '__main__':\n    print(noise())\n")
    write("seeded.py", "import torch\n\ntorch.manual_seed(0)\nprint(torch.rand(2))  # noqa: DET101\n")
    record()
    assert [(each["path"], each["code"]) for each in recorded()] == [("noise.py", "DET101"), ("seeded.py", "DET001")]
    for name in ("noise.py", "seeded.py"):
        assert "no longer" not in detlint("--baseline", "known.json", name).stderr
        record(name)
        assert len(recorded()) == 2
    write("train.py", "")
    assert "1 entry of known.json no longer occurs" in detlint("--baseline", "known.json", ".").stderr
    record("--context", ".", "noise.py")
    assert [each["path"] for each in recorded()] == ["seeded.py"]


def test_a_run_with_a_context_speaks_of_what_is_shown_alone() -> None:
    write("one.py", BENCHMARK)
    write("two.py", BENCHMARK)
    record("--context", ".", "one.py")
    assert [each["path"] for each in recorded()] == ["one.py"]
    record()
    result = detlint("--baseline", "known.json", "--context", ".", "one.py")
    assert (result.exit_code, result.stderr) == (0, "detlint: 1 finding of known.json is not shown\n")


def test_a_finding_has_one_entry_though_its_message_was_another() -> None:
    write("one.py", "import torch\n\nprint(torch.rand(2))\n")
    record()
    write("known.json", Path("known.json").read_text().replace("has not seeded", "never seeded"))
    record("--severity", "error", ".")
    (entry,) = recorded()
    assert entry["message"].endswith("has not seeded")


# Fixes


def test_what_is_recorded_is_not_fixed() -> None:
    write("old.py", EMPTY)
    record()
    write("new.py", EMPTY)
    result = detlint("--baseline", "known.json", "--fix", ".")
    assert result.exit_code == 0, result.stdout
    assert Path("old.py").read_text() == EMPTY
    assert "zeros" in Path("new.py").read_text()

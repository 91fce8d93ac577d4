"""The command line: what a user types, what comes out, and with which status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint import __version__
from detlint.cli import cli

BENCHMARK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
OFF = "import torch\n\ntorch.backends.cudnn.deterministic = False\n"
CLEAN = "def double(x):\n    return 2 * x\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def write(name: str, content: str | bytes) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def report(*arguments: str) -> Any:
    return json.loads(detlint(*arguments, "--format", "json").stdout)


def codes(*arguments: str) -> list[str]:
    return [finding["code"] for finding in report(*arguments)["findings"]]


# Exit statuses and streams


def test_status_0_where_nothing_is_found() -> None:
    write("clean.py", CLEAN)
    result = detlint(".")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "Nothing found in 1 file (0 entry points).\n"


def test_status_1_where_something_is_found() -> None:
    write("train.py", BENCHMARK)
    result = detlint("train.py")
    assert (result.exit_code, result.stderr) == (1, "")


def test_status_0_with_exit_zero() -> None:
    write("train.py", BENCHMARK)
    assert detlint("--exit-zero", ".").exit_code == 0


def test_an_empty_folder_is_no_failure() -> None:
    result = detlint(".")
    assert (result.exit_code, result.stdout) == (0, "Nothing found in 0 files (0 entry points).\n")


# Formats


def test_json_is_the_contract() -> None:
    write("src/train.py", "import torch\n\nflag = True\ntorch.backends.cudnn.benchmark = flag\n")
    found = report("src")
    assert list(found) == ["version", "tool", "findings", "errors", "summary"]
    assert found["version"] == 1
    assert found["tool"] == {"name": "detlint", "version": __version__}
    assert found["errors"] == []
    assert list(found["summary"]) == ["files", "entry_points", "seconds"]
    assert found["summary"]["files"] == 1
    assert isinstance(found["summary"]["seconds"], float)
    assert found["findings"] == [
        {
            "code": "DET501",
            "name": "cudnn-benchmark-on",
            "severity": "warning",
            "breaks": ["run-to-run", "resume", "cross-machine"],
            "path": "src/train.py",
            "cell": None,
            "line": 4,
            "column": 1,
            "end_line": 4,
            "end_column": 38,
            "message": "`torch.backends.cudnn.benchmark = flag` makes cuDNN choose convolution algorithms by timing them",
            "related": [],
            "fix": None,
            "verification": None,
        }
    ]


def test_json_names_related_places() -> None:
    write("train.py", "import torch\nimport os\n\nos.environ['OMP_NUM_THREADS'] = '1'\n")
    (finding,) = report("train.py")["findings"]
    (related,) = finding["related"]
    assert related == {
        "path": "train.py", "cell": None, "line": 1, "column": 1,
        "message": "`OMP_NUM_THREADS` is read when torch is imported",
    }  # fmt: skip
    assert finding["severity"] == "note"


def test_text_marks_the_span_and_says_why_and_what_to_do() -> None:
    write("train.py", "import torch\n\n\ndef main():\n    torch.backends.cudnn.benchmark = True\n")
    assert detlint("train.py").stdout.splitlines() == [
        "train.py:5:5: warning DET501 `torch.backends.cudnn.benchmark = True` makes cuDNN choose convolution"
        " algorithms by timing them",
        "  |",
        "5 | torch.backends.cudnn.benchmark = True",
        "  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "  = why: the fastest algorithm of one run may lose in the next, and another algorithm rounds differently",
        "  = help: leave `benchmark` False where runs must repeat",
        "",
        "1 finding in 1 file (0 entry points): 1 warning.",
    ]


def test_text_marks_wide_characters_and_ends_at_the_first_line_of_a_long_span() -> None:
    write("train.py", "import torch\nx = '漢字'; torch.use_deterministic_algorithms(\n    True, warn_only=True)\n")
    lines = detlint("--select", "DET503", "train.py").stdout.splitlines()
    assert lines[2:4] == [
        "2 | x = '漢字'; torch.use_deterministic_algorithms(",
        "  |             " + "^" * len("torch.use_deterministic_algorithms("),
    ]


def test_statistics_count_by_rule() -> None:
    write("a.py", BENCHMARK)
    write("b.py", BENCHMARK + OFF)
    assert detlint("--statistics", ".").stdout.splitlines() == [
        "     2  DET501  warning  cudnn-benchmark-on",
        "     1  DET502  note     cudnn-deterministic-off",
        "3 findings in 2 files (0 entry points): 2 warnings, 1 note.",
    ]


def test_output_goes_to_a_file() -> None:
    write("train.py", BENCHMARK)
    result = detlint("--output", "report.json", "--format", "json", ".")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(Path("report.json").read_text(encoding="utf-8"))["findings"]


# Selection


def test_select_and_ignore_take_codes_prefixes_and_names() -> None:
    write("train.py", BENCHMARK + OFF)
    assert codes(".") == ["DET501", "DET502"]
    assert codes("--select", "DET501", ".") == ["DET501"]
    assert codes("--select", "DET5", "--ignore", "DET501", ".") == ["DET502"]
    assert codes("--select", "det501,cudnn-deterministic-off", ".") == ["DET501", "DET502"]
    assert codes("--ignore", "DET5", ".") == []
    assert codes("--ignore", "DET5", "--select", "DET502", ".") == ["DET502"]
    assert codes("--select", "ALL", "--ignore", "cudnn-benchmark-on", ".") == ["DET502"]


def test_severity_and_breaks_filter() -> None:
    write("train.py", BENCHMARK + OFF)
    assert codes("--severity", "warning", ".") == ["DET501"]
    assert codes("--severity", "error", ".") == []
    assert codes("--breaks", "cross-machine", ".") == ["DET501"]
    assert codes("--breaks", "run-to-run,resume", ".") == ["DET501", "DET502"]
    assert codes("--breaks", "batch-invariance", ".") == []


def test_the_torch_version_decides_what_holds() -> None:
    write("train.py", "import torch\n\ntorch.use_deterministic_algorithms(True)\n")
    assert codes("--torch-version", "2.9", ".") == ["DET504"]
    assert codes("--torch-version", "2.10", ".") == []
    write("requirements.txt", "numpy\ntorch==2.4  # pinned\n")
    assert codes(".") == ["DET504"]


def test_the_requirement_of_the_project_is_found_from_its_folders() -> None:
    write("src/pkg/train.py", "import torch\n\ntorch.use_deterministic_algorithms(True)\n")
    write("requirements.txt", "torch<2.5\n")
    assert codes("src/pkg/train.py") == codes("src") == ["DET504"]


def test_configuration_is_found_above_the_files() -> None:
    write("pyproject.toml", '[tool.detlint]\nignore = ["DET502"]\nper-file-ignores = {"tests/*" = ["DET5"]}\n')
    write("src/train.py", BENCHMARK + OFF)
    write("tests/test_train.py", BENCHMARK)
    assert codes("src") == codes(".") == ["DET501"]
    assert codes("tests") == codes("tests/test_train.py") == []


# Files


def test_a_file_that_cannot_be_parsed_is_a_finding_and_no_stop() -> None:
    write("a_broken.py", "x = 1\nif x:\nelse:\n    pass\n")
    write("b_train.py", BENCHMARK)
    found = report(".")["findings"]
    assert [(f["path"], f["code"], f["line"], f["severity"]) for f in found] == [
        ("a_broken.py", "DET000", 3, "error"),
        ("b_train.py", "DET501", 3, "warning"),
    ]
    assert codes("--select", "DET502", "--breaks", "resume", ".") == ["DET000"]
    assert detlint(".").exit_code == 1


def test_a_long_sum_is_read() -> None:
    write("long.py", "import torch\nx = " + " + ".join(["a"] * 1500) + "\ntorch.backends.cudnn.benchmark = True\n")
    assert codes(".") == ["DET501"]


@pytest.mark.slow
def test_an_analysis_that_ends_its_process_is_a_finding_and_no_stop() -> None:
    write("deep.py", "x = " + "lambda: " * 20_000 + "0\n")
    for index in range(9):
        write(f"train_{index}.py", BENCHMARK)
    assert codes("--jobs", "2", ".") == ["DET000"] + ["DET501"] * 9


@pytest.mark.parametrize(
    "encoded",
    [
        "import torch\nx = 'é'; torch.backends.cudnn.benchmark = True\n".encode("utf-8-sig"),
        "# coding: latin-1\nimport torch\nx = 'é'; torch.backends.cudnn.benchmark = True\n".encode("latin-1"),
        "import torch\r\nx = '😀'; torch.backends.cudnn.benchmark = True\r\n".encode(),
        "import torch\rx = 'é'; torch.backends.cudnn.benchmark = True\r".encode(),
        "import torch\n\fx = 'é'; torch.backends.cudnn.benchmark = True".encode(),
    ],
    ids=["bom", "pep263", "crlf", "cr", "form-feed-and-no-newline"],
)
def test_columns_count_characters_in_every_encoding(encoded: bytes) -> None:
    write("train.py", encoded)
    (finding,) = report(".")["findings"]
    line = 3 if b"coding" in encoded else 2
    column = 11 if b"\f" in encoded else 10
    assert (finding["line"], finding["column"], finding["end_line"]) == (line, column, line)
    assert finding["end_column"] - finding["column"] == len("torch.backends.cudnn.benchmark = True")


def test_the_order_depends_on_neither_jobs_nor_arguments() -> None:
    names = [f"m{i}/train.py" for i in range(10)]
    for name in names:
        write(name, BENCHMARK + OFF)
    runs = [(names, "1"), (names[::-1], "2"), (["."], "1")]
    texts = {detlint(*order, "--jobs", jobs).stdout for order, jobs in runs}
    assert len(texts) == 1


def test_a_file_that_is_named_twice_is_checked_once(project: Path) -> None:
    write("train.py", BENCHMARK)
    write("sub/other.py", "")
    Path("link").symlink_to("sub")
    several = (".", "train.py", "./train.py", "sub/../train.py", str(project / "train.py"), "link/other.py")
    for order in several, several[::-1]:
        assert report(*order)["summary"]["files"] == 2


def test_files_that_are_named_in_several_forms_find_each_other(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("seeds.py", "import torch\n\n\ndef seed_all():\n    torch.manual_seed(0)\n")
    write("train.py", "import torch\nfrom seeds import seed_all\n\nseed_all()\nprint(torch.rand(3))\n" + OFF)
    here = report("train.py", str(project / "seeds.py"))
    assert [each["code"] for each in here["findings"]] == ["DET502"]
    assert here["findings"][0]["path"] == "train.py"
    write("sub/x.py", "")
    monkeypatch.chdir("sub")
    assert codes("x.py", "../train.py", str(project / "seeds.py")) == ["DET502"]


def test_excluded_and_hidden_folders_are_left_out() -> None:
    for name in ("src/train.py", "third_party/train.py", ".venv/lib/train.py", "node_modules/x/train.py"):
        write(name, BENCHMARK)
    assert report("--exclude", "third_party", ".")["summary"]["files"] == 1


# Other commands


def test_rule_lists_the_rules() -> None:
    result = detlint("rule")
    assert result.exit_code == 0
    assert any(line.startswith("DET501  warning  cudnn-benchmark-on") for line in result.stdout.splitlines())


@pytest.mark.parametrize("selector", ["DET201", "det201", "loader-without-generator"])
def test_rule_shows_a_page(selector: str) -> None:
    result = detlint("rule", selector)
    assert result.exit_code == 0
    assert result.stdout.startswith("# DET201 loader-without-generator\n")
    assert "```py" in result.stdout
    assert "https://docs.pytorch.org" in result.stdout


def test_version_and_help() -> None:
    assert detlint("--version").stdout == f"detlint, version {__version__}\n"
    assert "Find what makes two runs of PyTorch code differ" in detlint("--help").stdout
    assert "--torch-version" in detlint("check", "--help").stdout


def test_the_module_runs_as_a_command(project: Path) -> None:
    write("train.py", BENCHMARK)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "detlint", "--select", "DET501", "."],
        capture_output=True, text=True, cwd=project, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")
    assert "DET501" in done.stdout


def test_the_context_is_read_and_not_shown() -> None:
    write("seeds.py", "import torch\n\n\ndef seed_all():\n    torch.manual_seed(0)\n")
    write("train.py", "import torch\nfrom seeds import seed_all\n\nseed_all()\nprint(torch.rand(3))\n")
    write("other.py", BENCHMARK)
    write("detlint.toml", 'exclude = ["other.py"]\n')
    assert codes("other.py") == ["DET501"], "a file that is named is read"
    result = detlint("--context", ".", "train.py", "other.py")
    assert (result.exit_code, result.stdout) == (0, "Nothing found in 1 file (1 entry point).\n")
    write("seeds.py", "def seed_all():\n    pass\n")
    assert codes("--context", ".", "train.py") == ["DET101"]
    assert codes("--context", ".", "seeds.py") == []


@pytest.mark.parametrize(
    ("context", "path"),
    [("..", "."), ("..", "train.py"), ("..", "../sub/train.py"), ("..", "../link/train.py"), ("{project}", "train.py")],
)
def test_the_context_and_what_is_shown_are_told_apart_in_any_form(
    context: str, path: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("sub/train.py", "import torch\n\nprint(torch.rand(3))\n")
    write("other.py", BENCHMARK)
    Path("link").symlink_to("sub")
    monkeypatch.chdir("sub")
    found = report("--context", context.format(project=project), path)
    assert [each["code"] for each in found["findings"]] == ["DET101"]
    assert found["summary"]["files"] == 1
    assert found["summary"]["entry_points"] == 1, "the program is there once"


def test_only_files_that_are_given_are_fixed() -> None:
    text = "import os\n\nimport torch\n\nfor name in os.listdir('.'):\n    print(name, torch.rand(2))\n"
    write("a.py", text)
    write("b.py", text)
    detlint("--context", ".", "--select", "DET602", "--fix", "a.py")
    assert "sorted(os.listdir" in Path("a.py").read_text()
    assert Path("b.py").read_text() == text

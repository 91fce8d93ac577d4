"""`detlint verify`, `detlint --verify` and `--evidence` as a user types them."""

from __future__ import annotations

import json
import re
import signal
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

from detlint import verify_cli  # noqa: E402
from detlint.cli import cli  # noqa: E402
from detlint.verify import session  # noqa: E402

NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
QUICK = ("--device", "cpu", "--processes", "1", "--repeats", "4")
CODE = """\
import torch

def last(target: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    index = torch.randint(0, 4, (1048576,), device=values.device)
    return target.index_copy(0, index, values)

torch.backends.cudnn.deterministic = False
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET3', 'DET502']\n")
    (tmp_path / "train.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@NO_CUDA
def test_without_cuda_it_says_that_nothing_was_confirmed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--op", "scatter_add"]):
        assert verify_cli.main(arguments) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.fullmatch(r"detlint: nothing was confirmed: cuda cannot be used \(.+\); --device cpu .+\n", shown.err)


@NO_CUDA
def test_a_check_with_verify_and_without_cuda_fails(project: Path) -> None:
    result = CliRunner().invoke(cli, ["--verify", "train.py"])
    assert result.exit_code == 2
    assert result.stderr.startswith("detlint: nothing was confirmed: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--op", "no_such_operation"], "'no_such_operation'"),
        (["--all", "src"], "neither paths nor --evidence"),
        (["missing.py", "--device", "cpu"], "missing.py does not exist"),
        (["--evidence", "missing.json"], "missing.json"),
        (["--evidence", "."], "no JSON files in ."),
        (["--op", "scatter_add", "--device", "nonsense"], "nonsense"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert verify_cli.main(arguments) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)


@pytest.mark.parametrize("arguments", [["--repeats", "0"], ["--processes", "x"], ["--format", "xml"]])
def test_a_wrong_option_is_told_as_argparse_does(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        verify_cli.main(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_findings_get_their_verdicts_and_these_come_back_as_evidence(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify_cli.main(["train.py", *QUICK, "--output", "evidence.json"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"train\.py:5:12 +DET301 +confirmed +\d+ distinct results of 4 runs", shown)
    assert "with the deterministic mode on: deterministic-path" in shown
    assert "1 more of 2 findings are not about an operation" in shown

    assert verify_cli.main(["--evidence", "evidence.json"]) == 1
    assert "DET301" in capsys.readouterr().out

    result = CliRunner().invoke(cli, ["--evidence", "evidence.json", "--format", "json", "train.py"])
    first, second = json.loads(result.stdout)["findings"]
    assert second["verification"] is None
    told = first["verification"]
    assert (told["verdict"], told["elsewhere"], told["general"]) == ("confirmed", True, False)
    assert told["taken"] == {"dim": 0}
    assert told["modes"]["strict"] == "deterministic-path"
    assert told["torch"] == torch.__version__

    result = CliRunner().invoke(cli, ["--evidence", "evidence.json", "train.py"])
    assert "verified: confirmed" in result.stdout


def test_a_check_with_verify_runs_the_operations(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "Settings", partial(session.Settings, processes=1, repeats=4))
    result = CliRunner().invoke(cli, ["--verify", "--device", "cpu", "train.py", "--format", "json"])
    assert result.exit_code == 1
    told = [finding["verification"] for finding in json.loads(result.stdout)["findings"]]
    assert told[0]["verdict"] == "confirmed" and not told[0]["elsewhere"]
    assert told[1] is None


def test_operations_are_found_by_name_and_shown_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify_cli.main(["--op", "index_fill_", *QUICK]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert re.match(r"CPU .+ \(torch .+, 8 threads\), 1 fresh processes x 4 runs", shown[0])
    assert [line.split()[0] for line in shown[1:3]] == ["row", "scatter_value.fwd"]


def test_ctrl_c_leaves_a_valid_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(bar: object, done: int, total: int, doing: str) -> None:
        if doing.startswith("scatter_value.fwd"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(verify_cli._Bar, "show", interrupt)
    assert verify_cli.main(["--op", "index_fill_", *QUICK, "--format", "json"]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert shown["interrupted"] is True
    assert shown["measurements"][0]["outcomes"]["off"]["runs"] == 4

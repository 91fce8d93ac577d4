"""`detlint verify`, `detlint --verify` and `--evidence` as a user types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

from detlint.cli import cli  # noqa: E402
from detlint.commands import verify as verify_cli  # noqa: E402
from detlint.verify import environment, evidence, pool, session  # noqa: E402
from detlint.verify.verdicts import Outcome, Verdict  # noqa: E402
from tests.entered import verify  # noqa: E402
from tests.forks import forks  # noqa: E402

NO_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
# a race may stay away from some processes on a busy machine; a difference ends the rest
QUICK = ("--device", "cpu", "--processes", "8", "--repeats", "12")
CODE = """\
import torch

def last(target: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    index = torch.randint(0, 4, (1048576,), device=values.device)
    return target.index_copy(0, index, values)

torch.backends.cudnn.deterministic = False
"""


@pytest.fixture(autouse=True)
def _workers_are_forks() -> Iterator[None]:
    with forks(pool):
        yield


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET3', 'DET502']\n")
    (tmp_path / "train.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@NO_CUDA
def test_without_cuda_it_says_that_nothing_was_confirmed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--op", "scatter_add"]):
        assert verify(arguments) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.fullmatch(r"detlint: nothing was confirmed: cuda cannot be used \(.+\); --device cpu .+\n", shown.err)


def test_a_device_of_no_such_name_is_told_with_names_that_there_are(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(["--device", "gpu"]) == 2
    assert "torch knows no device 'gpu'; give one such as cpu, cuda, cuda:1, mps, xpu" in capsys.readouterr().err


def test_without_torch_it_says_where_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.obstacle("cpu") == ""
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    assert environment.obstacle("cpu") == f"PyTorch is not installed for {sys.executable}, which runs detlint"


@NO_CUDA
def test_a_check_with_verify_and_without_cuda_fails(project: Path) -> None:
    result = CliRunner().invoke(cli, ["--verify", "train.py"])
    assert result.exit_code == 2
    assert result.stderr.startswith("detlint: nothing was confirmed: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--op", "no_such_operation"], "'no_such_operation'"),
        (["--all", "src"], "take no paths"),
        (["--op", "scatter_add", "--run-kernels"], "take no paths"),
        (["--evidence", "missing.json", "--run-kernels"], "give one of them"),
        (["missing.py", "--device", "cpu"], "missing.py does not exist"),
        (["--evidence", "missing.json"], "missing.json"),
        (["--evidence", "."], "no JSON files in ."),
        (["--op", "scatter_add", "--device", "nonsense"], "nonsense"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert verify(arguments) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--repeats", "0"],
        ["--repeats", "\N{SUPERSCRIPT TWO}"],
        ["--processes", "x"],
        ["--format", "xml"],
        ["--timeout", "0"],
        ["--timeout", "nan"],
        ["--timeout", "inf"],
        ["--memory", "-5"],
    ],
)
def test_a_wrong_option_is_told_by_its_name(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert verify(arguments) == 2
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.slow
def test_findings_get_their_verdicts_and_these_come_back_as_evidence(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(["train.py", *QUICK, "--output", "evidence.json"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"train\.py:5:12 +DET301 +confirmed +2 distinct results of \d+ runs", shown)
    assert "with the deterministic mode on: deterministic-path" in shown
    assert "1 more of 2 findings are not about an operation" in shown

    assert verify(["--evidence", "evidence.json"]) == 1
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


def test_what_no_probe_can_run_is_told_also_where_it_is_all(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").write_text("from lightning import Trainer\n\nTrainer(benchmark=True)\n")
    (project / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET501']\n")
    assert verify(["train.py", *QUICK]) == 0
    assert re.search(r"unavailable +not probed: sets the switch of another row", capsys.readouterr().out)


@pytest.mark.slow
def test_a_check_with_verify_runs_the_operations(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "Settings", partial(session.Settings, processes=8, repeats=12))
    result = CliRunner().invoke(cli, ["--verify", "--device", "cpu", "train.py", "--format", "json"])
    assert result.exit_code == 1
    told = [finding["verification"] for finding in json.loads(result.stdout)["findings"]]
    assert told[0]["verdict"] == "confirmed" and not told[0]["elsewhere"]
    assert told[1] is None


@pytest.mark.slow
def test_operations_are_found_by_name_and_shown_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(["--op", "index_fill_", *QUICK]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert re.match(r"CPU .+ \(torch .+, \d threads\), 8 forked processes x up to 12 runs", shown[0])
    assert [line.split()[0] for line in shown[1:3]] == ["row", "scatter_value.fwd"]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that takes no time: its controls alone would take seconds."""
    where = {"device": "CPU", "type": "cpu", "torch": "2"}
    outcomes = {"off": Outcome(Verdict.NOT_OBSERVED, 4, 1, 1)}
    one = session.Measurement(session.Subject("scatter_value.fwd"), outcomes)
    held = session.Session(where, session.Settings("cpu", 1, 4), (), (one,))
    monkeypatch.setattr(session, "hold", lambda *given: held)


@pytest.mark.usefixtures("measured")
def test_the_session_goes_into_a_folder_that_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(["--op", "index_fill_", *QUICK, "--output", str(tmp_path / "new" / "folder")]) == 0
    (file,) = (tmp_path / "new" / "folder").iterdir()
    assert file.suffix == ".json"


@pytest.mark.usefixtures("measured")
def test_a_session_that_cannot_be_written_is_shown_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: Path, *_: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert verify(["--op", "index_fill_", *QUICK, "--output", str(tmp_path / "session.json")]) == 2
    shown = capsys.readouterr()
    assert "scatter_value.fwd" in shown.out
    assert "No space left" in shown.err


def test_a_place_that_cannot_be_written_to_is_told_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert verify(["--op", "index_fill_", *QUICK, "--output", str(tmp_path / "file" / "session.json")]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error_of_python(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "detlint", "verify", "--evidence", "evidence.json", "train.py"]
    session_ = session.Session({"device": "x", "type": "cpu", "torch": "2"}, session.Settings(), (), ())
    (tmp_path / "evidence.json").write_text(evidence.render(session_))
    (tmp_path / "train.py").write_text(CODE)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write) as gone:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=gone, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.slow
def test_json_is_utf8_whatever_the_terminal_takes(tmp_path: Path) -> None:
    (tmp_path / "\N{LATIN SMALL LETTER E WITH ACUTE}.py").write_text(CODE)
    session_ = session.Session({"device": "x", "type": "cpu", "torch": "2"}, session.Settings(), (), ())
    (tmp_path / "evidence.json").write_text(evidence.render(session_))
    root = str(Path(__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for format_, found in (("json", "\N{LATIN SMALL LETTER E WITH ACUTE}.py"), ("text", "findings")):
        command = [sys.executable, "-m", "detlint", "verify", "--evidence", "evidence.json", ".", "--format", format_]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert found in done.stdout.decode()


@pytest.mark.slow
def test_ctrl_c_leaves_a_valid_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(bar: object, done: int, total: int, doing: str) -> None:
        if doing.startswith("scatter_value.fwd"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(verify_cli._Bar, "show", interrupt)
    assert verify(["--op", "index_fill_", *QUICK, "--processes", "1", "--format", "json"]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert shown["interrupted"] is True
    assert shown["measurements"][0]["outcomes"]["off"]["runs"] == 12

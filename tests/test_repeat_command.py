"""`detlint repeat` as people call it: small projects whose runs differ, and do not any more."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint.bisect.running import warm
from detlint.cli import cli
from detlint.commands import repeat as command
from tests import ending

ROOT = Path(__file__).parent.parent
SET = """\
import torch
from data import CLASSES

torch.manual_seed(0)
numbers = {name: number for number, name in enumerate(CLASSES)}
print(torch.tensor([numbers[name] for name in sorted(CLASSES)]) * 2)
"""
CLASSES = 'CLASSES = {"ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"}\n'


@pytest.fixture(scope="module", autouse=True)
def forks() -> Iterator[None]:
    """What is imported by the processes that runs are forked from is imported once for all commands."""
    with ending.kept(warm):
        yield


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run waits for the next second, which tells runs apart that are seeded with whole seconds: none is here."""
    monkeypatch.setattr(command, "_apart", lambda restore: restore)


def repeat(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["repeat", *arguments])


def write(folder: Path, **files: str) -> dict[str, str]:
    """Write modules by name; the files that are there then."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return contents(folder)


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def changed(diff: str) -> list[str]:
    """The lines that a patch adds and takes away, with the files before them."""
    return re.findall(r"^(?:\+\+\+ b/\S+|[-+](?![-+]).*)", diff, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_a_listing_in_one_file_that_another_shuffles_is_sorted(folder: Path) -> None:
    (folder / "data").mkdir()
    for number in range(6):
        (folder / "data" / f"{number}.txt").write_text(str(number**2))
    data = "import os\n\n\ndef names(folder):\n    return [name for name in os.listdir(folder)]\n"
    train = """\
import random
from pathlib import Path
import torch
from data import names

random.seed(0)
found = names("data")
random.shuffle(found)
x = torch.tensor([float(Path("data", name).read_text()) for name in found])
print((x * torch.arange(6)).sum())
"""
    before = write(folder, data=data, train=train)
    result = repeat("--perturb", "listing", "--", "python", "train.py")
    assert result.exit_code == 0, result.output
    assert changed(result.stdout) == [
        "+++ b/data.py",
        "-    return [name for name in os.listdir(folder)]",
        "+    return [name for name in sorted(os.listdir(folder))]",
    ]
    assert "data.py:5: Sort it  [DET602 directory-order]" in result.stdout
    assert contents(folder) == before


@pytest.mark.slow
def test_a_model_that_draws_where_it_is_imported_is_seeded_ahead_of_the_import(folder: Path) -> None:
    model = "import torch\n\nPRIOR = torch.randn(3)\n\n\ndef model(x):\n    return (x * PRIOR).sum()\n"
    train = "import torch\n\nimport model\n\nprint(model.model(torch.ones(3)))\n"
    write(folder, model=model, train=train)
    result = repeat("--", "train.py")
    assert result.exit_code == 0, result.output
    assert "torch.manual_seed(0)" in result.stdout


@pytest.mark.slow
def test_what_repeats_is_left_alone(folder: Path) -> None:
    clean = "import time\nimport torch\n\ntorch.manual_seed(0)\nprint(time.time(), torch.rand(3) + 1)\n"
    before = write(folder, train=clean)
    result = repeat("--apply", "--", "train.py")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "train.py repeats as it is; nothing was changed\n\ncompared: the last 2 of 2 runs, equal in 3 records of 1 stream\n"
    )
    assert contents(folder) == before


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_each_cause_is_ended_and_the_files_are_written_where_that_is_asked_for(folder: Path) -> None:
    noise = "import numpy as np\n\nnoise = np.random.randn(10)\nprint(torch.from_numpy(noise).sum())\n"
    write(folder, data=CLASSES, train=f"{SET}{noise}")
    result = repeat("--apply", "--format", "json", "--", "train.py")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert {key: told[key] for key in ("version", "verdict", "exit", "reason", "program", "remains", "applied")} == {
        "version": 1,
        "verdict": "repeats",
        "exit": 0,
        "reason": "",
        "program": "train.py",
        "remains": None,
        "applied": True,
    }
    found = [
        (each["path"], each["line"], each["code"], each["safety"], each["cause"]["kind"]) for each in told["changes"]
    ]
    assert sorted(found) == [
        ("train.py", 5, "DET601", "safe", "host-value"),
        ("train.py", 9, "DET102", "safe", "random-stream"),
    ]
    assert "enumerate(sorted(CLASSES))" in (folder / "train.py").read_text()
    assert len(result.stderr.splitlines()) == 2
    (folder / "changes.patch").write_text(told["diff"])
    subprocess.run(["patch", "-R", "-p1", "-i", "changes.patch"], cwd=folder, check=True, capture_output=True)
    assert (folder / "train.py").read_text() == f"{SET}{noise}"


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_what_no_fix_is_right_for_is_named_and_nothing_is_changed(folder: Path) -> None:
    text = "import time\nimport torch\n\ntorch.manual_seed(0)\n\nwhen = time.perf_counter() % 1\nprint(torch.tensor([when]) + torch.rand(1))\n"
    before = write(folder, train=text)
    result = repeat("--apply", "--", "train.py")
    assert result.exit_code == 1
    assert result.stdout.startswith("train.py does not repeat, and nothing was changed\n")
    assert "\n  train.py:6: the time decides: `time.perf_counter`  [host-value: time]\n" in result.stdout
    assert "\n  do: use a number of steps, or a constant, in its place\n" in result.stdout
    assert contents(folder) == before


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_only_rules_that_are_selected_change_anything(folder: Path) -> None:
    write(folder, data=CLASSES, train=SET)
    result = repeat("--select", "DET1", "--", "train.py")
    assert result.exit_code == 1
    assert "the order of a set decides" in result.stdout and "+++" not in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "import torch\ntorch.zeros(1) + 1\nraise ValueError('no data')\n",
            "the program fails by itself in a copy of its folder, which has to be mended first: ValueError: no data",
        ),
        ("print(1)\n", "there is nothing to compare: no operation of torch was recorded"),
    ],
)
def test_where_there_is_nothing_to_compare_one_line_says_why(folder: Path, text: str, told: str) -> None:
    write(folder, train=text)
    result = repeat("--", "train.py")
    assert result.exit_code == 2
    assert (result.stdout, result.stderr) == ("", f"detlint: train.py: {told}\n")


@pytest.mark.slow
def test_the_time_that_all_may_take_is_kept(folder: Path) -> None:
    write(folder, train="import time\nimport torch\ntorch.zeros(1) + 1\ntime.sleep(600)\n")
    begun = time.monotonic()
    result = repeat("--timeout", "3", "--", "train.py")
    assert result.exit_code == 2
    assert "the time was over before two runs had ended: give more with --timeout" in result.output
    assert time.monotonic() - begun < 60


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind_by_a_run_that_is_ended(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, number: int
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    pid = "import os, sys, time\nimport torch\nopen(os.environ['PID'], 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    before = write(folder, train=pid)
    told = temporary.parent / f"pid-{number}"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "PID": str(told)}
    process = subprocess.Popen(
        [sys.executable, "-m", "detlint", "repeat", "--", "train.py"], cwd=folder, env=environment
    )
    while not told.exists() or not told.read_text():
        time.sleep(0.1)
        assert process.poll() is None
    process.send_signal(number)
    assert process.wait(60) == 2
    assert list(temporary.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "no program is given"),
        (["--", "nothing.py"], "nothing.py is neither a file nor a command"),
        (["--perturb", "weather", "--", "train.py"], "'weather' is none of hashseed, threads, workers, listing"),
        (["--timeout", "soon", "--", "train.py"], "'soon' is not a number of seconds above 0"),
        (["--select", "DET999", "--", "train.py"], "DET999"),
    ],
)
def test_wrong_usage_is_told_in_a_line(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    result = repeat(*arguments)
    assert result.exit_code == 2
    assert told in result.stderr and "Traceback" not in result.stderr


def shown(page: str, language: str) -> str:
    """What a page shows that the command prints."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    return str(block)


@pytest.mark.slow
def test_the_example_of_the_documentation_does_what_is_shown(folder: Path) -> None:
    text = (ROOT / "docs" / "repeat.md").read_text(encoding="utf-8")
    files = dict(re.findall(r'^```py title="(\w+)\.py"\n(.*?)^```$', text, re.M | re.S))
    write(folder, **files)
    counts = re.compile(r"(?<=of |in )[\d,]+(?= run| record)")  # by this machine, and this release of torch
    wanted = counts.sub("0", shown("docs/repeat.md", "text"))
    for _ in range(3):  # on a busy machine the time for a cause may be over before it is named to its line
        result = repeat("--", "python", "train.py")
        if counts.sub("0", result.stdout) == wanted:
            break
    assert counts.sub("0", result.stdout) == wanted
    asked, _, told = shown("README.md", "console").partition("\n")
    assert asked == "$ detlint repeat -- python train.py"
    assert told and result.stdout.startswith(told)


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_a_change_that_is_not_needed_in_the_end_is_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from detlint.repeat import rounds

    monkeypatch.setattr(rounds, "_SOON", 1e9)  # however slow this machine is
    seeded = SET.replace("manual_seed(0)", "manual_seed(time.perf_counter_ns() % 2**32)")  # and nothing is drawn
    write(folder, data=CLASSES, train=f"import time\n{seeded}")
    result = repeat("--", "train.py")
    assert result.exit_code == 0, result.output
    assert changed(result.stdout) == [
        "+++ b/train.py",
        "-numbers = {name: number for number, name in enumerate(CLASSES)}",
        "+numbers = {name: number for number, name in enumerate(sorted(CLASSES))}",
    ]
    assert "round 2" in result.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_places_beside_the_working_folder_are_named_from_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").touch()
    clock = "import time\n\n\ndef noise():\n    return time.time() % 1\n"
    write(folder, clock=clock)
    (folder / "examples").mkdir()
    train = (
        "import sys\n\nsys.path.append('..')\nimport torch\nfrom clock import noise\n\nprint(torch.tensor(noise()))\n"
    )
    write(folder / "examples", train=train)
    monkeypatch.chdir(folder / "examples")
    result = repeat("--", "python", "train.py")
    assert result.exit_code == 1, result.output
    assert "../clock.py:5: the time decides: `time.time`" in result.stdout
    assert "files" not in result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("hurried")
def test_what_a_library_lists_while_it_is_imported_is_no_cause(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    train = "import time\nimport lister\nimport torch\n\nprint(lister.FOUND, torch.tensor(time.time() % 1))\n"
    write(folder, train=train)
    library = tmp_path_factory.mktemp("env") / "site-packages"
    library.mkdir()
    write(library, lister="import os\n\nFOUND = len(os.listdir(os.path.dirname(os.__file__)))\n")
    monkeypatch.setenv("PYTHONPATH", str(library))
    result = repeat("--perturb", "listing", "--", "python", "train.py")
    assert "train.py:5: the time decides" in result.stdout

"""The benchmarks: what they measure of a command, what they say of peers that are absent or slow, their tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import report
from tests.benchmarks.__main__ import main, measured
from tests.benchmarks.measuring import Way, measure
from tests.benchmarks.peers import ENVIRONMENTS, PEERS, Peer
from tests.benchmarks.results import CHANGED, COLD, WARM, WHOLE, Measured, Results, TreeSize
from tests.benchmarks.runner import Cost, run
from tests.benchmarks.trees import copied, python_files, typical

LONG = 20.0
ROOT = Path(__file__).parent.parent


@pytest.fixture
def results() -> Results:
    found = Results("2026-01-01", {"cores": "2"}, {WHOLE: TreeSize(10, 2.0, 300), "2x": TreeSize(20, 4.0)}, ["a"])
    found.measured = [
        Measured("detlint", WHOLE, COLD, (3.0, 2.0), (4.0, 3.5), 100.0, 150.0),
        Measured("detlint", WHOLE, WARM, (0.25,), (0.2,), 50.0, 50.0),
        Measured("ruff", WHOLE, COLD, (0.5, 0.6), (0.7, 0.7), 40.0, 40.0),
        Measured("ruff", WHOLE, WARM, (0.1,), (0.1,), 40.0, 40.0),
        Measured("TorchFix", WHOLE, COLD, (50.0,), (90.0,), 60.0, 120.0),
        Measured("pylint", WHOLE, COLD, (60.0,), (90.0,), 60.0, 120.0, "more than 60 s"),
        Measured("detlint", "2x", COLD, (4.4,), (8.0,), 110.0, 160.0),
    ]
    found.absent = ["flake8"]
    return found


def test_ratios_are_of_the_fastest_runs_in_the_same_state(results: Results) -> None:
    assert results.ratio("detlint", "ruff", WHOLE, COLD) == 4.0
    assert results.ratio("detlint", "ruff", WHOLE, WARM) == 2.5
    assert results.ratio("detlint", "TorchFix", WHOLE, WARM) == 0.005  # it keeps nothing: cold
    assert results.ratio("detlint", "pylint", WHOLE, COLD) is None  # nobody knows how long it takes
    assert results.ratio("detlint", "flake8", WHOLE, COLD) is None


def test_the_report_has_a_row_for_all_that_was_measured_and_says_what_was_not(results: Results) -> None:
    told = report.render(results).splitlines()
    assert "| detlint | cold | 2.00 | 50% of 2 | 3.50 | 4.0 | 0.04 | 100 | 150 |" in told
    assert "| detlint | nothing changed | 0.25 | one run | 0.20 | 2.5 | 0.005 | 50 | 50 |" in told
    assert "| pylint | cold | more than 60 s |  |  |  |  |  |  |" in told
    assert "| detlint | 2x | 20 | 4.0 | 4.40 | 1.100 | 2.000 | - | 110 | 160 |" in told
    assert "| flake8 | not installed here: not measured |  |" in told
    tables = [part.splitlines() for part in report.render(results).split("\n\n") if part.startswith("|")]
    assert len(tables) == 3
    assert all(len({row.count("|") for row in table}) == 1 for table in tables)


def test_results_are_the_same_once_written_and_read(results: Results, tmp_path: Path) -> None:
    results.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == results


def run_from_a_small_process(command: list[str], folder: Path) -> Cost:
    """What a run costs that another process starts: this one may be large, which would count as the run's."""
    asked = f"""
import json
from tests.benchmarks.runner import *
print(json.dumps(vars(run({command!r}, Path({str(folder)!r}), {LONG}))))
"""
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return Cost(**json.loads(done.stdout))


@pytest.mark.slow
def test_a_run_is_measured_with_all_that_it_starts(tmp_path: Path) -> None:
    inner = "import time; b = bytearray(90_000_000); time.sleep(2)"
    outer = f"import subprocess, sys\nfor p in [subprocess.Popen([sys.executable, '-c', {inner!r}]) for _ in '12']: p.wait()"
    cost = run_from_a_small_process([sys.executable, "-c", outer], tmp_path)
    assert not cost.told
    assert 2 < cost.seconds < LONG
    assert 90 < cost.largest_mb < 150
    if Path("/proc/self/smaps_rollup").exists():
        assert cost.sum_mb > 180


@pytest.mark.slow
def test_a_run_is_ended_at_its_limit_with_all_that_it_started(tmp_path: Path) -> None:
    inner = "import time; open('begun', 'w').close(); time.sleep(10); open('ended', 'w').close()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    cost = run([sys.executable, "-c", outer], tmp_path, 1)
    assert cost.told == "more than 1 s"
    assert not (tmp_path / "ended").exists()


def test_a_run_that_fails_says_how(tmp_path: Path) -> None:
    assert run([sys.executable, "-c", "raise SystemExit('no such option')"], tmp_path, LONG).told == (
        "exit status 1: no such option"
    )


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "hook.py").touch()
    (folder / "long.py").write_text("\nimport torch\n" + "x = 1\n" * 290)
    (folder / "longer.py").write_text("\nimport torch\n" + "x = 0\n" * 600)
    (folder / "plain.py").write_text("x = 1\n" * 300)
    return folder


def fake(environments: Path, name: str, caches: tuple[str, ...] = ()) -> Peer:
    """A tool that appends to its cache, if it has one, whether it found it, and the last line of a file."""
    program = environments / name / "bin" / "tool"
    program.parent.mkdir(parents=True)
    lines = f"#!{sys.executable}", "import pathlib", "log = pathlib.Path('../log')", "cache = pathlib.Path('.kept')"
    told = "log.open('a').write(f'{cache.exists()} {sorted(pathlib.Path().rglob(\"*.py\"))[1].read_text().split()[-1]}\\n')"
    program.write_text("\n".join([*lines, told, "cache.mkdir(exist_ok=True)\n"]))
    program.chmod(0o755)
    return Peer(name, name, ("tool",), caches)


@pytest.mark.slow
def test_a_peer_runs_without_its_cache_with_one_file_changed_and_with_none(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.trees._SETTLED", 0.0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    peers = fake(tmp_path, "keeps", (".kept",)), fake(tmp_path, "forgets")
    with copied(python_files([sources])) as tree:
        found = measure(peers, tree, WHOLE, Way(tmp_path, 2, LONG, lambda line: None))
        assert not tree.folder.is_relative_to(sources)
    assert [(each.peer, each.state, len(each.seconds)) for each in found] == [
        ("keeps", COLD, 2), ("keeps", CHANGED, 2), ("keeps", WARM, 2), ("forgets", COLD, 2),
    ]  # fmt: skip
    keeps = [
        "False 0",
        "True 1",
        "True 1",
        "True 1",
        "False 1",
        "True 2",
        "True 2",
        "True 2",
    ]  # one in four: not counted
    rounds = (tmp_path / "log").read_text().splitlines()
    assert rounds == [*keeps[:4], "True 1", *keeps[4:], "True 2"]
    assert (sources / "longer.py").read_text().endswith("x = 0\n")


def test_files_are_those_that_tools_read_and_the_single_one_is_typical(sources: Path) -> None:
    files = python_files([sources])
    assert [place for _, place in files] == ["code/long.py", "code/longer.py", "code/plain.py"]
    assert typical(files)[1] == "code/long.py"
    with copied(files, 2) as tree:
        assert tree.size().files == 6
        assert tree.size().lines == 2 * (292 + 602 + 300)
        assert len({path.relative_to(tree.folder).parts[0] for path in tree.files}) == 2


def test_peers_that_are_absent_are_named(sources: Path, tmp_path: Path) -> None:
    said: list[str] = []
    results = measured([sources], Way(tmp_path / "nothing", 1, LONG, said.append), growth=True)
    assert results.absent == [peer.name for peer in PEERS]
    assert results.measured == []
    assert len(said) == len(PEERS)
    assert "detlint | not installed here" in report.render(results)


def test_each_peer_has_an_environment_of_pinned_packages() -> None:
    assert {peer.environment for peer in PEERS} == set(ENVIRONMENTS)
    assert all("==" in package or package == "." for packages in ENVIRONMENTS.values() for package in packages)
    assert not any(package.startswith("torch==") for packages in ENVIRONMENTS.values() for package in packages)


def test_a_folder_without_code_is_an_error_of_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--environments", str(tmp_path), str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("no Python file that imports torch is below these folders")


@pytest.mark.parametrize("given", [".", "plain.py"])
def test_the_yardstick_parses_files_and_passes_over_what_is_none(sources: Path, given: str) -> None:
    (sources / "broken.py").write_text("def f(:\n", encoding="utf-8")
    peer = next(peer for peer in PEERS if peer.name == "ast.parse")
    script = peer.command[1]
    done = subprocess.run([sys.executable, script, given], cwd=sources, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

"""A probe that hangs, crashes or eats memory costs its row, and the others are measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from detlint.verify import pool, side_by_side
from detlint.verify.job import Answer, Job
from detlint.verify.pool import Limits
from tests.forks import forks

pytestmark = pytest.mark.slow

TABLE = "tests.faulty_probes"
ROOT = str(Path(__file__).parent.parent)


@pytest.fixture(autouse=True)
def _probes_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ROOT)


@pytest.fixture
def forked() -> Iterator[None]:
    with forks(pool):
        yield


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Answer]]:
    """What two processes on their own answer, one after the other: to a job that seeds, and to two after it."""
    folder = tmp_path_factory.mktemp("fresh")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ROOT)
        return [ask(*(job(row, folder, process=number) for row in ("prints", "process", "draws"))) for number in (0, 1)]


def job(row: str, folder: Path, mode: str = "off", process: int = 0, repeats: int = 3, **more: object) -> Job:
    reference = str(folder / f"{row}-{mode}")
    return Job(row, row, mode, "cpu", "float32", repeats, process, reference, table=TABLE, **more)  # type: ignore[arg-type]


def ask(*jobs: Job, limits: Limits = Limits(seconds=20)) -> dict[str, Answer]:  # noqa: B008 - it is frozen
    return {answer.key: answer for answer in pool.Pool(limits).answers(jobs)}


def test_processes_side_by_side_are_ended_with_the_session(tmp_path: Path) -> None:
    workers = pool.Pool(Limits(seconds=60))
    batches = [[job("counts", tmp_path), job("hangs", tmp_path)], [job("hangs", tmp_path)]]
    with closing(side_by_side.answers(workers, batches, 2)) as answers:
        began = next(answers)
        start = time.monotonic()
    assert began.key == "counts"
    assert time.monotonic() - start < 30
    assert list(workers.answers([job("counts", tmp_path)])) == []


@pytest.mark.usefixtures("forked")
def test_each_fault_costs_one_row(tmp_path: Path) -> None:
    rows = ("warns", "hangs", "crashes", "leaves", "eats", "raises", "missing", "unavailable", "prints", "counts")
    found = ask(*(job(row, tmp_path) for row in rows), limits=Limits(seconds=15, megabytes=1024))
    assert list(found) == list(rows)
    assert found["hangs"].error == "time"
    assert "15 s" in found["hangs"].reason
    assert found["crashes"].error == "crash"
    assert "SIGSEGV" in found["crashes"].reason
    assert found["leaves"].error == "crash"
    assert "status 7" in found["leaves"].reason
    if sys.platform == "linux":
        assert found["eats"].error == "memory"
    assert (found["raises"].error, found["raises"].reason) == ("failed", "ValueError: of no use")
    assert found["missing"].error == "unavailable"
    assert "no_such_package" in found["missing"].reason
    assert (found["unavailable"].error, found["unavailable"].reason) == ("unavailable", "not here")
    assert len(set(found["prints"].digests)) == 1
    assert len(found["counts"].digests) == len(set(found["counts"].digests)) == 3
    assert found["warns"].warned and not found["prints"].warned


def test_a_worker_is_gone_when_its_jobs_are_done(fresh: Sequence[dict[str, Answer]]) -> None:
    first, second = (answers["process"].digests for answers in fresh)
    assert first != second
    assert len(first) == len(second) == 1


def test_draws_are_those_of_a_fresh_process_though_jobs_before_have_seeded(fresh: Sequence[dict[str, Answer]]) -> None:
    first, second = (answers["draws"].digests for answers in fresh)
    assert first != second
    assert len(first) == len(second) == 1


def test_draws_that_are_seeded_repeat_between_processes(tmp_path: Path) -> None:
    first, second = (ask(job("draws", tmp_path, "seeded", process=number))["draws"].digests for number in (0, 1))
    assert first == second
    assert len(first) == 1


@pytest.mark.usefixtures("forked")
def test_memory_is_dirtied_with_another_pattern_in_each_run(tmp_path: Path) -> None:
    answers = [ask(job("memory", tmp_path, process=number))["memory"] for number in (0, 1)]
    assert all(len(set(answer.digests)) == 3 for answer in answers)
    assert answers[0].digests[0] != answers[1].digests[0]


@pytest.mark.usefixtures("forked")
def test_literals_come_from_the_code_or_are_told_to_be_assumed(tmp_path: Path) -> None:
    found = ask(job("literals", tmp_path, arguments={"kernel_size": [2, 3]}, called="torch.f"))["literals"]
    assert found.taken == {"kernel_size": [2, 3]}
    assert found.assumed == {"stride": 1}


@pytest.mark.usefixtures("forked")
def test_the_largest_difference_is_told_not_the_first(tmp_path: Path) -> None:
    found = ask(job("drifts", tmp_path, repeats=4))["drifts"]
    assert (len(set(found.digests)), found.absolute) == (4, 3.0)


def test_a_worker_ends_with_its_parent(tmp_path: Path) -> None:
    plain = job("hangs", tmp_path).plain()
    code = f"""
import sys
from detlint.verify.job import Job
from detlint.verify.pool import Limits, _Worker
worker = _Worker(Job(**{plain!r}), Limits(60)).__enter__()
worker._process.stdin.write({json.dumps(plain)!r} + chr(10))
worker._process.stdin.flush()
print(worker._process.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        number = int(parent.stdout.readline())
        os.kill(number, 0)
        parent.kill()
    for _ in range(100):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the worker goes on")


def test_where_no_worker_starts_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(pool.StartError, match="nonsense"):
        ask(replace(job("prints", tmp_path), device="nonsense"))


def test_nothing_in_the_working_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "json", "random"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the user\\'s own file was run')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", ROOT]))
    assert ask(job("prints", tmp_path))["prints"].error == ""

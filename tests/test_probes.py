"""Every row that plain PyTorch can run has a probe, and every probe runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from detlint import catalogue  # noqa: E402
from detlint.verify import evidence, join, pool, worker  # noqa: E402
from detlint.verify.bench import Bench  # noqa: E402
from detlint.verify.job import Answer, Job  # noqa: E402
from detlint.verify.pool import Limits, Pool  # noqa: E402
from detlint.verify.probe import Kind  # noqa: E402
from detlint.verify.probes import NOT_PROBED, PROBES  # noqa: E402
from detlint.verify.probes.sizes import along  # noqa: E402
from detlint.verify.verdicts import Verdict  # noqa: E402
from tests.forks import forks  # noqa: E402
from tests.tools.operations import BEYOND, TABLES, own  # noqa: E402

ROWS = [row for file, table in TABLES for row in own(file, table)]
IDS = {row.id for tables in catalogue.load().tables.values() for rows in tables.values() for row in rows}
COMPILED = ("compile.default", "compile.scatter", "torch.empty.compiled")  # a minute of a C++ compiler


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """What one run of each probe gave, in its first dtype, with the mode off."""
    folder = tmp_path_factory.mktemp("probes")
    subjects = [subject for subject in join.of_rows(PROBES, PROBES) if subject.row not in COMPILED]
    first = {subject.row: subject for subject in reversed(subjects)}
    jobs = [
        Job(row, row, "off", "cpu", subject.dtype, 1, 0, str(folder / str(number)))
        for number, (row, subject) in enumerate(first.items())
    ]
    with forks(pool):
        return {answer.key: answer for answer in Pool(Limits()).answers(jobs)}


@pytest.mark.slow
def test_each_probe_runs_or_says_what_it_lacks(answers: dict[str, Answer]) -> None:
    assert answers.keys() == {row for row in PROBES if row not in COMPILED}
    assert {row: f"{answer.error}: {answer.reason}" for row, answer in answers.items() if not sound(answer)} == {}


def sound(answer: Answer) -> bool:
    """Whether a run gave a result, or says which of the things it lacks that a machine may lack."""
    if answer.error:
        return answer.error == "unavailable" and not answer.digests and any(word in answer.reason for word in LACKS)
    return len(answer.digests) == 1


LACKS = ("package", "CUDA", "not implemented", "kernel", "no attribute", "has no", "compil", "not supported", "backend")


def test_a_row_of_plain_torch_has_a_probe() -> None:
    rows = [row for row in ROWS if row.text("package") in ("", "torch")]
    plain = {"torch", "numpy", "random", "builtins"}
    own = {row.id for row in rows if all(name.split(".")[0] in plain for name in row.list("names"))}
    assert len(own) > 100
    assert own - PROBES.keys() - NOT_PROBED.keys() == set()


def test_a_row_without_a_probe_has_a_reason() -> None:
    assert not PROBES.keys() & NOT_PROBED.keys()
    missing = {row.id for row in ROWS} - PROBES.keys() - NOT_PROBED.keys()
    assert not missing, (
        "rows without a probe: add them to PROBES or, with a reason, to NOT_PROBED of detlint/verify/probes"
    )
    assert all(reason and not reason.endswith(".") for reason in NOT_PROBED.values())


def test_a_probe_hangs_on_one_row() -> None:
    assert PROBES.keys() - IDS == BEYOND.keys()
    assert NOT_PROBED.keys() - IDS == set()


def test_probes_of_controls_repeat_and_are_never_compared_over_processes_alone() -> None:
    for row in ROWS:
        if row.data.get("control") and row.id in PROBES and row.id != "dataloader.distributed":
            assert PROBES[row.id].kind is Kind.REPEATS, row.id


# What the code tells, and what it does not


def job(row: str, tmp_path: Path, called: str, arguments: dict[str, Any], runs: int = 1) -> Job:
    return Job(row, row, "off", "cpu", PROBES[row].dtypes[0], runs, 0, str(tmp_path / row), called, arguments)


@pytest.mark.parametrize(
    ("row", "called", "arguments", "told"),
    [
        ("upsample_bilinear2d.bwd", "interpolate", {"scale_factor": None}, ("size", (128, 128))),
        ("upsample_aa.bwd", "interpolate", {"scale_factor": None}, ("size", (32, 32))),
        ("upsample_linear1d.bwd", "interpolate", {"scale_factor": None, "mode": "linear"}, ("size", (256,))),
        ("upsample_bilinear2d.bwd", "interpolate", {"size": None}, ("scale_factor", 2)),
        ("upsample_bilinear2d.bwd", "interpolate", {"size": [9, 9]}, ("recompute_scale_factor", None)),
    ],
)
def test_a_size_that_the_code_computes_is_assumed(
    tmp_path: Path, row: str, called: str, arguments: dict[str, Any], told: tuple[str, Any]
) -> None:
    answer = worker.run(job(row, tmp_path, f"torch.nn.functional.{called}", arguments))
    assert answer.error == "", answer.reason
    assert answer.assumed[told[0]] == told[1]


@pytest.mark.parametrize("row", ["kthvalue.fwd", "value_selecting.bwd"])
def test_a_dimension_that_is_left_out_is_the_last(tmp_path: Path, row: str) -> None:
    answer = worker.run(job(row, tmp_path, "torch.kthvalue", {"k": 3, "dim": None}))
    assert answer.error == "", answer.reason


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what an allocator hands out again differs")
def test_memory_that_nobody_wrote_differs_within_one_process(tmp_path: Path) -> None:
    jobs = [job(row, tmp_path, "", {}, runs=4) for row in ("torch.empty", "numpy.empty")]
    with forks(pool):
        for answer in Pool(Limits()).answers(jobs):
            assert len(set(answer.digests)) > 1


@pytest.mark.parametrize(
    ("dim", "others", "shape"),
    [
        (0, 1, (9,)),
        (-1, 1, (9,)),
        (2, 1, (1, 1, 9)),
        (0, 4, (9, 4)),
        (-1, 4, (4, 9)),
        (1, 4, (4, 9)),
        (2, 4, (1, 4, 9)),
    ],
)
def test_a_shape_has_the_dimension_that_the_code_names(dim: int, others: int, shape: tuple[int, ...]) -> None:
    assert along(dim, 9, others) == shape


# What benches give


def inputs(dtype: str) -> Iterator[Any]:
    bench = Bench("cpu", dtype, {})
    yield from (bench.addends(999), bench.normal(9), bench.uniform(9), bench.factors(9), bench.integers(4, 9))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_inputs_are_the_same_in_each_process(dtype: str) -> None:
    assert all(map(torch.equal, inputs(dtype), inputs(dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_addends_differ_widely_in_size_and_none_is_infinite(dtype: str) -> None:
    drawn = Bench("cpu", dtype, {}).addends(100_000).float().abs()
    assert drawn.isfinite().all()
    low, high = drawn.quantile(0.05), drawn.quantile(0.95)
    assert high / low > 2**8


def test_gradients_are_those_of_autograd_and_runs_leave_no_trace() -> None:
    bench = Bench("cpu", "float32", {})
    leaf = bench.normal(5)
    run = bench.gradients(lambda x: x * x, leaf, upstream="ones")
    first, second = run(), run()
    assert torch.equal(first[0], 2 * leaf) and torch.equal(second[0], first[0])
    assert leaf.grad is None and not leaf.requires_grad


def test_a_layers_gradients_are_those_of_its_input_and_its_parameters() -> None:
    bench = Bench("cpu", "float32", {})
    layer = bench.module(torch.nn.Linear(3, 2))
    found = bench.layer_gradients(layer, bench.normal(4, 3))()
    assert [tuple(each.shape) for each in found] == [(4, 3), (2, 3), (2,)]


# Evidence that ships


@pytest.mark.parametrize("file", sorted((catalogue.folder() / "evidence").glob("*.json")), ids=lambda file: file.name)
def test_shipped_evidence_is_of_a_whole_session_whose_controls_held(file: Path) -> None:
    held = evidence.read(file)
    assert file.name == evidence.file_name(held.environment)
    assert (held.complaint, held.interrupted) == ("", False)
    outcomes = [outcome for one in held.measurements for outcome in one.outcomes.values()]
    assert {outcome.verdict for outcome in outcomes}.isdisjoint({Verdict.FAILED, Verdict.INCONCLUSIVE})
    assert {one.subject.row for one in held.measurements} <= IDS | BEYOND.keys(), "rows that are gone: sweep again"
    assert len({one.subject.row for one in held.measurements}) > len(PROBES) / 2

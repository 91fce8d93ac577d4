"""What the verifier and the runtime do on a CUDA device: `pytest -m cuda`, or `python -m tests.tools.cuda FOLDER`.

Imports nothing that needs libcst: a machine with a GPU may not have it.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from detlint import runtime  # noqa: E402
from detlint.verify import bits, session  # noqa: E402
from detlint.verify.session import Session, Settings, Subject  # noqa: E402

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

RACING = ("scatter_add.fwd", "index_add.fwd", "scatter_reduce_sum_mean.fwd", "gather.bwd", "index_select.bwd")
REFUSED = ("scatter_reduce_prod.fwd", "put_acc.fwd", "bincount_weights.fwd", "adaptive_avg_pool2d.bwd")
EXACT = ("scatter_reduce_amaxmin.fwd", "scatter_value.fwd", "argmax_ties.fwd", "masked_select.bwd")


@pytest.fixture(scope="module")
def held() -> Session:
    return session.hold([Subject(row) for row in (*RACING, *REFUSED, *EXACT, "torch.empty")], Settings("cuda"))


def verdicts(held: Session, row: str) -> dict[str, str]:
    found = next(one for one in held.measurements if one.subject.row == row)
    return {mode: outcome.verdict.value for mode, outcome in found.outcomes.items() if mode != "orders"}


def test_the_controls_hold(held: Session) -> None:
    assert held.complaint == ""
    assert held.environment["type"] == "cuda"
    assert held.environment["cuda"] == torch.version.cuda


@pytest.mark.parametrize("row", RACING)
def test_what_adds_by_atomics_is_confirmed_and_takes_the_deterministic_path(held: Session, row: str) -> None:
    path = "deterministic-path"
    assert verdicts(held, row) == {"off": "confirmed", "strict": path, "warn": path}


@pytest.mark.parametrize("row", REFUSED)
def test_what_has_no_deterministic_kernel_raises(held: Session, row: str) -> None:
    found = verdicts(held, row)
    assert (found["off"], found["strict"]) == ("confirmed", "raises")


@pytest.mark.parametrize("row", EXACT)
def test_what_is_exact_is_not_observed_to_differ(held: Session, row: str) -> None:
    assert set(verdicts(held, row).values()) == {"not-observed"}


def test_uninitialised_memory_shows_and_is_filled_by_the_mode(held: Session) -> None:
    found = verdicts(held, "torch.empty")
    assert (found["off"], found["strict"]) == ("confirmed", "deterministic-path")


def test_a_probe_that_trips_a_device_assertion_costs_its_row() -> None:
    rows = [Subject("device_assert"), Subject("literals")]
    found = session.hold(rows, Settings("cuda", 1, 2, table="tests.faulty_probes"))
    assert found.measurements[0].outcomes["off"].verdict.value == "failed"
    assert found.measurements[1].outcomes["off"].verdict.value == "not-observed"


def test_a_digest_that_is_taken_on_the_device_tells_what_differs_in_a_bit_or_in_a_place() -> None:
    ours = torch.randn(3, 1000, device="cuda")
    moved, other, truth = ours.clone(), ours.clone(), ours > 0
    moved[0, 1], moved[2, 5] = ours[2, 5], ours[0, 1]
    other.view(torch.int32)[1, 7] ^= 1
    found = [bits.digest(one) for one in (ours, moved, other, ours.view(1000, 3), ours.double(), ours.half(), truth)]
    assert bits.digest(ours.clone()) == found[0]
    assert len(set(found)) == len(found)


def test_the_runtime_seeds_and_restores_the_generators_of_the_device() -> None:
    runtime.seed_everything(3)
    first = torch.rand(4, device="cuda")
    state = runtime.rng_state()
    second = torch.rand(4, device="cuda")
    runtime.set_rng_state(state)
    assert torch.equal(torch.rand(4, device="cuda"), second)
    runtime.seed_everything(3)
    assert torch.equal(torch.rand(4, device="cuda"), first)

"""What may be said after so many runs."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from detlint.verify.job import Answer
from detlint.verify.verdicts import Outcome, Verdict, bound, doubted, judge, with_path, words


def answer(*digests: str, **more: object) -> Answer:
    return Answer("0", digests, **more)  # type: ignore[arg-type]


def test_two_results_confirm_that_runs_differ() -> None:
    found = judge([answer("a", "a", "b", absolute=0.5, ulp=3)])
    assert (found.verdict, found.runs, found.processes, found.distinct) == (Verdict.CONFIRMED, 3, 1, 2)
    assert words(found) == "2 distinct results of 3 runs, up to 0.5 apart (3 ULP)"


def test_processes_that_disagree_confirm_it_though_each_repeats_itself() -> None:
    assert judge([answer("a", "a"), answer("b", "b")]).verdict is Verdict.CONFIRMED


def test_equal_runs_bound_how_often_runs_differ_and_say_no_more() -> None:
    found = judge([answer(*"a" * 10)] * 3)
    assert (found.verdict, found.runs, found.processes) == (Verdict.NOT_OBSERVED, 30, 3)
    assert words(found) == (
        "30 equal runs in 3 processes: if runs were independent, at most 9.8% of them differ (95 %)"
    )
    assert "deterministic" not in words(found)


@pytest.mark.parametrize(
    ("runs", "share"),
    [(0, 1.0), (1, 1.0), (2, 0.95), (10, 0.283), (20, 0.146), (30, 0.098), (100, 0.030), (300, 0.010)],
)
def test_the_bound_is_the_largest_share_that_would_hide_in_one_case_of_twenty(runs: int, share: float) -> None:
    assert bound(runs) == pytest.approx(share, abs=5e-4)
    if runs > 1:
        assert math.isclose((1 - bound(runs)) ** (runs - 1), 0.05)


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ("raises", Verdict.RAISES),
        ("unavailable", Verdict.UNAVAILABLE),
        ("time", Verdict.FAILED),
        ("memory", Verdict.FAILED),
        ("crash", Verdict.FAILED),
        ("failed", Verdict.FAILED),
    ],
)
def test_an_error_is_a_verdict_with_its_reason(error: str, verdict: Verdict) -> None:
    found = judge([answer(error=error, reason="so it is")])
    assert (found.verdict, words(found)) == (verdict, "so it is")


def test_a_difference_counts_even_if_a_later_process_fails() -> None:
    assert judge([answer("a", "b"), answer(error="crash", reason="gone")]).verdict is Verdict.CONFIRMED


def test_equal_runs_before_a_crash_are_no_verdict() -> None:
    assert judge([answer("a", "a"), answer(error="crash", reason="gone")]).verdict is Verdict.FAILED


@pytest.mark.parametrize("digests", [(), ("a",)])
def test_fewer_than_two_runs_say_nothing(digests: tuple[str, ...]) -> None:
    found = judge([answer(*digests)] if digests else [])
    assert found.verdict is Verdict.INCONCLUSIVE
    assert words(found)


def test_the_deterministic_path_is_one_that_repeats_where_the_other_does_not() -> None:
    equal = Outcome(Verdict.NOT_OBSERVED, 30, 3, 1)
    assert with_path(equal, Outcome(Verdict.CONFIRMED)).verdict is Verdict.DETERMINISTIC_PATH
    assert with_path(replace(equal, warned=True), Outcome(Verdict.CONFIRMED)).verdict is Verdict.NOT_OBSERVED
    assert with_path(equal, equal).verdict is Verdict.NOT_OBSERVED
    assert with_path(equal, None).verdict is Verdict.NOT_OBSERVED
    assert with_path(Outcome(Verdict.RAISES), Outcome(Verdict.CONFIRMED)).verdict is Verdict.RAISES


@pytest.mark.parametrize("verdict", Verdict)
def test_a_failed_control_takes_every_claim_away_and_leaves_what_is_none(verdict: Verdict) -> None:
    claims = {Verdict.CONFIRMED, Verdict.NOT_OBSERVED, Verdict.DETERMINISTIC_PATH}
    found = doubted(Outcome(verdict, 30, 3, 2, reason="before"), "a control failed")
    assert found.verdict is (Verdict.INCONCLUSIVE if verdict in claims else verdict)
    assert words(Outcome(Verdict.INCONCLUSIVE, reason="a control failed")) == "a control failed"
    assert found.runs == 30

"""Sessions on the CPU, some of whose kernels truly race: the suite's honest positives."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from detlint.verify import evidence, pool, report, session  # noqa: E402
from detlint.verify.job import Answer, Job  # noqa: E402
from detlint.verify.pool import Limits  # noqa: E402
from detlint.verify.session import Session, Settings, Subject  # noqa: E402
from detlint.verify.verdicts import Verdict  # noqa: E402
from tests.forks import forks  # noqa: E402

pytestmark = pytest.mark.slow

RACING = ("index_put_acc.cpu", "put_acc.cpu", "take.bwd.cpu", "getitem.bwd.cpu", "index_put_noacc.fwd")
REFUSED = ("put_noacc.fwd", "max_unpool.fwd")
PROCESSES = 12  # a busy machine may run the threads of a few processes one after the other; a difference ends the rest
EXACT = ("scatter_reduce_amaxmin.fwd", "argmax_ties.fwd", "masked_select.bwd", "scatter_value.fwd")


@pytest.fixture(scope="module")
def held() -> Session:
    with forks(pool):
        return session.hold([Subject(row) for row in (*RACING, *REFUSED, *EXACT)], Settings("cpu", PROCESSES, 6))


def verdicts(held: Session, row: str) -> dict[str, str]:
    found = next(one for one in held.measurements if one.subject.row == row)
    return {mode: outcome.verdict.value for mode, outcome in found.outcomes.items() if mode != "orders"}


@pytest.mark.parametrize("row", RACING)
def test_what_races_on_the_cpu_is_confirmed_and_takes_the_deterministic_path(held: Session, row: str) -> None:
    assert verdicts(held, row) == {"off": "confirmed", "strict": "deterministic-path"}


@pytest.mark.parametrize("row", REFUSED)
def test_what_the_mode_refuses_raises_and_still_races_with_a_warning(held: Session, row: str) -> None:
    assert verdicts(held, row) == {"off": "confirmed", "strict": "raises", "warn": "confirmed"}
    found = next(one for one in held.measurements if one.subject.row == row)
    assert found.outcomes["warn"].warned
    assert not found.outcomes["off"].warned
    assert "deterministic implementation" in found.outcomes["strict"].reason


@pytest.mark.parametrize("row", EXACT)
def test_what_is_exact_is_not_observed_to_differ(held: Session, row: str) -> None:
    assert set(verdicts(held, row).values()) == {"not-observed"}


def test_the_controls_are_part_of_the_session(held: Session) -> None:
    race, exact = held.controls
    assert race.outcomes["off"].verdict is Verdict.CONFIRMED
    assert race.outcomes["strict"].verdict is Verdict.DETERMINISTIC_PATH
    assert {outcome.verdict for outcome in exact.outcomes.values()} == {Verdict.NOT_OBSERVED}
    assert (held.complaint, held.interrupted) == ("", False)


def test_a_session_comes_back_from_its_file_as_it_was(held: Session, tmp_path: Path) -> None:
    file = tmp_path / evidence.file_name(held.environment)
    assert file.name.startswith("cpu-") and f"torch-{torch.__version__.partition('+')[0]}" in file.name
    file.write_text(evidence.render(held), encoding="utf-8")
    again = evidence.read(file)
    assert (again.measurements, again.controls, again.date) == (held.measurements, held.controls, held.date)
    assert again.environment == held.environment
    assert evidence.read_all([tmp_path]) == [again]
    json.loads(file.read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_table_names_each_row_with_its_verdicts(held: Session) -> None:
    lines = report.table(held.measurements).splitlines()
    assert lines[0].split() == ["row", "dtype", "mode", "off", "mode", "on", "warn", "only", "other", "orders"]
    assert sorted(line.split()[0] for line in lines[1:]) == sorted((*RACING, *REFUSED, *EXACT))
    assert f"{PROCESSES} forked processes x 6 runs" in report.header(held)
    assert any("no proof" in line for line in report.footer(held))


def test_a_session_on_the_cpu_says_that_a_gpu_may_differ(held: Session) -> None:
    warned = [any("on a GPU" in line for line in report.footer(each)) for each in (held, replace(held, environment={}))]
    assert warned == [True, False]


# With the pool replaced: what the session makes of answers that no machine gives on demand


def scripted(monkeypatch: pytest.MonkeyPatch, results: Mapping[tuple[str, str], Sequence[str]]) -> list[Job]:
    """Answers by row and mode, else "same" each run; the control of races differs unless it is named."""
    asked: list[Job] = []

    class Pool:
        environment: Mapping[str, str] = {"device": "a device", "type": "cpu", "torch": "2"}
        cold = ""

        def __init__(self, limits: Limits) -> None:
            pass

        def __enter__(self) -> Pool:
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def end(self) -> None:
            pass

        def answers(self, jobs: Sequence[Job]) -> Iterator[Answer]:
            for job in jobs:
                asked.append(job)
                usual = ("one", "other") if job.row == "control.race" and job.mode == "off" else ("same", "same")
                given = results.get((job.row, job.mode), usual)
                if given == ["interrupt"]:
                    raise KeyboardInterrupt
                yield Answer(job.key, tuple(given))

    monkeypatch.setattr(pool, "Pool", Pool)
    return asked


def hold(*rows: str, processes: int = 3) -> Session:
    return session.hold([Subject(row) for row in rows], Settings("cpu", processes, 2, table="tests.faulty_probes"))


def test_where_no_race_shows_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {("control.race", "off"): ("same", "same"), ("counts", "off"): ("a", "b")})
    held = hold("counts", "raises")
    assert "would not show" in held.complaint
    assert {o.verdict for one in held.measurements for o in one.outcomes.values()} == {Verdict.INCONCLUSIVE}
    assert held.measurements[0].outcomes["off"].distinct == 2
    assert "confirmed or refuted" in report.footer(held)[-1]


def test_where_the_exact_control_differs_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {("control.exact", "off"): ("a", "b"), ("counts", "off"): ("a", "b")})
    assert {o.verdict for o in hold("counts").measurements[0].outcomes.values()} == {Verdict.INCONCLUSIVE}


def test_a_race_under_the_mode_takes_the_claims_of_that_mode_only(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {("control.race", "strict"): ("a", "b"), ("counts", "off"): ("a", "b")})
    found = hold("counts").measurements[0].outcomes
    assert found["off"].verdict is Verdict.CONFIRMED
    assert found["strict"].verdict is Verdict.INCONCLUSIVE


def test_a_difference_ends_the_runs_of_its_row_and_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, {("counts", "off"): ("a", "b")})
    hold("counts")
    runs = [(job.row, job.mode) for job in asked]
    assert runs.count(("counts", "off")) == 1
    assert runs.count(("counts", "strict")) == 3
    assert runs.count(("control.race", "off")) == 1


def test_the_control_that_races_runs_in_each_process_until_it_is_seen_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, {("control.race", "off"): ("same", "same"), ("counts", "off"): ("a", "b")})
    hold("counts")
    off = [(job.row, job.process) for job in asked if job.mode == "off"]
    assert off.count(("counts", 0)) == 1
    assert off[3:] == [(row, process) for process in (1, 2) for row in ("control.race", "control.exact")]


def test_what_does_not_differ_is_run_in_one_process_with_the_mode_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, {})
    hold("counts")
    runs = [job.mode for job in asked if job.row == "counts"]
    assert (runs.count("off"), runs.count("strict"), runs.count("warn")) == (3, 1, 0)


def test_rows_that_ask_the_same_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, {("counts", "off"): ("a", "b")})
    held = hold("counts", "counts")
    assert [job.row for job in asked if job.mode == "off"].count("counts") == 1
    assert [one.outcomes["off"].verdict for one in held.measurements] == [Verdict.CONFIRMED] * 2


def test_processes_that_disagree_are_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, {})
    hold("process")
    assert [job.process for job in asked if (job.row, job.mode) == ("process", "off")] == [0, 1, 2]


def test_one_run_each_is_told_to_be_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(
        monkeypatch, {("control.race", "off"): ("a",), ("control.exact", "off"): ("a",), ("counts", "off"): ("a",)}
    )
    assert "--repeats" in hold("counts", processes=1).complaint


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_session_that_is_told_to_end_keeps_what_was_counted(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    scripted(monkeypatch, {})
    number = getattr(signal, name)
    outer = signal.signal(number, signal.SIG_DFL)  # nohup starts what it runs with SIGHUP ignored
    settings = Settings("cpu", 3, 2, table="tests.faulty_probes")
    try:
        held = session.hold(
            [Subject("counts")],
            settings,
            lambda done, total, doing: signal.raise_signal(number) if doing.startswith("counts, off") else None,
        )
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, outer)
    assert held.interrupted
    assert held.measurements[0].outcomes["off"].runs == 2


def test_what_runs_side_by_side_is_what_runs_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {("counts", "off"): ("a", "b"), ("process", "strict"): ("a", "b")})
    subjects = [Subject(row) for row in ("counts", "process", "raises", "draws")]
    alone, together = (
        session.hold(subjects, Settings("cpu", 3, 2, table="tests.faulty_probes", jobs=jobs)) for jobs in (1, 9)
    )
    assert together.measurements == alone.measurements
    assert together.controls == alone.controls


def test_only_draws_are_run_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = scripted(monkeypatch, {("control.race", "seeded"): ("a", "b")})
    hold("counts", "draws")
    assert {job.row for job in asked if job.mode == "seeded"} == {"control.race", "control.exact", "draws"}


def test_an_interrupted_session_keeps_what_was_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scripted(monkeypatch, {("counts", "off"): ("a", "b"), ("raises", "off"): ["interrupt"]})
    held = hold("counts", "raises")
    assert held.interrupted
    assert held.measurements[0].outcomes["off"].verdict is Verdict.CONFIRMED
    assert held.measurements[1].outcomes["off"].verdict is Verdict.INCONCLUSIVE
    (tmp_path / "evidence.json").write_text(evidence.render(held))
    assert evidence.read(tmp_path / "evidence.json").interrupted


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not evidence"),
        ("[]", "is not evidence"),
        ("{}", "is not evidence"),
        ('{"version": 2}', "gather it again"),
        ('{"version": 1, "environment": 3}', "is not evidence"),
    ],
)
def test_a_file_that_is_no_evidence_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "evidence.json"
    file.write_text(text)
    with pytest.raises(evidence.EvidenceError, match=told) as raised:
        evidence.read(file)
    assert "\n" not in str(raised.value)


def edited(held: Session, **changes: object) -> str:
    """The text of a session, its first outcome changed so."""
    document = json.loads(evidence.render(held))
    document["measurements"][0]["outcomes"]["off"].update(changes)
    return json.dumps(document)


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": "many"},
        {"runs": -1},
        {"runs": True},
        {"distinct": 1.5},
        {"ulp": "3"},
        {"absolute": "far"},
        {"absolute": [1]},
        {"absolute": float("nan")},
        {"verdict": "deterministic"},
        {"verdict": ["confirmed"]},
    ],
)
def test_numbers_and_verdicts_in_evidence_are_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, object]
) -> None:
    scripted(monkeypatch, {})
    (tmp_path / "evidence.json").write_text(edited(hold("counts"), **changes))
    with pytest.raises(evidence.EvidenceError, match="is not evidence"):
        evidence.read(tmp_path / "evidence.json")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version": 1, "date": 1e999}', '{"version": 1, "environment": {}}'])
def test_a_file_that_is_deep_infinite_or_from_nowhere_is_no_evidence(tmp_path: Path, text: str) -> None:
    (tmp_path / "evidence.json").write_text(text)
    with pytest.raises(evidence.EvidenceError, match="is not evidence"):
        evidence.read(tmp_path / "evidence.json")


def test_evidence_does_not_drive_the_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scripted(monkeypatch, {})
    (tmp_path / "evidence.json").write_text(edited(hold("counts"), verdict="failed", reason="\x1b[2J\nall is well"))
    reason = evidence.read(tmp_path / "evidence.json").measurements[0].outcomes["off"].reason
    assert reason == "\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}all is well"

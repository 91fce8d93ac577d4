"""Two records laid side by side: where they part, and what the causes make of it. All from records made by hand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from detlint.bisect.comparing import align, causes, history, outcome
from detlint.bisect.comparing.align import Comparison, Divergence
from detlint.bisect.comparing.case import Case, Cause
from detlint.bisect.locating import explain
from detlint.bisect.locating.explain import Trial
from detlint.bisect.records import Draw, End, Event, Flag, Input, Line, Meta, Op, Record, Value

MODEL, DATA, LOOP, TOP = (Line("train.py", number) for number in (10, 20, 30, 1))


def op(name: str, line: Line = LOOP, inputs: Sequence[Input] = (), made: str = "e", state: str = "", **more: str) -> Op:
    draw = Draw.TAGGED | Draw.SEEN if state else Draw.NO
    return Op(0, f"aten.{name}.default", (line,), inputs=tuple(inputs), outputs=(made,), draw=draw, state=state, **more)


def event(kind: str, what: str, line: Line, *digests: str, **data: Value) -> Event:
    return Event(0, kind, what, (line,), digests, data)


def numbered(records: Sequence[Record]) -> list[Record]:
    return [replace(record, number=number) for number, record in enumerate([*records, End(0)])]


def compared(a: Sequence[Record], b: Sequence[Record], name: str = "main") -> Comparison:
    return align.align(name, numbered(a), numbered(b))


def parted(a: Sequence[Record], b: Sequence[Record]) -> Divergence:
    found = compared(a, b).divergence
    assert found is not None
    return found


def cause(
    a: Sequence[Record],
    b: Sequence[Record],
    hashes: tuple[str, str] = ("h", "h"),
    threads: tuple[str, str] = ("2", "2"),
) -> Cause:
    comparison = compared(a, b)
    divergence = comparison.divergence
    assert divergence is not None
    sides = []
    for records, record, numbers in zip((a, b), (divergence.a, divergence.b), causes.wanted(divergence), strict=True):
        sides.append(history.gather(numbered(records), record.number if record else 1 << 60, numbers))
    metas = [Meta(start={"hash": one}) for one in hashes]
    environment = (("threads", *threads),) if threads[0] != threads[1] else ()
    return causes.decide(Case(comparison, sides[0], sides[1], (metas[0], metas[1]), environment=environment))


# Sides


def test_equal_records_have_no_divergence() -> None:
    records = [op("ones", TOP), op("mul"), op("sum")]
    assert compared(records, records).divergence is None
    assert compared(records, records).equal == 3


def test_an_operation_more_is_named_as_such() -> None:
    before, more, after = op("ones", TOP), op("mul", DATA), op("sum")
    found = parted([before, more, after], [before, after])
    assert [one.name for one in found.only_a if isinstance(one, Op)] == ["aten.mul.default"]
    assert not found.only_b
    assert found.meet
    assert found.equal == 1


def test_an_operation_less_is_named_as_such() -> None:
    before, more, after = op("ones", TOP), op("mul", DATA), op("sum")
    found = parted([before, after], [before, more, after])
    assert [one.name for one in found.only_b if isinstance(one, Op)] == ["aten.mul.default"]
    assert not found.only_a
    assert found.line == DATA


def test_one_run_that_goes_on_is_an_insertion_at_the_end() -> None:
    found = parted([op("ones"), op("sum")], [op("ones")])
    assert len(found.only_a) == 1
    assert isinstance(found.b, End)
    assert not found.meet


def test_an_event_in_one_run_is_evidence_and_no_divergence() -> None:
    found = compared([event("draw", "python", TOP, "x"), op("ones")], [op("ones")])
    assert found.divergence is None
    assert [one.event.kind for one in found.evidence] == ["draw"]


def test_producers_are_those_of_the_same_record_where_one_run_has_an_event_more() -> None:
    a = [op("ones"), op("neg", inputs=[Input("e", 0)])]
    b: list[Record] = [event("draw", "python", TOP, "x"), op("ones"), op("neg", inputs=[Input("d", 1)])]
    found = parted(a, b)
    assert found.producers == (1,)
    assert found.differs == ("input 0",)


def test_garbage_that_changes_nothing_is_no_divergence() -> None:
    def read(digest: str) -> Op:
        return op("copy", inputs=[Input(digest, 0, Flag.UNINITIALISED, 0)])

    assert compared([op("empty", TOP), read("a")], [op("empty", TOP), read("b")]).divergence is None


@pytest.mark.parametrize("reason", ["bound", "signal"])
def test_what_a_run_that_was_ended_does_not_have_is_no_divergence(reason: str) -> None:
    whole = numbered([op("ones"), op("sum")])
    assert align.align("main", whole, [whole[0], End(1, reason)]).divergence is None
    assert align.align("main", [whole[0]], whole).divergence is None


def test_many_events_in_one_run_alone_are_passed_over_in_linear_time() -> None:
    draw = event("draw", "python", TOP, "x")
    plain: list[Record] = [op(f"op{number % 7}") for number in range(2000)]
    drawn = [one for each in plain for one in (draw, each)]
    begun = time.process_time()
    found = compared(drawn, plain)
    assert (found.divergence, found.equal) == (None, len(plain))
    assert time.process_time() - begun < 2


def test_a_long_insertion_is_found_within_its_bound() -> None:
    many: list[Record] = [op(f"op{number}") for number in range(align._LONGEST // 2)]
    rest = [op("sum"), op("neg")]
    found = parted([*many, *rest], rest)
    assert found.meet
    assert len(found.only_a) == align._SHOWN


def test_what_was_repaired_does_not_count() -> None:
    a, b = ([op("mul", scalars=value, made=value), op("sum", DATA, made=value)] for value in ("1", "2"))
    found = align.align("main", numbered(a), numbered(b), repaired=frozenset({"aten.mul.default@train.py:30"}))
    assert found.divergence is not None
    assert found.divergence.line == DATA


# Causes


def test_a_generator_in_another_state_is_a_random_stream_never_seeded() -> None:
    found = cause([op("uniform_", MODEL, made="1", state="a")], [op("uniform_", MODEL, made="2", state="b")])
    assert (found.kind, found.line, found.codes[0]) == ("random-stream", MODEL, "DET101")
    assert "never seeded" in found.title


def test_a_seed_and_the_last_draw_on_which_both_agree_are_named() -> None:
    seed = event("seed", "torch", TOP, "s", function="torch.manual_seed", value="0")
    first = op("uniform_", MODEL, state="s")
    found = cause([seed, first, op("rand", state="a", made="1")], [seed, first, op("rand", state="b", made="2")])
    assert found.kind == "random-stream"
    assert any("last seeded at train.py:1" in one for one in found.evidence)
    assert any("both runs agree: train.py:10" in one for one in found.evidence)


def test_a_stream_not_restored_after_a_checkpoint_is_told_as_such() -> None:
    resumed = event("resume", "torch.load", DATA, path="last.pt")
    restored = event("restore", "SGD", MODEL)
    before = [resumed, restored]
    found = cause([*before, op("dropout", state="a", made="1")], [*before, op("dropout", state="b", made="2")])
    assert found.codes[0] == "DET701"
    assert any("last.pt" in one for one in found.evidence)


def test_data_that_torch_loads_are_not_taken_for_a_checkpoint() -> None:
    loaded = event("resume", "torch.load", DATA, path="data.pt")
    found = cause([loaded, op("uniform_", state="a", made="1")], [loaded, op("uniform_", state="b", made="2")])
    assert found.codes[0] == "DET101"
    assert found.title == "torch's generator was never seeded"


def test_a_seed_with_another_value_is_named_before_the_draws() -> None:
    seeds = [event("seed", "torch", TOP, value, function="torch.manual_seed", value=value) for value in ("1", "2")]
    found = cause([seeds[0], op("rand", state="1", made="1")], [seeds[1], op("rand", state="2", made="2")])
    assert (found.kind, found.line) == ("seed-value", TOP)
    assert "with 1 in A and 2 in B" in found.evidence[0]


@pytest.mark.parametrize(("generator", "code"), [("numpy", "DET102"), ("python", "DET103")])
def test_data_from_a_generator_outside_torch_names_its_first_draw(generator: str, code: str) -> None:
    def side(value: str) -> list[Record]:
        draws = [event("draw", generator, line, value, function="random", count=1) for line in (MODEL, DATA)]
        return [*draws, op("lift_fresh", inputs=[Input(value, -1, Flag.HOST)], made=value)]

    found = cause(side("1"), side("2"))
    assert (found.kind, found.line, found.codes[0]) == ("random-stream", MODEL, code)


def test_a_seed_that_comes_after_a_draw_is_not_told_as_the_one_before_it() -> None:
    def side(value: str) -> list[Record]:
        draw = event("draw", "numpy", DATA, value, function="random", count=1)
        seed = event("seed", "numpy", MODEL, "s", function="numpy.random.seed", value="0")
        return [draw, seed, op("lift_fresh", inputs=[Input(value, -1, Flag.HOST)], made=value)]

    found = cause(side("1"), side("2"))
    assert (found.title, found.line) == ("numpy's global generator was never seeded", DATA)


def test_a_private_generator_without_a_seed_is_named_where_it_is_made() -> None:
    def side(value: str) -> list[Record]:
        made = event("generator", "numpy.random.default_rng", MODEL, value, seeded=False)
        return [made, op("lift_fresh", inputs=[Input(value, -1, Flag.HOST)], made=value)]

    found = cause(side("1"), side("2"))
    assert (found.kind, found.line) == ("private-generator", MODEL)


def test_the_same_files_in_another_order_are_told_from_other_files() -> None:
    def side(order: str, names: str) -> list[Record]:
        listed = event("listing", "os.listdir", DATA, order, names, path="data", count=3)
        return [listed, op("lift_fresh", inputs=[Input(order, -1, Flag.HOST)], made=order)]

    assert cause(side("1", "n"), side("2", "n")).kind == "file-order"
    assert cause(side("1", "n"), side("2", "m")).kind == "files"


def test_a_folder_listed_in_the_order_of_another_listing_is_not_the_cause_itself() -> None:
    def side(order: str, first: str) -> list[Record]:
        outer = event("listing", "os.listdir", DATA, order, "n", path="data", count=2)
        inner = event("listing", "os.listdir", MODEL, first, first, path=f"data/{first}", count=8)
        return [outer, inner, op("lift_fresh", inputs=[Input(order, -1, Flag.HOST)], made=order)]

    found = cause(side("1", "cat"), side("2", "dog"))
    assert (found.kind, found.line) == ("file-order", DATA)


def test_a_checkpoint_loaded_in_one_run_alone_is_what_another_run_left() -> None:
    resumed = event("resume", "torch.load", DATA, path="last.pt")
    found = cause([op("ones"), op("mul", made="1")], [resumed, op("ones"), op("mul", scalars="2", made="2")])
    assert (found.kind, found.line) == ("leftover", DATA)


def test_a_batch_of_workers_whose_seeds_are_equal_is_their_own_doing() -> None:
    def side(value: str) -> list[Record]:
        begun = event("iterator", "_Iter", DATA, loader=0, workers=2, base_seed="7", state="s")
        return [begun, event("batch", "_Iter", DATA, value, loader=0, index=0, workers=2)]

    found = cause(side("1"), side("2"))
    assert (found.kind, found.line) == ("worker-data", DATA)


def test_a_batch_of_workers_seeded_from_another_state_is_a_random_stream() -> None:
    def side(value: str) -> list[Record]:
        begun = event("iterator", "_Iter", DATA, loader=0, workers=2, base_seed=value, state=value)
        return [begun, event("batch", "_Iter", DATA, value, loader=0, index=0, workers=2)]

    assert (cause(side("1"), side("2")).kind, cause(side("1"), side("2")).line) == ("random-stream", DATA)


def test_another_tensor_in_each_run_is_an_order() -> None:
    two = [op("ones", TOP, made="1"), op("zeros", TOP, made="0")]
    a = [*two, op("mul", inputs=[Input("1", 0)], made="x")]
    b = [*two, op("mul", inputs=[Input("0", 1)], made="y")]
    found = cause(a, b, hashes=("1", "2"))
    assert (found.kind, found.line, found.codes[0]) == ("order", LOOP, "DET601")
    assert any("PYTHONHASHSEED" in one for one in found.evidence)


def test_memory_read_before_it_was_written_is_named_where_it_was_allocated() -> None:
    def side(value: str) -> list[Record]:
        read = op("sum", inputs=[Input(value, 0, Flag.UNINITIALISED, 0)], made=value)
        return [op("empty", MODEL, made=""), read]

    found = cause(side("1"), side("2"))
    assert (found.kind, found.line, found.related) == ("uninitialised", MODEL, LOOP)


def test_memory_that_changed_without_an_operation_is_a_hidden_write() -> None:
    def side(value: str) -> list[Record]:
        return [op("ones", TOP, made="1"), op("sum", inputs=[Input(value, 0)], made=value)]

    assert cause(side("1"), side("2")).kind == "hidden-write"


def test_another_result_for_equal_inputs_is_the_kernel() -> None:
    def side(value: str) -> list[Record]:
        return [op("index_put_", inputs=[Input("i")], made=value, phase="backward", node="IndexBackward0")]

    found = cause(side("1"), side("2"))
    assert (found.kind, found.codes[0]) == ("kernel", "DET302")
    assert found.operation is not None
    assert found.operation.node == "IndexBackward0"


def test_another_result_in_another_environment_is_the_environments() -> None:
    found = cause([op("sum", made="1")], [op("sum", made="2")], threads=("4", "1"))
    assert found.kind == "environment"
    assert "threads was 4 in A and 1 in B" in found.evidence[-1]


def test_another_number_without_any_draw_comes_from_outside() -> None:
    found = cause([op("mul", scalars="1.5", made="1")], [op("mul", scalars="1.7", made="2")])
    assert found.kind == "host-value"
    assert "1.5 in A and 1.7 in B" in found.evidence[0]


def test_other_operations_are_control_flow_and_tell_the_last_number_taken_out() -> None:
    item = op("_local_scalar_dense", DATA, made="=1")
    found = cause([item, op("mul"), op("sum")], [item, op("sum")])
    assert found.kind == "control-flow"
    assert any("in A alone: `aten.mul` at train.py:30" in one for one in found.evidence)
    assert any("train.py:20" in one for one in found.evidence)


def test_a_collective_that_gives_another_result_blames_the_other_ranks_and_they_come_first() -> None:
    def summed(made: str) -> Op:
        return replace(op("x", LOOP, [Input("x", -1)], made), name="c10d.allreduce_.default")

    waiting = cause([summed("y")], [summed("z")])
    assert (waiting.kind, waiting.line) == ("collective", LOOP)
    drawn = cause([op("rand", DATA, state="s")], [op("rand", DATA, state="t")])
    nothing = history.gather([], 0, set())
    found = [
        outcome.Found(Comparison(name, 0), one, nothing, nothing) for name, one in (("r0", waiting), ("r1", drawn))
    ]
    assert [one.stream for one in outcome._ranked(found)] == ["r1", "r0"]


def test_a_kernel_that_agrees_on_equal_memory_reads_what_was_never_written() -> None:
    found = cause([op("lstsq", made="1")], [op("lstsq", made="2")])
    shown = explain.refined(found, (Trial("memory", "fresh memory filled with the same byte", gone=True),))
    assert "never written" in shown.title
    assert any(one.startswith("shown: ") for one in shown.evidence)


def test_shuffled_data_that_differ_under_equal_seeds_are_told_from_the_stream() -> None:
    seed = event("seed", "python", TOP, "s", function="random.seed", value="0")

    def side(value: str) -> list[Record]:
        shuffled = event("draw", "python", MODEL, value, function="shuffle", count=1)
        return [seed, shuffled, op("lift_fresh", inputs=[Input(value, -1, Flag.HOST)], made=value)]

    found = cause(side("1"), side("2"))
    assert (found.kind, found.line, found.codes[0]) == ("host-value", MODEL, "DET601")


def test_compiled_code_is_told_by_what_it_was_given() -> None:
    runs = [[event("compiled", "f", LOOP, "in", value)] for value in ("1", "2")]
    assert cause(runs[0], runs[1]).kind == "compiled"


def test_a_run_that_fails_where_the_other_goes_on_is_a_crash() -> None:
    a: list[Record] = [op("ones"), op("sum"), End(2)]
    b: list[Record] = [op("ones"), End(1, "exception", 1, "IndexError: out of range")]
    comparison = align.align("main", a, b)
    side = history.gather(a, 1)
    assert causes.decide(Case(comparison, side, side, (Meta(), Meta()))).kind == "crash"


def test_runs_that_end_in_different_ways_are_a_crash() -> None:
    a: list[Record] = [op("ones"), End(1)]
    b: list[Record] = [op("ones"), End(1, "exception", 1, "RuntimeError: no")]
    comparison = align.align("main", a, b)
    assert comparison.divergence is not None
    side = history.gather(a, 1)
    found = causes.decide(Case(comparison, side, side, (Meta(), Meta())))
    assert found.kind == "crash"
    assert "RuntimeError: no" in found.evidence[1]


def test_of_many_seeds_the_last_is_the_one_that_counts() -> None:
    side = history.gather(numbered([event("seed", "torch", LOOP, str(number)) for number in range(300)]), 1 << 60)
    last = side.seeded("torch", 1 << 60)
    assert last is not None and last.number == side.seeds[-1].number and len(side.seeds) == 200
    assert last.number == max(each.number for each in side.seeds)

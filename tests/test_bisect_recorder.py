"""What the recorder says of operations: what was given, made, drawn and unwritten, and by which line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from detlint.bisect.options import Options  # noqa: E402
from detlint.bisect.records import Draw, End, Event, Flag, Op  # noqa: E402
from tests.bisecting import named, recorded, records  # noqa: E402


def line() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


class Lines:
    """Lines of code by name."""

    forward = 0
    backward = 0
    own = 0


def test_a_result_is_known_by_what_made_it_and_content_by_its_digest(tmp_path: Path) -> None:
    def work() -> None:
        a, b = torch.ones(3), torch.ones(3)
        torch.add(a, b)
        torch.add(b, a)

    ops = recorded(tmp_path, work)
    first, second = (op for op in ops if op.name == "aten.add.Tensor")
    assert [one.producer for one in first.inputs] == [0, 1]
    assert [one.producer for one in second.inputs] == [1, 0]
    assert first.inputs[0].digest == first.inputs[1].digest == second.inputs[0].digest
    assert first.outputs == second.outputs != ("",)
    assert first.signature == "float32[3] float32[3] -> float32[3]"


def test_what_comes_from_the_host_is_marked(tmp_path: Path) -> None:
    outside = torch.ones(3)
    op = recorded(tmp_path, lambda: outside + 1)[-1]
    assert op.inputs[0].flags == Flag.HOST
    assert op.inputs[0].producer == -1


def test_other_layouts_and_arguments_are_told_apart_where_contents_are_not(tmp_path: Path) -> None:
    def work() -> None:
        a = torch.zeros(2, 2)
        a.t() + 1
        torch.add(a, 1, alpha=2)
        a[1]

    plain = [op for op in recorded(tmp_path, work) if op.name != "aten.zeros.default"]
    assert [(op.name, op.signature, op.scalars) for op in plain] == [
        ("aten.t.default", "float32[2,2] -> float32[2,2|1,2]", ""),
        ("aten.add.Tensor", "float32[2,2|1,2] -> float32[2,2|1,2]", "1"),
        ("aten.add.Tensor", "float32[2,2] -> float32[2,2]", "1 alpha=2"),
        ("aten.select.int", "float32[2,2] -> float32[2]", "0 1"),
    ]


def test_views_are_not_read_and_not_digested(tmp_path: Path) -> None:
    op = recorded(tmp_path, lambda: torch.zeros(4).view(2, 2))[-1]
    assert op.inputs[0].flags == Flag.VIEWED
    assert op.inputs[0].digest == ""
    assert op.outputs == ("",)


def test_a_backward_operation_has_the_line_of_its_forward_one(tmp_path: Path) -> None:
    def work() -> None:
        x = torch.ones(3, requires_grad=True)
        Lines.forward = line() + 1
        y = x.sin().cos()
        Lines.backward = line() + 1
        y.sum().backward()

    ops = [op for op in recorded(tmp_path, work) if op.phase == "backward"]
    placed = {op.node: op.line.line for op in ops if op.line is not None}
    assert placed["SinBackward0"] == Lines.forward
    assert placed["CosBackward0"] in (Lines.forward, Lines.forward + 1)
    assert placed["SumBackward0"] == Lines.backward
    assert all(op.line is not None and op.line.path == "tests/test_bisect_recorder.py" for op in ops)


def test_a_backward_operation_of_the_users_own_has_its_own_line(tmp_path: Path) -> None:
    class Triple(torch.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            Lines.own = line() + 1
            return grad * 3

    ops = recorded(tmp_path, lambda: Triple.apply(torch.ones(2, requires_grad=True)).sum().backward())
    op = next(op for op in ops if op.node == "TripleBackward" and op.name == "aten.mul.Tensor")
    assert op.line is not None
    assert (op.line.line, op.line.function.rpartition(".")[2]) == (Lines.own, "backward")


@pytest.mark.slow
def test_recomputed_operations_have_their_own_lines_too(tmp_path: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    def inner(x: Any) -> Any:
        Lines.own = line() + 1
        return (x * 2).sin()

    def work() -> None:
        x = torch.ones(3, requires_grad=True)
        checkpoint(inner, x, use_reentrant=False).sum().backward()

    again = [op for op in recorded(tmp_path, work) if op.name == "aten.mul.Tensor" and op.scalars == "2"]
    assert [op.phase for op in again] == ["forward", "backward", "backward"]
    assert [op.line.line for op in again if op.line] == [Lines.own] * 3


def test_callers_are_told_innermost_first(tmp_path: Path) -> None:
    def inner() -> Any:
        return torch.ones(1)

    def outer() -> Any:
        return inner()

    stack = recorded(tmp_path, outer)[0].stack
    assert [one.function.rpartition(".")[2] for one in stack[:2]] == ["inner", "outer"]
    assert len(stack) <= 8


def test_what_is_installed_into_a_folder_of_its_own_is_no_code_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    (packages / "other-1.0.dist-info").mkdir(parents=True)
    code = "import torch\n\n\ndef double(x):\n    return torch.mul(x, 2)\n"
    for folder, name in ((packages, "detlint_installed"), (tmp_path, "detlint_beside")):
        (folder / f"{name}.py").write_text(code)
        monkeypatch.syspath_prepend(str(folder))
    for name, expected in (("detlint_installed", Path(__file__).name), ("detlint_beside", "detlint_beside.py")):
        double = importlib.import_module(name).double

        def work(double: Any = double) -> None:
            double(torch.ones(2))

        op = named(recorded(tmp_path / f"trace_{name}", work), "aten.mul.Tensor")
        assert Path(op.stack[0].path).name == expected


def test_code_that_a_library_writes_to_the_temporary_folder_is_no_code_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "generated_x7f.py"
    path.write_text("import torch\n\n\ndef double(x):\n    return torch.mul(x, 2)\n")
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def work() -> None:
        module.double(torch.ones(2))

    assert Path(named(recorded(tmp_path, work), "aten.mul.Tensor").stack[0].path).name == Path(__file__).name


def test_a_draw_has_the_state_that_it_began_with(tmp_path: Path) -> None:
    def work() -> None:
        torch.manual_seed(0)
        torch.rand(2)
        torch.ones(2)
        torch.rand(2)
        torch.manual_seed(0)
        torch.rand(2)

    ops = recorded(tmp_path, work)
    draws = [op for op in ops if op.name == "aten.rand.default"]
    assert [op.draw for op in draws] == [Draw.TAGGED | Draw.SEEN] * 3
    assert draws[0].state == draws[2].state != draws[1].state
    assert draws[0].outputs == draws[2].outputs
    assert named(ops, "aten.ones.default").state == ""


def test_a_generator_that_is_given_is_an_input(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(5)

    def draw() -> None:
        torch.rand(2, generator=generator)

    def twice() -> None:
        for _ in range(2):
            draw()

    def work() -> None:
        for _ in range(2):
            twice()
            generator.manual_seed(6)

    first, second, *_ = recorded(tmp_path, work)
    assert first.inputs[0].flags == second.inputs[0].flags == Flag.GENERATOR
    assert first.inputs[0].digest != second.inputs[0].digest
    assert first.state == ""
    events = [one for one in records(tmp_path) if isinstance(one, Event)]
    assert [(one.kind, one.what, one.data) for one in events] == [
        ("generator", "torch.Generator", {"seeded": True, "value": seed}) for seed in "56"
    ]


def test_memory_that_nobody_wrote_is_marked_until_it_is_written(tmp_path: Path) -> None:
    def work() -> None:
        a = torch.empty(4)
        a + 1
        a[:2] = 1
        a + 2
        a[2:] = 1
        a + 3
        b = torch.empty(4)
        b.fill_(1)
        b + 4
        c = torch.empty(4)
        torch.add(b, b, out=c)
        c + 5

    ops = recorded(tmp_path, work)
    reads = {op.scalars: op.inputs[0] for op in ops if op.name == "aten.add.Tensor"}
    assert [bool(reads[n].flags & Flag.UNINITIALISED) for n in "12345"] == [True, True, False, False, False]
    assert reads["1"].allocation == reads["2"].allocation == 0
    assert named(ops, "aten.empty.memory_format").outputs == ("",)


def test_what_is_partly_written_in_place_has_no_digest_of_its_own(tmp_path: Path) -> None:
    def work() -> None:
        a = torch.empty(4)
        a.index_put_((torch.tensor([0, 1]),), torch.ones(2))

    op = recorded(tmp_path, work)[-1]
    assert op.name == "aten.index_put_.default"
    assert op.outputs == ("",)
    assert op.inputs[0].flags == Flag.MUTATED | Flag.UNINITIALISED


def test_the_workspace_of_a_recurrent_layer_is_known_to_be_partly_unwritten(tmp_path: Path) -> None:
    layer = torch.nn.LSTM(16, 16)

    def work() -> None:
        layer(torch.ones(10, 4, 16))[0].sum().backward()

    ops = {op.name.split(".")[1]: op for op in recorded(tmp_path, work)}
    if "mkldnn_rnn_layer" not in ops:
        pytest.skip("this build of torch has another kernel for recurrent layers")
    forward, backward = ops["mkldnn_rnn_layer"], ops["mkldnn_rnn_layer_backward"]
    assert [bool(one) for one in forward.outputs] == [True, True, True, False]
    marked = [one for one in backward.inputs if one.flags & Flag.UNINITIALISED]
    assert [(one.allocation, one.digest) for one in marked] == [(forward.number, "")]


def test_memory_that_is_resized_is_not_taken_for_fresh(tmp_path: Path) -> None:
    kept: list[float] = []

    def work() -> None:
        a = torch.ones(4)
        a.resize_(2)
        kept.extend((a + 1).tolist())

    op = named(recorded(tmp_path, work, Options(poison=0x55)), "aten.add.Tensor")
    assert kept == [2.0, 2.0]
    assert op.inputs[0].flags == Flag.NONE


def test_messages_between_ranks_are_not_waited_for_and_collectives_are() -> None:
    if not torch.distributed.is_available():
        pytest.skip("this build of torch has no torch.distributed")
    from detlint.bisect.recorded.operations import read

    known = {
        name: read(getattr(torch.ops.c10d, name).default) for name in ("send", "recv_", "allgather_", "allreduce_")
    }
    assert [(one.collective, one.sending) for one in known.values()] == [(False, True)] * 2 + [(True, False)] * 2
    assert [known[name].flags.get(0, 0) for name in known] == [0, Flag.WRITE_ONLY, Flag.WRITE_ONLY, Flag.MUTATED]


def test_poison_fills_what_nobody_wrote(tmp_path: Path) -> None:
    def work() -> None:
        torch.empty(4) + 1

    first = recorded(tmp_path / "a", work, Options(poison=0x55))[-1]
    second = recorded(tmp_path / "b", work, Options(poison=0xAA))[-1]
    again = recorded(tmp_path / "c", work, Options(poison=0x55))[-1]
    assert first.outputs == again.outputs != second.outputs


def test_what_is_overwritten_is_not_read(tmp_path: Path) -> None:
    def work() -> None:
        a = torch.zeros(3)
        a.copy_(torch.ones(3))
        a.add_(1)
        a.normal_()

    flags = {op.name: op.inputs[0].flags for op in recorded(tmp_path, work) if op.inputs}
    assert flags == {
        "aten.copy_.default": Flag.WRITE_ONLY,
        "aten.add_.Tensor": Flag.MUTATED,
        "aten.normal_.default": Flag.WRITE_ONLY,
    }


def test_a_write_behind_torch_shows_in_the_next_read(tmp_path: Path) -> None:
    array = pytest.importorskip("numpy").zeros(3)
    tensor = torch.from_numpy(array)

    def work() -> None:
        tensor.mul_(1)
        array[0] = 5
        tensor + 1

    first, second = recorded(tmp_path, work)
    assert first.outputs[0] != second.inputs[0].digest
    assert second.inputs[0].producer == first.number


def test_a_number_that_leaves_torch_is_told(tmp_path: Path) -> None:
    op = recorded(tmp_path, lambda: torch.ones(2).sum().item())[-1]
    assert op.name == "aten._local_scalar_dense.default"
    assert op.outputs == ("=2.0",)


def test_long_lists_of_tensors_are_folded_with_their_order(tmp_path: Path) -> None:
    a, b = torch.zeros(1), torch.ones(1)

    def work() -> None:
        x, y = a * 1, b * 1
        torch.cat([x, y] * 5)
        torch.cat([y, x] * 5)
        torch.cat([x, y])

    *_, first, second, short = recorded(tmp_path, work)
    assert first.inputs[0].flags == Flag.LIST
    assert first.inputs[0].digest != second.inputs[0].digest
    assert first.inputs[0].fold != second.inputs[0].fold
    assert [one.producer for one in short.inputs] == [0, 1]


def test_optimizers_that_work_on_lists_tell_what_they_wrote(tmp_path: Path) -> None:
    def work() -> None:
        values = [torch.ones(2), torch.ones(3)]
        torch._foreach_add_(values, 1)

    op = recorded(tmp_path, work)[-1]
    assert op.name == "aten._foreach_add_.Scalar"
    assert len(op.outputs) == 2
    assert all(op.outputs)


def test_an_operation_that_raises_is_recorded_and_raises(tmp_path: Path) -> None:
    def work() -> None:
        with pytest.raises(RuntimeError):
            torch.ones(2).view(3)
        torch.ones(1)

    ops = recorded(tmp_path, work)
    assert [op.outputs for op in ops if op.name == "aten.view.default"] == [("!RuntimeError",)]
    assert ops[-1].name == "aten.ones.default"


def test_what_cannot_be_recorded_is_told_and_does_not_stop_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(tensor: Any) -> str:
        raise ValueError("no digest")

    monkeypatch.setattr("detlint.bisect.recorded.digests.of_tensor", fail)
    results: list[Any] = []
    recorded(tmp_path, lambda: results.append(torch.ones(2) + 1))
    assert results[0].tolist() == [2.0, 2.0]
    end = records(tmp_path)[-1]
    assert isinstance(end, End)
    assert "aten.ones.default: ValueError" in end.unseen


def test_a_stream_ends_at_its_bound_and_the_program_goes_on(tmp_path: Path) -> None:
    done: list[float] = []

    def work() -> None:
        for _ in range(10):
            torch.ones(1)
        done.append(torch.ones(1).item())

    ops = recorded(tmp_path, work, Options(max_ops=4))
    assert (len(ops), done) == (4, [1.0])
    end = records(tmp_path)[-1]
    assert isinstance(end, End)
    assert end.reason == "bound"


@pytest.mark.slow
def test_all_kinds_of_tensors_pass_unharmed(tmp_path: Path) -> None:
    def work() -> None:
        torch.eye(3).to_sparse() @ torch.ones(3, 3)
        torch.fft.fft(torch.ones(8)).conj() * 1
        with torch.inference_mode():
            torch.ones(3) * 2
        torch.func.vmap(lambda x: x * 2)(torch.ones(3, 2))
        torch.ones(3, device="meta") * 2
        torch.ones(4).to(torch.float8_e4m3fn)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.ones(4, 4) @ torch.ones(4, 4)
        torch.unbind(torch.ones(2, 2))
        torch.randperm(5)
        torch.ones(3).tolist()

    assert len(recorded(tmp_path, work)) > 20
    end = records(tmp_path)[-1]
    assert isinstance(end, End)
    assert end.unseen == ()


def test_values_that_one_run_keeps_repair_another(tmp_path: Path) -> None:
    def work() -> Any:
        return torch.rand(3) * 2

    def kept(folder: str, options: Options) -> list[Op]:
        return recorded(tmp_path / folder, work, options)

    values = str(tmp_path / "values")
    first = kept("a", Options(keep=(f"aten.rand.default@tests/test_bisect_recorder.py:{line() - 6}",), keep_in=values))
    second = kept("b", Options())
    third = kept("c", Options(repair=values))
    assert [path.name for path in Path(values).iterdir()] == ["main-0.pt"]
    assert first[0].outputs != second[0].outputs
    assert (third[0].outputs, third[1].outputs) == (first[0].outputs, first[1].outputs)


def test_the_recorder_neither_draws_nor_changes_results(tmp_path: Path) -> None:
    import random

    def work() -> list[Any]:
        torch.manual_seed(3)
        random.seed(3)
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
        optimizer = torch.optim.Adam(net.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.randn(16, 4)).pow(2).mean().backward()
            optimizer.step()
        return [*net.parameters(), torch.get_rng_state(), random.getstate()]

    plain = work()
    found: list[Any] = []
    recorded(tmp_path, lambda: found.extend(work()))
    assert all(torch.equal(a, b) for a, b in zip(plain[:-1], found[:-1], strict=True))
    assert plain[-1] == found[-1]

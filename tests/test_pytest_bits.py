"""What the pytest plugin compares: each value by its bits, and the first difference by its path."""

from __future__ import annotations

import enum
import math
import struct
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")

from detlint.plugins.pytest.difference import first_difference  # noqa: E402
from detlint.plugins.pytest.record import IncomparableError, Record  # noqa: E402


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Batch:
    data: Any
    size: int = 1


class Counter(torch.nn.Module):  # type: ignore[misc,name-defined]
    def __init__(self, count: float) -> None:
        super().__init__()
        self.layer = torch.nn.utils.skip_init(torch.nn.Linear, 2, 1)
        torch.nn.init.ones_(self.layer.weight)
        torch.nn.init.zeros_(self.layer.bias)
        self.register_buffer("count", torch.tensor(count), persistent=False)


def record(*values: Any) -> Record:
    found = Record()
    for value in values:
        found.add("value", value)
    return found


def told(one: Any, other: Any) -> tuple[str, str, str, str]:
    """How the difference of two values is told, one way round as the other."""
    found = first_difference(record(one), record(other))
    assert found and not found.others
    back = first_difference(record(other), record(one))
    if back and back.path == found.path:
        assert (back.one, back.other, back.extent) == (found.other, found.one, found.extent)
    return found.path, found.one, found.other, found.extent


def optimizer(gradient: float) -> Any:
    weight = torch.ones(1, requires_grad=True)
    made = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    (weight * gradient).sum().backward()
    made.step()
    return made


def nan(payload: int) -> Any:
    return torch.tensor([0x7FC00000 + payload], dtype=torch.int32).view(torch.float32)


SAME: list[Callable[[], Any]] = [
    lambda: None,
    lambda: [1, -1.5, 2j, "text\ud800", b"bytes", True, ..., Colour.RED, Path("a"), torch.float32, torch.Size([2])],
    lambda: {1: (torch.ones(2), np.ones(2)), "b": OrderedDict(a={1}, b=frozenset({("a", 1, frozenset({2.5}))}))},
    lambda: [nan(1), math.nan, np.array([math.nan]), -math.inf],
    lambda: [Counter(1.0), optimizer(0.5), Batch(torch.zeros(0)), Pair(1, 2), int, list],
    lambda: [np.array(["a", "bc"]), np.array([{"x": np.float32(1)}], dtype=object), np.datetime64("2020-01-01")],
    lambda: np.array([(1, 2.0)], dtype=np.dtype([("a", "i1"), ("b", "f8")], align=True)),
    lambda: [torch.eye(3).to_sparse(), torch.ones(2, 3).T, torch.tensor([1j]).conj(), torch.ones(2, device="meta")],
    lambda: [np.longdouble("0.1"), np.ma.array([1, 2], mask=[0, 1]), np.zeros(2, ">f4"), np.zeros((2, 0))],
    lambda: [torch.zeros(2, dtype=getattr(torch, name)) for name in ("bfloat16", "float8_e5m2", "complex64", "uint16")],
    lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("made", SAME, ids=range(len(SAME)))
def test_equal_values_are_equal_and_survive_a_file(made: Callable[[], Any], tmp_path: Path) -> None:
    assert first_difference(record(made()), record(made())) is None
    record(made(), made()).save(tmp_path)
    loaded = Record.load(tmp_path)
    assert loaded == record(made(), made())


F1 = "float32 tensor of shape (1,) on cpu"


def differing(some: int, every: int, kind: str) -> str:
    return f"{some} of {every} elements differ in a {kind}"


DIFFERENT: list[tuple[Any, Any, tuple[str, str, str, str]]] = [
    (0.0, -0.0, ("value", "0.0", "-0.0", "0 ULP apart")),
    (0.1, 0.1 + 2**-56, ("value", "0.1", "0.10000000000000002", "1 ULP apart")),
    (1, 1.0, ("value", "1, int", "1.0, float", "")),
    (1, True, ("value", "1, int", "True, bool", "")),
    (1 + 0j, complex(1, -0.0), ("value", "(1+0j)", "(1-0j)", "")),
    ([1, 2], (1, 2), ("value", "list", "tuple", "")),
    ([1, 2], [1, 2, 3], ("value[2]", "nothing of that name", "3, int", "")),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ("the order", "value['a'] comes first", "value['b'] comes first", "")),
    ({"a": 1}, {"a": 1, 2: 3}, ("value[2]", "nothing of that name", "3, int", "")),
    ({"a": 1}, {"b": 1}, ("value['a']", "1, int", "nothing of that name", "")),
    ({"a", "b"}, {"a"}, ("value{'b'}", "'b', element", "nothing of that name", "")),
    (b"\0\1", b"\0\2", ("value[1]", "1", "2", "1 of 2 elements differ in a bytes object of length 2")),
    (Colour.RED, Colour.BLUE, ("value", "Colour.RED", "Colour.BLUE", "")),
    (Pair(1, [2]), Pair(1, [3]), ("value.right[0]", "2", "3", "")),
    (Batch({"x": 1}), Batch({"x": 2}), ("value.data['x']", "1", "2", "")),
    ("same\n", "same\t", ("value", "same\\n", "same\\t", "")),
    ("-" * 99 + "a" + "." * 99, "-" * 99 + "b", ("value", f"...{'-' * 20}a{'.' * 39}...", f"...{'-' * 20}b", "")),
    (nan(1), nan(2), ("value[0]", "nan (0x7fc00001)", "nan (0x7fc00002)", differing(1, 1, F1))),
    (torch.tensor(1.0), torch.tensor(math.inf), ("value", "1", "inf", "")),
    (torch.zeros(1), torch.zeros(1, 1), ("value", F1, "float32 tensor of shape (1, 1) on cpu", "")),
    (torch.zeros(1), torch.zeros(1).half(), ("value", F1, "float16 tensor of shape (1,) on cpu", "")),
    (torch.zeros(1), torch.zeros(1, device="meta"), ("value", F1, "float32 tensor of shape (1,) on meta", "")),
    (torch.zeros(1), np.zeros(1, "float32"), ("value", F1, "float32 array of shape (1,)", "")),
    (
        torch.arange(6.0).view(2, 3),
        torch.tensor([[0, 1, 2], [3, 4 + 2**-20, 6]]),
        ("value[1, 1]", "4", "4.00000095", f"2 ULP apart; {differing(2, 6, 'float32 tensor of shape (2, 3) on cpu')}"),
    ),
    (
        torch.tensor([-1e-45]),
        torch.tensor([1e-45]),
        ("value[0]", "-1.40129846e-45", "1.40129846e-45", f"2 ULP apart; {differing(1, 1, F1)}"),
    ),
    (torch.ones(1), -torch.ones(1), ("value[0]", "1", "-1", f"more than 1000000 ULP apart; {differing(1, 1, F1)}")),
    (
        torch.ones(1, dtype=torch.bfloat16),
        torch.full((1,), 1 + 2**-7, dtype=torch.bfloat16),
        ("value[0]", "1", "1.008", f"1 ULP apart; {differing(1, 1, 'bfloat16 tensor of shape (1,) on cpu')}"),
    ),
    (
        torch.tensor([1 + 2j, 1]),
        torch.tensor([1 + 2j, 1j]),
        ("value[1]", "1+0j", "0+1j", differing(1, 2, "complex64 tensor of shape (2,) on cpu")),
    ),
    (
        torch.zeros(1).to(torch.float8_e5m2),
        torch.ones(1).to(torch.float8_e5m2),
        ("value[0]", "0x00", "0x3c", differing(1, 1, "float8_e5m2 tensor of shape (1,) on cpu")),
    ),
    (
        torch.tensor([[0, 1], [2, 0]]).to_sparse(),
        torch.tensor([[0, 1], [3, 0]]).to_sparse(),
        ("value (values)[1]", "2", "3", differing(1, 2, "int64 tensor of shape (2,) on cpu")),
    ),
    (
        np.array([1, 2], ">i2"),
        np.array([1, 3], "<i2"),
        ("value[1]", "2", "3", differing(1, 2, "int16 array of shape (2,)")),
    ),
    (np.array(["a", "b"]), np.array(["a", "c"]), ("value[1]", "b", "c", "")),
    (np.float32(1), np.float64(1), ("value", "1, float32", "1.0, float64", "")),
    (
        np.array([(1, 2)], dtype="i4,i4"),
        np.array([(1, 3)], dtype="i4,i4"),
        ("value['f1'][0]", "2", "3", differing(1, 1, "int32 array of shape (1,)")),
    ),
    (Counter(1.0), Counter(2.0), ("value['count']", "1", "2", "more than 1000000 ULP apart")),
]


@pytest.mark.parametrize(("one", "other", "expected"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_the_first_difference_is_told_by_path_values_and_extent(one: Any, other: Any, expected: Any) -> None:
    assert told(one, other) == expected


def test_the_state_of_an_optimizer_is_compared() -> None:
    found = told(optimizer(0.5), optimizer(0.25))
    extent = f"more than 1000000 ULP apart; {differing(1, 1, F1)}"
    assert found == ("value['state'][0]['momentum_buffer'][0]", "0.5", "0.25", extent)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_compressed_sparse_matrices_are_their_indices_and_values() -> None:
    one, other = torch.eye(2).to_sparse_csr(), torch.eye(2).flip(0).contiguous().to_sparse_csr()
    assert told(one, other)[:3] == ("value (inner indices)[0]", "0", "1")


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_quantized_tensors_are_their_integers_and_scales() -> None:
    one, other = (torch.quantize_per_tensor(torch.ones(1), scale, 0, torch.quint8) for scale in (0.5, 0.25))
    assert first_difference(record(one), record(one)) is None
    assert "scale 0.5" in told(one, other)[1]


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_channel:UserWarning")
def test_the_same_integers_above_another_zero_are_a_difference() -> None:
    one, other = (torch.quantize_per_tensor(torch.full((1,), -1.0 * z), 1.0, z, torch.qint8) for z in (0, 1))
    assert "zero point 0" in told(one, other)[1]
    value, scales = torch.zeros(2, 2), torch.ones(2)
    zeros = torch.zeros(2, dtype=torch.int64)
    one, other = (torch.quantize_per_channel(value, scales, zeros, axis, torch.qint8) for axis in (0, 1))
    assert "channel 1" in told(one, other)[2]


def test_an_integer_too_long_for_decimals_is_compared() -> None:
    found = told(1 << 20000, (1 << 20000) + 1)
    assert found[0] == "value"
    assert found[1].endswith("000")
    assert found[2].endswith("001")


def test_later_differences_are_named_and_values_of_one_name_numbered() -> None:
    found = first_difference(record(1, 2, 3), record(1, 5, 6))
    assert found and (found.path, found.others) == ("value#2", ["value#3"])
    found = first_difference(record(1, 2), record(1))
    assert found and (found.path, found.one, found.other) == ("value#2", "2, int", "nothing of that name")


def test_bits_are_copied_when_they_are_recorded() -> None:
    tensor, array, items = torch.zeros(1), np.zeros(1), [0]
    found = record(tensor, array, items)
    tensor += 1
    array += 1
    items.append(1)
    assert first_difference(found, record(torch.zeros(1), np.zeros(1), [0])) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "value is an object, which has no bits to compare: record the numbers in it"),
        ([1, {"a": iter([])}], "value[1]['a'] is a list_iterator, which has no bits to compare"),
        ({object()}, "value is a set with an object in it: record a list in an order of your own"),
        (np.array([object()]), "value[0] is an object, which has no bits to compare"),
    ],
)
def test_what_is_told_by_its_address_alone_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(IncomparableError) as caught:
        record(value)
    assert str(caught.value).startswith(problem)


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(IncomparableError, match="value holds itself, or is nested too deeply"):
        record(endless)


def test_the_padding_of_structs_is_no_part_of_them() -> None:
    dtype = np.dtype([("a", "i1"), ("b", "i4")], align=True)
    arrays = [np.frombuffer(struct.pack("=b3si", 1, padding, 2), dtype) for padding in (b"abc", b"xyz")]
    assert arrays[0].tobytes() != arrays[1].tobytes()
    assert first_difference(*map(record, arrays)) is None

"""Digests of tensors: exact on bits, sensitive to order, the same whatever the layout of the same content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from detlint.bisect.recorded import digests  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (64, 1000, 40_000, 700_001)


def swapped(tensor: Any) -> Any:
    """The same numbers, the first two that differ in each other's place."""
    other = tensor.clone()
    place = int((tensor != tensor[0]).nonzero()[0])
    other[0], other[place] = tensor[place], tensor[0]
    return other


def one_bit(tensor: Any) -> Any:
    other = tensor.clone()
    other.view(torch.uint8)[-1] ^= 1
    return other


def signs(tensor: Any) -> Any:
    other = tensor.clone()
    other[1], other[3] = -other[1], -other[3]
    return other


CHANGES: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda t: t.flip(0),
    "swapped": swapped,
    "one bit": one_bit,
    "two signs": signs,
    "all signs": lambda t: -t,
    "rolled": lambda t: t.roll(1),
    "sorted": lambda t: t.sort().values,
    "one shorter": lambda t: t[:-1].clone(),
    "zeros": torch.zeros_like,
    "ones": torch.ones_like,
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_no_two_changes_of_a_tensor_have_one_digest(size: int, dtype: Any) -> None:
    tensor = torch.randn(size, generator=torch.Generator().manual_seed(size)).to(dtype)
    found = {name: digests.of_tensor(change(tensor)) for name, change in CHANGES.items()}
    assert len({digests.of_tensor(tensor), *found.values()}) == 1 + len(found), found
    assert digests.of_tensor(tensor) == digests.of_tensor(tensor.clone())


@pytest.mark.parametrize("size", SIZES)
def test_masks_and_orders_of_integers_are_told_apart(size: int) -> None:
    order = torch.arange(size)
    mask = order % 3 == 0
    assert digests.of_tensor(order) != digests.of_tensor(order.flip(0))
    assert digests.of_tensor(mask) != digests.of_tensor(~mask)
    assert digests.of_tensor(mask) != digests.of_tensor(mask.roll(1))


def test_zeros_of_either_sign_are_told_apart_and_so_are_all_kinds_of_nan() -> None:
    assert digests.of_tensor(torch.zeros(5)) != digests.of_tensor(-torch.zeros(5))
    other = torch.tensor([0x7FC00001], dtype=torch.int32).view(torch.float32)
    assert digests.of_tensor(torch.tensor([float("nan")])) != digests.of_tensor(other)


def test_permuted_rows_of_a_matrix_of_ones_and_zeros_are_told_apart() -> None:
    eye = torch.eye(1021, dtype=torch.int64)  # as wide as the rows that sums are taken of
    order = torch.randperm(1021, generator=torch.Generator().manual_seed(0))
    assert digests.of_tensor(eye) != digests.of_tensor(eye[order].clone())


def test_views_are_digested_by_their_own_content() -> None:
    base = torch.randn(300, 200)
    parts = (
        base[3:7],
        base[:, 3:7],
        base.t()[5:50],
        base[::2],
        base[1:, 1:],
        base.flatten()[1:],
        base.expand(3, -1, -1),
    )
    for view in parts:
        assert digests.of_tensor(view) == digests.of_tensor(view.contiguous().clone())


def test_threads_do_not_change_a_digest() -> None:
    tensor = torch.randn(700_001)
    before = torch.get_num_threads()
    found = set()
    try:
        for threads in (1, 2, 4):
            torch.set_num_threads(threads)
            found.add(digests.of_tensor(tensor))
    finally:
        torch.set_num_threads(before)
    assert len(found) == 1


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_every_kind_of_tensor_has_a_digest() -> None:
    matrix = torch.eye(3)
    kinds = [
        matrix.to_sparse(),
        matrix.to_sparse_csr(),
        matrix.to(torch.complex64).conj(),
        matrix.to(torch.float8_e4m3fn),
        matrix.requires_grad_(),
        torch.empty(0),
        torch.tensor(5),
        torch.nn.Parameter(matrix.clone()),
    ]
    assert all(len(digests.of_tensor(one)) == 16 for one in kinds)
    assert digests.of_tensor(torch.ones(3, device="meta")) == ""


def test_values_of_a_batch_are_told_apart_by_content_and_place() -> None:
    batch = {"x": torch.ones(3), "y": [1, "a", (2.0, None)]}
    others = (
        {"x": torch.ones(4), "y": [1, "a", (2.0, None)]},
        {"y": torch.ones(3), "x": [1, "a", (2.0, None)]},
        {"x": torch.ones(3), "y": [1, "a", (None, 2.0)]},
        {"x": torch.ones(3, dtype=torch.float64), "y": [1, "a", (2.0, None)]},
    )
    assert len({digests.of_value(one) for one in (batch, *others)}) == 5
    assert digests.of_value(batch) == digests.of_value({"x": torch.ones(3), "y": [1, "a", (2.0, None)]})


def test_digests_of_objects_do_not_depend_on_their_address() -> None:
    class Thing:
        pass

    assert digests.of_value([Thing()]) == digests.of_value([Thing()])


@dataclass(slots=True)
class Slotted:
    number: int
    names: frozenset[str]


def test_a_value_counts_by_what_it_holds() -> None:
    names = [f"name{number}" for number in range(20)]
    one, other = frozenset(names), frozenset(reversed(names))
    assert digests.of_value(Slotted(1, one)) == digests.of_value(Slotted(1, other))
    assert digests.of_value(Slotted(1, one)) != digests.of_value(Slotted(2, one))
    assert digests.of_value(one) != digests.of_value(one - {"name3"})

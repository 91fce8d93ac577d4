"""Bits are compared, not values within a tolerance."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from detlint.verify.bits import apart, digest  # noqa: E402

NAN = float("nan")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.tensor([0.0]), torch.tensor([-0.0])),
        (torch.tensor([1.0, 2.0]), torch.tensor([2.0, 1.0])),
        (torch.zeros(2, 3), torch.zeros(3, 2)),
        (torch.zeros(2), torch.zeros(2, dtype=torch.int32)),
        (torch.tensor([1.0]), torch.tensor([1.0 + 2**-23])),
        ((torch.zeros(1), torch.ones(1)), (torch.ones(1), torch.zeros(1))),
        (["a", "b"], ["b", "a"]),
        (torch.tensor([1j]), torch.tensor([1.0 + 0j])),
    ],
)
def test_what_differs_in_a_bit_has_another_digest(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (torch.tensor([NAN]), torch.tensor([NAN])),
        (torch.arange(6).reshape(2, 3).T, torch.arange(6).reshape(2, 3).T.contiguous()),
        (torch.tensor([1 + 1j]).conj(), torch.tensor([1 - 1j])),
        (torch.zeros(0), torch.zeros(0)),
        (torch.eye(3).to_sparse(), torch.eye(3).to_sparse()),
        ({"a": torch.ones(1)}, {"a": torch.ones(1)}),
        (torch.ones(2, requires_grad=True), torch.ones(2)),
        (torch.ones(3, dtype=torch.bfloat16), torch.ones(3, dtype=torch.bfloat16)),
    ],
)
def test_equal_bits_have_equal_digests(one: Any, other: Any) -> None:
    assert digest(one) == digest(other)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_a_sparse_matrix_is_its_indices_and_values() -> None:
    assert digest(torch.eye(3).to_sparse_csr()) == digest(torch.eye(3).to_sparse_csr())
    assert digest(torch.eye(3).to_sparse_csr()) != digest(2 * torch.eye(3).to_sparse_csr())


def test_arrays_are_compared_by_their_bytes() -> None:
    np = pytest.importorskip("numpy")
    assert digest(np.zeros(3)) == digest(np.zeros(3)) != digest(np.ones(3))
    assert digest(np.zeros(0)) == digest(np.zeros(0))


def test_shapes_and_dtypes_of_arrays_count_and_they_are_compared_as_numbers() -> None:
    np = pytest.importorskip("numpy")
    assert digest(np.zeros((2, 3))) != digest(np.zeros((3, 2)))
    assert digest(np.zeros(2, "float32")) != digest(np.zeros(1, "float64"))
    assert apart(np.array([1.0, 2.0]), np.array([1.0, 2.5])) == (0.5, 2**50)
    assert digest(np.array(["a"])) != digest(np.array(["b"]))
    with pytest.raises(TypeError, match="objects"):
        digest(np.array([object()]))


@pytest.mark.parametrize("result", [{1, 2}, object(), [torch.zeros(1), lambda: 0]])
def test_what_is_told_by_its_address_or_in_no_order_is_not_compared(result: Any) -> None:
    with pytest.raises(TypeError, match="no bits to compare"):
        digest(result)


def test_doubles_of_opposite_signs_are_as_far_apart_as_they_are() -> None:
    one, other = torch.tensor([1e300, 1.0], dtype=torch.float64), torch.tensor([-1e300, 1.0], dtype=torch.float64)
    (bits,) = one[:1].view(torch.int64).tolist()
    assert apart(one, other) == apart(other, one) == (2e300, 2 * bits)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_the_distance_is_told_in_units_in_the_last_place(dtype: Any) -> None:
    step = torch.finfo(dtype).eps
    one, other = torch.tensor([1.0, 2.0], dtype=dtype), torch.tensor([1.0 + 3 * step, 2.0], dtype=dtype)
    absolute, units = apart(one, other)
    assert absolute == pytest.approx(3 * step)
    assert units == 3
    assert apart(torch.tensor([-0.0], dtype=dtype), torch.tensor([0.0], dtype=dtype)) == (0.0, 0)
    tiny = torch.tensor([torch.finfo(dtype).smallest_normal], dtype=dtype)
    assert (apart(-tiny, tiny)[1] or 0) == 2 * (apart(torch.zeros(1, dtype=dtype), tiny)[1] or 0) > 0


def test_infinity_on_one_side_is_infinitely_far_and_no_number_of_units() -> None:
    one, other = torch.tensor([math.inf, 1.0]), torch.tensor([0.0, 1.0])
    assert apart(one, other) == (math.inf, 0)
    assert apart(torch.tensor([NAN, math.inf]), torch.tensor([NAN, math.inf])) == (0.0, 0)


def test_integers_have_no_units_in_the_last_place_and_words_no_distance() -> None:
    assert apart(torch.tensor([1, 5]), torch.tensor([1, 2])) == (3.0, None)
    assert apart("a", "b") == (None, None)
    assert apart(torch.zeros(2), torch.zeros(3)) == (None, None)

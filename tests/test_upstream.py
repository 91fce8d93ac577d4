"""The comparison of rows with what torch's own documentation says."""

from __future__ import annotations

from packaging.version import Version

from detlint import catalogue
from tests.tools import upstream

TEXT = """Sets whether operations must use "deterministic" algorithms; else they will throw a RuntimeError.

    The following normally-nondeterministic operations will act
    deterministically when ``mode=True``:

        * :func:`torch.Tensor.scatter_add_` when called on a CUDA tensor
        * :func:`torch.Tensor.put_` with ``accumulate=True`` when called on a CPU tensor

    The following normally-nondeterministic operations will throw a
    :class:`RuntimeError` when ``mode=True``:

        * :class:`torch.nn.ReflectionPad2d` when attempting to differentiate a CUDA tensor
        * :func:`torch.Tensor.put_` when ``accumulate=False``
        * :class:`torch.nn.Nothing`

    In addition, several operations fill uninitialized memory; see :func:`torch.empty`.
    * :func:`torch.empty`
"""


def test_the_two_lists_are_read() -> None:
    assert upstream.documented(TEXT) == {
        "torch.Tensor.scatter_add_": "path",
        "torch.Tensor.put_": "path or raises",
        "torch.nn.ReflectionPad2d": "raises",
        "torch.nn.Nothing": "raises",
    }


def test_what_the_rows_say_otherwise_is_told_by_release() -> None:
    rows = list(catalogue.load().rows("ops", "op"))
    old, new = (list(upstream.disagreements(TEXT, rows, Version(each))) for each in ("2.6", "2.13"))
    assert ("torch.nn.Nothing", "raises", "no row") in old
    assert "torch.nn.ReflectionPad2d" not in {name for name, *_ in old}
    assert ("torch.nn.ReflectionPad2d", "raises", "nothing or path") in new
    assert ("torch.index_reduce", "not listed", "raises (index_reduce.fwd.any)") in new
    assert not {"torch.Tensor.scatter_add_", "torch.Tensor.put_", "torch.Tensor.put"} & {name for name, *_ in new}


def test_operators_that_no_row_names_are_told() -> None:
    assert upstream.untabled({"rand", "normal_", "novel", "_hidden"}, {"rand", "normal"}) == ["novel"]

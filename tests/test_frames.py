"""Calls that are nested deeply cost no more than others."""

from __future__ import annotations

import sys

import pytest

from detlint.link.state.frames import roomy

_DEEPEST, _CALLS = 600, 100


def _leaf() -> None:
    pass


def _deep(depth: int) -> None:
    """Call a function again and again, so many calls deep."""
    if depth:
        _deep(depth - 1)
        return
    for _ in range(_CALLS):
        _leaf()


def _faults() -> int:
    """How often the system gives memory to calls at any depth."""
    resource = pytest.importorskip("resource")
    before: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for depth in range(_DEEPEST):
        _deep(depth)
    after: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return after - before


def test_loops_at_any_depth_find_memory_for_their_calls() -> None:
    @roomy
    def inside() -> int:
        return _faults()

    assert inside() < 3 * _CALLS


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has each frame apart")
def test_there_are_depths_at_which_calls_ask_for_memory_each_time() -> None:
    assert _faults() > 3 * _CALLS

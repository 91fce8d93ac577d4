"""Room in memory for the frames of functions that call each other deeply."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_SLOTS = 1 << 16  # of one frame: as many bytes as those of some thousand calls take, of which it touches none


def roomy(function: Callable[P, R]) -> Callable[P, R]:
    """The function, within which calls find room for their frames in one piece of memory.

    From 3.11 on, Python has frames in pieces of 16 KB. It asks the system for the next one where a call goes past the
    end of one, and gives it back at the return: a loop at that depth takes a hundred times as long. A large frame gets
    a piece of its own that is larger still, and leaves the rest of it to the calls within.
    """
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS)
    return function

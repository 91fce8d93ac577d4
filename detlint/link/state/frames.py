"""Memory for the frames of functions that call each other deeply."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_SLOTS = 1 << 16  # of one frame: as many bytes as the frames of some thousand calls, none of which it touches


def roomy(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, changed so that the frames of calls within it fit into one piece of memory.

    From 3.11 on, Python keeps frames in pieces of 16 KB. It asks the system for the next piece when a call goes past
    the end of one, and gives it back at the return: a loop at that depth takes a hundred times as long. A large frame
    gets a piece of its own that is larger still, and leaves the rest of it to the calls within.
    """
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_stacksize=_SLOTS)
    return function

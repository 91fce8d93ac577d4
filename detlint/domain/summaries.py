"""What is known of a function in a context once it is evaluated."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from detlint.domain.atoms import Node
from detlint.domain.codes import Code
from detlint.domain.effects import Effects
from detlint.domain.taints import Taint, Taints
from detlint.domain.values import NOTHING, Value

Use = Literal["draws"]
"""What a value is used for: that a draw depends on it."""


class Flow(Struct, frozen=True, cache_hash=True, gc=False):
    """A taint that surely reaches a use; one of a parameter where a caller says what it is."""

    taint: Taint
    sink: Code
    use: Use


class Passed(Struct, frozen=True, gc=False):
    """A call of a node: the taints that its parameters surely get."""

    node: Node
    code: Code
    certain: dict[str, Taints]


class Summary(Struct):
    """What a node gives, by its last evaluation.

    `changed` are the values that in-place methods made of its parameters, `writes` the slots that it and all it calls
    may write, as bits.
    """

    returns: Value = NOTHING
    changed: dict[str, Value] = {}
    writes: int = 0
    effects: Effects = ()
    flows: tuple[Flow, ...] = ()
    passed: tuple[Passed, ...] = ()

"""What evaluates expressions and executes statements: a table that frames are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from detlint.domain.atoms import Atom, ClassRef, Constant, FunctionRef, Instance
from detlint.domain.given import Given
from detlint.domain.values import Value
from detlint.interpreter.environments import Key

if TYPE_CHECKING:
    from detlint.interpreter.frames import Frame


@dataclass(frozen=True)
class Tables:
    """What evaluates each kind of expression and executes each kind of statement, and what both ask for.

    `attribute` gives an attribute of a value, `iterate` an item of one, `item` that under a key, `entry`
    what dicts have under one; `call` calls one, `method` a method of an object, `make`, `instantiate` and `copied`
    make objects of classes of the project; `put` puts a value in the place of something of a library, `enter` gives
    what a context does.
    """

    expressions: Mapping[type, Callable[[Frame, Any], Value]]
    statements: Mapping[type, Callable[[Frame, Any], None]]
    attribute: Callable[[Frame, Value, str], Value]
    iterate: Callable[[Frame, Value], Value]
    item: Callable[[Frame, Value, Value], Value]
    entry: Callable[[Frame, Value, Constant, Key], Value]
    call: Callable[[Frame, Value, Given, int], Value]
    method: Callable[[Frame, FunctionRef, Atom, int], Value]
    make: Callable[[Frame, ClassRef, Any, int], Value]
    instantiate: Callable[[Frame, ClassRef, Given, int], Value]
    copied: Callable[[Frame, Instance, dict[str, Value], int], Value]
    put: Callable[[Frame, str, Value, int], None]
    enter: Callable[[Frame, Value, int], Value]

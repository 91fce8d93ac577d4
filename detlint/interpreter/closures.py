"""Variables of a function that functions within it read: as they are where such a function is called."""

from __future__ import annotations

from detlint.domain.atoms import FunctionRef
from detlint.domain.values import NOTHING, UNKNOWN, Value
from detlint.interpreter import assignments
from detlint.interpreter.frames import Frame
from detlint.ir import nodes as ir

_ELSEWHERE = "^"  # what a node is given where somebody calls it who does not have these variables


def given(frame: Frame, function: FunctionRef, code: ir.Function) -> dict[str, Value]:
    """What a call of a function gives it besides arguments: the variables that it reads of the one that defines it."""
    names = frame.solver.index.captures(function.file, code) if code.owner else ()
    if not names or frame.solver.below is not None:
        return {}
    made = frame.get(code.name) if code.owner == frame.function.qualified and function.file == frame.file.path else None
    if made is None or function not in frame.resolve(made).atoms:
        return {_ELSEWHERE: UNKNOWN}
    held = {name: frame.get(name) for name in names}
    return {_key(name): frame.concrete(value) for name, value in held.items() if value is not None}


def read(frame: Frame, variable: ir.Captured) -> Value:
    """The value of a variable of a function around this one."""
    inputs = frame.entry.inputs
    own = frame.function.owner == variable.owner and _ELSEWHERE not in inputs
    if own and _key(variable.name) in inputs:
        return inputs[_key(variable.name)]
    found = NOTHING
    for cell in assignments.captured_cells(frame, variable):
        found = frame.join(found, frame.read(cell))
    return found


def _key(name: str) -> str:
    return f"{_ELSEWHERE}{name}"

"""Draws of compiled code from generators of its own, which no seed outside of such code reaches."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.values.conditions import applies
from detlint.catalogue import Row
from detlint.generators import COMPILED
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def compiled_draws(module: Module) -> Iterator[tuple[s.Call, str]]:
    """Yield the first draw in each compiled function, for each generator that it would draw from uncompiled."""
    names = module.catalogue.names("program", "role", kind="compiles")
    if not module.speaks_of(names):
        return
    compiling = [row for row in module.catalogue.rows("program", "role") if row.text("kind") == "compiles"]
    for generator in COMPILED:
        told: set[s.Function] = set()
        for row in module.rows_like("randomness", "consumer"):
            drawing = row.text("kind") == "call" and generator in row.list("generator")
            for call in module.calls_to(row.list("names")) if drawing else ():
                function = _compiled(module, compiling, call)
                applied = applies(module, call, row.list("when"), row.list("unless"))
                if function is not None and function not in told and applied:
                    told.add(function)
                    yield call, generator


def _compiled(module: Module, compiling: list[Row], node: s.Node) -> s.Function | None:
    """Return the function around a node that a decorator compiles, or None."""
    for function in node.ancestors():
        for decorator in function.decorators if isinstance(function, s.Function) else ():
            call = decorator if isinstance(decorator, s.Call) else None
            names = module.names(decorator) if call is None else module.callee(call)
            for row in compiling:
                fits = call is None or applies(module, call, row.list("when"), row.list("unless"))
                if names and names <= row.set("names") and fits and isinstance(function, s.Function):
                    return function
    return None

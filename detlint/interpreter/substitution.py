"""Values with what callers give in the place of parameters."""

from __future__ import annotations

from collections.abc import Mapping

from detlint.domain import taints as t
from detlint.domain.atoms import Atom, Formal
from detlint.domain.values import UNKNOWN, Value, has_formal, mapped
from detlint.interpreter.solver import Solver


def replaced(solver: Solver, value: Value, given: Mapping[str, Value]) -> Value:
    """A value with what is given in the place of parameters and of their taints."""
    taints, certain = value.taints, value.certain
    if taints:
        taints = t.filled_in(taints, {name: each.taints for name, each in given.items()})
    if certain:
        certain = t.filled_in(certain, {name: each.certain for name, each in given.items()})
    if not has_formal(value):
        return value.with_taints(taints, certain)
    atoms: set[Atom] = set()
    for atom in value.atoms:
        if isinstance(atom, Formal):
            atoms.update(given.get(atom.name, UNKNOWN).atoms)
        else:
            atoms.add(mapped(atom, lambda part: replaced(solver, part, given)))
    return Value(solver.lattice.kept(frozenset(atoms)), taints, certain)

"""Devices and contexts for which nothing is drawn: tensors that have no values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.domain.atoms import Atom, Choice, Constant, Instance, LibraryRef
from detlint.domain.outcomes import FAILS, HOLDS, Outcome, chosen, either
from detlint.domain.slots import ITEMS
from detlint.domain.step import Step
from detlint.domain.values import UNKNOWN, Value

if TYPE_CHECKING:
    from detlint.models.known import Known

_DEVICE = LibraryRef("torch.device")


def is_meta(step: Step, device: Value) -> Outcome:
    """Whether a device is the one on which tensors have no values: one that may be another is not, by no option."""
    outcome = either([_atom(step, atom) for atom in step.each(device)])
    return FAILS if outcome.may_fail and outcome.option is None else outcome


def _atom(step: Step, atom: Atom) -> Outcome:
    if isinstance(atom, Choice):
        return chosen(atom, is_meta(step, atom.default), is_meta(step, atom.other))
    if isinstance(atom, Instance) and atom.site.kind == _DEVICE:
        return is_meta(step, step.kept(atom, "type"))
    return HOLDS if atom == Constant("str", "meta") else FAILS


def is_undrawn(known: Known, step: Step, context: Atom) -> bool:
    """Whether surely nothing is drawn in a context."""
    if not isinstance(context, Instance) or not isinstance(context.site.kind, LibraryRef):
        return False
    if context.site.kind == _DEVICE:
        return not _atom(step, context).may_fail
    row = known.undrawn.get(context.site.kind.name)
    if row is None:
        return False
    args = known.kept(step, context, context.site.kind.name)
    if row.text("kind") == "stack":
        stacked = step.join(step.kept(context, "0"), step.kept(context, "context_managers"))
        inner = [step.read(atom, ITEMS) for atom in step.each(stacked) if isinstance(atom, Instance)]
        return any(is_undrawn(known, step, atom) for value in inner for atom in step.each(value))
    return row.text("kind") == "context" or not is_meta(step, args.of("device") or UNKNOWN).may_fail

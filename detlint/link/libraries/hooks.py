"""The code that a trainer runs: methods of the models, data and callbacks that it is given, and its loaders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.catalogue import Row
from detlint.finding import Place
from detlint.link.state.arguments import Arguments
from detlint.link.state.values import UNKNOWN, Class, Function, Library, Object, Value, each
from detlint.programs.events import Marked

if TYPE_CHECKING:
    from detlint.link.libraries.library import Interpreter as Run
else:
    Run = Any


def run_hooks(run: Run, row: Row, trainer: Object | Function | None, given: Arguments, place: Place) -> Value:
    """Call the methods that a trainer calls on what it is given or was made with, and iterate over the loaders."""
    hooks = row.list("methods")
    if "training_step" in hooks:
        run.note(Marked("trains", place))
    values = list(dict.fromkeys((*_held(run, row, trainer), *given.positional, *given.given.values())))
    for name in hooks:
        for value in values:
            for atom in each(value):
                if isinstance(atom, Object) and isinstance(atom.kind, Class):
                    made = run.call_method(atom, name, place)
                    if made is not None and name.endswith("dataloader"):
                        run.iterate(made)
    for value in values:
        if any(isinstance(a, Object) and not isinstance(a.kind, Class) for a in value):
            run.iterate(value)
    return UNKNOWN


def _held(run: Run, row: Row, trainer: Object | Function | None) -> list[Value]:
    """Return what the trainer was made with that has such methods: one object, or those of a list."""
    if not (row.text("held") and isinstance(trainer, Object) and isinstance(trainer.kind, Library)):
        return []
    value = run.kept(trainer, trainer.kind.name).get(row.text("held"))
    return [run.held(atom) if run.is_container(atom) else frozenset((atom,)) for atom in each(value)]

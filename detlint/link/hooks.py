"""What trainers of libraries call on what they are given: hooks of models, data sets and callbacks, by their names."""

from __future__ import annotations

from collections.abc import Sequence

from detlint.finding import Place
from detlint.link.arguments import Arguments
from detlint.link.library_draws import LibraryDraws
from detlint.link.state import Marked
from detlint.link.values import UNKNOWN, Class, Function, Object, Value, each, join, single


class Hooks(LibraryDraws):
    """Runs what a trainer calls."""

    def run_hooks(
        self, hooks: Sequence[str], trainer: Object | Function | None, given: Arguments, place: Place
    ) -> Value:
        """Call the methods that a trainer calls on its callbacks and what it is given, and iterate over the loaders."""
        if "training_step" in hooks:
            self.note(Marked("trains", place))
        values = list(dict.fromkeys((*given.positional, *given.given.values())))
        for name in hooks:
            for value in (self.callbacks(trainer), *values):
                for atom in each(value):
                    if isinstance(atom, Object) and isinstance(atom.kind, Class):
                        made = self.call_method(atom, name, place)
                        if made is not None and name.endswith("dataloader"):
                            self.iterate(made)
        for value in values:
            if any(isinstance(a, Object) and not isinstance(a.kind, Class) for a in value):
                self.iterate(value)
        return UNKNOWN

    def callbacks(self, trainer: Object | Function | None) -> Value:
        """The callbacks that a trainer of a library was made with: one, or a list of them."""
        if not isinstance(trainer, Object) or isinstance(trainer.kind, Class):
            return frozenset()
        given = each(self.kept(trainer, trainer.kind.name).get("callbacks"))
        return join(self.held(atom) if self.is_container(atom) else single(atom) for atom in given)

"""The walk of a program, with what each kind of effect does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from detlint.domain import effects as e
from detlint.domain.codes import Code
from detlint.domain.effects import Effect
from detlint.domain.limits import Limits
from detlint.finding import Place
from detlint.interpreter.solver import Solver
from detlint.programs import arms, bodies, generators
from detlint.programs.views import View
from detlint.programs.walk import Handler, Walk

_HANDLERS: Mapping[type[Effect], Handler] = {
    e.Draw: generators.draw, e.Seed: generators.seed, e.Save: generators.save, e.SetSwitch: generators.set_switch,
    e.Listed: generators.listed, e.Made: generators.made, e.Mark: generators.mark,
    e.Dispatch: arms.dispatch, e.Branch: arms.branch, e.First: arms.first, e.Repeat: arms.repeat, e.Leave: arms.leave,
    e.Invoke: bodies.invoke, e.At: bodies.at, e.Around: bodies.around, e.Enter: bodies.enter, e.Yield: bodies.yields,
    e.Import: bodies.imported, e.Main: bodies.main, e.Apart: bodies.aside, e.Restoring: bodies.aside,
    e.Scope: bodies.aside, e.Spawn: bodies.spawn, e.Later: bodies.later,
}  # fmt: skip


def walk_of(solver: Solver, file: str, seen: View, limits: Limits, place: Callable[[Code], Place]) -> Walk:
    """The walk of the program that a file is, by what its `solver` found and this program has `seen` of it."""
    return Walk(solver, file, seen, limits, place, _HANDLERS)

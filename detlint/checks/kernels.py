"""DET301, DET302, DET303, DET306: operations whose kernels add or write in no fixed order on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from packaging.version import Version

from detlint.analysis.training.contexts import around, in_program, may_be_on_gpu, shown
from detlint.analysis.training.destinations import taken_back
from detlint.analysis.training.first_use import first_use, uses
from detlint.analysis.training.gradients import may_have_gradient, operands
from detlint.analysis.training.inputs import inputs_of
from detlint.analysis.training.layers import is_idle, runs_on_cpu
from detlint.analysis.training.learning import is_learning, is_lent
from detlint.analysis.training.phases import follows_mode, hangs_on_size
from detlint.analysis.training.trained import is_asked_for, is_lent_out, is_trained
from detlint.analysis.values.conditions import applies
from detlint.analysis.values.operations import operation
from detlint.catalogue import Catalogue, Row, Rule
from detlint.facts.arms import arms, taken
from detlint.facts.mentions import names_needed
from detlint.finding import Finding, Fix, Safety
from detlint.questions import InForce, InProgram
from detlint.semantics.model import Module
from detlint.sources.source import is_test
from detlint.tree import syntax as s

_RELAXED = ("deterministic-warn", "deterministic-off")


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each call that a row for the rule covers; with `raises`, that raises in deterministic mode.

    The rule's data says which effects switch a deterministic kernel on, in the `program` or `around` the call, and
    which ones together leave torch no fused kernel (`unfused`). Whether all programs have the mode on, or only some, is
    an open question for the project.
    """
    raises = "raises" in rule.data
    rows, names, objects, raising, methods = _table(module.catalogue, module.torch, rule.code, raises)
    called = module.calls if any(True for _ in module.calls_to(objects)) else []
    calls = [*module.calls_to(names), *(c for c in called if module.constructors(c))]
    calls += [call for call in module.calls_like(words=methods) if _method(call) in methods and not module.callee(call)]
    if not calls:
        return
    branches = arms(module)
    switched = any(in_program(module, effect) for effect in rule.data["program"])
    strict = in_program(module, "deterministic") and not any(in_program(module, e) for e in _RELAXED)
    unfused = "unfused" in rule.data and all(in_program(module, effect) for effect in rule.data["unfused"])
    for call in calls:
        row = _row(module, call, rows)
        if row is None or (unfused and row.text("package") == "torch") or not _matters(module, call, row):
            continue
        if any(around(module, call, e) for e in rule.data.get("around", ())):
            continue
        text = shown(module, call)
        if raises:
            what = f"the gradient of `{text}`" if row.text("direction") == "backward" else f"`{text}`"
            only = _in_force(module, call, row, ("on",), strict)
            fix, asked = _suggestion(row.text("remedy")), operation(module, call, row, raising=True)
            yield module.finding(
                rule, call, only_if=only, fix=fix, operation=asked, what=what, remedy=row.text("remedy")
            )
            continue
        if follows_mode(module, call):
            continue
        unless = []
        if _row(module, call, raising) is not None:
            unless = [_in_force(module, call, row, ("on",), strict)]
        elif _effect(module, row) == "path":
            unless = [_in_force(module, call, row, tuple(rule.data["words"]), switched)]
        does, fix = row.text("does"), _suggestion(_remedy(module, row))
        asked, advice = operation(module, call, row), _advice(module, row)
        yield module.finding(
            rule,
            call,
            related=_related(module, call, row),
            only_if=_learning(module, call, row),
            full_if=InProgram(
                module.path,
                taken=taken(module, call, branches),
                names=names_needed(module, call),
                inputs=_inputs(module, call, row),
                on_gpu=True,
            ),
            lowered=is_test(module.path) or (row.text("direction") == "backward" and hangs_on_size(module, call)),
            noted=row.text("grade") == "note",
            unless=unless,
            fix=fix,
            operation=asked,
            call=text,
            does=does,
            help=advice,
        )


class _Table(NamedTuple):
    """The rows of `ops.toml` for a rule, with the names that they call, the names whose objects they call, the rows of
    operations that raise in deterministic mode, and the methods that no other library has.
    """

    rows: tuple[Row, ...]
    names: frozenset[str]
    objects: frozenset[str]
    raising: tuple[Row, ...]
    methods: frozenset[str]


@cache
def _table(catalogue: Catalogue, torch: Version, code: str, raises: bool) -> _Table:
    every = catalogue.rows("ops", "op")
    raising = tuple(row for row in every if row.text("raises") and row.holds_for(torch, "raises"))
    rows = raising if raises else tuple(row for row in every if row.text("rule") == code)
    names = frozenset(name for row in rows for name in row.list("names"))
    objects = frozenset(name for row in rows if row.text("called") for name in row.list("names"))
    methods = frozenset(method for row in rows for method in row.list("methods"))
    return _Table(rows, names - objects, objects, raising, methods)


def _in_force(module: Module, call: s.Call, row: Row, words: tuple[str, ...], alone: bool) -> InForce:
    ever = _constructs(module, call) or row.text("of") == "model"  # these run later than they are made
    local = around(module, call, "deterministic") and not any(around(module, call, effect) for effect in _RELAXED)
    return InForce("algorithms", words, *module.point(call), alone, ever, local)


def _matters(module: Module, call: s.Call, row: Row) -> bool:
    """Return whether a call may run on a GPU and, where the row is about a gradient, may have one."""
    if row.text("of") == "model":
        said = any(word in module.text for word in row.list("spared"))
        return not said and not is_asked_for(module, call) and (is_trained(module, call) or is_lent_out(module, call))
    weights = bool(row.text("weights"))
    if row.text("direction") == "backward" and not may_have_gradient(module, call, weights=weights):
        return False
    anywhere = row.text("where") != "training" and (not row.text("where") or _constructs(module, call))
    if not anywhere and not (is_learning(module, call) or _is_lent(module, call, row)):
        return False
    if _constructs(module, call) and (is_idle(module, call) or runs_on_cpu(module, call)):
        return False
    return may_be_on_gpu(module, call)


def _inputs(module: Module, call: s.Call, row: Row) -> tuple[str, ...] | None:
    """Return the networks on whose inputs alone a gradient depends; None where weights may have a part in it."""
    backward = row.text("direction") == "backward" and row.text("rule") == "DET302"  # attention is a part of others
    if not backward or row.text("weights") or row.text("of") == "model":
        return None
    if any(name.lower().endswith("loss") for name in row.list("names")):
        return None
    found = [None if given is None else inputs_of(module, given) for given in operands(module, call)]
    return None if None in found else tuple(sorted({name for names in found for name in names or ()}))


def _learning(module: Module, call: s.Call, row: Row) -> InProgram | None:
    """Return the question of whether a program takes a gradient; None for a row that is not about one.

    Where only other files take the gradient, the question is about the function itself.
    """
    if row.text("direction") != "backward":
        return None
    path, function, _ = module.point(call)
    if row.text("of") == "model":
        lent = not is_trained(module, call)
    else:
        lent = _is_lent(module, call, row) and not is_learning(module, call)
    return InProgram(path, learning=True, function=function if lent else "")


def _is_lent(module: Module, call: s.Call, row: Row) -> bool:
    """Return whether callers may take the gradient of what a function computes; rows that need floats do not count."""
    lends = row.text("where") == "learning" and not _constructs(module, call) and "@float" not in row.list("when")
    return lends and is_lent(module, call)


def _row(module: Module, call: s.Call, rows: tuple[Row, ...]) -> Row | None:
    """Return the first row that covers all that `call` may call, in this version of torch with these arguments."""
    for row in rows:
        if _speaks_of(module, call, row) and row.holds_for(module.torch):
            return row
    return None


def _speaks_of(module: Module, call: s.Call, row: Row) -> bool:
    names, when, unless = row.set("names"), row.list("when"), row.list("unless")
    if row.list("methods") and not module.callee(call):
        return _method(call) in row.list("methods")
    if not row.text("called"):
        callee = module.callee(call)
        covered = bool(callee) and callee <= names and applies(module, call, when, unless, usual=True)
        return covered and _is_given(module, call, [each for each in when if each.startswith("@dtype")])
    made = module.constructors(call)
    known = bool(made) and all(module.callee(one) <= names and applies(module, one, (), unless) for one in made)
    return known and applies(module, call, when, (), usual=True)


def _is_given(module: Module, call: s.Call, when: list[str]) -> bool:
    """Return whether a layer that is made here may be given tensors that meet conditions; a call was asked already."""
    runs = [use for use in uses(module, call) if isinstance(use, s.Call)] if when and _constructs(module, call) else []
    return not runs or any(applies(module, run, when, ()) for run in runs)


def _method(call: s.Call) -> str:
    return call.function.attribute if isinstance(call.function, s.Attribute) else ""


def _constructs(module: Module, call: s.Call) -> bool:
    return all(name.rpartition(".")[2][:1].isupper() for name in module.callee(call))


def _advice(module: Module, row: Row) -> str:
    """Return the help that the row asks for if it fits the effect of the flag, otherwise the help for that effect."""
    effect = _effect(module, row)
    advice = module.catalogue.row("ops", "help", row.text("help") or effect)
    if advice.text("effect") not in ("", effect):
        advice = module.catalogue.row("ops", "help", effect)
    return advice.text("text").format(remedy=_remedy(module, row))


def _remedy(module: Module, row: Row) -> str:
    old = row.text("old") and row.holds_for(module.torch, "old")
    return row.text("remedy_old" if old else "remedy")


def _related(module: Module, call: s.Call, row: Row) -> Iterator[tuple[s.Node, str]]:
    """Yield where a layer that is made here runs, and where the gradient that differs is taken."""
    use = first_use(module, call) if _constructs(module, call) else call
    if use is not None and use is not call:
        yield use, "it runs here"
    taken = taken_back(module, use) if row.text("direction") == "backward" and isinstance(use, s.Expression) else None
    if taken is not None:
        yield taken, "its gradient is taken here"


def _suggestion(remedy: str) -> Fix | None:
    """Return the remedy in words, never as an edit: another operation is rarely the same to the last bit."""
    return Fix(remedy[:1].upper() + remedy[1:], Safety.DISPLAY, ()) if remedy else None


def _effect(module: Module, row: Row) -> str:
    """Return what the strict flag does to the operation: "path", "raises" or "nothing"."""
    return next((key for key in ("path", "raises") if row.text(key) and row.holds_for(module.torch, key)), "nothing")

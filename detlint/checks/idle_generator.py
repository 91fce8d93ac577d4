"""DET112: a generator that is made and seeded but never drawn from, next to draws that could use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from detlint.analysis.seeds.generators import alternatives
from detlint.analysis.values.conditions import applies
from detlint.analysis.values.origins import origins
from detlint.catalogue import Catalogue, Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.semantics.index import last_word
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import block_of, class_of

_SHOWN = 3


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield one finding for each such generator, at the first draw that could use it."""
    for assign in module.assignments:
        target = assign.targets[0] if len(assign.targets) == 1 else None
        library = _library(module, rule, assign)
        if library is None or not isinstance(target, (s.Name, s.Attribute)) or not _is_idle(module, assign, target):
            continue
        drawn = _beside(module, assign, target, library)
        if drawn:
            name, (first, *others) = module.source(target), drawn
            related: list[tuple[s.Node, str]] = [(assign, f"`{name}` is made and seeded, and nothing draws from it")]
            related += [(call, f"`{module.short(call.function)}` draws past it, too") for call in others[:_SHOWN]]
            fix = _fix(module, name, drawn) if library == "torch" and _is_bound(assign, target, drawn) else None
            words = {"call": module.short(first.function), "library": rule.data[library], "generator": name}
            yield module.finding(rule, first, related=related, fix=fix, **words)


def _library(module: Module, rule: Rule, assign: s.Assign) -> str | None:
    """Return the library whose generator an assignment makes; None if it may make something else."""
    made = [part for part in alternatives(assign.value) if isinstance(part, s.Call)] if assign.value else []
    kinds = {kind for part in made for kind in module.types(part)}
    return rule.data["types"].get(kinds.pop()) if len(kinds) == 1 else None


def _is_idle(module: Module, assign: s.Assign, target: s.Name | s.Attribute) -> bool:
    """Return whether a generator is given a seed and nothing else is done with it."""
    seeding = module.catalogue.names("randomness", "object", key="seeding")
    methods = [read.parent for read in _reads(module, target)]
    if not all(isinstance(method, s.Attribute) and method.attribute in seeding for method in methods):
        return False
    called = [method.parent for method in methods if method is not None]
    made = [part for part in alternatives(assign.value) if isinstance(part, s.Call)] if assign.value else []
    seeded = [call for call in made if not _is_fresh(module, call)]
    return any(isinstance(call, s.Call) and call.arguments for call in [*called, *seeded])


def _reads(module: Module, target: s.Name | s.Attribute) -> Sequence[s.Name | s.Attribute]:
    if isinstance(target, s.Attribute):
        return [node for node in module.attributes(target.attribute) if not node.stored]
    scope = target.scope.find(target.id)
    return module.reads(scope, target.id) if scope is not None else []


def _is_fresh(module: Module, made: s.Call) -> bool:
    """Return whether a call makes a generator of torch, which only a method can seed."""
    return module.callee(made) == {"torch.Generator"}


def _beside(module: Module, assign: s.Assign, target: s.Name | s.Attribute, library: str) -> list[s.Call]:
    """Return the calls that draw from the global generator and could draw from this one, in source order.

    They come after the generator in its function, or are in the methods of its class. Return an empty list if the
    global generator is seeded there too.
    """
    around: s.Node | None = module.function_of(assign)
    if isinstance(target, s.Attribute):
        around = class_of(around) if around is not None else None
    elif around is None and module.class_of(assign) is None:
        around = module.file
    calls = [part for part in s.walk(around) if isinstance(part, s.Call)] if around is not None else []
    if any(_seeds(module, call, library) for call in calls):
        return []
    if isinstance(target, s.Name):
        calls = [call for call in calls if call.order > assign.order]
    if isinstance(around, s.File):  # draws in functions may run before, and other files may use what is made here
        calls = [call for call in calls if module.function_of(call) is None]
    return sorted((call for call in calls if _draws(module, call, library)), key=lambda call: call.order)


def _seeds(module: Module, call: s.Call, library: str) -> bool:
    """Return whether a call seeds a global generator, or calls a function whose name says so."""
    names, word = module.catalogue.names, last_word(call.function)
    if not module.callee(call).isdisjoint(_seeders(module.catalogue, library)):
        return True
    apart = not isinstance(call.parent, s.ExpressionStatement) or word in names("randomness", "object", key="seeding")
    apart = apart or any(other in word.lower() for other in names("randomness", "hint", key="apart"))
    return not apart and any(hint in word.lower() for hint in names("randomness", "hint"))


def _draws(module: Module, call: s.Call, library: str) -> bool:
    """Return whether a call draws from a global generator and could draw from another."""
    rows, made_by = _taking(module.catalogue, library)
    names = module.callee(call)
    if not names and all(isinstance(value, s.Call) for value in module.values(call.function) or ()):
        made = [each for each in origins(module, call.function) if isinstance(each, s.Call)]
        names = frozenset(made_by.get(name, "") for each in made for name in module.callee(each))
    found = [[row for row in rows.get(name, ()) if _applies(module, call, row)] for name in names]
    return bool(found) and all(found)


def _applies(module: Module, call: s.Call, row: Row) -> bool:
    return applies(module, call, row.list("when"), row.list("unless"))


def _is_bound(assign: s.Assign, target: s.Name | s.Attribute, drawn: Sequence[s.Call]) -> bool:
    """Return whether a variable is bound wherever one of the calls runs."""
    block = block_of(assign)
    return isinstance(target, s.Name) and all(any(a is block for a in call.ancestors()) for call in drawn)


def _fix(module: Module, name: str, drawn: Sequence[s.Call]) -> Fix | None:
    changes = [edits.argument(module, call, "generator", name) for call in drawn]
    return edits.fix(f"Pass `generator={name}`", *changes, safety=Safety.UNSAFE)


@cache
def _seeders(catalogue: Catalogue, library: str) -> frozenset[str]:
    rows = catalogue.rows("randomness", "seeder")
    return frozenset(name for row in rows if library in row.list("seeds") for name in row.list("names"))


@cache
def _taking(catalogue: Catalogue, library: str) -> tuple[Mapping[str, Sequence[Row]], Mapping[str, str]]:
    """Return rows by the names of calls that draw from a library's global generator but can take another; and a mapping
    of the functions that make callable objects of that kind to the names of these.
    """
    found: dict[str, list[Row]] = {}
    for row in catalogue.rows("randomness", "consumer"):
        own = row.text("kind") == "call" and library in ("numpy", "python") and row.text("generator") == library
        if own or (library in row.list("generator") and "generator" in row.list("unless") and not row.text("weights")):
            for name in row.list("names"):
                found.setdefault(name, []).append(row)
    makers = [row for row in catalogue.rows("program", "role") if row.text("gives") in found]
    return found, {name: row.text("gives") for row in makers for name in row.list("names")}

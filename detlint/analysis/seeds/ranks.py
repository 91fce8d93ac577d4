"""Programs that run as several processes, one for each rank: what each rank runs, and what depends on the rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from detlint.analysis.training.contexts import function_around
from detlint.analysis.values.conditions import applies, holds
from detlint.semantics.model import Module
from detlint.tree import syntax as s
from detlint.tree.scopes import class_of, reaching

_DEPTH = 4
_SEEDERS = re.compile(r"(set|fix|setup|init|manual)_(\w+_)?seeds?|seed_(everything|all)")
_FIRST = re.compile(r"(?i)rank|main_?proc|master|process_index|is_primary|coordinator")


def depends_on_rank(module: Module, node: s.Expression, depth: int = _DEPTH) -> bool:
    """Return whether a value depends on the rank of the process, as far as names show."""
    names = module.catalogue.names("ranks", "rank")
    words = [re.compile(word) for word in module.catalogue.names("ranks", "rank", "words")]
    for part in s.walk(node):
        if isinstance(part, s.Call) and module.callee(part) and module.callee(part) <= names:
            return True
        if any(word.search(_word(part).lstrip("_")) for word in words):
            return True
        values: list[s.Expression | None] = []
        if isinstance(part, s.Name) and not part.stored and depth:
            values += [b.value for b in reaching(part) or () if b.kind == "assign" and not b.path]
        elif isinstance(part, s.Attribute) and not part.stored and depth:
            owner = module.owner(part.value)
            values += module.attribute_values(owner, part.attribute) if owner is not None else []
        if any(value is not None and depends_on_rank(module, value, depth - 1) for value in values):
            return True
    return False


def _word(node: s.Node) -> str:
    if isinstance(node, s.Constant):
        return node.value if isinstance(node.value, str) else ""
    return node.id if isinstance(node, s.Name) else node.attribute if isinstance(node, s.Attribute) else ""


def runs_on_all_ranks(module: Module, node: s.Node, depth: int = _DEPTH) -> bool:
    """Return whether a program runs `node` on each of its ranks: after what joins them, under no test of the rank.

    False where the result may be passed from one rank to the others.
    """
    function = function_around(node)
    own = [call for call in module.calls if function_around(call) is function]
    if depth == 0 or _is_picked(node, function) or exchange(module, own):
        return False
    earlier = [call for call in own if call.order < node.order]
    if any(_joins(module, call) for call in earlier):
        return True
    if function is None:
        return False
    klass = class_of(function)
    called: s.Function | s.Class = klass if klass is not None and function.name == "__init__" else function
    calls = module.calls_to({module.qualified(called)})
    return any(runs_on_all_ranks(module, call, depth - 1) for call in calls if function_around(call) is not function)


def _joins(module: Module, call: s.Call, depth: int = 2) -> bool:
    """Return whether a call joins the processes of a run, by itself or in a function of this file."""
    callee = module.callee(call)
    for row in module.catalogue.rows("ranks", "start"):
        if callee and callee <= set(row.list("names")):
            return not any(holds(module, call, condition) for condition in row.list("unless"))
    own = [module.functions[name] for name in callee if name in module.functions]
    if own:
        return depth > 0 and any(
            _joins(module, node, depth - 1) for each in own for node in s.walk(each.body) if isinstance(node, s.Call)
        )
    return any(re.search(word, _word(call.function)) for word in module.catalogue.names("ranks", "start", "words"))


def _is_picked(node: s.Node, function: s.Function | None) -> bool:
    """Return whether a test of the rank inside `function` decides whether `node` runs."""
    below: s.Node = node
    for around in node.ancestors():
        if around is function:
            return False
        test = around.test if isinstance(around, (s.If, s.While, s.Conditional)) else None
        if test is not None and below is not test and _asks_rank(test):
            return True
        if isinstance(around, s.Block) and below in around.statements:
            before = around.statements[: around.statements.index(below)]
            leaving = [one for one in before if isinstance(one, s.If) and _asks_rank(one.test)]
            if any(isinstance(last, s.Leave) for one in leaving for last in one.body.statements):
                return True
        below = around
    return False


def _asks_rank(test: s.Expression) -> bool:
    return any(_FIRST.search(_word(part)) for part in s.walk(test))


def exchange(module: Module, calls: Iterable[s.Call]) -> bool:
    """Return whether one of these calls passes what one rank has to the others."""
    methods = module.catalogue.names("ranks", "exchange", "methods")
    return any(_word(call.function) in methods for call in calls)


def seeded_by_rank(module: Module, node: s.Node, generator: str, depth: int = _DEPTH) -> s.Call | None:
    """Return the last call before `node` that seeds a global generator, if each rank gets another seed; else None."""
    function = function_around(node)
    for call in reversed(module.calls):
        if call.order < node.order and function_around(call) is function:
            ranked = _seeds(module, call, generator)
            if ranked is not None:
                return call if ranked else None
    if function is None or depth == 0:
        return None
    calls = (call for call in module.calls_to({module.qualified(function)}) if function_around(call) is not function)
    return next((found for call in calls if (found := seeded_by_rank(module, call, generator, depth - 1))), None)


def _seeds(module: Module, call: s.Call, generator: str, depth: int = 2) -> bool | None:
    """Return whether a call seeds by rank; None where it does not seed `generator`, as far as tables and names show."""
    callee = module.callee(call)
    own = [module.functions[name] for name in callee if name in module.functions]
    if own and depth:
        inner = [node for each in own for node in s.walk(each.body) if isinstance(node, s.Call)]
        if True in (_seeds(module, each, generator, depth - 1) for each in inner):
            return True
    for row in module.catalogue.rows("ranks", "ranked"):
        if callee and callee <= set(row.list("names")) and applies(module, call, row.list("when"), row.list("unless")):
            return True
    rows = [row for row in module.catalogue.rows("randomness", "seeder") if callee and callee <= set(row.list("names"))]
    if rows and not any(generator in row.list("seeds") for row in rows):
        return None
    if not rows and not _SEEDERS.fullmatch(_word(call.function)):
        return None
    if not rows and isinstance(call.function, s.Attribute) and call.function.attribute == "manual_seed":
        return None  # of a generator object
    return any(depends_on_rank(module, argument.value) for argument in call.arguments)


def seeds_of(module: Module, node: s.Expression) -> Iterator[s.Expression]:
    """Yield the seeds of the generators that an expression may be, or the expression itself where it makes none."""
    for value in module.values(node) or [node]:
        made = module.callee(value) if isinstance(value, s.Call) else frozenset[str]()
        method = value.function if isinstance(value, s.Call) else None
        seeded = isinstance(method, s.Attribute) and method.attribute == "manual_seed"
        if isinstance(value, s.Call) and (seeded or made == {"detlint.runtime.make_generator"}):
            yield from (argument.value for argument in value.arguments)
        elif made != {"torch.Generator"}:
            yield value
    scope = node.scope.find(node.id) if isinstance(node, s.Name) else None
    for read in module.reads(scope, node.id) if scope is not None and isinstance(node, s.Name) else ():
        attribute = read.parent
        if isinstance(attribute, s.Attribute) and attribute.attribute == "manual_seed" and read.order < node.order:
            call = attribute.parent
            yield from (argument.value for argument in call.arguments) if isinstance(call, s.Call) else ()

"""DET506: kernels that are chosen by timing them."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.seeds.environment import harmless, writes
from detlint.analysis.values.conditions import applies
from detlint.analysis.values.operations import operation
from detlint.catalogue import Row, Rule
from detlint.checks import switches
from detlint.finding import Finding, Operation
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Find switches, variables and options that turn on autotuning, and autotuned kernels whose sums depend on it."""
    yield from switches.check(module, rule)
    for table, find in (
        ("environment", _variables),
        ("switch", _options),
        ("switch", _methods),
        ("autotuner", _kernels),
    ):
        for row in module.catalogue.rows_of("switches", table, rule.code):
            if row.holds_for(module.torch):
                for node, switch, setting in find(module, row):
                    unless = harmless(module, row, node)
                    asked = Operation(row.id)
                    if isinstance(node, s.Call) and table != "environment":
                        asked = operation(module, node, row)
                    yield module.finding(rule, node, unless=unless, operation=asked, switch=switch, setting=setting)


def _variables(module: Module, row: Row) -> Iterator[tuple[s.Node, str, str]]:
    for write in writes(module):
        values = module.constants(write.value) if write.variable == row.text("variable") else None
        if values and all(str(value) in row.list("bad") for value in values):
            yield write.node, write.variable, f"{write.variable}={values[0]}"


def _options(module: Module, row: Row) -> Iterator[tuple[s.Node, str, str]]:
    """Yield the compilers that are given a switch of the row in their `options`."""
    names = {name.rpartition(".")[2] for name in row.list("names")}
    for call in module.calls_to(row.list("compilers")):
        for value in module.argument(call, "options").values:
            for name, values in (module.entries(value) or {}).items():
                if name in names and all(module.constants(each) == [True] for each in values):
                    switch = module.short(call.function)
                    yield call, switch, f"{switch}(options={{'{name}': True}})"


def _methods(module: Module, row: Row) -> Iterator[tuple[s.Node, str, str]]:
    """Yield calls of methods with the row's names, of any receiver, that are given the arguments by keyword."""
    for call in module.calls_like(words=row.list("methods")) if row.list("methods") else ():
        if isinstance(call.function, s.Attribute) and call.function.attribute in row.list("methods"):
            known = module.callee(call) & row.set("calls")
            if not known and applies(module, call, row.list("when"), row.list("unless")):
                yield call, module.short(call.function), module.short(call)


def _kernels(module: Module, row: Row) -> Iterator[tuple[s.Node, str, str]]:
    for call in module.calls_to(row.list("names")):
        kernel = call.parent
        if isinstance(kernel, s.Function) and _configurations(module, call) != 1:
            reduces = any(module.callee(node) & row.set("reductions") for node in _calls(kernel))
            if reduces or _changes_what_it_reads(module, row, call, kernel):
                switch = module.short(call.function)
                yield call, switch, f"@{switch}"


def _calls(kernel: s.Function) -> list[s.Call]:
    return [node for node in s.walk(kernel.body) if isinstance(node, s.Call)]


def _changes_what_it_reads(module: Module, row: Row, decorator: s.Call, kernel: s.Function) -> bool:
    """Return whether a kernel writes to memory that it has read, and that is not restored after each timing."""
    read, written = (_pointers(module, row, kernel, key) for key in ("reads", "writes"))
    restored = [value for key in row.list("restoring") for value in module.argument(decorator, key).values]
    kept = {str(part.value) for value in restored for part in s.walk(value) if isinstance(part, s.Constant)}
    return not (read & written) <= kept


def _pointers(module: Module, row: Row, kernel: s.Function, key: str) -> set[str]:
    """Return the parameters of a kernel in the addresses that some of its calls are given."""
    calls = [call for call in _calls(kernel) if module.callee(call) & row.set(key) and call.arguments]
    named = {part.id for call in calls for part in s.walk(call.arguments[0].value) if isinstance(part, s.Name)}
    return named & {parameter.name for parameter in kernel.parameters}


def _configurations(module: Module, call: s.Call) -> int | None:
    """Return how many configurations an autotuner is given; None if that is unknown."""
    lists = [value for given in module.argument(call, "configs").values for value in module.values(given) or [given]]
    lengths = {len(value.elements) if isinstance(value, s.Collection) else None for value in lists}
    return lengths.pop() if len(lengths) == 1 else None

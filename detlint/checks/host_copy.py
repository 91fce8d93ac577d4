"""DET404: copies to the host that are read before the GPU has made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from detlint.analysis.contexts import may_be_on_gpu, shown
from detlint.analysis.locals import Local
from detlint.analysis.operations import operation
from detlint.analysis.uses import Effect, Uses
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Copies made with `non_blocking=True` whose first use on every path is a read, with nothing between that may wait.

    What is called between may wait unless it is one of the page's `free` names, or only has the GPU do something.
    """
    uses = Uses(module, rule.data["libraries"])
    bound: dict[tuple[Scope, str], dict[s.Node, s.Call]] = defaultdict(dict)
    for call in module.calls_giving(("non_blocking",)):
        if not _copies_to_host(call) or not may_be_on_gpu(module, call):
            continue
        use = uses.of(call)
        if use.effect is Effect.READS and not _is_queued(rule, use.node):
            yield _finding(module, rule, call, use.node)
        elif use.effect is Effect.BINDS and isinstance(use.node, s.Name):
            scope = use.node.scope.find(use.node.id)
            if scope is not None and scope.kind in ("module", "function"):
                bound[scope, use.node.id][next(a for a in use.node.ancestors() if isinstance(a, s.Assign))] = call
    for (scope, name), events in bound.items():
        held = Local(module, uses, scope, name, events, False, fills=lambda call: _may_wait(module, rule, call))
        for call, (read, certain) in held.reads().items():
            if certain and not _is_queued(rule, read):
                yield _finding(module, rule, call, read)


def _copies_to_host(call: s.Call) -> bool:
    """Whether a call is `x.to("cpu", non_blocking=True)`, in any order."""
    if not isinstance(call.function, s.Attribute) or call.function.attribute != "to":
        return False
    given = {a.keyword or "device": literal(a.value) for a in call.arguments[:1] if not a.star}
    given |= {a.keyword: literal(a.value) for a in call.arguments if a.keyword}
    return given.get("device") == "cpu" and given.get("non_blocking") is True


def _is_queued(rule: Rule, node: s.Node) -> bool:
    """Whether what reads a copy is something that the GPU does in its turn, after the copy."""
    calls = [part for part in s.walk(node) if isinstance(part, s.Call) and not _copies_to_host(part)]
    functions = [call.function for call in calls if isinstance(call.function, s.Attribute)]
    return any(function.attribute in rule.data["queued"] for function in functions)


def _may_wait(module: Module, rule: Rule, call: s.Call) -> bool:
    """Whether a call may wait for the GPU: anything that is not known to leave it alone."""
    if _copies_to_host(call):
        return False
    names = module.callee(call)
    if names & {*rule.data["waits"]}:
        return True
    return not names or not all(name in rule.data["free"] or name.startswith(("torch.", "time.")) for name in names)


def _finding(module: Module, rule: Rule, call: s.Call, read: s.Node) -> Finding:
    row = module.catalogue.row("ops", "op", rule.data["row"])
    return module.finding(
        rule,
        call,
        related=[(read, "read here; nothing has waited for the copy")],
        fix=_fix(module, call),
        operation=operation(module, call, row),
        call=shown(module, call),
    )


def _fix(module: Module, call: s.Call) -> Fix | None:
    """The copy that waits: `x.cpu()` where nothing else is asked for."""
    assert isinstance(call.function, s.Attribute)
    alone = len(call.arguments) == 2
    change = (
        edits.replaced(module, call, edits.new("{tensor}.cpu()", tensor=call.function.value))
        if alone
        else edits.argument(module, call, "non_blocking", "False")
    )
    return edits.fix("Wait for the copy", change)

"""DET404: copies between host and GPU that run later, and memory that is read or written before they have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from detlint.analysis.memory.locals import Local
from detlint.analysis.memory.uses import Effect, Use, Uses
from detlint.analysis.training.contexts import may_be_on_gpu, shown
from detlint.analysis.values.operations import operation
from detlint.analysis.values.tensors import is_on_cpu
from detlint.catalogue import Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix
from detlint.semantics.model import Module
from detlint.semantics.values import literal
from detlint.tree import syntax as s
from detlint.tree.scopes import Scope


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each copy with `non_blocking=True` that every path reads before anything may wait for it.

    For a page-locked buffer that is copied to the GPU, the first write counts instead. A call in between may wait
    unless it is one of the rule's `free` names, or only gives work to the GPU.
    """
    uses = Uses(module, rule.data["libraries"])
    bound: dict[tuple[Scope, str], dict[s.Node, s.Call]] = defaultdict(dict)
    sent: dict[tuple[Scope, str], dict[s.Node, s.Call]] = defaultdict(dict)
    for call in module.calls_giving(("non_blocking",)):
        for buffers, buffer in ((bound, _filled(module, call)), (sent, _sent(call))):
            scope = buffer.scope.find(buffer.id) if buffer is not None and _is_locked(module, buffer) else None
            if buffer is not None and scope is not None and scope.kind in ("module", "function"):
                buffers[scope, buffer.id][call] = call
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
        for call, read in held.reads().items():
            if read.certain and not _is_queued(rule, read.node):
                yield _finding(module, rule, call, read.node)
    for (scope, name), events in sent.items():
        writes = _Writes(module, rule.data["libraries"])
        held = Local(module, writes, scope, name, events, False, fills=lambda call: _may_wait(module, rule, call))
        for call, write in held.reads().items():
            if write.certain:
                yield _finding(module, rule, call, write.node, "written")


class _Writes(Uses):
    """The uses of memory that a copy still reads: a write comes too early, a read does no harm."""

    def of(self, node: s.Expression, runs: bool = False) -> Use:
        use = super().of(node, runs)
        turned = {Effect.FILLS: Effect.READS, Effect.STORES: Effect.READS, Effect.READS: Effect.NOTHING}
        return Use(turned.get(use.effect, use.effect), use.node)


def _filled(module: Module, call: s.Call) -> s.Name | None:
    """Return the buffer `b` of `b.copy_(x, non_blocking=True)` whose `x` may be on a GPU; None for any other call."""
    function = call.function
    owner = function.value if isinstance(function, s.Attribute) and function.attribute == "copy_" else None
    if not isinstance(owner, s.Name) or not _does_not_block(call):
        return None
    given = call.arguments[0]
    elsewhere = given.keyword is None and not given.star and not is_on_cpu(module, given.value)
    return owner if elsewhere else None


def _sent(call: s.Call) -> s.Name | None:
    """Return the buffer `b` of `b.to(device, non_blocking=True)`, `b.cuda(non_blocking=True)` or `x.copy_(b, ...)`."""
    function = call.function
    if not isinstance(function, s.Attribute) or not _does_not_block(call) or _copies_to_host(call):
        return None
    given = function.value if function.attribute in ("to", "cuda") else None
    if function.attribute == "copy_" and call.arguments and call.arguments[0].keyword is None:
        given = call.arguments[0].value
    return given if isinstance(given, s.Name) else None


def _does_not_block(call: s.Call) -> bool:
    return any(a.keyword == "non_blocking" and literal(a.value) is True for a in call.arguments)


def _is_locked(module: Module, buffer: s.Name) -> bool:
    """Return whether a variable surely holds page-locked memory of the host."""
    values = module.values(buffer) or []
    return bool(values) and all(isinstance(value, s.Call) and _locks(module, value) for value in values)


def _locks(module: Module, call: s.Call) -> bool:
    if isinstance(call.function, s.Attribute) and call.function.attribute == "pin_memory":
        return True
    made = any(name.startswith("torch.") for name in module.callee(call))
    return made and any(a.keyword == "pin_memory" and literal(a.value) is True for a in call.arguments)


def _copies_to_host(call: s.Call) -> bool:
    """Return whether a call is `x.to("cpu", non_blocking=True)`, with its arguments in any order."""
    if not isinstance(call.function, s.Attribute) or call.function.attribute != "to":
        return False
    given = {a.keyword or "device": literal(a.value) for a in call.arguments[:1] if not a.star}
    given |= {a.keyword: literal(a.value) for a in call.arguments if a.keyword}
    return given.get("device") == "cpu" and given.get("non_blocking") is True


def _is_queued(rule: Rule, node: s.Node) -> bool:
    """Return whether the GPU carries out what reads a copy in its queue, after the copy."""
    calls = [part for part in s.walk(node) if isinstance(part, s.Call) and not _copies_to_host(part)]
    functions = [call.function for call in calls if isinstance(call.function, s.Attribute)]
    return any(function.attribute in rule.data["queued"] for function in functions)


def _may_wait(module: Module, rule: Rule, call: s.Call) -> bool:
    """Return whether a call may wait for the GPU: any call that is not known to leave it alone."""
    if _copies_to_host(call):
        return False
    names = module.callee(call)
    if names & {*rule.data["waits"]}:
        return True
    return not names or not all(name in rule.data["free"] or name.startswith(("torch.", "time.")) for name in names)


def _finding(module: Module, rule: Rule, call: s.Call, use: s.Node, used: str = "read") -> Finding:
    row = module.catalogue.row("ops", "op", rule.data["row"])
    return module.finding(
        rule,
        call,
        related=[(use, f"{used} here; nothing has waited for the copy")],
        fix=_fix(module, call),
        operation=operation(module, call, row) if used == "read" else None,
        call=shown(module, call),
        problem=rule.data["problems"][used],
    )


def _fix(module: Module, call: s.Call) -> Fix | None:
    """Return the fix that makes the copy wait: `x.cpu()` where no other argument is given."""
    assert isinstance(call.function, s.Attribute)
    alone = len(call.arguments) == 2 and _copies_to_host(call)
    change = (
        edits.replaced(module, call, edits.new("{tensor}.cpu()", tensor=call.function.value))
        if alone
        else edits.argument(module, call, "non_blocking", "False")
    )
    return edits.fix("Wait for the copy", change)

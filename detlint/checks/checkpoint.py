"""DET701: a checkpoint to resume from that keeps the optimizer's state but no random state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.analysis.checkpoints import Checkpoints, Resumed
from detlint.analysis.savers import kept
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.facts.tests import holds_tests
from detlint.finding import Edit, Finding, Fix, Safety
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Checkpoints that the file saves and resumes from, where training draws and nothing restores the generators."""
    checkpoints = Checkpoints(module)
    objects = list(kept(checkpoints))
    if not (checkpoints.resumed or objects) or checkpoints.keeps_states or checkpoints.seeds_anew:
        return
    if holds_tests(module):
        return
    if checkpoints.resumed and checkpoints.draws is not False:
        yield from _of_dicts(rule, checkpoints)
    for each in objects:
        draws = True if each.row.text("draws") else checkpoints.draws
        if draws is not False:
            calls = [resumed.call for resumed in each.resumed]
            resumed = None if each.node in calls else calls[0]
            fix = None if each.saved is None else _fix(module, each.saved, each.resumed, checkpoints.has_ranks)
            lowered = draws is None or each.row.text("level") == "note"
            yield _finding(module, rule, each.node, resumed, lowered, fix, each.row)


def _of_dicts(rule: Rule, checkpoints: Checkpoints) -> Iterator[Finding]:
    module = checkpoints.module
    for saved in checkpoints.saved():
        resumed = [each for each in checkpoints.resumed if each.key in saved.optimizers]
        if resumed:
            fix = _fix(module, saved.node, resumed, checkpoints.has_ranks)
            yield _finding(module, rule, saved.node, resumed[0].call, checkpoints.draws is None, fix)


def _finding(
    module: Module,
    rule: Rule,
    node: s.Node,
    resumed: s.Call | None,
    lowered: bool,
    fix: Fix | None = None,
    row: Row | None = None,
) -> Finding:
    """A finding as the page words it, or as a row of a library does."""
    related = [] if resumed is None else [(resumed, "the run is resumed here")]
    problem, remedy = ((row and row.text(key)) or rule.data[key] for key in ("problem", "remedy"))
    return module.finding(rule, node, related=related, lowered=lowered, fix=fix, problem=problem, remedy=remedy)


def _fix(module: Module, saved: s.Dictionary | s.Call, resumed: Sequence[Resumed], has_ranks: bool) -> Fix | None:
    """Save the random state with the rest, and restore it wherever the optimizer's is."""
    last = {(id(_block(each.call)), each.loaded and module.source(each.loaded)): each for each in resumed}
    return edits.fix(
        "Save and restore the random state",
        _entry(module, saved),
        *(_restored(module, each) for each in last.values()),
        # one process's state would be given to all, as by those that take objects: they work in several
        safety=Safety.DISPLAY if has_ranks or any(each.entry is None for each in resumed) else Safety.UNSAFE,
        imports=edits.runtime(module, "rng_state", "set_rng_state"),
    )


def _block(node: s.Node) -> s.Node | None:
    return next((a for a in node.ancestors() if isinstance(a, s.Block)), None)


def _entry(module: Module, node: s.Dictionary | s.Call) -> Edit | None:
    """One more entry after the last one, quoted as the first one is."""
    if isinstance(node, s.Call):
        return edits.last(module, node, "rng_state=rng_state()")
    return edits.entry(module, node, _quoted(module, node.keys[0] if node.keys else None), "rng_state()")


def _quoted(module: Module, key: s.Node | None) -> str:
    """The new key, quoted as another one is."""
    quote = module.source(key)[:1] if key is not None else ""
    return "'rng_state'" if quote == "'" else '"rng_state"'


def _restored(module: Module, resumed: Resumed) -> Edit | None:
    """The state restored on the lines after the statement that loads the optimizer's; None where there is no room."""
    statement = resumed.call.parent
    if resumed.entry is None:
        if not isinstance(statement, s.Assign):
            return None
    elif not isinstance(statement, s.ExpressionStatement) or resumed.entry is not resumed.call.arguments[0].value:
        return None
    if resumed.loaded is None:
        return None
    restored = edits.new(
        "if {key} in {loaded}:\n    set_rng_state({loaded}[{key}])",
        key=_quoted(module, _key(resumed.entry)),
        loaded=resumed.loaded,
    )
    return edits.behind(module, statement, restored)


def _key(entry: s.Node | None) -> s.Node | None:
    """The key of a subscript, or the first argument of `get`."""
    if isinstance(entry, s.Subscript):
        return entry.indices[0]
    return entry.arguments[0].value if isinstance(entry, s.Call) else None

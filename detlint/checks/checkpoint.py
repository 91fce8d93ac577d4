"""DET701: a checkpoint to resume from that keeps the optimizer's state but no random state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from detlint.analysis.resuming.checkpoints import WHOLE, Checkpoints, Resumed, Saved
from detlint.analysis.resuming.left_out import left_out
from detlint.analysis.resuming.loop_counts import loop_counts
from detlint.analysis.resuming.lost_states import lost_states
from detlint.analysis.resuming.own_counts import own_counts
from detlint.analysis.resuming.resumption import draws, has_ranks, keeps_states, seeds_anew
from detlint.analysis.resuming.savers import kept
from detlint.analysis.resuming.templates import templates
from detlint.catalogue import Row, Rule
from detlint.editing import edits
from detlint.facts.mentions import names_needed
from detlint.facts.tests import holds_tests
from detlint.finding import Edit, Finding, Fix, Safety
from detlint.questions import DrawsInTraining, Resumes
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Find checkpoints that programs save and resume from, where training draws and nothing restores the generators."""
    if holds_tests(module):
        return
    yield from lost_states(module, rule)
    yield from left_out(module, rule)
    yield from own_counts(module, rule)
    yield from loop_counts(module, rule)
    yield from templates(module, rule)
    checkpoints = Checkpoints(module)
    saved, objects = list(checkpoints.saved()), list(kept(checkpoints))
    if not (saved or objects) or keeps_states(module) or seeds_anew(module) or draws(module) is False:
        return
    for each in saved:
        yield from _of_dict(rule, checkpoints, each)
    for one in objects:
        calls = [resumed.call for resumed in one.resumed]
        resumed = None if one.node in calls else calls[0]
        fix = None if one.saved is None else _fix(module, one.saved, one.resumed)
        asked = Resumes(module.path, (), known=True)
        yield _finding(module, rule, one.node, resumed, fix, one.row, asked)


def _of_dict(rule: Rule, checkpoints: Checkpoints, saved: Saved) -> Iterator[Finding]:
    """Yield the finding for a saved dict; what the file does not show about it, the project knows."""
    module = checkpoints.module
    resumed = [each for each in checkpoints.resumed if each.key in saved.optimizers]
    if saved.bare and not any(checkpoints.reads(each, saved) for each in resumed):
        return
    known = bool(resumed) and saved.whole and not saved.given
    path, function, _ = module.point(saved.node)
    resuming = min((names_needed(module, each.call) for each in resumed), key=len, default=())
    asked = Resumes(path, tuple(sorted(saved.optimizers)), known, function, resuming)
    fix = _fix(module, saved.node, resumed) if resumed and saved.whole and WHOLE not in saved.optimizers else None
    yield _finding(module, rule, saved.node, resumed[0].call if resumed else None, fix, only_if=asked)


def _finding(
    module: Module,
    rule: Rule,
    node: s.Node,
    resumed: s.Call | None,
    fix: Fix | None = None,
    row: Row | None = None,
    only_if: Resumes | None = None,
) -> Finding:
    """Return a finding in the words of the page, or of the row of a library."""
    related = [] if resumed is None else [(resumed, "the run is resumed here")]
    problem, remedy = ((row and row.text(key)) or rule.data[key] for key in ("problem", "remedy"))
    full = None if draws(module) or (row and row.text("draws")) else DrawsInTraining(module.path)
    return module.finding(
        rule,
        node,
        related=related,
        lowered=row is not None and row.text("level") == "note",
        fix=fix,
        only_if=only_if,
        full_if=full,
        problem=problem,
        because=rule.data["draws"],
        remedy=remedy,
    )


def _fix(module: Module, saved: s.Dictionary | s.Call, resumed: Sequence[Resumed]) -> Fix | None:
    """Return a fix that saves the random state with the rest, and restores it where the optimizer's is restored."""
    last = {(id(_block(each.call)), each.loaded and module.source(each.loaded)): each for each in resumed}
    return edits.fix(
        "Save and restore the random state",
        _entry(module, saved),
        *(_restored(module, each) for each in last.values()),
        # all ranks would get one process's state; and libraries that take objects run in several processes
        safety=Safety.DISPLAY if has_ranks(module) or any(each.entry is None for each in resumed) else Safety.UNSAFE,
        imports=edits.runtime(module, "rng_state", "set_rng_state"),
    )


def _block(node: s.Node) -> s.Node | None:
    return next((a for a in node.ancestors() if isinstance(a, s.Block)), None)


def _entry(module: Module, node: s.Dictionary | s.Call) -> Edit | None:
    """Return an edit that adds an entry after the last one, quoted as the first one is."""
    if isinstance(node, s.Call):
        return edits.last(module, node, "rng_state=rng_state()")
    return edits.entry(module, node, _quoted(module, node.keys[0] if node.keys else None), "rng_state()")


def _quoted(module: Module, key: s.Node | None) -> str:
    """Return the new key, quoted as another one is."""
    quote = module.source(key)[:1] if key is not None else ""
    return "'rng_state'" if quote == "'" else '"rng_state"'


def _restored(module: Module, resumed: Resumed) -> Edit | None:
    """Return an edit that restores the state after the optimizer's is loaded; None if there is no room for it."""
    if resumed.loaded is None or resumed.statement is None:
        return None
    restored = edits.new(
        "if {key} in {loaded}:\n    set_rng_state({loaded}[{key}])",
        key=_quoted(module, _key(resumed.entry)),
        loaded=resumed.loaded,
    )
    return edits.behind(module, resumed.statement, restored)


def _key(entry: s.Node | None) -> s.Node | None:
    """Return the key of a subscript, or the first argument of a call of `get`; None for anything else."""
    if isinstance(entry, s.Subscript):
        return entry.indices[0]
    return entry.arguments[0].value if isinstance(entry, s.Call) else None

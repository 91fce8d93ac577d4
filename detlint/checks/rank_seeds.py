"""DET702: values that must be alike on all ranks of a distributed run, drawn by each from a stream of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from detlint.analysis.seeds.ranks import depends_on_rank, runs_on_all_ranks, seeded_by_rank, seeds_of
from detlint.analysis.seeds.shares import drawn_shares
from detlint.analysis.values.conditions import applies, holds
from detlint.catalogue import Row, Rule
from detlint.finding import Finding
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for draws that must be alike on all ranks, and for shares of what each rank draws for itself."""
    yield from _seeds(module, rule)
    for share in drawn_shares(module):
        called, remedy = module.short(share.draw.function), share.row.text("remedy")
        related = [(share.taken, "each rank takes its share here of what it has drawn for itself")]
        found = module.finding(rule, share.draw, related=related, lowered=True, call=called, reason="", remedy=remedy)
        yield replace(found, message=rule.data["shared"].format(call=called))


def _seeds(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield findings for splits and samplers whose seed depends on the rank, and for splits that no rank seeds."""
    for row in module.catalogue.rows("ranks", "alike"):
        for call in module.calls_to(row.list("names")):
            harmless = any(holds(module, call, condition) for condition in row.list("never"))
            if harmless or not applies(module, call, row.list("when"), ()):
                continue
            called, remedy = module.short(call.function), row.text("remedy")
            by_rank = _by_rank(module, row, call)
            if by_rank is not None:
                reason = "its seed depends on the rank"
                related = [(by_rank, "each rank seeds with another number here")]
                yield module.finding(
                    rule, call, related=related, lowered=True, call=called, reason=reason, remedy=remedy
                )
            elif _is_unseeded(module, row, call):
                reason = "no rank seeds what it draws from"
                asked = module.unseeded(row.text("generator"), call)
                yield module.finding(rule, call, only_if=asked, call=called, reason=reason, remedy=remedy)


def _by_rank(module: Module, row: Row, call: s.Call) -> s.Expression | None:
    """Return the expression that makes the seed of a call differ by rank; None if there is none."""
    passed = module.argument(call, row.text("parameter"))
    on_ranks = row.text("kind") == "sampler" or runs_on_all_ranks(module, call)
    if not on_ranks or (passed.given is None and not passed.values):
        return None
    if passed.values:
        seeds = [seed for value in passed.values for seed in seeds_of(module, value)]
        return next((seed for seed in seeds if depends_on_rank(module, seed)), None)
    return seeded_by_rank(module, call, row.text("generator")) if row.text("kind") == "split" else None


def _is_unseeded(module: Module, row: Row, call: s.Call) -> bool:
    """Return whether a split draws from the global generator on all ranks."""
    if row.text("kind") != "split" or holds(module, call, f"!{row.text('parameter')}") is not True:
        return False
    return runs_on_all_ranks(module, call)

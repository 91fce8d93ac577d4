"""DET202: a DataLoader with workers and without a worker_init_fn."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.analysis.seeds.generators import calls_for_item, held
from detlint.analysis.values.conditions import holds
from detlint.catalogue import Rule, includes
from detlint.editing import edits
from detlint.finding import Finding, Safety
from detlint.semantics.model import Module, Passed
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Yield a finding for each loader that certainly has workers and no function to seed them."""
    for call in module.calls_to(rule.data["loaders"]):
        if holds(module, call, "!worker_init_fn") is not True:
            continue
        if _has_workers(module, rule, module.argument(call, "num_workers")):
            drawn = _unseeded_draw(module, rule, call)
            text = rule.data["nothing"] if drawn is None else f", and its data set draws from `{module.short(drawn)}`"
            related = [] if drawn is None else [(drawn, "PyTorch does not seed this in a worker")]
            loader = module.short(call.function)
            fix = edits.fix(
                "Pass `worker_init_fn=seed_worker`",
                edits.argument(module, call, "worker_init_fn", "seed_worker"),
                safety=Safety.UNSAFE if _reaches(module, drawn) else Safety.DISPLAY,
                imports=edits.runtime(module, "seed_worker"),
            )
            yield module.finding(rule, call, related=related, lowered=drawn is None, fix=fix, loader=loader, draw=text)


def _reaches(module: Module, drawn: s.Expression | None) -> bool:
    """Return whether the runtime seeds what the dataset draws from: not held generators or unregistered libraries."""
    names = module.names(drawn) if drawn is not None else frozenset()
    return drawn is None or any(name.startswith("numpy.random.") for name in names)


def _has_workers(module: Module, rule: Rule, passed: Passed) -> bool:
    """Return whether the number of workers is certainly not 0: constants, or the number of processors."""
    workers = module.possible(passed)
    if workers is not None:
        return all(isinstance(number, int) and number > 0 for number in workers) and bool(workers)
    counts = [value for given in passed.values for value in module.values(given) or [given]]
    counted = all(
        isinstance(v, s.Call) and module.callee(v) and module.callee(v) <= set(rule.data["counts"]) for v in counts
    )
    return bool(counts) and passed.given is True and counted


def _unseeded_draw(module: Module, rule: Rule, loader: s.Call) -> s.Expression | None:
    """Return where a dataset class of this file draws from what PyTorch does not seed in a worker; None if nowhere."""
    passed = module.argument(loader, "dataset").values
    klass = module.owner(passed[0]) if len(passed) == 1 else None
    if klass is None:
        return None
    names = frozenset(rule.data["unseeded"])
    if includes(rule.data["numpy_unseeded"][0], module.torch):
        names |= module.catalogue.names("randomness", "consumer", generator="numpy", kind="call")
    own = held(module, klass)
    draws = [*(drawn for _, drawn in own), *(call.function for call in calls_for_item(module, klass, names))]
    return draws[0] if draws else None

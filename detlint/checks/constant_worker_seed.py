"""DET203: a worker_init_fn that gives every worker, or every epoch, the same stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from detlint.analysis.loaders.worker_seeds import WORKER, WorkerSeed, functions
from detlint.catalogue import Catalogue, Row, Rule
from detlint.editing import edits
from detlint.finding import Finding, Fix, Safety
from detlint.generators import GENERATORS
from detlint.semantics.model import Module
from detlint.tree import syntax as s


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Find the first seeding call of each worker_init_fn whose seed certainly lacks the worker, or the epoch."""
    seeders = _seeders(module.catalogue)
    told: set[s.Call] = set()
    for call in module.calls_giving(("worker_init_fn",)):
        given = module.argument(call, "worker_init_fn").values
        if not given or module.possible(module.argument(call, "num_workers")) == [0]:
            continue
        persistent = module.argument(call, "persistent_workers")
        renewed = module.possible(persistent) == [False] or (persistent.given is False and not persistent.values)
        for value in given:
            for function, bound in functions(module, value):
                seed = WorkerSeed(module, rule, function, bound)
                found: dict[str, s.Call] = {}
                for inner in (n for n in s.walk(function.body) if isinstance(n, s.Call)):
                    kinds = seed.of_call(inner, seeders)
                    if kinds is not None:
                        found.setdefault("epoch" if WORKER in kinds else "worker", inner)
                scope = "worker" if "worker" in found else "epoch"
                if scope in found and found[scope] not in told and (scope == "worker" or renewed):
                    told.add(found[scope])
                    related = [(value, "given to a loader here")]
                    name, lowered = module.short(found[scope]), scope == "epoch"
                    fix = _fix(module, value) if _only_seeds(module, function, seed, seeders) else None
                    yield module.finding(
                        rule, found[scope], related=related, lowered=lowered, fix=fix, call=name, scope=scope
                    )


@cache
def _seeders(catalogue: Catalogue) -> Mapping[str, str]:
    """Return the parameter of each function or class that takes the seed of a generator in host memory."""
    tables = [row for table in ("seeder", "generator") for row in catalogue.rows("randomness", table)]
    rows = [row for row in tables if row.text("parameter") and _is_global(row)]
    return {name: row.text("parameter") for row in rows for name in row.list("names")}


def _is_global(row: Row) -> bool:
    """Return whether a row is about a generator object, or about a global generator that the fix also seeds."""
    return not row.list("seeds") or not set(row.list("seeds")).isdisjoint(GENERATORS)


def _fix(module: Module, value: s.Expression) -> Fix | None:
    return edits.fix(
        "Pass `worker_init_fn=seed_worker`",
        edits.replaced(module, value, "seed_worker"),
        safety=Safety.UNSAFE,
        imports=edits.runtime(module, "seed_worker"),
    )


def _only_seeds(module: Module, function: s.Function, seed: WorkerSeed, seeders: Mapping[str, str]) -> bool:
    """Return whether a function does nothing but seed, so that another one may take its place."""
    for node in s.walk(function.body):
        if isinstance(node, (s.ExpressionStatement, s.Leave)):
            values = [node.value] if isinstance(node, s.ExpressionStatement) else node.values
            seeding = [
                isinstance(v, s.Call) and (seed.of_call(v, seeders) or module.callee(v) & seeders.keys())
                for v in values
            ]
            if not all(seeding[i] or isinstance(v, s.Constant) for i, v in enumerate(values)):
                return False
        elif isinstance(node, s.Assign):
            if not all(isinstance(target, s.Name) for target in node.targets):
                return False
        elif isinstance(node, s.Statement):
            return False
    return True

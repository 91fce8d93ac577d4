"""Triage by a file's words alone: whether a check may find anything in it. If not, the check is not even imported.

Each check named here depends on nothing but what its function here looks for; all other checks always run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from detlint.analysis.seeds.environment import may_write
from detlint.analysis.training.evaluations import may_evaluate
from detlint.catalogue import Rule
from detlint.semantics.model import Module


def may_find(module: Module, rule: Rule) -> bool:
    """Return whether the check of a rule may find anything in a file."""
    asked = _ASKED.get(rule.check)
    return asked is None or not module.narrows or asked(module, rule)


def _rows(file: str, table: str) -> Callable[[Module, Rule], bool]:
    """Return a function that checks whether calls of a file may match a row of a table."""
    return lambda module, _: bool(module.rows_like(file, table))


def _page(*lists: str) -> Callable[[Module, Rule], bool]:
    """Return a function that checks whether calls of a file may match names in lists of the rule's page."""
    return lambda module, rule: bool(module.calls_like([name for each in lists for name in rule.data[each]]))


def _environment(module: Module, _: Rule) -> bool:
    return may_write(module)


def _workspace(module: Module, rule: Rule) -> bool:
    return _environment(module, rule) or bool(module.rows_like("switches", "deterministic"))


def _completions(module: Module, _: Rule) -> bool:
    names = module.catalogue.names
    named = names("order", "completion") | names("order", "racing")
    methods = names("order", "completion", "methods") | names("order", "racing", "methods")
    ready = module.calls_like(named, words=methods.union(name.rpartition(".")[2] for name in named))
    return bool(ready) or module.speaks_of(names("randomness", "entropy", kind="value", of="clock"))


def _listings(module: Module, _: Rule) -> bool:
    names = module.catalogue.names
    methods = names("order", "path", "methods", id="methods") | names("order", "path", "methods", id="shared")
    return bool(module.calls_like(names("order", "listing"), words=methods))


def _ranks(module: Module, _: Rule) -> bool:
    return bool(module.rows_like("ranks", "alike") or module.rows_like("ranks", "permute"))


def _third_party(module: Module, _: Rule) -> bool:
    methods = module.catalogue.names("libraries", "method", "methods")
    made = module.rows_like("libraries", "draw") or module.rows_like("libraries", "element")
    kept = module.catalogue.names("libraries", "method", "made")  # objects that other files may use
    compiling = module.catalogue.names("program", "role", kind="compiles")
    return bool(made or module.calls_like(kept, words=methods) or module.speaks_of(compiling))


def _ties(module: Module, _: Rule) -> bool:
    named = module.catalogue.names("ties", "choice")
    return bool(module.calls_like(named, words={name.rpartition(".")[2] for name in named}))


def _generators(module: Module, rule: Rule) -> bool:
    return bool(module.calls_like(keywords=rule.data["factories"]) or module.rows_like("randomness", "generator"))


def _memory(module: Module, _: Rule) -> bool:
    registers = module.catalogue.names("memory", "owner", "registers")
    return bool(module.rows_like("memory", "allocator") or not module.words.isdisjoint(registers))


def _samplers(module: Module, _: Rule) -> bool:
    named = module.speaks_of(tuple(module.catalogue.names("program", "sampler")))
    return named or ("__iter__" in module.words and not module.words.isdisjoint(("epoch", "set_epoch")))


_ASKED: Mapping[str, Callable[[Module, Rule], bool]] = {
    "completion_order": _completions,
    "constant_worker_seed": lambda module, _: bool(module.calls_giving(("worker_init_fn",))),
    "directory_order": _listings,
    "dropout_on": _rows("dropout", "dropout"),
    "generator_seed": _generators,
    "hash_value": lambda module, _: bool(module.calls_like(("builtins.hash", "builtins.id"), keywords=("key",))),
    "host_copy": lambda module, _: bool(module.calls_giving(("non_blocking",))),
    "idle_generator": lambda module, rule: bool(module.calls_like(rule.data["makers"])),
    "kernel_atomics": _page("atomics", "compilers"),
    "late_environment": _environment,
    "library_draw": _rows("randomness", "consumer"),
    "library_seed": _rows("randomness", "seeder"),
    "loader_generator": _page("loaders"),
    "missing_switch": lambda module, rule: any(rule.data["word"][:4] in word for word in module.words),
    "rank_seeds": _ranks,
    "reduction_order": _rows("switches", "group"),
    "set_epoch": _samplers,
    "third_party_draw": _third_party,
    "ties": _ties,
    "training_mode": lambda module, rule: may_evaluate(module, rule.data["evaluating"]),
    "uninitialised": _memory,
    "worker_init": _page("loaders"),
    "workspace": _workspace,
}

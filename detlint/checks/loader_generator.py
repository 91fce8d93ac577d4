"""DET201: a DataLoader that shuffles without a generator of its own."""

from __future__ import annotations

from collections.abc import Iterator

from detlint.catalogue import Rule
from detlint.finding import Finding
from detlint.model import Module


def check(module: Module, rule: Rule) -> Iterator[Finding]:
    """Loaders that certainly have no generator and may shuffle."""
    for call in module.calls_to(rule.data["loaders"]):
        if module.argument(call, "generator").given is not False:
            continue
        shuffle = module.argument(call, "shuffle")
        if any(module.constants(value) and True in (module.constants(value) or ()) for value in shuffle.values):
            full = module.unseeded("torch", call)
            yield module.finding(rule, call, full_if=full, loader=module.short(call.function))

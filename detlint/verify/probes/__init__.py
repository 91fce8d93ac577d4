"""The probes by row of the catalogue."""

from __future__ import annotations

from detlint.verify.probe import Probe
from detlint.verify.probes import (
    draws,
    draws_layers,
    draws_numbers,
    draws_packages,
    fused_attention,
    geometry,
    graphs,
    indexing,
    loading,
    memory,
    order,
    other_packages,
    vision,
)

_MODULES = (
    indexing,
    draws,
    draws_layers,
    draws_numbers,
    draws_packages,
    memory,
    order,
    loading,
    graphs,
    vision,
    geometry,
    fused_attention,
    other_packages,
)

PROBES: dict[str, Probe] = {row: probe for module in _MODULES for row, probe in module.PROBES.items()}

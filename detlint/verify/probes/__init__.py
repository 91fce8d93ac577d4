"""The probes by row of the catalogue, and why a row has none."""

from __future__ import annotations

from importlib import import_module

from detlint.verify.probe import Probe

_NAMES = """
adaptive_pooling attention compiled convolution draws draws_layers draws_numbers draws_packages
fused_attention geometry graphs histograms indexing linear_algebra loading lookups losses memory
mixed_precision order other_packages own_kernels padding pooling products reductions resampling scans sparse
spectral streams ties vision
"""

_MODULES = [import_module(f"{__name__}.{name}") for name in _NAMES.split()]
PROBES: dict[str, Probe] = {row: probe for module in _MODULES for row, probe in module.PROBES.items()}
NOT_PROBED: dict[str, str] = {  # row -> why
    row: why for module in _MODULES for row, why in getattr(module, "NOT_PROBED", {}).items()
}

"""The probes by row of the catalogue, and the reasons why other rows have none."""

from __future__ import annotations

from importlib import import_module

from detlint.verify.probe import Probe

_NAMES = """
draws.layers draws.numbers draws.packages draws.tensors
layers.adaptive_pooling layers.attention layers.convolution layers.lookups layers.losses layers.padding layers.pooling
layers.resampling
packages.fused_attention packages.geometry packages.graphs packages.others packages.vision
programs.compiled programs.loading programs.memory programs.mixed_precision programs.order programs.own_kernels
programs.streams
tensors.histograms tensors.indexing tensors.linear_algebra tensors.products tensors.reductions tensors.scans
tensors.sparse tensors.spectral tensors.ties
"""

_MODULES = [import_module(f"{__name__}.{name}") for name in _NAMES.split()]
PROBES: dict[str, Probe] = {row: probe for module in _MODULES for row, probe in module.PROBES.items()}
NOT_PROBED: dict[str, str] = {  # row -> why
    row: why for module in _MODULES for row, why in getattr(module, "NOT_PROBED", {}).items()
}

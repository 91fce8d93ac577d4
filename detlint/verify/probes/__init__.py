"""The probes by row of the catalogue."""

from __future__ import annotations

from detlint.verify.probe import Probe
from detlint.verify.probes import (
    adaptive_pooling,
    attention,
    compiled,
    convolution,
    histograms,
    indexing,
    linear_algebra,
    lookups,
    losses,
    mixed_precision,
    own_kernels,
    padding,
    pooling,
    products,
    reductions,
    resampling,
    samplers,
    scans,
    sparse,
    spectral,
    streams,
    ties,
)

PROBES: dict[str, Probe] = {
    **adaptive_pooling.PROBES,
    **attention.PROBES,
    **compiled.PROBES,
    **convolution.PROBES,
    **histograms.PROBES,
    **indexing.PROBES,
    **linear_algebra.PROBES,
    **lookups.PROBES,
    **losses.PROBES,
    **mixed_precision.PROBES,
    **own_kernels.PROBES,
    **padding.PROBES,
    **pooling.PROBES,
    **products.PROBES,
    **reductions.PROBES,
    **resampling.PROBES,
    **samplers.PROBES,
    **scans.PROBES,
    **sparse.PROBES,
    **spectral.PROBES,
    **streams.PROBES,
    **ties.PROBES,
}
NOT_PROBED: dict[str, str] = {}  # row -> why

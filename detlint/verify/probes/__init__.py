"""The probes by row of the catalogue."""

from __future__ import annotations

from detlint.verify.probe import Probe
from detlint.verify.probes import (
    attention,
    compiled,
    convolution,
    indexing,
    linear_algebra,
    mixed_precision,
    own_kernels,
    products,
    scans,
    sparse,
    spectral,
    streams,
    ties,
)

PROBES: dict[str, Probe] = {
    **indexing.PROBES,
    **scans.PROBES,
    **ties.PROBES,
    **convolution.PROBES,
    **products.PROBES,
    **attention.PROBES,
    **sparse.PROBES,
    **linear_algebra.PROBES,
    **spectral.PROBES,
    **mixed_precision.PROBES,
    **streams.PROBES,
    **own_kernels.PROBES,
    **compiled.PROBES,
}

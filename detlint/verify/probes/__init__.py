"""The probes by row of the catalogue."""

from __future__ import annotations

from detlint.verify.probe import Probe
from detlint.verify.probes import (
    adaptive_pooling,
    histograms,
    indexing,
    lookups,
    losses,
    padding,
    pooling,
    reductions,
    resampling,
)

PROBES: dict[str, Probe] = {
    **indexing.PROBES,
    **lookups.PROBES,
    **pooling.PROBES,
    **adaptive_pooling.PROBES,
    **resampling.PROBES,
    **padding.PROBES,
    **losses.PROBES,
    **histograms.PROBES,
    **reductions.PROBES,
}
NOT_PROBED: dict[str, str] = {}  # row -> why

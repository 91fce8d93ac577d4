"""The probes by row of the catalogue."""

from __future__ import annotations

from detlint.verify.probe import Probe
from detlint.verify.probes import indexing

PROBES: dict[str, Probe] = {**indexing.PROBES}
NOT_PROBED: dict[str, str] = {}  # row -> why

"""Probes of samplers that no worker and no device takes part in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run

if TYPE_CHECKING:
    from detlint.verify.bench import Bench


def _distributed(bench: Bench) -> Run:
    """The order of two epochs, which nobody tells the sampler of."""
    from torch.utils.data.distributed import DistributedSampler

    options: dict[str, Any] = {"num_replicas": 2, "rank": 0, "shuffle": bench.given("shuffle", True)}
    options |= {"seed": bench.given("seed", 0), "drop_last": bench.given("drop_last", False)}

    def run() -> Any:
        sampler: Any = DistributedSampler(range(1000), **options)  # type: ignore[arg-type]
        return list(sampler), list(sampler)

    return run


PROBES: dict[str, Probe] = {"dataloader.distributed": Probe(_distributed, kind=Kind.PROCESSES)}

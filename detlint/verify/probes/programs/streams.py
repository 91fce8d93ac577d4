"""Probes of work that is not waited for: copies to the host, other streams, other writers of shared memory."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.calls import CUDA

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench

_MANY = 1 << 24


def _copy_to_host(bench: Bench) -> Run:
    """Return the host's copy of a tensor, read while it may still be arriving."""
    import torch

    bench.needs_cuda()
    source, target = bench.ones(_MANY), torch.zeros(_MANY, dtype=bench.dtype, pin_memory=True)
    unwaited = bench.given("non_blocking", True)

    def run() -> Tensor:
        target.zero_()
        torch.cuda.synchronize(bench.device)
        target.copy_(source, non_blocking=unwaited)
        return target.clone()

    return run


def _side_stream(bench: Bench) -> Run:
    """Return a tensor read on one stream while another one writes to it."""
    import torch

    bench.needs_cuda()
    side, written = torch.cuda.Stream(bench.device), bench.zeros(_MANY)  # type: ignore[no-untyped-call]

    def run() -> Tensor:
        written.zero_()
        torch.cuda.synchronize(bench.device)
        with torch.cuda.stream(side):
            for _ in range(16):
                written.add_(1)
        read = written.clone()
        torch.cuda.synchronize(bench.device)
        return read

    return run


def _writers(bench: Bench) -> Run:
    """Return weights that four threads pull to their own targets, without a lock."""
    weights, targets = bench.zeros(1 << 12), [bench.normal(1 << 12) for _ in range(4)]
    weights.share_memory_()  # type: ignore[no-untyped-call]

    def train(target: Tensor) -> None:
        for _ in range(200):
            weights.sub_(0.1 * (weights - target))

    def run() -> Tensor:
        weights.zero_()
        threads = [threading.Thread(target=train, args=(target,)) for target in targets]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return weights.clone()

    return run


PROBES: dict[str, Probe] = {
    "nonblocking_d2h": Probe(_copy_to_host, devices=CUDA),
    "side_streams": Probe(_side_stream, devices=CUDA),
    "hogwild": Probe(_writers),
}

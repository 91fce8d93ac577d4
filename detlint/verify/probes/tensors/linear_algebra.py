"""Probes of matrix decompositions, and of the least-squares driver that reads uninitialised memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run
from detlint.verify.probes.calls import name_of

if TYPE_CHECKING:
    from torch import Tensor

    from detlint.verify.bench import Bench

_SIZES = ((1, 256, 256), (32, 48, 48))


def _forward(bench: Bench) -> Run:
    matrices = [bench.normal(*size) for size in _SIZES]
    return lambda: [_decomposed(bench, matrix) for matrix in matrices]


def _gradient(bench: Bench) -> Run:
    matrices = [bench.normal(*size) for size in _SIZES]
    return bench.gradients(lambda *leaves: sum((_decomposed(bench, leaf) for leaf in leaves), ()), *matrices)


def _decomposed(bench: Bench, matrix: Tensor) -> tuple[Any, ...]:
    """Return the factors; for `eigh` of the symmetric part, for `eig` with the absolute values of eigenvectors."""
    import torch

    name = name_of(bench, "svd")
    if name in ("eigh", "symeig"):
        return tuple(torch.linalg.eigh(matrix + matrix.mT))
    if name == "eig":
        values, vectors = torch.linalg.eig(matrix)
        return torch.view_as_real(values), vectors.abs()
    if name == "qr":
        return tuple(torch.linalg.qr(matrix, mode=bench.given("mode", "reduced")))
    driver = bench.given("driver", None) if bench.device.type == "cuda" else None
    return tuple(torch.linalg.svd(matrix, full_matrices=False, driver=driver))


def _least_squares(bench: Bench) -> Run:
    import torch

    matrix, right = bench.normal(40, 24), bench.normal(40, 2)
    driver = bench.given("driver", "gels" if bench.device.type == "cuda" else "gelsy")

    def run() -> Any:
        bench.dirty(24, dtype=torch.int32)
        return torch.linalg.lstsq(matrix, right, driver=driver).solution

    return run


PROBES: dict[str, Probe] = {
    "linalg_decomp.fwd": Probe(_forward),
    "linalg_decomp.bwd": Probe(_gradient),
    "linalg_lstsq.cpu": Probe(_least_squares, kind=Kind.MEMORY, devices=("cpu",)),
}

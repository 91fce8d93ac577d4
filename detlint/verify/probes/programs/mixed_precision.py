"""Probes of automatic mixed precision, which must not differ: the scaler's step, and casts forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run

if TYPE_CHECKING:
    from detlint.verify.bench import Bench

_SIZE = 512


def _scaler_step(bench: Bench) -> Run:
    """Return the gradients unscaled, the weights, and the scale after a step that finds an overflow."""
    import torch

    start, gradient = bench.normal(_SIZE, _SIZE), bench.addends(_SIZE, _SIZE)
    gradient[7] = float("inf")

    def run() -> Any:
        weights = start.clone().requires_grad_()
        scaler = _scaler(bench)
        optimizer = torch.optim.SGD([weights], lr=0.1)
        scaler.scale(weights.sum())
        weights.grad = gradient.clone()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        return weights.grad, weights, scaler.get_scale()

    return run


def _scaled_gradient(bench: Bench) -> Run:
    import torch

    batch, weights = bench.normal(_SIZE, _SIZE), bench.normal(_SIZE, _SIZE)
    scaler = _scaler(bench)

    def call(inputs: Any, leaf: Any) -> Any:
        with torch.autocast(bench.device.type, dtype=torch.bfloat16):
            return scaler.scale(torch.nn.functional.gelu(inputs @ leaf).float())

    return bench.gradients(call, batch, weights)


def _scaler(bench: Bench) -> Any:
    import torch

    init = bench.given("init_scale", 65536.0)
    return torch.amp.GradScaler(bench.device.type, init_scale=init)


PROBES: dict[str, Probe] = {"amp_gradscaler.fwd": Probe(_scaler_step), "amp_gradscaler.bwd": Probe(_scaled_gradient)}

"""Probes of the program's own kernel that adds with atomics, built at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run, UnavailableError
from detlint.verify.probes.calls import CUDA

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_MANY = 1 << 20
_BLOCK = 256
_SOURCE = """
extern "C" __global__ void add_all(const float* source, float* total, int count) {
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < count) atomicAdd(total + place % 4, source[place]);
}
"""


def _sum(bench: Bench) -> Callable[[Tensor], Tensor]:
    import torch

    bench.needs_cuda()
    if not hasattr(torch.cuda, "_compile_kernel"):
        raise UnavailableError("this torch cannot compile a CUDA kernel without nvcc")
    try:
        kernel: Any = torch.cuda._compile_kernel(_SOURCE, "add_all")
    except OSError as error:
        raise UnavailableError(f"needs NVRTC: {error}") from None

    def add(source: Tensor) -> Tensor:
        total = torch.zeros(4, device=source.device)
        kernel((source.numel() // _BLOCK, 1, 1), (_BLOCK, 1, 1), [source, total, source.numel()])
        return total

    return add


def _forward(bench: Bench) -> Run:
    add, source = _sum(bench), bench.addends(_MANY)
    return lambda: add(source)


def _gradient(bench: Bench) -> Run:
    import torch

    add = _sum(bench)

    class Repeat(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return inputs[0].repeat(_MANY // 4)

        @staticmethod
        def backward(ctx: Any, *above: Any) -> Any:
            return add(above[0].contiguous())

    return bench.gradients(Repeat.apply, bench.normal(4))


PROBES: dict[str, Probe] = {
    "load_inline.fwd": Probe(_forward, devices=CUDA),
    "load_inline.bwd": Probe(_gradient, devices=CUDA),
}

"""Probes of attention: the gradients of each fused kernel, and the unfused kernel as a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run, UnavailableError
from detlint.verify.probes.calls import CUDA, few, name_of
from detlint.verify.probes.programs.compiled import compiled
from detlint.verify.probes.sizes import HALVES

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_SHORT = ("bfloat16", "float16")
_FLASH, _EFFICIENT, _CUDNN, _MATH = "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"


def _only(backend: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function restricted to this attention kernel. Raises UnavailableError before torch 2.3."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        raise UnavailableError("needs torch 2.3 or newer") from None
    kernel = getattr(SDPBackend, backend)

    def call(*arguments: Tensor) -> Any:
        with sdpa_kernel(kernel):
            return function(*arguments)

    return call


def _attention(bench: Bench, shape: tuple[int, ...], causal: bool) -> tuple[Callable[..., Any], list[Tensor]]:
    import torch

    options: dict[str, Any] = {"is_causal": bench.given("is_causal", causal)}
    scale, grouped = bench.given("scale", None), bench.given("enable_gqa", False)
    if scale is not None:
        options["scale"] = scale
    if grouped:
        options["enable_gqa"] = True
    batch, heads, length, width = shape
    few_heads = (batch, max(1, heads // 4) if grouped else heads, length, width)
    inputs = [bench.normal(*shape), bench.normal(*few_heads), bench.normal(*few_heads)]
    function = torch.nn.functional.scaled_dot_product_attention
    return lambda query, key, value: function(query, key, value, **options), inputs


def _forward(bench: Bench, backend: str, shape: tuple[int, ...]) -> Run:
    function, inputs = _attention(bench, shape, False)
    call = _only(backend, function)
    return lambda: call(*inputs)


def _gradient(bench: Bench, backend: str, shape: tuple[int, ...], causal: bool = False) -> Run:
    if backend != _MATH:
        bench.needs_cuda()
    function, inputs = _attention(bench, shape, causal)
    return bench.gradients(_only(backend, function), *inputs)


def _layers(bench: Bench) -> Run:
    from torch import nn

    bench.needs_cuda()
    name = name_of(bench, "TransformerEncoderLayer")
    width, heads = bench.given("d_model", 512), bench.given("nhead", 8)
    options: dict[str, Any] = {"dropout": 0.0, "batch_first": True}
    options["dim_feedforward"] = bench.given("dim_feedforward", 2048)
    options["norm_first"] = bench.given("norm_first", False)
    if name == "Transformer":
        options["num_encoder_layers"] = options["num_decoder_layers"] = 1
    layer = bench.module(getattr(nn, name)(width, heads, **options))
    count = 1 if name == "TransformerEncoderLayer" else 2
    inputs = [bench.normal(few(bench, 4096 * width * (4 * width + 4096), 4), 2048, width) for _ in range(count)]
    run = bench.layer_gradients(layer, *inputs)
    return _only(_FLASH, run)


def _heads(bench: Bench) -> Run:
    import torch
    from torch import nn

    bench.needs_cuda()
    width, heads = bench.given("embed_dim", 512), bench.given("num_heads", 8)
    layer = bench.module(nn.MultiheadAttention(width, heads, bias=bench.given("bias", True), batch_first=True))
    weights = bench.given("need_weights", False)

    def call(inputs: Tensor, *parameters: Tensor) -> Tensor:
        state = dict(zip(names, parameters, strict=True))
        asked: Tensor = torch.func.functional_call(layer, state, (inputs,) * 3, {"need_weights": weights})[0]
        return asked

    names = [name for name, _ in layer.named_parameters()]
    return bench.gradients(_only(_FLASH, call), bench.normal(4, 2048, width), *layer.parameters())


def _packed(bench: Bench) -> Run:
    """Return the gradients of attention over four packed sequences of equal length."""
    import torch

    bench.needs_cuda()
    attend = bench.package("torch.nn.attention.varlen").varlen_attn
    length, count = 2048, 4
    ends = torch.arange(count + 1, dtype=torch.int32, device=bench.device) * length
    inputs = [bench.normal(count * length, 16, 64) for _ in range(3)]
    return bench.gradients(lambda *packed: attend(*packed, ends, ends, length, length), *inputs)


def _flex(bench: Bench) -> Run:
    """Return the gradients of flex attention with a bias that all queries read."""
    bench.needs_cuda()
    flex = compiled(bench, bench.package("torch.nn.attention.flex_attention").flex_attention)
    inputs = [bench.normal(2, 4, 1024, 64) for _ in range(3)]

    def call(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Any:
        return flex(query, key, value, score_mod=lambda score, b, h, q, k: score + bias[k])

    return bench.gradients(call, *inputs, bench.normal(1024))


def _flex_flash(bench: Bench) -> Run:
    bench.needs_cuda()
    bench.package("flash_attn.cute")
    package = bench.package("torch.nn.attention.flex_attention")
    flex = compiled(bench, package.flex_attention)
    inputs = [bench.normal(4, 16, 2048, 64) for _ in range(3)]
    mask = package.create_block_mask(lambda b, h, q, k: q >= k, None, None, 2048, 2048, device=str(bench.device))

    def call(query: Tensor, key: Tensor, value: Tensor) -> Any:
        return flex(query, key, value, block_mask=mask, kernel_options={"BACKEND": "FLASH"})

    return bench.gradients(call, *inputs)


PROBES: dict[str, Probe] = {
    "sdpa_flash.bwd": Probe(
        _gradient, {"backend": _FLASH, "shape": (4, 16, 2048, 64), "causal": True}, dtypes=_SHORT, devices=CUDA
    ),
    "sdpa_flash.bwd.layers": Probe(_layers, dtypes=_SHORT, devices=CUDA),
    "sdpa_flash.bwd.functional": Probe(_heads, dtypes=_SHORT, devices=CUDA),
    "sdpa_flash.bwd.module": Probe(_heads, dtypes=_SHORT, devices=CUDA),
    "sdpa_efficient.bwd": Probe(
        _gradient, {"backend": _EFFICIENT, "shape": (1, 2, 8192, 64)}, dtypes=HALVES, devices=CUDA
    ),
    "sdpa_cudnn.bwd": Probe(_gradient, {"backend": _CUDNN, "shape": (4, 16, 4096, 64)}, dtypes=_SHORT, devices=CUDA),
    "sdpa_math.fwd": Probe(_forward, {"backend": _MATH, "shape": (2, 4, 512, 64)}, dtypes=HALVES),
    "sdpa_math.bwd": Probe(_gradient, {"backend": _MATH, "shape": (2, 4, 512, 64)}, dtypes=HALVES),
    "varlen_attn.bwd": Probe(_packed, dtypes=_SHORT, devices=CUDA),
    "flex_attention.bwd": Probe(_flex, dtypes=HALVES, devices=CUDA),
    "flex_attention_flash.bwd": Probe(_flex_flash, dtypes=_SHORT, devices=CUDA),
}

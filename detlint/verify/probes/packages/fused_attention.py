"""Probes of packages with fused attention and scans: flash-attn, xFormers, Transformer Engine, Mamba."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.named import built, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.verify.bench import Bench

_BATCH, _LENGTH, _HEADS, _WIDTH = 4, 2048, 16, 64
_OPTIONS = ("softmax_scale", "causal", "window_size", "softcap", "deterministic")
_HALVES = ("bfloat16", "float16")
_CUDA = ("cuda",)


def _options(bench: Bench, *names: str) -> dict[str, Any]:
    """Return those of the arguments that the code under test passes."""
    given = {name: bench.given(name, None) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def _flash(bench: Bench, package: str) -> Run:
    import torch

    bench.needs_cuda()
    sizes, options = (_HEADS, _WIDTH), _options(bench, *_OPTIONS)
    ends = torch.arange(_BATCH + 1, dtype=torch.int32, device=bench.device) * _LENGTH
    lengths = {"cu_seqlens_q": ends, "cu_seqlens_k": ends, "max_seqlen_q": _LENGTH, "max_seqlen_k": _LENGTH}
    varied = {"flash_attn_varlen_func": 1, "flash_attn_varlen_kvpacked_func": 2}
    packs = {"qkvpacked": [3], "kvpacked": [1, 2]}

    def make(name: str) -> Callable[[Any], Run]:
        rows = [_BATCH * _LENGTH] if "varlen" in name else [_BATCH, _LENGTH]
        pack = packs.get(name.split("_")[-2], [1, 1, 1])
        inputs = [bench.normal(*rows, *([count] if count > 1 else []), *sizes) for count in pack]
        more = dict(lengths) if name in varied else {}
        if name == "flash_attn_varlen_qkvpacked_func":
            more = {"cu_seqlens": ends, "max_seqlen": _LENGTH}
        return lambda attend: bench.gradients(lambda *leaves: attend(*leaves, **more, **options), *inputs)

    names = [f"flash_attn_{kind}func" for kind in ("", "varlen_", "qkvpacked_")]
    if package == "flash_attn":
        names += [f"flash_attn_{kind}func" for kind in ("kvpacked_", "varlen_qkvpacked_", "varlen_kvpacked_")]
    return built(bench, package, {name: make(name) for name in names})


def _flash_layers(bench: Bench) -> Run:
    bench.needs_cuda()
    options = _options(bench, "causal", "softmax_scale", "window_size", "deterministic")
    shape = (_BATCH, _LENGTH)
    packed, query = bench.normal(*shape, 3, _HEADS, _WIDTH), bench.normal(*shape, _HEADS, _WIDTH)
    pair = bench.normal(*shape, 2, _HEADS, _WIDTH)
    return built(
        bench,
        "flash_attn.modules.mha",
        {
            "FlashSelfAttention": lambda layer: bench.gradients(layer(**options), packed),
            "FlashCrossAttention": lambda layer: bench.gradients(layer(**options), query, pair),
        },
    )


def _flash_mha(bench: Bench) -> Run:
    bench.needs_cuda()
    inputs, causal = bench.normal(_BATCH, _LENGTH, 512), bench.given("causal", False)

    def make(layer: Any) -> Run:
        return bench.gradients(bench.module(layer(512, 8, causal=causal, use_flash_attn=True)), inputs)

    return built(bench, "flash_attn.modules.mha", {"MHA": make})


def _key_value_cache(bench: Bench) -> Run:
    bench.needs_cuda()
    query = bench.normal(_BATCH, 1, _HEADS, _WIDTH)
    keys, values = bench.normal(2, _BATCH, 4 * _LENGTH, _HEADS, _WIDTH)
    splits = bench.given("num_splits", 0)
    return named(
        bench,
        "flash_attn",
        {"flash_attn_with_kvcache": lambda attend: attend(query, keys, values, num_splits=splits)},
    )


def _memory_efficient(bench: Bench) -> Run:
    inputs = bench.normal(3, 1, 4 * _LENGTH, 1, _WIDTH)
    return built(bench, "xformers.ops", {"memory_efficient_attention": lambda attend: bench.gradients(attend, *inputs)})


def _transformer_engine(bench: Bench) -> Run:
    bench.needs_cuda()
    heads, inputs = bench.normal(3, _LENGTH, _BATCH, _HEADS, _WIDTH), bench.normal(_LENGTH, _BATCH, 512)
    quiet = {"attention_dropout": 0.0}
    return built(
        bench,
        "transformer_engine.pytorch",
        {
            "DotProductAttention": lambda layer: bench.gradients(layer(_HEADS, _WIDTH, **quiet), *heads),
            "MultiheadAttention": lambda layer: bench.gradients(bench.module(layer(512, 8, **quiet)), inputs),
            "TransformerLayer": lambda layer: bench.gradients(
                bench.module(layer(512, 1024, 8, hidden_dropout=0.0, **quiet)), inputs
            ),
        },
    )


def _selective_scan(bench: Bench) -> Run:
    bench.needs_cuda()
    inputs, steps = bench.normal(2, 256, _LENGTH), bench.uniform(2, 256, _LENGTH) * 0.1
    state, feed = -bench.uniform(256, 16), bench.normal(2, 2, 16, _LENGTH)
    skip, bias, sequence = bench.normal(256), bench.normal(256), bench.normal(2, _LENGTH, 256)

    def scan(function: Any) -> Run:
        def call(*leaves: Any) -> Any:
            return function(*leaves[:6], delta_bias=leaves[6], delta_softplus=True)

        return bench.gradients(call, inputs, steps, state.float(), *feed, skip.float(), bias.float())

    return built(
        bench,
        "mamba_ssm",
        {
            "selective_scan_fn": scan,
            "Mamba": lambda layer: bench.layer_gradients(bench.module(layer(256)), sequence),
        },
    )


def _mamba2(bench: Bench) -> Run:
    bench.needs_cuda()
    sequence, inputs = bench.normal(2, _LENGTH, 256), bench.normal(2, _LENGTH, 8, 64)
    steps, state, feed = bench.uniform(2, _LENGTH, 8) * 0.1, -bench.uniform(8), bench.normal(2, 2, _LENGTH, 1, 64)
    size = bench.given("chunk_size", 256)

    def scan(function: Any) -> Run:
        return bench.gradients(lambda *leaves: function(*leaves, chunk_size=size), inputs, steps, state, *feed)

    return built(
        bench,
        "mamba_ssm",
        {
            "Mamba2": lambda layer: bench.layer_gradients(bench.module(layer(256)), sequence),
            "ops.triton.ssd_combined.mamba_chunk_scan_combined": scan,
        },
    )


def _causal_convolution(bench: Bench) -> Run:
    bench.needs_cuda()
    leaves = bench.normal(4, 256, _LENGTH), bench.normal(256, 4), bench.normal(256)
    activation = bench.given("activation", None)

    def make(convolve: Any) -> Run:
        return bench.gradients(lambda *inputs: convolve(*inputs, activation=activation), *leaves)

    return built(bench, "causal_conv1d", {"causal_conv1d_fn": make})


PROBES: dict[str, Probe] = {
    "flash_attn.bwd": Probe(_flash, {"package": "flash_attn"}, dtypes=_HALVES, devices=_CUDA),
    "flash_attn.module": Probe(_flash_layers, dtypes=_HALVES, devices=_CUDA),
    "flash_attn.module.mha": Probe(_flash_mha, dtypes=_HALVES, devices=_CUDA),
    "flash_attn_3.bwd": Probe(_flash, {"package": "flash_attn_interface"}, dtypes=_HALVES, devices=_CUDA),
    "flash_attn_4.bwd": Probe(_flash, {"package": "flash_attn.cute"}, dtypes=_HALVES, devices=_CUDA),
    "flash_attn_kvcache": Probe(_key_value_cache, dtypes=_HALVES, devices=_CUDA),
    "xformers.mea": Probe(_memory_efficient, dtypes=("float32", *_HALVES), devices=_CUDA),
    "te": Probe(_transformer_engine, dtypes=_HALVES, devices=_CUDA),
    "mamba.scan": Probe(_selective_scan, dtypes=("float32", *_HALVES), devices=_CUDA),
    "mamba2": Probe(_mamba2, devices=_CUDA),
    "mamba2.causal_conv1d": Probe(_causal_convolution, dtypes=("float32", *_HALVES), devices=_CUDA),
}
NOT_PROBED: dict[str, str] = {
    "flash_attn_triton": "experimental, and tested with Triton 2.0 only",
}

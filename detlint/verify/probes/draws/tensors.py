"""Probes of operations that draw from torch's global generator in a call or in a forward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run
from detlint.verify.probes.named import calling, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_NAMES = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
_RATIO = 0.7  # of sizes that it does not divide: else the place of every window is fixed


def _factories(bench: Bench) -> Run:
    like, chance, at = bench.zeros(64), bench.uniform(64), {"device": bench.device}
    counts = bench.ones(64) * 40
    return named(
        bench,
        "torch",
        {
            "rand": lambda draw: draw(64, **at),
            "randn": lambda draw: draw(64, **at),
            "randint": lambda draw: draw(0, 1 << 30, (64,), **at),
            "randperm": lambda draw: draw(64, **at),
            "rand_like": lambda draw: draw(like),
            "randn_like": lambda draw: draw(like),
            "randint_like": lambda draw: draw(like, 1 << 20),
            "normal": lambda draw: draw(like, 1.0),
            "bernoulli": lambda draw: draw(chance),
            "multinomial": lambda draw: draw(chance, 32, replacement=True),
            "poisson": lambda draw: draw(counts),
            "binomial": lambda draw: draw(counts, chance),
            "_standard_gamma": lambda draw: draw(counts),
            "_sample_dirichlet": lambda draw: draw(counts),
        },
    )


def _tensor_methods(bench: Bench) -> Run:
    chance = bench.uniform(64)

    def fresh() -> Tensor:
        return bench.zeros(64)

    return named(
        bench,
        "torch",
        {
            "Tensor.uniform_": lambda draw: draw(fresh()),
            "Tensor.normal_": lambda draw: draw(fresh()),
            "Tensor.random_": lambda draw: draw(fresh()),
            "Tensor.bernoulli_": lambda draw: draw(fresh()),
            "Tensor.exponential_": lambda draw: draw(fresh()),
            "Tensor.cauchy_": lambda draw: draw(fresh()),
            "Tensor.log_normal_": lambda draw: draw(fresh()),
            "Tensor.geometric_": lambda draw: draw(fresh(), 0.1),
            "Tensor.bernoulli": lambda draw: draw(chance),
            "Tensor.multinomial": lambda draw: draw(chance, 32, replacement=True),
        },
    )


def _init(bench: Bench, ending: str = "") -> Run:
    names = ("uniform", "normal", "trunc_normal", "xavier_uniform", "xavier_normal", "kaiming_uniform")
    draws: dict[str, Any] = {
        name + ending: lambda draw: draw(bench.zeros(16, 16)) for name in (*names, "kaiming_normal", "orthogonal")
    }
    return named(bench, "torch.nn.init", {**draws, "sparse" + ending: lambda draw: draw(bench.zeros(16, 16), 0.5)})


def _dropout_functions(bench: Bench) -> Run:
    chance = bench.given("p", 0.5)
    ranks = {"dropout": 2, "dropout1d": 3, "dropout2d": 4, "dropout3d": 5}
    draws = {name: calling(bench.ones(*[8] * rank), chance) for name, rank in ranks.items()}
    return named(bench, "torch.nn.functional", draws)


def _alpha_dropout_functions(bench: Bench) -> Run:
    inputs, chance = bench.normal(8, 16, 4, 4), bench.given("p", 0.5)
    names = ("alpha_dropout", "feature_alpha_dropout")
    return named(bench, "torch.nn.functional", {name: lambda draw: draw(inputs, chance, True) for name in names})


def _low_level_dropout(bench: Bench) -> Run:
    inputs, chance = bench.normal(8, 16, 4, 4), bench.given("p", 0.5)
    names = (*_NAMES, *(f"{name}_" for name in _NAMES), "native_dropout")
    return named(bench, "torch", {name: lambda draw: draw(inputs.clone(), chance, True) for name in names})


def _rrelu(bench: Bench, package: str) -> Run:
    inputs, names = -bench.uniform(256), ("rrelu", "rrelu_")
    return named(bench, package, {name: lambda draw: draw(inputs.clone(), training=True) for name in names})


def _gumbel_softmax(bench: Bench) -> Run:
    logits, hard = bench.normal(8, 16), bench.given("hard", False)
    return named(bench, "torch.nn.functional", {"gumbel_softmax": lambda draw: draw(logits, hard=hard)})


def _fractional_max_pool(bench: Bench) -> Run:
    plane, volume = bench.normal(2, 8, 33, 33), bench.normal(2, 8, 17, 17, 17)
    draws: dict[str, Any] = {}
    for ending in ("", "_with_indices"):
        draws[f"fractional_max_pool2d{ending}"] = lambda draw: draw(plane, 2, output_ratio=(_RATIO, _RATIO))
        draws[f"fractional_max_pool3d{ending}"] = lambda draw: draw(volume, 2, output_ratio=(_RATIO,) * 3)
    return named(bench, "torch.nn.functional", draws)


def _attention_dropout(bench: Bench) -> Run:
    heads = bench.normal(3, 2, 4, 32, 16)
    chance, causal = bench.given("dropout_p", 0.5), bench.given("is_causal", False)
    return named(
        bench,
        "torch.nn.functional",
        {"scaled_dot_product_attention": lambda draw: draw(*heads, dropout_p=chance, is_causal=causal)},
    )


def _attention_function(bench: Bench) -> Run:
    import torch

    inputs, chance = bench.normal(4, 2, 16), bench.given("dropout_p", 0.5)
    parameters = dict(bench.module(torch.nn.MultiheadAttention(16, 2)).named_parameters())
    weights = (parameters["in_proj_weight"], parameters["in_proj_bias"], None, None, False)
    projected = (parameters["out_proj.weight"], parameters["out_proj.bias"])
    return named(
        bench,
        "torch.nn.functional",
        {"multi_head_attention_forward": lambda draw: draw(*[inputs] * 3, 16, 2, *weights, chance, *projected)},
    )


def _recurrent_functions(bench: Bench) -> Run:
    import torch

    inputs, state, chance = bench.normal(4, 2, 16), bench.zeros(2, 2, 16), bench.given("dropout", 0.5)

    def run(layer: str, *states: Any) -> Callable[[Any], Any]:
        weights = bench.module(getattr(torch.nn, layer)(16, 16, 2))._flat_weights
        return lambda draw: draw(inputs, *states, weights, True, 2, chance, True, False, False)

    names = {"gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
    draws = {name: run(layer, state) for name, layer in names.items()}
    return named(bench, "torch", {"lstm": run("LSTM", (state, state)), **draws})


def _low_rank(bench: Bench) -> Run:
    matrix, rank, steps = bench.normal(64, 48), bench.given("q", 6), bench.given("niter", 2)
    names = ("svd_lowrank", "pca_lowrank")
    return named(bench, "torch", {name: lambda draw: draw(matrix, rank, niter=steps) for name in names})


def _lobpcg(bench: Bench) -> Run:
    half, count = bench.normal(48, 48), bench.given("k", 2)
    return named(bench, "torch", {"lobpcg": lambda draw: draw(half @ half.T, k=count, niter=4)})


def _spectral_norm(bench: Bench) -> Run:
    import torch

    def state(register: Any) -> Any:
        layer = register(torch.nn.Linear(32, 16, device=bench.device))
        return [value for name, value in sorted(layer.state_dict().items()) if name.endswith(("_u", "_v"))]

    return named(bench, "torch.nn.utils", {"spectral_norm": state, "parametrizations.spectral_norm": state})


def _prune(bench: Bench) -> Run:
    import torch

    def mask(prune: Any, *amount: Any) -> Tensor:
        layer = bench.module(torch.nn.Linear(32, 32))
        prune(layer, "weight", *amount)
        return layer.get_buffer("weight_mask")

    return named(
        bench,
        "torch.nn.utils.prune",
        {
            "random_unstructured": lambda prune: mask(prune, 0.5),
            "random_structured": lambda prune: mask(prune, 0.5, 0),
            "RandomUnstructured.apply": lambda prune: mask(prune, 0.5),
            "RandomStructured.apply": lambda prune: mask(prune, 0.5, 0),
        },
    )


def _make_tensor(bench: Bench) -> Run:
    return named(
        bench, "torch.testing", {"make_tensor": lambda draw: draw((64,), dtype=bench.dtype, device=bench.device)}
    )


def _sobol(bench: Bench) -> Run:
    return named(bench, "torch.quasirandom", {"SobolEngine": lambda engine: engine(4, scramble=True).draw(16)})


def _dropout(bench: Bench) -> Run:
    chance = bench.given("p", 0.5)
    ranks = {"Dropout": 2, "Dropout1d": 3, "Dropout2d": 4, "Dropout3d": 5, "AlphaDropout": 2, "FeatureAlphaDropout": 4}

    def forward(rank: int) -> Callable[[Any], Tensor]:
        inputs = bench.ones(*[8] * rank)
        return lambda layer: layer(chance)(inputs)

    return named(bench, "torch.nn", {name: forward(rank) for name, rank in ranks.items()})


def _rrelu_layer(bench: Bench) -> Run:
    inputs = -bench.uniform(256)
    return named(bench, "torch.nn", {"RReLU": lambda layer: layer()(inputs)})


def _fractional_max_pool_layers(bench: Bench) -> Run:
    plane, volume = bench.normal(2, 8, 33, 33), bench.normal(2, 8, 17, 17, 17)
    return named(
        bench,
        "torch.nn",
        {
            "FractionalMaxPool2d": lambda layer: layer(2, output_ratio=_RATIO)(plane),
            "FractionalMaxPool3d": lambda layer: layer(2, output_ratio=_RATIO)(volume),
        },
    )


def _transformer_dropout(bench: Bench) -> Run:
    inputs = bench.normal(6, 2, 16)
    sizes: dict[str, Any] = {"dim_feedforward": 32, "dropout": bench.given("dropout", 0.1)}
    return named(
        bench,
        "torch.nn",
        {
            "Transformer": lambda layer: bench.module(layer(16, 2, 1, 1, **sizes))(inputs, inputs),
            "TransformerEncoderLayer": lambda layer: bench.module(layer(16, 2, **sizes))(inputs),
            "TransformerDecoderLayer": lambda layer: bench.module(layer(16, 2, **sizes))(inputs, inputs),
        },
    )


def _optional_dropout(bench: Bench) -> Run:
    inputs, chance = bench.normal(6, 2, 16), bench.given("dropout", 0.5)
    draws: dict[str, Any] = {
        "MultiheadAttention": lambda layer: bench.module(layer(16, 2, dropout=chance))(inputs, inputs, inputs)[0]
    }
    return named(bench, "torch.nn", draws)


def _recurrent_dropout(bench: Bench) -> Run:
    inputs, chance, layers = bench.normal(6, 2, 16), bench.given("dropout", 0.5), bench.given("num_layers", 2)
    draws: dict[str, Any] = {
        name: lambda layer: bench.module(layer(16, 16, layers, dropout=chance))(inputs)[0]
        for name in ("RNN", "LSTM", "GRU")
    }
    return named(bench, "torch.nn", draws)


PROBES: dict[str, Probe] = {
    "torch.factories": Probe(_factories, kind=Kind.DRAWS),
    "torch.tensor-methods": Probe(_tensor_methods, kind=Kind.DRAWS),
    "torch.init": Probe(_init, {"ending": "_"}, kind=Kind.DRAWS),
    "torch.init-deprecated": Probe(_init, kind=Kind.DRAWS),
    "torch.dropout-functional": Probe(_dropout_functions, kind=Kind.DRAWS),
    "torch.dropout-functional-eval-default": Probe(_alpha_dropout_functions, kind=Kind.DRAWS),
    "torch.dropout-low-level": Probe(_low_level_dropout, kind=Kind.DRAWS),
    "torch.rrelu-functional": Probe(_rrelu, {"package": "torch.nn.functional"}, kind=Kind.DRAWS),
    "torch.rrelu-low-level": Probe(_rrelu, {"package": "torch"}, kind=Kind.DRAWS),
    "torch.gumbel-softmax": Probe(_gumbel_softmax, kind=Kind.DRAWS),
    "torch.fractional-max-pool-functional": Probe(_fractional_max_pool, kind=Kind.DRAWS),
    "torch.attention-dropout": Probe(_attention_dropout, kind=Kind.DRAWS),
    "torch.attention-functional": Probe(_attention_function, kind=Kind.DRAWS),
    "torch.recurrent-functional": Probe(_recurrent_functions, kind=Kind.DRAWS),
    "torch.low-rank": Probe(_low_rank, kind=Kind.DRAWS),
    "torch.lobpcg": Probe(_lobpcg, kind=Kind.DRAWS),
    "torch.spectral-norm": Probe(_spectral_norm, kind=Kind.DRAWS),
    "torch.prune": Probe(_prune, kind=Kind.DRAWS),
    "torch.make-tensor": Probe(_make_tensor, kind=Kind.DRAWS),
    "torch.sobol": Probe(_sobol, kind=Kind.DRAWS),
    "torch.dropout": Probe(_dropout, kind=Kind.DRAWS),
    "torch.rrelu": Probe(_rrelu_layer, kind=Kind.DRAWS),
    "torch.fractional-max-pool": Probe(_fractional_max_pool_layers, kind=Kind.DRAWS),
    "torch.transformer-dropout": Probe(_transformer_dropout, kind=Kind.DRAWS),
    "torch.optional-dropout": Probe(_optional_dropout, kind=Kind.DRAWS),
    "torch.recurrent-dropout": Probe(_recurrent_dropout, kind=Kind.DRAWS),
}

"""Probes of layers that draw their initial weights, and of torch's distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run
from detlint.verify.probes.named import named, weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_LAYERS: dict[str, tuple[Any, ...]] = {
    "Linear": (16, 8),
    "Bilinear": (8, 8, 4),
    "Conv1d": (4, 8, 3),
    "Conv2d": (4, 8, 3),
    "Conv3d": (4, 8, 3),
    "ConvTranspose1d": (4, 8, 3),
    "ConvTranspose2d": (4, 8, 3),
    "ConvTranspose3d": (4, 8, 3),
    "RNN": (8, 8),
    "LSTM": (8, 8),
    "GRU": (8, 8),
    "RNNCell": (8, 8),
    "LSTMCell": (8, 8),
    "GRUCell": (8, 8),
    "RNNBase": ("LSTM", 8, 8),
    "RNNCellBase": (8, 8, True, 4),
    "MultiheadAttention": (16, 2),
    "Transformer": (16, 2, 1, 1, 32),
    "TransformerEncoderLayer": (16, 2, 32),
    "TransformerDecoderLayer": (16, 2, 32),
    "AdaptiveLogSoftmaxWithLoss": (16, 40, [8, 16]),
    "LinearCrossEntropyLoss": (16, 8),
}
_LAZY: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "LazyLinear": ((8,), (2, 4)),
    "LazyConv1d": ((8, 3), (2, 4, 8)),
    "LazyConv2d": ((8, 3), (2, 4, 8, 8)),
    "LazyConv3d": ((8, 3), (2, 4, 8, 8, 8)),
    "LazyConvTranspose1d": ((8, 3), (2, 4, 8)),
    "LazyConvTranspose2d": ((8, 3), (2, 4, 8, 8)),
    "LazyConvTranspose3d": ((8, 3), (2, 4, 8, 8, 8)),
}
_PARAMETERS: dict[str, tuple[Any, ...]] = {
    "Bernoulli": (0.5,),
    "Beta": (0.5, 2.0),
    "Binomial": (40.0, 0.3),
    "Categorical": ([0.2, 0.3, 0.5],),
    "Cauchy": (0.0, 1.0),
    "Chi2": (2.0,),
    "ContinuousBernoulli": (0.3,),
    "Dirichlet": ([0.5, 1.0, 2.0],),
    "Exponential": (1.0,),
    "FisherSnedecor": (3.0, 5.0),
    "Gamma": (2.0, 1.0),
    "Geometric": (0.1,),
    "Gumbel": (0.0, 1.0),
    "HalfCauchy": (1.0,),
    "HalfNormal": (1.0,),
    "InverseGamma": (2.0, 1.0),
    "Kumaraswamy": (2.0, 3.0),
    "Laplace": (0.0, 1.0),
    "LogNormal": (0.0, 1.0),
    "LogisticNormal": ([0.0, 1.0], [1.0, 2.0]),
    "NegativeBinomial": (20.0, 0.5),
    "Normal": (0.0, 1.0),
    "OneHotCategorical": ([0.2, 0.3, 0.5],),
    "OneHotCategoricalStraightThrough": ([0.2, 0.3, 0.5],),
    "Pareto": (1.0, 3.0),
    "Poisson": (40.0,),
    "RelaxedBernoulli": (1.0, 0.4),
    "RelaxedOneHotCategorical": (1.0, [0.2, 0.3, 0.5]),
    "StudentT": (3.0,),
    "Uniform": (0.0, 1.0),
    "VonMises": (0.0, 4.0),
    "Weibull": (1.0, 2.0),
}


def _layers(bench: Bench) -> Run:
    def made(sizes: tuple[Any, ...]) -> Callable[[Any], Any]:
        return lambda layer: weights(layer(*sizes, device=bench.device))

    return named(bench, "torch.nn", {name: made(sizes) for name, sizes in _LAYERS.items()})


def _embeddings(bench: Bench) -> Run:
    names = ("Embedding", "EmbeddingBag")
    return named(bench, "torch.nn", {name: lambda layer: weights(layer(16, 8, device=bench.device)) for name in names})


def _lazy_layers(bench: Bench) -> Run:
    def forward(sizes: tuple[int, ...], shape: tuple[int, ...]) -> Callable[[Any], Any]:
        def draw(lazy: Any) -> list[Any]:
            layer = lazy(*sizes, device=bench.device)
            layer(bench.ones(*shape))
            return weights(layer)

        return draw

    return named(bench, "torch.nn", {name: forward(*given) for name, given in _LAZY.items()})


def _distributions(bench: Bench) -> Run:
    import torch
    from torch.distributions import Categorical, ExpTransform, Normal

    def on(*values: Any) -> list[Any]:
        return [torch.tensor(value, device=bench.device) for value in values]

    def sample(*parameters: Any) -> Callable[[Any], Tensor]:
        return lambda distribution: distribution(*parameters).sample((16,))

    mean, one, third = on([0.0, 1.0], 1.0, [0.2, 0.3, 0.5])
    square, tall = torch.eye(2, device=bench.device), bench.ones(2, 1)
    normal, mixture = Normal(mean, one), Categorical(third[:2])
    draws: dict[str, Callable[[Any], Any]] = {
        "GeneralizedPareto": sample(*on(0.0, 1.0, 0.5)),
        "Independent": sample(normal, 1),
        "LKJCholesky": sample(3, one),
        "LowRankMultivariateNormal": sample(mean, tall, one.expand(2)),
        "MixtureSameFamily": sample(mixture, normal),
        "Multinomial": sample(40, third),
        "MultivariateNormal": sample(mean, square),
        "TransformedDistribution": sample(normal, ExpTransform()),
        "Wishart": sample(one * 3, square),
    }
    draws["relaxed_bernoulli.LogitRelaxedBernoulli"] = sample(one, third)
    draws["relaxed_categorical.ExpRelaxedCategorical"] = sample(one, third)
    draws.update({name: sample(*on(*values)) for name, values in _PARAMETERS.items()})
    return named(bench, "torch.distributions", draws)


PROBES: dict[str, Probe] = {
    "torch.layers": Probe(_layers, kind=Kind.DRAWS),
    "torch.embeddings": Probe(_embeddings, kind=Kind.DRAWS),
    "torch.lazy-layers": Probe(_lazy_layers, kind=Kind.DRAWS),
    "torch.distributions": Probe(_distributions, kind=Kind.DRAWS),
}

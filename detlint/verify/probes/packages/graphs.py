"""Probes of packages for graphs: torch_scatter, torch_sparse, PyG and DGL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.named import built, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_MANY = 1 << 18
_NODES = 4
_SMOOTH = ("scatter_std", "scatter_softmax", "scatter_log_softmax", "scatter_logsumexp")
_SUMS = ("scatter_add", "scatter_sum", "scatter_mean")


def _source(bench: Bench, name: str = "sum", dim: int = -1) -> Tensor:
    """Return values to reduce along `dim`, which has many elements; the other dimensions have two."""
    draw = bench.factors if "mul" in name else bench.normal if name in _SMOOTH else bench.addends
    return draw(*[2] * dim, _MANY) if dim >= 0 else draw(_MANY, *[2] * (-dim - 1))


def _scatters(bench: Bench, names: tuple[str, ...], backward: bool = False) -> Run:
    index, dim = bench.integers(_NODES, _MANY), bench.given("dim", -1)

    def make(name: str) -> Callable[[Any], Run]:
        source = _source(bench, name, dim)
        if backward:
            return lambda scatter: bench.gradients(lambda leaf: scatter(leaf, index, dim), source)
        return lambda scatter: lambda: scatter(source, index, dim)

    return built(bench, "torch_scatter", {name: make(name) for name in names})


def _scatter(bench: Bench, reduce: str, package: str = "torch_scatter") -> Run:
    how = bench.given("reduce", reduce)
    index, dim = bench.integers(_NODES, _MANY), bench.given("dim", -1 if package == "torch_scatter" else 0)
    source = _source(bench, how, dim)
    return named(bench, package, {"scatter": lambda scatter: scatter(source, index, dim, reduce=how)})


def _extremes(bench: Bench, backward: bool = False) -> Run:
    index, ties = bench.integers(_NODES, _MANY), bench.zeros(_MANY)
    names = ("scatter_max", "scatter_min")
    if not backward:
        return named(bench, "torch_scatter", {name: lambda scatter: scatter(ties, index, 0) for name in names})

    def make(scatter: Any) -> Run:
        return bench.gradients(lambda leaf: scatter(leaf, index, 0)[0], ties)

    return built(bench, "torch_scatter", dict.fromkeys(names, make))


def _segment_coo(bench: Bench) -> Run:
    index, how = bench.integers(_NODES, _MANY).sort().values, bench.given("reduce", "sum")
    source = bench.addends(_MANY, 4)
    return named(bench, "torch_scatter", {"segment_coo": lambda segment: segment(source, index, reduce=how)})


def _gather_coo(bench: Bench) -> Run:
    index, source = bench.integers(_NODES, _MANY).sort().values, bench.normal(_NODES, 4)
    return built(
        bench,
        "torch_scatter",
        {"gather_coo": lambda gather: bench.gradients(lambda leaf: gather(leaf, index), source)},
    )


def _star(bench: Bench) -> Tensor:
    """Return the edges of a graph: many into each of a few nodes."""
    import torch

    return torch.stack([bench.integers(64, _MANY // 4), bench.integers(_NODES, _MANY // 4)])


def _spmm(bench: Bench) -> Run:
    edges, matrix = _star(bench).flip(0), bench.normal(64, 4)
    values = bench.addends(edges.shape[1])
    return named(bench, "torch_sparse", {"spmm": lambda spmm: spmm(edges, values, _NODES, 64, matrix)})


def _pools(bench: Bench, backward: bool = False) -> Run:
    names = ("global_add_pool", "global_mean_pool")
    batch, inputs = bench.integers(_NODES, _MANY).sort().values, bench.addends(_MANY, 4)
    if not backward:
        return named(bench, "torch_geometric.nn", {name: lambda pool: pool(inputs, batch) for name in names})

    def make(pool: Any) -> Run:
        return bench.gradients(lambda leaf: pool(leaf, batch), inputs)

    return built(bench, "torch_geometric.nn", dict.fromkeys(names, make))


def _message_gradients(bench: Bench) -> Run:
    if bench.called and not bench.called.endswith(".scatter"):
        return _pools(bench, backward=True)
    how, dim = bench.given("reduce", "sum"), bench.given("dim", 0)
    index, source = bench.integers(_NODES, _MANY), _source(bench, how, dim)

    def make(scatter: Any) -> Run:
        return bench.gradients(lambda leaf: scatter(leaf, index, dim, reduce=how), source)

    return built(bench, "torch_geometric.utils", {"scatter": make})


def _layers(bench: Bench) -> Run:
    import torch

    edges, inputs, attributes = _star(bench), bench.addends(64, 16), bench.addends(_MANY // 4, 16)
    batch = bench.integers(_NODES, 64).sort().values

    def layer(*sizes: Any, more: tuple[Any, ...] = (), **options: Any) -> Callable[[Any], Run]:
        def make(kind: Any) -> Run:
            made = bench.module(kind(*sizes, **options)).eval()
            return lambda: made(inputs, edges, *more)

        return make

    return built(
        bench,
        "torch_geometric.nn",
        {
            "MessagePassing": lambda _: layer()(bench.package("torch_geometric.nn").SimpleConv),
            **dict.fromkeys(("GCNConv", "SAGEConv", "GraphConv"), layer(16, 16)),
            **dict.fromkeys(("GATConv", "GATv2Conv", "TransformerConv"), layer(16, 16)),
            "GINConv": layer(torch.nn.Linear(16, 16)),
            "GINEConv": layer(torch.nn.Linear(16, 16), more=(attributes,)),
            "global_max_pool": lambda pool: lambda: pool(inputs, batch),
        },
    )


def _duplicates(bench: Bench) -> Run:
    edges = _star(bench)
    values = bench.addends(edges.shape[1])
    return named(
        bench,
        "torch_geometric.utils",
        {
            "coalesce": lambda coalesce: coalesce(edges, values, reduce=bench.given("reduce", "sum")),
            "to_dense_adj": lambda dense: dense(edges, edge_attr=values, max_num_nodes=64),
        },
    )


def _graph_softmax(bench: Bench, backward: bool = False) -> Run:
    import torch

    sparse = bench.package("dgl.sparse")
    where = torch.stack([bench.integers(_NODES, _MANY), torch.arange(_MANY, device=bench.device)])
    values, dim = bench.normal(_MANY), bench.given("dim", 1)

    def softmax(value: Tensor) -> Any:
        return sparse.softmax(sparse.spmatrix(where, value, (_NODES, _MANY)), dim).val

    return bench.gradients(softmax, values) if backward else lambda: softmax(values)


PROBES: dict[str, Probe] = {
    "torch_scatter.scatter.fwd": Probe(_scatters, {"names": _SUMS}),
    "torch_scatter.scatter.fwd.composite": Probe(_scatters, {"names": _SMOOTH}),
    "torch_scatter.scatter.fwd.reduce": Probe(_scatter, {"reduce": "sum"}),
    "torch_scatter.scatter.fwd.mul": Probe(_scatters, {"names": ("scatter_mul",)}),
    "torch_scatter.scatter.fwd.reduce_mul": Probe(_scatter, {"reduce": "mul"}),
    "torch_scatter.scatter.bwd": Probe(
        _scatters, {"names": ("scatter", "scatter_mul", *_SUMS, *_SMOOTH), "backward": True}
    ),
    "torch_scatter.minmax.fwd": Probe(_extremes),
    "torch_scatter.minmax.bwd": Probe(_extremes, {"backward": True}),
    "torch_scatter.segment_coo": Probe(_segment_coo),
    "torch_scatter.segment_coo.gather": Probe(_gather_coo),
    "torch_sparse.spmm": Probe(_spmm),
    "pyg.mp.fwd": Probe(_scatter, {"reduce": "sum", "package": "torch_geometric.utils"}),
    "pyg.mp.fwd.pool": Probe(_pools),
    "pyg.mp.fwd.layers": Probe(_layers),
    "pyg.mp.bwd": Probe(_message_gradients),
    "pyg.other": Probe(_duplicates),
    "dgl.softmax.fwd": Probe(_graph_softmax),
    "dgl.softmax.bwd": Probe(_graph_softmax, {"backward": True}),
}

"""Probes of draws by torchvision, timm, peft, PyG and DGL from the global generators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run
from detlint.verify.probes.named import named, weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_TIMES = 32  # a transform applied with probability one half must not give equal results by chance
_TRANSFORMS: dict[str, tuple[Any, ...]] = {
    "RandomCrop": (8,),
    "RandomResizedCrop": (8,),
    "RandomHorizontalFlip": (),
    "RandomVerticalFlip": (),
    "RandomPerspective": (),
    "RandomRotation": (90,),
    "RandomAffine": (90,),
    "RandomGrayscale": (0.5,),
    "RandomErasing": (),
    "RandomInvert": (),
    "RandomPosterize": (2,),
    "RandomSolarize": (100,),
    "RandomAdjustSharpness": (2,),
    "RandomAutocontrast": (),
    "RandomEqualize": (),
    "ColorJitter": (0.5,),
    "ElasticTransform": (),
    "AutoAugment": (),
    "RandAugment": (),
    "TrivialAugmentWide": (),
    "AugMix": (),
}
_SECOND: dict[str, tuple[Any, ...]] = {
    "RandomZoomOut": (),
    "ScaleJitter": ((16, 16), (0.5, 2.0)),
    "RandomShortestSize": ([8, 12, 16, 20],),
    "RandomResize": (8, 32),
    "RandomPhotometricDistort": (),
    "RandomChannelPermutation": (),
}
_GRAPH_LAYERS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("ARMAConv", "FiLMConv", "GATConv", "GATv2Conv", "GCNConv", "GraphConv", "Linear"), (8, 8)),
    **dict.fromkeys(("MFConv", "SAGEConv", "SGConv", "TAGConv", "TransformerConv"), (8, 8)),
    **dict.fromkeys(("HANConv", "HGTConv"), (8, 8, (["node"], [("node", "to", "node")]))),
    **dict.fromkeys(("GAT", "GCN", "GIN", "GraphSAGE"), (8, 8, 2)),
    "ChebConv": (8, 8, 2),
    "GCN2Conv": (8, 0.1),
    "MLP": ([8, 8],),
    "RGCNConv": (8, 8, 2),
}
_DGL_LAYERS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("EdgeConv", "SGConv", "TAGConv"), (8, 8)),
    **dict.fromkeys(("DotGatConv", "GATConv", "GATv2Conv"), (8, 8, 2)),
    **dict.fromkeys(("ChebConv", "DenseChebConv", "RelGraphConv"), (8, 8, 2)),
    "DenseSAGEConv": (8, 8),
    "EGATConv": (8, 8, 8, 8, 2),
    "EdgeGATConv": (8, 8, 8, 2),
    "GCN2Conv": (8, 1),
    "GMMConv": (8, 8, 2, 2, "mean"),
    "GatedGraphConv": (8, 8, 2, 2),
    "SAGEConv": (8, 8, "mean"),
    "TypedLinear": (8, 8, 2),
}


def _applied(image: Tensor, *arguments: Any) -> Callable[[Any], Any]:
    return lambda transform: [transform(*arguments)(image) for _ in range(_TIMES)]


def _transforms(bench: Bench, package: str) -> Run:
    image, steps = _image(bench), _steps(bench, package)
    draws = {name: _applied(image, *arguments) for name, arguments in _TRANSFORMS.items()}
    draws["RandomApply"] = _applied(image, steps[:1])
    if package.endswith("v2"):
        images, labels = bench.uniform(8, 3, 16, 16), bench.integers(4, 8)
        draws.update({name: _applied(image, *arguments) for name, arguments in _SECOND.items()})
        draws.update({name: _applied(image, steps) for name in ("RandomOrder", "RandomChoice")})
        draws.update({name: lambda mix: mix(num_classes=4)(images, labels) for name in ("MixUp", "CutMix")})
        draws["GaussianNoise"] = _applied(images)
    return named(bench, package, draws)


def _order(bench: Bench) -> Run:
    draw = _applied(_image(bench), _steps(bench, "torchvision.transforms"))
    return named(bench, "torchvision.transforms", dict.fromkeys(("RandomOrder", "RandomChoice"), draw))


def _blur(bench: Bench) -> Run:
    draw = _applied(_image(bench), bench.given("kernel_size", 3))
    return named(bench, "torchvision.transforms", dict.fromkeys(("GaussianBlur", "v2.GaussianBlur"), draw))


def _image(bench: Bench) -> Tensor:
    return bench.integers(192, 3, 24, 24, low=64).byte()


def _steps(bench: Bench, package: str) -> list[Any]:
    """Return transforms that draw nothing and whose order matters."""
    transforms = bench.package(package)
    return [transforms.Pad((3, 0, 0, 0)), transforms.Resize(16), transforms.CenterCrop(12)]


def _first_weights(model: Any) -> list[Any]:
    return [parameter.detach().flatten()[:16].clone() for parameter in model.parameters()]


def _models(bench: Bench) -> Run:
    name = bench.called.removeprefix("torchvision.models.") or "resnet18"
    first = ("resnet18",) if name == "get_model" else ()
    parted = name.startswith(("detection.", "segmentation."))  # these download a backbone by default
    options = {"weights_backbone": None} if parted else {}
    return named(
        bench, "torchvision.models", {name: lambda make: _first_weights(make(*first, weights=None, **options))}
    )


def _timm(bench: Bench) -> Run:
    model = bench.given("model_name", "resnet18")
    return named(bench, "timm", {"create_model": lambda make: _first_weights(make(model, pretrained=False))})


def _made(sizes: tuple[Any, ...]) -> Callable[[Any], Any]:
    return lambda layer: weights(layer(*sizes))


def _graph_layers(bench: Bench) -> Run:
    return named(bench, "torch_geometric.nn", {name: _made(sizes) for name, sizes in _GRAPH_LAYERS.items()})


def _dgl_layers(bench: Bench) -> Run:
    return named(bench, "dgl.nn", {name: _made(sizes) for name, sizes in _DGL_LAYERS.items()})


def _dgl_weighted(bench: Bench) -> Run:
    return named(bench, "dgl.nn", dict.fromkeys(("GraphConv", "DenseGraphConv"), _made((8, 8))))


def _dgl_shuffle(bench: Bench) -> Run:
    dgl = bench.package("dgl")
    ends = bench.integers(64, 2, 256)
    graph = dgl.graph((ends[0], ends[1]), num_nodes=64)
    nodes = graph.nodes()

    def order(loader: Any) -> list[Any]:
        sampler = dgl.dataloading.MultiLayerFullNeighborSampler(1)
        return [seeds for _, seeds, _ in loader(graph, nodes, sampler, batch_size=8, shuffle=True)]

    return named(bench, "dgl.dataloading", {"DataLoader": order})


def _dgl_graphs(bench: Bench) -> Run:
    def order(loader: Any) -> list[Any]:
        return list(loader(range(64), collate_fn=list, batch_size=8, shuffle=True))

    return named(bench, "dgl.dataloading", {"GraphDataLoader": order})


def _graph_shuffle(bench: Bench) -> Run:
    data, torch = bench.package("torch_geometric.data"), bench.package("torch")
    graphs = [data.Data(x=torch.full((1, 1), float(i))) for i in range(64)]
    whole = data.Data(x=torch.arange(64.0), edge_index=torch.stack([torch.arange(64)] * 2), num_nodes=64)
    draws = {
        "DataLoader": lambda loader: [batch.x for batch in loader(graphs, batch_size=8, shuffle=True)],
        "DataListLoader": lambda loader: [one.x for batch in loader(graphs, shuffle=True) for one in batch],
        "DenseDataLoader": lambda loader: [batch.x for batch in loader(graphs, batch_size=8, shuffle=True)],
        "RandomNodeLoader": lambda loader: [batch.x for batch in loader(whole, 8, shuffle=True)],
    }
    return named(bench, "torch_geometric.loader", draws)


def _graph_sampler(bench: Bench, name: str) -> Run:
    data, torch = bench.package("torch_geometric.data"), bench.package("torch")
    graphs = [data.Data(x=torch.zeros(1, 1), y=torch.tensor([i % 2])) for i in range(64)]
    draws = {
        "DynamicBatchSampler": lambda sampler: list(sampler(graphs, 4, shuffle=True, num_steps=16)),
        "ImbalancedSampler": lambda sampler: list(sampler(graphs)),
    }
    return named(bench, "torch_geometric.loader", {name: draws[name]})


def _adapters(bench: Bench) -> Run:
    torch, peft = bench.package("torch"), bench.package("peft")

    def made(wrap: Any) -> list[Any]:
        model = torch.nn.Sequential(torch.nn.Linear(64, 64))
        adapted = wrap(model, peft.LoraConfig(target_modules=["0"]))
        return [value.detach().clone() for name, value in adapted.named_parameters() if "lora_" in name]

    return named(bench, "peft", {"get_peft_model": made})


PROBES: dict[str, Probe] = {
    "torchvision.v1": Probe(_transforms, {"package": "torchvision.transforms"}, kind=Kind.DRAWS),
    "torchvision.v2": Probe(_transforms, {"package": "torchvision.transforms.v2"}, kind=Kind.DRAWS),
    "torchvision.v1-order": Probe(_order, kind=Kind.DRAWS),
    "torchvision.v1-blur": Probe(_blur, kind=Kind.DRAWS),
    "torchvision.models": Probe(_models, kind=Kind.DRAWS),
    "timm.models": Probe(_timm, kind=Kind.DRAWS),
    "torch-geometric.layers": Probe(_graph_layers, kind=Kind.DRAWS),
    "dgl.layers": Probe(_dgl_layers, kind=Kind.DRAWS),
    "dgl.layers-with-weight": Probe(_dgl_weighted, kind=Kind.DRAWS),
    "dgl.loader-shuffle": Probe(_dgl_shuffle, kind=Kind.DRAWS),
    "dgl.graph-loader-shuffle": Probe(_dgl_graphs, kind=Kind.DRAWS),
    "torch-geometric.loader-shuffle": Probe(_graph_shuffle, kind=Kind.DRAWS),
    "torch-geometric.dynamic-batches": Probe(_graph_sampler, {"name": "DynamicBatchSampler"}, kind=Kind.DRAWS),
    "torch-geometric.imbalanced-sampler": Probe(_graph_sampler, {"name": "ImbalancedSampler"}, kind=Kind.DRAWS),
    "peft.adapters": Probe(_adapters, kind=Kind.DRAWS),
}

_SPARSE = "it samples by torch-sparse, which is built for one release of PyTorch"
_CALLED = "what the functions of `torchvision.models` call, which are probed"
_DOWNLOADED = "it generates by a model that is downloaded"
_CONFIGURED = "each class is made of a configuration of its own"
_SIZED = "many take sizes of their own, and their networks are large"
NOT_PROBED: dict[str, str] = {
    "torch-geometric.saint": _SPARSE,
    "torchvision.models.classes": _CALLED,
    "torchvision.models.detection.classes": _CALLED,
    "torchaudio.models": _SIZED,
    "transformers.models": _CONFIGURED,
    "transformers.configured": _CONFIGURED,
    "transformers.generate": _DOWNLOADED,
    "transformers.pipeline": _DOWNLOADED,
}

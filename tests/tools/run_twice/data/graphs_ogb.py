"""Small graphs in the folders of Open Graph Benchmark datasets, as their downloaded archives hold them."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

_NODES = 300
_EDGES = 1200
_EMBEDDED = 16
_ATOMS = (119, 5, 12, 12, 10, 6, 6, 2, 2)
_BONDS = (5, 6, 2)
_WORDS = ("get", "set", "name", "value", "list", "item", "path", "open", "close", "read", "write", "index")

Rows = np.ndarray | Sequence[Sequence[object]]


def nodes_arxiv(root: Path) -> None:
    """Write a citation graph whose nodes have 128 features and one of 40 classes.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(1)
    folder = _dataset(root / "examples/nodeproppred/arxiv", "ogbn_arxiv", 1)
    _nodes_and_edges(folder, numbers, features=128)
    _csv(folder / "raw/node_year.csv.gz", numbers.integers(2000, 2020, (_NODES, 1)))
    _csv(folder / "raw/node-label.csv.gz", numbers.integers(0, 40, (_NODES, 1)))
    _node_split(folder / "split/time", numbers)


def nodes_proteins(root: Path) -> None:
    """Write a graph of proteins with 8 features an edge and 112 binary labels a node.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(2)
    folder = _dataset(root / "examples/nodeproppred/proteins", "ogbn_proteins", 1)
    _nodes_and_edges(folder, numbers, features=0)
    _csv(folder / "raw/edge-feat.csv.gz", numbers.random((_EDGES, 8)).round(3))
    _csv(folder / "raw/node_species.csv.gz", numbers.integers(1, 9, (_NODES, 1)))
    _csv(folder / "raw/node-label.csv.gz", numbers.integers(0, 2, (_NODES, 112)))
    _node_split(folder / "split/species", numbers)


def links_collab(root: Path) -> None:
    """Write a graph of collaborations, with weights and years of edges, and its split by time.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(3)
    folder = _dataset(root / "examples/linkproppred/collab", "ogbl_collab", 1)
    _nodes_and_edges(folder, numbers, features=128)
    _csv(folder / "raw/edge_weight.csv.gz", numbers.integers(1, 5, (_EDGES, 1)))
    _csv(folder / "raw/edge_year.csv.gz", numbers.integers(2000, 2018, (_EDGES, 1)))
    _link_split(folder / "split/time", numbers, {"train": ("edge",), "valid": ("edge", "edge_neg")})


def links_ddi(root: Path) -> None:
    """Write a graph of drugs without features, and its split by target.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(4)
    folder = _dataset(root / "examples/linkproppred/ddi", "ogbl_ddi", 1)
    _nodes_and_edges(folder, numbers, features=0)
    _link_split(folder / "split/target", numbers, {"train": ("edge",), "valid": ("edge", "edge_neg")})


def links_citation(root: Path) -> None:
    """Write a citation graph, and a split that has 1000 negative targets for each source.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(5)
    folder = _dataset(root / "examples/linkproppred/citation2", "ogbl_citation2", 1)
    _nodes_and_edges(folder, numbers, features=128)
    _csv(folder / "raw/node_year.csv.gz", numbers.integers(2000, 2020, (_NODES, 1)))
    size = 64
    for part in ("train", "valid", "test"):
        ends = {name: torch.from_numpy(numbers.integers(0, _NODES, size)) for name in ("source_node", "target_node")}
        if part != "train":
            ends["target_node_neg"] = torch.from_numpy(numbers.integers(0, _NODES, (size, 1000)))
        _save(ends, folder / "split/time" / f"{part}.pt")


def links_vessel(root: Path) -> None:
    """Write a graph of vessels with coordinates, its spatial split and an embedding of its nodes.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(6)
    example = root / "examples/linkproppred/vessel"
    folder = _dataset(example, "ogbl_vessel", 1)
    (folder / "raw").mkdir()
    np.savez(
        folder / "raw/data.npz",
        edge_index=numbers.integers(0, _NODES, (2, _EDGES)),
        node_feat=numbers.random((_NODES, 3), dtype=np.float32),
        edge_feat=numbers.random((_EDGES, 3), dtype=np.float32),
        num_nodes_list=np.array([_NODES]),
        num_edges_list=np.array([_EDGES]),
    )
    both = ("edge", "edge_neg")
    _link_split(folder / "split/spatial", numbers, {"train": both, "valid": both})
    _save(torch.from_numpy(numbers.random((_NODES, _EMBEDDED), dtype=np.float32)), example / "embedding.pt")


def links_ppa(root: Path) -> None:
    """Write a graph of proteins with 58 features a node, its split and an embedding of its nodes.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(7)
    example = root / "examples/linkproppred/ppa"
    folder = _dataset(example, "ogbl_ppa", 1)
    _nodes_and_edges(folder, numbers, features=58)
    _link_split(folder / "split/throughput", numbers, {"train": ("edge",), "valid": ("edge", "edge_neg")})
    _save(torch.from_numpy(numbers.random((_NODES, _EMBEDDED), dtype=np.float32)), example / "embedding.pt")


def triples_wikikg(root: Path) -> None:
    """Write a knowledge graph of one type of entity with 12 relations.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(8)
    folder = _dataset(root / "examples/linkproppred/wikikg2", "ogbl_wikikg2", 1)
    _nodes_and_edges(folder, numbers, features=0)
    relations = numbers.integers(0, 12, (_EDGES, 1))
    relations[0] = 11
    _csv(folder / "raw/edge_reltype.csv.gz", relations)
    for part, size in (("train", 800), ("valid", 40), ("test", 40)):
        triples = {name: numbers.integers(0, _NODES, size) for name in ("head", "tail")}
        triples["relation"] = numbers.integers(0, 12, size)
        if part != "train":
            triples |= {name: numbers.integers(0, _NODES, (size, 20)) for name in ("head_neg", "tail_neg")}
        _save(triples, folder / "split/time" / f"{part}.pt")


def triples_biokg(root: Path) -> None:
    """Write a knowledge graph of three types of entity with four relations between them.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(9)
    folder = _dataset(root / "examples/linkproppred/biokg", "ogbl_biokg", 1)
    sizes = {"disease": 60, "drug": 100, "protein": 140}
    kinds = [
        ("drug", "drug-disease", "disease"),
        ("drug", "drug-protein", "protein"),
        ("protein", "protein-disease", "disease"),
        ("protein", "protein-protein", "protein"),
    ]
    raw = folder / "raw"
    _csv(raw / "num-node-dict.csv.gz", [list(sizes), list(sizes.values())])
    _csv(raw / "triplet-type-list.csv.gz", kinds)
    for number, (head, relation, tail) in enumerate(kinds):
        ends = np.stack([numbers.integers(0, sizes[head], 300), numbers.integers(0, sizes[tail], 300)], axis=1)
        below = raw / "relations" / "___".join((head, relation, tail))
        _csv(below / "edge.csv.gz", ends)
        _csv(below / "num-edge-list.csv.gz", [[300]])
        _csv(below / "edge_reltype.csv.gz", np.full((300, 1), number))
    for part, size in (("train", 800), ("valid", 40), ("test", 40)):
        relations = np.sort(numbers.integers(0, len(kinds), size))
        heads, tails = ([kinds[number][end] for number in relations] for end in (0, 2))
        triples: dict[str, object] = {"head_type": heads, "tail_type": tails, "relation": relations}
        for name, types in (("head", heads), ("tail", tails)):
            bound = np.array([sizes[kind] for kind in types])
            triples[name] = numbers.integers(0, bound)
            if part != "train":
                triples[f"{name}_neg"] = numbers.integers(0, bound[:, None], (size, 20))
        _save(triples, folder / "split/random" / f"{part}.pt")


def molecules(root: Path) -> None:
    """Write 96 molecules with one binary label each.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(10)
    folder = _dataset(root / "examples/graphproppred/mol", "ogbg_molhiv", 1)
    labels = numbers.integers(0, 2, (96, 1))
    _graphs(folder, numbers, labels, atoms=_ATOMS, bonds=_BONDS)
    _graph_split(folder / "split/scaffold", 96)


def proteins(root: Path) -> None:
    """Write 60 graphs of proteins, with 7 features an edge, and one of 37 classes each.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(11)
    folder = _dataset(root / "examples/graphproppred/ppa", "ogbg_ppa", 1)
    edges = _graphs(folder, numbers, numbers.integers(0, 37, (60, 1)), atoms=(), bonds=())
    _csv(folder / "raw/edge-feat.csv.gz", numbers.random((edges, 7)).round(3))
    _graph_split(folder / "split/species", 60)


def methods(root: Path) -> None:
    """Write 60 syntax trees of methods, whose names are a sequence of words each.

    Args:
        root: root of the repository's copy.
    """
    numbers = np.random.default_rng(12)
    folder = _dataset(root / "examples/graphproppred/code2", "ogbg_code2", 1)
    names = [[" ".join(numbers.choice(_WORDS, numbers.integers(1, 5)))] for _ in range(60)]
    _graphs(folder, numbers, names, atoms=(20, 30), bonds=())
    nodes = 12 * len(names)
    _csv(folder / "raw/node_is_attributed.csv.gz", numbers.integers(0, 2, (nodes, 1)))
    _csv(folder / "raw/node_dfs_order.csv.gz", np.tile(np.arange(12), len(names))[:, None])
    _csv(folder / "raw/node_depth.csv.gz", numbers.integers(0, 6, (nodes, 1)))
    for file, name, size in (("typeidx2type", "type", 20), ("attridx2attr", "attr", 30)):
        rows: list[list[object]] = [[f"{name} idx", name], *([number, f"{name}{number}"] for number in range(size))]
        _csv(folder / "mapping" / f"{file}.csv.gz", rows)
    _graph_split(folder / "split/project", 60)


def _dataset(example: Path, name: str, version: int) -> Path:
    """Make the folder of a dataset, with the file that says its version."""
    folder = example / "dataset" / name
    (folder / "processed").mkdir(parents=True)
    (folder / f"RELEASE_v{version}.txt").write_text("")
    return folder


def _csv(path: Path, rows: Rows) -> None:
    """Write rows as compressed CSV without a header, the same bytes each time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    for row in rows:
        text.write(",".join(str(value) for value in row) + "\n")
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def _save(value: object, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(value, path)


def _nodes_and_edges(folder: Path, numbers: np.random.Generator, features: int) -> None:
    """Write one graph: its edges, its counts and, if any, the features of its nodes."""
    raw = folder / "raw"
    _csv(raw / "edge.csv.gz", numbers.integers(0, _NODES, (_EDGES, 2)))
    _csv(raw / "num-node-list.csv.gz", [[_NODES]])
    _csv(raw / "num-edge-list.csv.gz", [[_EDGES]])
    if features:
        _csv(raw / "node-feat.csv.gz", numbers.normal(size=(_NODES, features)).round(4))


def _node_split(folder: Path, numbers: np.random.Generator) -> None:
    order = numbers.permutation(_NODES)
    for part, indices in zip(("train", "valid", "test"), np.split(order, (200, 250)), strict=True):
        _csv(folder / f"{part}.csv.gz", np.sort(indices)[:, None])


def _link_split(folder: Path, numbers: np.random.Generator, keys: Mapping[str, Sequence[str]]) -> None:
    """Write 600 edges to train on and 100 each to validate and test; the test part has the keys of validation."""
    for part, size in (("train", 600), ("valid", 100), ("test", 100)):
        wanted = keys["train" if part == "train" else "valid"]
        edges = {name: torch.from_numpy(numbers.integers(0, _NODES, (size, 2))) for name in wanted}
        _save(edges, folder / f"{part}.pt")


def _graphs(
    folder: Path, numbers: np.random.Generator, labels: Rows, atoms: Sequence[int], bonds: Sequence[int]
) -> int:
    """Write many graphs of 12 nodes, trees with two more edges, and return how many edges they have in all."""
    count, nodes, edges = len(labels), 12, 13
    ends = []
    for _ in range(count):
        ends += [[int(numbers.integers(0, node)), node] for node in range(1, nodes)]
        ends += numbers.integers(0, nodes, (edges - nodes + 1, 2)).tolist()
    raw = folder / "raw"
    _csv(raw / "edge.csv.gz", ends)
    _csv(raw / "num-node-list.csv.gz", [[nodes]] * count)
    _csv(raw / "num-edge-list.csv.gz", [[edges]] * count)
    _csv(raw / "graph-label.csv.gz", labels)
    if atoms:
        _csv(raw / "node-feat.csv.gz", numbers.integers(0, atoms, (nodes * count, len(atoms))))
    if bonds:
        _csv(raw / "edge-feat.csv.gz", numbers.integers(0, bonds, (edges * count, len(bonds))))
    return edges * count


def _graph_split(folder: Path, count: int) -> None:
    bounds = (count * 2 // 3, count * 5 // 6)
    for part, indices in zip(("train", "valid", "test"), np.split(np.arange(count), bounds), strict=True):
        _csv(folder / f"{part}.csv.gz", indices[:, None])

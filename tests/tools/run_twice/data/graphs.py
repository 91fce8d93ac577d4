"""Small graphs in the raw formats that PyTorch Geometric's data sets read: nothing is downloaded where these files lie."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np


def planetoid_beside_examples(root: Path) -> None:
    """Write a small Cora to `data/Planetoid`, where the programs of `examples` look for it."""
    planetoid(root / "data/Planetoid", "Cora")


def planetoid_in_examples(root: Path) -> None:
    """Write a small Cora to `examples/data/Planetoid`, where the programs in folders of `examples` look for it."""
    planetoid(root / "examples/data/Planetoid", "Cora")


def mutag(root: Path) -> None:
    """Write a small MUTAG to `data/TU`."""
    tu(root / "data/TU", "MUTAG", labels=7)


def enzymes(root: Path) -> None:
    """Write a small ENZYMES to `data/TU`."""
    tu(root / "data/TU", "ENZYMES", graphs=60, classes=6, labels=3)


def proteins(root: Path) -> None:
    """Write a small PROTEINS to `data/PROTEINS`."""
    tu(root / "data/PROTEINS", "PROTEINS", graphs=60, labels=3)


def imdb_in_folder(root: Path) -> None:
    """Write a small IMDB-BINARY to `data/TUDataset` of the working folder, `examples/pytorch_ignite`."""
    tu(root / "examples/pytorch_ignite/data/TUDataset", "IMDB-BINARY", graphs=40)


def planetoid(folder: Path, name: str, nodes: int = 720, features: int = 96, classes: int = 7) -> None:
    """Write a citation network to `folder/name/raw`: 140 nodes to train with, 500 to validate, the last 60 to test."""
    drawn = np.random.default_rng(7)
    raw = folder / name / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    topic = drawn.integers(0, classes, nodes)
    words = (drawn.random((nodes, features)) < 0.05 + 0.3 * (np.arange(features) % classes == topic[:, None])).astype(
        "f4"
    )
    words[:, 0] = 1
    labels = np.eye(classes, dtype="i4")[topic]
    graph: dict[int, list[int]] = {node: [] for node in range(nodes)}
    for _ in range(3 * nodes):
        one = int(drawn.integers(nodes))
        other = (
            int(drawn.choice(np.flatnonzero(topic == topic[one])))
            if drawn.random() < 0.8
            else int(drawn.integers(nodes))
        )
        if one != other:
            graph[one].append(other)
            graph[other].append(one)
    kept, trained = nodes - 60, 140
    parts = {
        "x": words[:trained],
        "y": labels[:trained],
        "allx": words[:kept],
        "ally": labels[:kept],
        "tx": words[kept:],
        "ty": labels[kept:],
        "graph": graph,
    }
    for part, value in parts.items():
        (raw / f"ind.{name.lower()}.{part}").write_bytes(pickle.dumps(value, protocol=4))
    tested = drawn.permutation(np.arange(kept, nodes))
    (raw / f"ind.{name.lower()}.test.index").write_text("".join(f"{node}\n" for node in tested))


def tu(folder: Path, name: str, graphs: int = 80, classes: int = 2, labels: int = 0) -> None:
    """Write a data set of small graphs to `folder/name/raw` in the format of TU Dortmund, with labels of nodes or none."""
    drawn = np.random.default_rng(11)
    raw = folder / name / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    edges: list[str] = []
    belongs: list[str] = []
    node_labels: list[str] = []
    graph_labels: list[str] = []
    first = 1
    for graph in range(1, graphs + 1):
        kind = int(drawn.integers(classes))
        size = int(drawn.integers(8, 16))
        pairs = {(node, node + 1) for node in range(size - 1)} | {
            tuple(sorted(pair))
            for pair in drawn.integers(0, size, (size * (kind + 1) // 2, 2)).tolist()
            if pair[0] != pair[1]
        }
        for one, other in sorted(pairs):
            edges += [f"{first + one}, {first + other}", f"{first + other}, {first + one}"]
        belongs += [str(graph)] * size
        node_labels += [str(int(label)) for label in drawn.integers(0, max(labels, 1), size)]
        graph_labels.append(str(kind + 1))
        first += size
    if labels:
        node_labels[:labels] = [str(label) for label in range(labels)]
    files = {"A": edges, "graph_indicator": belongs, "graph_labels": graph_labels}
    if labels:
        files["node_labels"] = node_labels
    for part, lines in files.items():
        (raw / f"{name}_{part}.txt").write_text("\n".join(lines) + "\n")


def wikipedia(root: Path, events: int = 120, users: int = 12, items: int = 8) -> None:
    """Write edits of pages by users, in order of time, to `data/JODIE/wikipedia` with 172 features each."""
    drawn = np.random.default_rng(13)
    raw = root / "data/JODIE/wikipedia/raw"
    raw.mkdir(parents=True, exist_ok=True)
    user = np.r_[np.arange(users), drawn.integers(0, users, events - users)]
    item = np.r_[np.arange(items), drawn.integers(0, items, events - items)]
    seconds = np.cumsum(drawn.integers(1, 90, events))
    features = drawn.normal(size=(events, 172)).round(3)
    lines = ["user_id,item_id,timestamp,state_label,comma_separated_list_of_features"]
    for event in range(events):
        lines.append(
            f"{user[event]},{item[event]},{seconds[event]}.0,0," + ",".join(str(value) for value in features[event])
        )
    (raw / "wikipedia.csv").write_text("\n".join(lines) + "\n")


def bitcoin(root: Path, nodes: int = 90, ratings: int = 300) -> None:
    """Write who rated whom how well, and when, to `data/BitcoinOTC`."""
    drawn = np.random.default_rng(17)
    raw = root / "data/BitcoinOTC-1/raw"
    raw.mkdir(parents=True, exist_ok=True)
    lines = []
    for rating in range(ratings):
        one, other = drawn.choice(nodes, 2, replace=False) + 1
        lines.append(f"{one},{other},{drawn.choice([-10, -3, 1, 2, 8])},{1289241911 + 3600 * rating}.5")
    (raw / "soc-sign-bitcoinotc.csv").write_text("\n".join(lines) + "\n")


def fb15k(root: Path, entities: int = 60, relations: int = 5) -> None:
    """Write triples of a knowledge graph to `data/FB15k`."""
    drawn = np.random.default_rng(19)
    raw = root / "data/FB15k/raw"
    raw.mkdir(parents=True, exist_ok=True)
    for part, count in {"train": 400, "valid": 40, "test": 40}.items():
        rows = [
            f"/m/{drawn.integers(entities)}\t/relation/{drawn.integers(relations)}\t/m/{drawn.integers(entities)}"
            for _ in range(count)
        ]
        (raw / f"{part}.txt").write_text("\n".join(rows) + "\n")

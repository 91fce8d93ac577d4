"""Loaders of libraries on graphs, which derive from torch's: what they draw, and from where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.project import told

LOADED = """
    import torch
    from {} import {} as Made

    torch.backends.cudnn.benchmark = True
    for batch in Made({}):
        print(batch)
    """


@pytest.mark.parametrize(
    ("package", "name", "given", "state"),
    [
        ("torch_geometric.loader", "DataListLoader", "data, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "DataListLoader", "data, 2, True", "unseeded"),
        ("torch_geometric.loader", "DataListLoader", "data, 2", "unused"),
        ("torch_geometric.data", "DenseDataLoader", "data, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "NeighborLoader", "data[0], [2], batch_size=2, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "NeighborLoader", "data[0], [2], shuffle=True, generator=own", "unseeded"),
        ("torch_geometric.loader", "LinkNeighborLoader", "data[0], [2], batch_size=2, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "ClusterLoader", "parts, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "ZipLoader", "[one, other], shuffle=True", "unseeded"),
        ("torch_geometric.loader", "RandomNodeLoader", "data, 10, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "TemporalDataLoader", "data, shuffle=True", "unused"),
        ("torch_geometric.loader", "GraphSAINTNodeSampler", "data, batch_size=10, num_steps=5", "unseeded"),
        ("torch_geometric.loader", "ImbalancedSampler", "data", "unseeded"),
        ("torch_geometric.loader", "DynamicBatchSampler", "data, 100, shuffle=True", "unseeded"),
        ("torch_geometric.loader", "DynamicBatchSampler", "data, 100", "unused"),
        ("dgl.dataloading", "GraphDataLoader", "data, shuffle=True", "unseeded"),
        ("dgl.dataloading", "GraphDataLoader", "data, shuffle=True, use_ddp=True", "unused"),
    ],
)
def test_loaders_of_graphs_draw_from_torch(tmp_path: Path, package: str, name: str, given: str, state: str) -> None:
    entry = told(tmp_path, LOADED.format(package, name, given))
    assert entry["generators"]["torch"]["state"] == state
    assert entry["loaders"]["total"] == (not name.endswith(("ImbalancedSampler", "DynamicBatchSampler")))
    assert entry["loaders"]["with_generator"] == ("generator=" in given)


def test_a_loader_of_a_loader_iterates_over_it(tmp_path: Path) -> None:
    program = """
        from torch_geometric.loader import NeighborLoader, PrefetchLoader

        for batch in PrefetchLoader(NeighborLoader(data, [2], shuffle=True)):
            print(batch)
        """
    assert told(tmp_path, program)["generators"]["torch"]["state"] == "unseeded"


def test_workers_of_a_loader_of_graphs_are_seeded_from_torch(tmp_path: Path) -> None:
    program = """
        import random
        import torch
        from torch_geometric.loader import DataListLoader

        class Moved(torch.utils.data.Dataset):
            def __getitem__(self, index):
                return random.random()

        torch.manual_seed(0)
        for batch in DataListLoader(Moved(), num_workers=2):
            print(batch)
        """
    generators = told(tmp_path, program)["generators"]
    assert (generators["torch"]["state"], generators["python"]["state"]) == ("seeded", "seeded")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("loader.NeighborLoader(data, [2], shuffle=True)", ["DET201"]),
        ("loader.NeighborLoader(data, [2])", []),
        ("data.DataLoader(data, shuffle=True)", ["DET201"]),
        ("loader.DenseDataLoader(data, 2, True)", ["DET201"]),
        ("loader.DenseDataLoader(data, 2, True, generator=torch.Generator().manual_seed(0))", []),
    ],
)
def test_loaders_of_graphs_need_generators(tmp_path: Path, given: str, expected: list[str]) -> None:
    text = f"import torch\nimport torch_geometric.data\nimport torch_geometric.loader\nmade = torch_geometric.{given}\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    result = CliRunner().invoke(cli, ["--no-cache", "--format", "json", str(tmp_path)], catch_exceptions=False)
    assert [each["code"] for each in json.loads(result.stdout)["findings"]] == expected

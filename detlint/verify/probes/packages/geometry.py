"""Probes of PyTorch3D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Probe, Run
from detlint.verify.probes.named import built, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_POINTS = 4096
_CORNERS = 8


def _gradients(bench: Bench) -> Run:
    cloud, few = bench.normal(1, _POINTS, 3), bench.normal(1, _CORNERS, 3)
    faces = bench.integers(_CORNERS, _POINTS, 3)
    pixels, shares = bench.integers(_CORNERS, 1, 64, 64, 4), bench.uniform(1, 64, 64, 4, 3)
    attributes, options = bench.normal(_CORNERS, 3, 8), {"image_size": 64}
    structures = bench.package("pytorch3d.structures")
    deep = cloud.abs() + 0.5  # in front of the camera

    def meshes(corners: Tensor) -> Any:
        return structures.Meshes(verts=[corners], faces=[faces[:64]])

    def clouds(points: Tensor) -> Any:
        return structures.Pointclouds(points=[points])

    def distance(function: Any) -> Run:
        return bench.gradients(lambda corners, points: function(meshes(corners), clouds(points)), few[0], cloud[0])

    operations: dict[str, Callable[[Any], Run]] = {
        "knn_points": lambda knn: bench.gradients(lambda *sets: knn(*sets, K=1).dists, cloud, few),
        "mesh_face_areas_normals": lambda areas: bench.gradients(lambda leaf: areas(leaf, faces), few[0]),
        "interpolate_face_attributes": lambda mix: bench.gradients(lambda leaf: mix(pixels, shares, leaf), attributes),
    }
    losses: dict[str, Callable[[Any], Run]] = {
        "chamfer_distance": lambda loss: bench.gradients(lambda *sets: loss(*sets)[0], cloud, few),
        "point_mesh_face_distance": distance,
        "point_mesh_edge_distance": distance,
    }
    rasters: dict[str, Callable[[Any], Run]] = {
        "rasterize_meshes": lambda raster: bench.gradients(
            lambda leaf: raster(meshes(leaf), blur_radius=0.01, **options)[1:], deep[0, :_CORNERS]
        ),
        "rasterize_points": lambda raster: bench.gradients(
            lambda leaf: raster(clouds(leaf), radius=0.2, **options)[1:], deep[0]
        ),
    }
    packages = {"pytorch3d.ops": operations, "pytorch3d.loss": losses, "pytorch3d.renderer": rasters}
    last = bench.called.rpartition(".")[2]
    own = {package: makes for package, makes in packages.items() if last in makes} or packages
    runs = [built(bench, package, makes) for package, makes in own.items()]
    return lambda: [run() for run in runs]


def _points_to_volumes(bench: Bench) -> Run:
    points, features = bench.normal(1, 1 << 16, 3) * 0.1, bench.addends(1, 1 << 16, 4)
    densities, volume, mode = bench.zeros(1, 1, 4, 4, 4), bench.zeros(1, 4, 4, 4, 4), bench.given("mode", "trilinear")
    return named(
        bench,
        "pytorch3d.ops",
        {
            "add_points_features_to_volume_densities_features": lambda add: add(
                points, features, densities.clone(), volume.clone(), mode=mode
            )
        },
    )


def _graph_convolution(bench: Bench) -> Run:
    corners, edges = bench.addends(64, 16), bench.integers(4, 1 << 16, 2)
    directed = bench.given("directed", False)

    def layer(kind: Any) -> Run:
        convolve = bench.module(kind(16, 16, directed=directed))
        return lambda: convolve(corners, edges)

    return built(
        bench,
        "pytorch3d.ops",
        {
            "GraphConv": layer,
            "graph_conv.gather_scatter": lambda gather: lambda: gather(corners, edges, directed),
        },
    )


def _compositing(bench: Bench, backward: bool = False) -> Run:
    places, shares = bench.integers(_CORNERS, 1, 8, 64, 64), bench.uniform(1, 8, 64, 64)
    features = bench.addends(4, _CORNERS)

    def make(layer: bool = False) -> Callable[[Any], Run]:
        def of(found: Any) -> Run:
            composite = found() if layer else found
            if backward:
                return bench.gradients(lambda *leaves: composite(places, *leaves), shares, features)
            return lambda: composite(places, shares, features)

        return of

    functions = ("alpha_composite", "norm_weighted_sum", "weighted_sum")
    layers = ("AlphaCompositor", "NormWeightedCompositor")
    return built(
        bench,
        "pytorch3d.renderer",
        {**{f"compositing.{name}": make() for name in functions}, **{name: make(layer=True) for name in layers}},
    )


PROBES: dict[str, Probe] = {
    "p3d.bwd": Probe(_gradients),
    "p3d.points_to_volumes.fwd": Probe(_points_to_volumes),
    "p3d.silent.fwd": Probe(_graph_convolution),
    "p3d.silent.fwd.compositing": Probe(_compositing),
    "p3d.silent.bwd": Probe(_compositing, {"backward": True}),
}

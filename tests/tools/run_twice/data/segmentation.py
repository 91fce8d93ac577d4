"""Small images with labelled blobs, preprocessed for a program of segmentation."""

from __future__ import annotations

import json
import pickle
from importlib import import_module
from pathlib import Path

import numpy as np

Image = import_module("PIL.Image")  # has no types where the project is checked

_NAME = "Dataset001_Blobs"
_CASES, _SIDE, _PATCH = 5, 40, 32


def nnunet(root: Path) -> None:
    """Write five images of 40 by 40 pixels with one label, their plans and a network of three stages.

    The images are as preprocessing leaves them: normalised, with the places of the label's pixels.

    Args:
        root: root of the repository's copy.
    """
    base = root / "preprocessed" / _NAME
    cases, truth = base / "nnUNetPlans_2d", base / "gt_segmentations"
    cases.mkdir(parents=True)
    truth.mkdir()
    (root / "raw" / _NAME).mkdir(parents=True)
    (root / "results").mkdir()
    labels = {"background": 0, "blob": 1}
    dataset = {"channel_names": {"0": "gray"}, "labels": labels, "numTraining": _CASES, "file_ending": ".png"}
    (base / "dataset.json").write_text(json.dumps(dataset))
    (base / "dataset_fingerprint.json").write_text("{}")
    (base / "nnUNetPlans.json").write_text(json.dumps(_plans()))
    numbers = np.random.default_rng(60)
    rows, columns = np.mgrid[:_SIDE, :_SIDE]
    for number in range(_CASES):
        row, column, radius = *numbers.integers(12, 28, 2), numbers.integers(5, 10)
        blob = ((rows - row) ** 2 + (columns - column) ** 2 < radius**2).astype(np.int8)
        picture = (blob + numbers.normal(scale=0.3, size=blob.shape)).astype(np.float32)
        name = f"blob_{number}"
        np.savez(cases / f"{name}.npz", data=picture[None, None], seg=blob[None, None])
        places = np.argwhere(blob[None, None])
        (cases / f"{name}.pkl").write_bytes(pickle.dumps(_properties(places)))
        Image.fromarray(blob.astype(np.uint8)).save(truth / f"{name}.png")


def _properties(places: np.ndarray) -> dict[str, object]:
    shape = (1, _SIDE, _SIDE)
    return {
        "spacing": (999, 1, 1),
        "shape_before_cropping": shape,
        "shape_after_cropping_and_before_resampling": shape,
        "bbox_used_for_cropping": [[0, side] for side in shape],
        "class_locations": {1: places},
    }


def _plans() -> dict[str, object]:
    """Plans as the program's planning writes them, with a patch, a batch and a network made small."""
    network = {
        "n_stages": 3,
        "features_per_stage": [4, 8, 8],
        "conv_op": "torch.nn.modules.conv.Conv2d",
        "kernel_sizes": [[3, 3], [3, 3], [3, 3]],
        "strides": [[1, 1], [2, 2], [2, 2]],
        "n_conv_per_stage": [1, 1, 1],
        "n_conv_per_stage_decoder": [1, 1],
        "conv_bias": True,
        "norm_op": "torch.nn.modules.instancenorm.InstanceNorm2d",
        "norm_op_kwargs": {"eps": 1e-05, "affine": True},
        "dropout_op": None,
        "dropout_op_kwargs": None,
        "nonlin": "torch.nn.LeakyReLU",
        "nonlin_kwargs": {"inplace": True},
    }
    configuration = {
        "data_identifier": "nnUNetPlans_2d",
        "preprocessor_name": "DefaultPreprocessor",
        "batch_size": 2,
        "patch_size": [_PATCH, _PATCH],
        "median_image_size_in_voxels": [float(_SIDE), float(_SIDE)],
        "spacing": [1.0, 1.0],
        "normalization_schemes": ["ZScoreNormalization"],
        "use_mask_for_norm": [False],
        "batch_dice": True,
        "architecture": {
            "network_class_name": "dynamic_network_architectures.architectures.unet.PlainConvUNet",
            "arch_kwargs": network,
            "_kw_requires_import": ["conv_op", "norm_op", "dropout_op", "nonlin"],
        },
    }
    for what, of_labels, order in (("data", False, 3), ("seg", True, 1), ("probabilities", False, 1)):
        configuration[f"resampling_fn_{what}"] = "resample_data_or_seg_to_shape"
        kwargs = {"is_seg": of_labels, "order": order, "order_z": 0, "force_separate_z": None}
        configuration[f"resampling_fn_{what}_kwargs"] = kwargs
    return {
        "dataset_name": _NAME,
        "plans_name": "nnUNetPlans",
        "original_median_spacing_after_transp": [999.0, 1.0, 1.0],
        "original_median_shape_after_transp": [1, _SIDE, _SIDE],
        "image_reader_writer": "NaturalImage2DIO",
        "transpose_forward": [0, 1, 2],
        "transpose_backward": [0, 1, 2],
        "configurations": {"2d": configuration},
        "experiment_planner_used": "ExperimentPlanner",
        "label_manager": "LabelManager",
        "foreground_intensity_properties_per_channel": {"0": {}},
    }

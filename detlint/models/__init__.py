"""Models of libraries: what their functions and classes do to values, generators and order."""

from functools import cache

from packaging.version import Version

from detlint.catalogue import Catalogue
from detlint.domain.library import Library
from detlint.models import argparse, builtins, callables, commands, containers, fields, mappings, os, paths, torch_nn
from detlint.models.known import Known
from detlint.models.roles import ROLES

MODELS: tuple[Library, ...] = (
    argparse.LIBRARY, commands.ABSL, commands.CLICK, builtins.LIBRARY, callables.INSPECT, containers.LIBRARY,
    fields.LIBRARY, mappings.COLLECTIONS, mappings.LIBRARY, mappings.COPY,
    os.GLOB, os.LIBRARY, os.PATH, paths.OS, paths.OS_PATH, paths.PATHLIB, torch_nn.LIBRARY,
)  # fmt: skip
"""All models, literally: nothing registers itself."""


@cache
def known(catalogue: Catalogue, torch: Version) -> Known:
    """What is known of libraries for a version of torch, made once."""
    return Known(catalogue, torch, MODELS, ROLES)

"""Models of libraries: what their functions and classes do to values, generators and order."""

from detlint.domain.library import Library
from detlint.models import argparse, builtins, containers, numpy, os, random, torch_nn, torch_random

LIBRARIES: tuple[Library, ...] = (
    argparse.LIBRARY, builtins.LIBRARY, containers.LIBRARY, numpy.LIBRARY, os.GLOB, os.LIBRARY, os.PATH, random.LIBRARY,
    torch_nn.LIBRARY, torch_random.LIBRARY,
)  # fmt: skip
"""All models, literally: nothing registers itself."""

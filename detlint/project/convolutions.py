"""Where programs use convolutions: layers that they make, and models of libraries that contain such layers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from detlint.facts.packed import imports as imported
from detlint.link.state.program import Program


def convolving(program: Program) -> Iterator[str]:
    """Yield the files that programs reach and that make convolutions there, or import models that contain them."""
    packages = tuple(f"{name}." for name in program.catalogue.names("switches", "convolution", "packages"))
    for path, function in program.walks:
        facts = program.facts[path]
        modules = (f"{name}." for level, name in imported(facts) if not level)
        if function in facts.convolving or any(name.startswith(packages) for name in modules):
            yield path


def may_convolve(program: Program, path: str) -> bool:
    """Return whether a file imports a library that may make convolutions, for all that is known."""
    apart = program.catalogue.names("switches", "convolution", "apart") | sys.stdlib_module_names
    roots = {name.partition(".")[0] for level, name in imported(program.facts[path]) if not level}
    return any(root not in apart and not program.imports.local_root(root) for root in roots)

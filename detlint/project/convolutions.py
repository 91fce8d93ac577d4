"""Where programs have convolutions: layers that they make, and models of libraries that are made of these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from detlint.facts import facts as f
from detlint.facts.packed import imports as imported
from detlint.finding import Place
from detlint.link.program import Program


def convolving(program: Program) -> Iterator[str]:
    """The files of a project that programs come to and that make convolutions there, or import models of these."""
    names = program.catalogue.names("switches", "convolution")
    packages = tuple(f"{name}." for name in program.catalogue.names("switches", "convolution", "packages"))
    for path, function in program.walks:
        facts = program.facts[path]
        body = facts.functions[function].body if function in facts.functions else tuple(facts.top)
        modules = (f"{name}." for level, name in imported(facts) if not level)
        if any(name.startswith(packages) for name in modules) or not names.isdisjoint(_libraries(body)):
            yield path


def _libraries(part: Any) -> Iterator[str]:
    """The qualified names of what a part of a function takes from libraries."""
    if isinstance(part, f.Library):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from _libraries(each)
    elif is_dataclass(part) and not isinstance(part, (type, Place)):
        for each in fields(part):
            yield from _libraries(getattr(part, each.name))

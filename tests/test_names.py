"""Every name of the catalogue that belongs to PyTorch, NumPy or Python exists: a misspelt one would never match."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType

import pytest
from packaging.version import Version

from detlint import catalogue
from detlint.semantics.model import Module

torch = pytest.importorskip("torch")
RELEASE = Version(Version(torch.__version__).base_version)
ROOTS = {"torch", "numpy", "builtins", *sys.stdlib_module_names}
NEWER_PYTHON = {"random.binomialvariate": (3, 12)}
KEYS = frozenset("names calls call item type types functions canonical compilers reductions generators bases".split())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _strings(each)


def tables() -> dict[str, set[str]]:
    """The names of every table of facts, of the signatures and of every page's data."""
    found: dict[str, set[str]] = {"signatures": set(catalogue.load().signatures)}
    for file, content in catalogue.load().tables.items():
        for table, rows in content.items():
            present = [row.data for row in rows if row.holds_for(RELEASE)]
            found[f"{file}.{table}"] = {s for row in present for key in KEYS for s in _strings(row.get(key, ()))}
    for rule in catalogue.load().rules.values():
        if rule.holds_for(RELEASE):
            found[rule.code] = set(_strings({k: v for k, v in rule.data.items() if k not in ("prefixes", "draws")}))
    return {table: {name for name in names if _is_ours(name)} for table, names in found.items()}


def _is_ours(name: str) -> bool:
    parts = name.split(".")
    return len(parts) > 1 and parts[0] in ROOTS and all(part.isidentifier() for part in parts)


def resolve(name: str) -> object:
    """Import what a qualified name names. Raises where there is no such thing."""
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for index, part in enumerate(parts[1:], 2):
        if isinstance(found, ModuleType) and not hasattr(found, part):
            importlib.import_module(".".join(parts[:index]))
        found = getattr(found, part)
    return found


NAMES = [(table, name) for table, names in tables().items() for name in sorted(names)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_name_exists() -> None:
    missing = []
    for table, name in NAMES:
        try:
            resolve(name)
        except (AttributeError, ImportError) as error:
            root = (getattr(error, "name", None) or "torch").partition(".")[0]
            if root in ROOTS and sys.version_info >= NEWER_PYTHON.get(name, (3,)):
                missing.append((table, name))  # a root that is not ours is an optional package
    assert not missing


def test_every_name_is_the_one_that_names_resolve_to() -> None:
    module = Module("", "empty.py", "empty", catalogue.load(), RELEASE)
    assert NAMES and not [each for each in NAMES if module.canonical(each[1]) != each[1]]

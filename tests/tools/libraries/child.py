"""Run programs one after the other, and write a digest of what each leaves in `result`: `child.py INPUT OUTPUT`.

INPUT is JSON: the generators to seed, and programs as [name, text, seed]. A line of OUTPUT is [name, digest, error,
whether torch has been loaded].
It stands alone, for it runs in environments without detlint. Before each program but the first, the generators start
from the operating system's entropy again, as in a process of its own.
"""

from __future__ import annotations

import ast
import hashlib
import json
import random
import struct
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any


def main(source: Path, target: Path) -> None:
    """Run all programs."""
    asked = json.loads(source.read_text(encoding="utf-8"))
    with target.open("a", encoding="utf-8") as out:
        for number, (name, text, seed) in enumerate(asked["programs"]):
            try:
                digest, told = run(text, seed, asked["seeded"], again=number > 0), ""
            except Exception as error:
                print(traceback.format_exc(), file=sys.stderr)
                digest, told = "", f"{type(error).__name__}: {error}".splitlines()[0][:200]
            out.write(json.dumps([name, digest, told, "torch" in sys.modules]) + "\n")
            out.flush()


def run(text: str, seed: dict[str, int], seeded: list[str], again: bool) -> str:
    """The digest of what a program leaves: its imports, then the seeds, then the rest."""
    tree = ast.parse(text)
    imports = 0
    while imports < len(tree.body) and isinstance(tree.body[imports], (ast.Import, ast.ImportFrom)):
        imports += 1
    outer, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    names = sys.modules["__main__"].__dict__
    names["seed"] = seed
    try:
        exec(compile(ast.Module(tree.body[:imports], []), "program", "exec"), names)
        if again:
            _forget()
        _seed(seeded)
        exec(compile(ast.Module(tree.body[imports:], []), "program", "exec"), names)
    finally:
        sys.modules["__main__"] = outer
    state = hashlib.sha256()
    _add(state, names["result"])
    return state.hexdigest()


def _forget() -> None:
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def _seed(generators: list[str]) -> None:
    if "python" in generators:
        random.seed(0)
    if "numpy" in generators:
        import numpy

        numpy.random.seed(0)
    if "torch" in generators:
        import torch

        torch.manual_seed(0)


def _add(state: Any, value: Any) -> None:
    """Add all bits of a value."""
    state.update(type(value).__name__.encode())
    if value is None or isinstance(value, (bool, int, str)):
        state.update(repr(value).encode())
    elif isinstance(value, bytes):
        state.update(value)
    elif isinstance(value, float):
        state.update(struct.pack("d", value))
    elif isinstance(value, (list, tuple)):
        state.update(str(len(value)).encode())
        for each in value:
            _add(state, each)
    elif isinstance(value, dict):
        _add(state, [*value.items()])
    elif hasattr(value, "state_dict"):
        _add(state, value.state_dict())
    elif hasattr(value, "detach"):
        _add(state, value.detach().cpu().to_dense().numpy() if value.dtype.itemsize > 2 else value.tolist())
    elif hasattr(value, "dtype") and hasattr(value, "tobytes"):
        state.update(repr((str(value.dtype), value.shape)).encode())
        _add(state, value.tolist() if value.dtype.kind == "O" else value.tobytes())
    elif hasattr(value, "tobytes"):
        state.update(value.tobytes())
    elif hasattr(value, "toarray"):
        _add(state, value.toarray())
    elif hasattr(value, "to_numpy"):
        _add(state, value.to_numpy())
    elif hasattr(value, "edges"):
        _add(state, [*value.edges])
    else:
        raise TypeError(f"cannot compare a {type(value).__name__}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

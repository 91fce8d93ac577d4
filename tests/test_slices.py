"""Slices of the runtime: what some of its functions need, no more, formatted, and with the bits of the whole."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from detlint import runtime
from detlint.editing.slicing import sliced
from detlint.editing.vendoring import FILE, functions, vendored_names, vendored_text

NAMES = sorted(functions())
LINES = 60
SEEDING = ("seed_everything", "seed_worker", "make_generator")
DEEP = ("deterministic_scope", "rng_state", "set_rng_state")
MODULE = '''"""What is shared.

More on it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import json
    import numpy

_LIMIT = 3
_found: dict[str, Any] = {}
_last: int | None = None


def one(*, loud: bool = False, quiet: bool = False) -> int:
    """Give one.

    It uses `_LIMIT`.

    With `loud` it shouts.

    Then two() gives two.
    """
    global _last
    _last = 1
    if loud:
        print("ONE")
    for each in _found:
        print(each)

    if quiet:
        return _LIMIT
    return 1


def two(name: str) -> numpy.ndarray:
    """Give two."""
    _found[name] = os.name
    return _quiet(one(quiet=True))


def three() -> dict[str, Any]:
    return {
        "last": _last,
        "found": _found,
    }


def _quiet(number: int) -> Any:
    return number
'''


def part(*names: str) -> ModuleType:
    """A slice, run."""
    module = ModuleType("detlint_runtime")
    exec(compile(vendored_text(names), FILE, "exec"), module.__dict__)
    return module


def ruff(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "ruff", *arguments, "--isolated", "--no-cache", "--target-version", "py38"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True)
    return done.stdout if done.returncode else ""


@cache
def text_of(names: tuple[str, ...]) -> str:
    return vendored_text(names)


def written(folder: Path, chosen: Iterable[tuple[str, ...]]) -> Path:
    for names in chosen:
        (folder / f"{'_and_'.join(names)}.py").write_text(text_of(names), encoding="utf-8")
    return folder


def drawn(module: Any) -> tuple[object, ...]:
    """What is drawn once a module has seeded everything with 0."""
    with torch.random.fork_rng(devices=[]):
        assert module.seed_everything(0) == 0
        return random.random(), np.random.rand(), torch.rand(3).tolist(), torch.initial_seed()


# What is left out


def test_nothing_is_left_that_nothing_needs() -> None:
    assert (
        sliced(MODULE, ["one"])
        == '''"""What is shared."""

from __future__ import annotations


def one() -> int:
    """Give one."""
    return 1
'''
    )


def test_what_is_needed_stays() -> None:
    assert (
        sliced(MODULE, ["two"])
        == '''"""What is shared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

_LIMIT = 3
_found: dict[str, Any] = {}


def one(*, quiet: bool = False) -> int:
    """Give one.

    It uses `_LIMIT`.

    Then two() gives two.
    """
    for each in _found:
        print(each)

    if quiet:
        return _LIMIT
    return 1


def two(name: str) -> numpy.ndarray:
    """Give two."""
    _found[name] = os.name
    return _quiet(one(quiet=True))


def _quiet(number: int) -> Any:
    return number
'''
    )


def test_a_variable_that_is_set_and_read_stays() -> None:
    text = sliced(MODULE, ["one", "three"])
    assert "    global _last\n    _last = 1\n" in text
    assert '        "last": _last,\n    }' in text
    assert "found" not in text
    text = sliced(MODULE, ["two", "three"])
    assert "    for each in _found:\n" in text


# The runtime


@pytest.mark.parametrize(
    ("names", "most"),
    [
        (("seed_everything",), 40),
        (("seed_everything", "seed_worker"), 50),
        (("seed_everything", "make_generator"), 55),
        (SEEDING, LINES),
        (("make_generator",), 35),
        (("worker_rng",), 35),
        (("enable_determinism",), 45),
    ],
)
def test_a_slice_is_short(names: tuple[str, ...], most: int) -> None:
    assert len(vendored_text(names).splitlines()) < most


def test_a_slice_of_seeds_has_no_state() -> None:
    text = vendored_text(SEEDING)
    for name in ("_sources", "_seed ", "_rng", "_made", "global", "strict", "hash", "register", "rank"):
        assert name not in text, name
    assert "TYPE_CHECKING" not in vendored_text(["seed_everything"])


@pytest.mark.parametrize(
    ("first", "second"), [(first, second) for first in NAMES for second in NAMES[NAMES.index(first) :: 3]]
)
def test_a_slice_has_its_functions_with_docstrings_and_is_what_it_would_be_again(first: str, second: str) -> None:
    text = vendored_text([first, second])
    public = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    assert {first, second} <= {node.name for node in public} == vendored_names(text)
    assert all(map(ast.get_docstring, public))
    assert vendored_text(vendored_names(text)) == text
    ast.parse(text, feature_version=(3, 8))


def test_slices_of_one_function_pass_linters_and_are_formatted(tmp_path: Path) -> None:
    folder = written(tmp_path, [(name,) for name in NAMES])
    assert not ruff(folder, "check", "--select", "E,F,I,NPY,S311,W,UP")
    assert not ruff(folder, "format", "--check")


@pytest.mark.slow
def test_slices_of_two_and_three_functions_pass_linters_and_are_formatted(tmp_path: Path) -> None:
    pairs = list(combinations(NAMES, 2))
    pulled = {vendored_names(text_of(names)) for names in pairs}  # with a third one that two need
    threes = [names for names in combinations(NAMES, 3) if frozenset(names) not in pulled]
    folder = written(tmp_path, [*pairs, *threes[::3]])
    assert not ruff(folder, "check", "--select", "E,F,I,NPY,S311,W,UP")
    for width in ("88", "120"):
        assert not ruff(folder, "format", "--check", "--line-length", width)


@pytest.mark.slow
def test_slices_of_two_functions_pass_a_type_checker(tmp_path: Path) -> None:
    folder = written(tmp_path, combinations(NAMES, 2))
    options = ["--strict", "--config-file=", f"--cache-dir={os.devnull}"]
    command = [sys.executable, "-m", "mypy", *options, *map(str, folder.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert not done.returncode, done.stdout


@pytest.mark.parametrize("others", [(), ("seed_worker",), ("make_generator",), ("worker_rng",), ("register",), DEEP])
def test_a_slice_seeds_with_the_bits_of_the_whole(others: tuple[str, ...]) -> None:
    assert drawn(part("seed_everything", *others)) == drawn(runtime)


def test_a_slice_seeds_workers_with_the_bits_of_the_whole() -> None:
    found = []
    for module in (part("seed_worker"), runtime):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(2**40 + 3)
            module.seed_worker(1)
            found.append((random.random(), np.random.rand()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("make_generator", lambda module: torch.rand(3, generator=module.make_generator(5)).tolist()),
        ("rank_seed", lambda module: module.rank_seed(3, 2)),
        ("worker_rng", lambda module: [module.worker_rng().random(), module.worker_rng().random()]),
    ],
)
def test_a_slice_gives_what_the_whole_gives(name: str, call: Callable[[Any], object]) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        assert call(part(name)) == call(runtime)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, "1", True])
def test_a_slice_refuses_what_the_whole_refuses(seed: Any) -> None:
    for name in ("seed_everything", "rank_seed"):
        with pytest.raises((TypeError, ValueError)) as whole:
            getattr(runtime, name)(seed)
        with pytest.raises(whole.type, match=str(whole.value)):
            getattr(part(name), name)(seed)


@pytest.mark.parametrize("others", [(), ("make_generator",), ("worker_rng",), ("register",), ("seed_everything",)])
def test_what_one_slice_saves_the_whole_and_others_restore(others: tuple[str, ...]) -> None:
    with torch.random.fork_rng(devices=[]):
        saving = part("rng_state", *others)
        state = saving.rng_state()
        wanted = random.random(), np.random.rand(), torch.rand(3).tolist()
        for module in (runtime, part("set_rng_state"), part("set_rng_state", *others)):
            module.set_rng_state(state)
            assert (random.random(), np.random.rand(), torch.rand(3).tolist()) == wanted
        whole = runtime.rng_state()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other tests may have made generators that are in use
            part("set_rng_state", *others).set_rng_state(whole)


def test_a_slice_continues_the_generators_that_it_made() -> None:
    module = part("make_generator", "rng_state", "set_rng_state")
    generator = module.make_generator(0)
    state = module.rng_state()
    wanted = torch.rand(3, generator=generator)
    module.set_rng_state(state)
    assert torch.equal(torch.rand(3, generator=generator), wanted)


def test_a_slice_runs_a_block_deterministically() -> None:
    module = part("deterministic_scope")
    with torch.random.fork_rng(devices=[]), module.deterministic_scope(0):
        assert torch.are_deterministic_algorithms_enabled()
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_slice_seeds_what_is_registered() -> None:
    module = part("register", "seed_everything")
    given: list[int] = []
    module.register("mine", given.append)
    module.seed_everything(2**31 + 3)
    module.register("late", given.append)
    assert given == [3, 3]

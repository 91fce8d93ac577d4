"""The runtime: seeds, ranks, registered generators and the switches of deterministic mode."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.torch_version import TorchVersion

from detlint import runtime

ROOT = Path(__file__).parent.parent
CUBLAS = "CUBLAS_WORKSPACE_CONFIG"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing registered or seeded; switches and environment as they were, afterwards."""
    monkeypatch.setattr(runtime, "_sources", {})
    monkeypatch.setattr(runtime, "_seed", None)
    monkeypatch.setattr(runtime, "_rng", None)
    for name in (CUBLAS, "RANK"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    with torch.random.fork_rng(devices=[]):
        yield
    torch.use_deterministic_algorithms(False)
    for owner, name, _ in runtime._switches(torch):
        setattr(owner, name, False)


def draws() -> tuple[float, float, float]:
    return random.random(), float(np.random.random()), torch.rand(()).item()


def run(code: str, *, hide: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh Python that cannot import what is hidden."""
    hidden = f"import sys\nfor name in {hide!r}: sys.modules[name] = None\n"
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONHASHSEED"}
    return subprocess.run(
        [sys.executable, "-c", hidden + code], capture_output=True, text=True, cwd=ROOT, env={**kept, **environment}
    )


def switches() -> list[Any]:
    return [value for _, _, value in runtime._switches(torch)] + [torch.get_deterministic_debug_mode()]


# Import


def test_importing_the_runtime_loads_neither_torch_nor_numpy_nor_the_rest_of_detlint() -> None:
    done = run("import detlint.runtime; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert loaded.isdisjoint({"torch", "numpy", "libcst", "multiprocessing"})
    assert {name for name in loaded if name.startswith("detlint")} == {"detlint", "detlint.runtime"}


# Seeds


def test_everything_repeats_under_a_seed_and_differs_under_another() -> None:
    assert runtime.seed_everything(7) == 7
    first = draws()
    runtime.seed_everything(7)
    assert draws() == first
    runtime.seed_everything(8)
    assert not set(draws()) & set(first)


@pytest.mark.slow
def test_what_is_imported_only_later_is_seeded_too() -> None:
    code = """
from detlint.runtime import seed_everything
seed_everything(7)
import random, numpy, torch
print((random.random(), float(numpy.random.random()), torch.rand(()).item()))
"""
    runtime.seed_everything(7)
    assert run(code).stdout.strip() == str(draws())


@pytest.mark.slow
def test_without_numpy_the_rest_is_seeded_saved_and_restored() -> None:
    code = """
import random, warnings
warnings.simplefilter("ignore")
import torch
from detlint.runtime import rng_state, seed_everything, seed_worker, set_rng_state
seed_everything(7)
state = rng_state()
first = random.random(), torch.rand(()).item()
state["numpy"] = {"state": {"key": {"dtype": "uint32", "array": [1]}}}  # saved where there was one
set_rng_state(state)
assert (random.random(), torch.rand(()).item()) == first
seed_worker(0)
print(first[1], "numpy" in sys.modules and sys.modules["numpy"])
"""
    done = run(code, hide=("numpy",))
    runtime.seed_everything(7)
    assert done.stdout.split() == [str(draws()[2]), "None"], done.stderr


def test_without_torch_the_rest_is_seeded_saved_and_restored() -> None:
    code = """
import random
from detlint.runtime import rng_state, seed_everything, set_rng_state
seed_everything(7)
state = rng_state()
first = random.random()
set_rng_state(state)
assert random.random() == first
print(first)
"""
    done = run(code, hide=("torch", "numpy"))
    runtime.seed_everything(7)
    assert done.stdout.strip() == str(draws()[0]), done.stderr


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_refused_and_nothing_is_seeded(seed: int) -> None:
    random.seed(1)
    before = random.getstate()
    with pytest.raises(ValueError, match=rf"an integer from 0 to 4294967295, not {seed}$"):
        runtime.seed_everything(seed)
    assert random.getstate() == before


@pytest.mark.parametrize("seed", [True, 1.0, "1", None, [1]])
def test_a_seed_that_is_no_integer_is_refused(seed: Any) -> None:
    with pytest.raises(TypeError, match=r"^seed must be an integer from 0 to 4294967295, not "):
        runtime.seed_everything(seed)


@pytest.mark.parametrize("seed", [np.int64(5), np.uint32(5), torch.tensor(5)])
def test_an_integer_of_numpy_or_torch_is_a_seed(seed: Any) -> None:
    result = runtime.seed_everything(seed)
    assert (result, type(result)) == (5, int)


def test_the_hash_seed_in_the_environment_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    runtime.seed_everything(7)
    runtime.enable_determinism()
    assert "PYTHONHASHSEED" not in os.environ


STRICT = "import os; {before}; from detlint.runtime import seed_everything; print(seed_everything(7, strict=True))"


@pytest.mark.parametrize("value", ["0", "42"])
def test_strict_accepts_a_hash_seed_given_at_the_start(value: str) -> None:
    done = run(STRICT.format(before="pass"), hide=("torch", "numpy"), PYTHONHASHSEED=value)
    assert done.stdout.strip() == "7", done.stderr


@pytest.mark.parametrize(
    ("before", "environment"),
    [
        ("pass", {}),
        ("pass", {"PYTHONHASHSEED": "random"}),
        pytest.param(
            "os.environ['PYTHONHASHSEED'] = '0'",
            {},
            marks=pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux tells"),
        ),
    ],
)
def test_strict_refuses_hashes_that_vary_and_a_hash_seed_set_too_late(before: str, environment: dict[str, str]) -> None:
    done = run(STRICT.format(before=before), hide=("torch", "numpy"), **environment)
    assert done.returncode == 1
    assert "start the program with PYTHONHASHSEED=0 in its environment" in done.stderr


# Ranks


def test_each_rank_has_a_seed_of_its_own_and_neighbouring_seeds_share_none() -> None:
    seeds = [runtime.rank_seed(seed, rank) for seed in range(8) for rank in range(1024)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**32 for seed in [*seeds, runtime.rank_seed(0, 2**32 - 1)])


def test_the_seed_of_a_rank_never_changes() -> None:
    assert (runtime.rank_seed(0, 0), runtime.rank_seed(0, 3)) == (1609362278, 1609362281)


def test_the_rank_is_that_of_the_launcher_or_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runtime.rank_seed(1) == runtime.rank_seed(1, 0)
    monkeypatch.setenv("RANK", "3")
    assert runtime.rank_seed(1) == runtime.rank_seed(1, 3)


def test_the_rank_of_a_process_group_counts_before_the_launcher_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    dist.init_process_group("gloo", store=torch._C._distributed_c10d.HashStore(), rank=0, world_size=1)
    try:
        assert runtime.rank_seed(1) == runtime.rank_seed(1, 0)
    finally:
        dist.destroy_process_group()


def test_a_negative_rank_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^rank must be an integer from 0"):
        runtime.rank_seed(0, -1)


# Registered generators


def test_a_registered_generator_is_seeded_with_the_others() -> None:
    seeds: list[int] = []
    runtime.register("own", seeds.append)
    assert seeds == []
    runtime.seed_everything(7)
    runtime.seed_everything(2**31 + 5)
    assert seeds == [7, 5]


def test_a_generator_registered_late_is_seeded_at_once() -> None:
    seeds: list[int] = []
    runtime.seed_everything(2**31 + 5)
    runtime.register("own", seeds.append)
    assert seeds == [5]


def test_a_name_registered_twice_is_replaced() -> None:
    first: list[int] = []
    second: list[int] = []
    runtime.register("own", first.append)
    runtime.register("own", second.append)
    runtime.seed_everything(7)
    assert (first, second) == ([], [7])


def test_a_state_can_only_be_saved_where_it_can_be_restored() -> None:
    with pytest.raises(TypeError, match="own: give both"):
        runtime.register("own", random.seed, get_state=random.getstate)


# Generators


def test_a_generator_is_made_with_a_seed_of_64_bits() -> None:
    generator = runtime.make_generator(2**64 - 1)
    assert generator.device.type == "cpu"
    assert generator.initial_seed() == 2**64 - 1
    expected = torch.rand(3, generator=torch.Generator().manual_seed(5))
    assert torch.equal(torch.rand(3, generator=runtime.make_generator(5)), expected)
    with pytest.raises(ValueError, match="seed must be an integer"):
        runtime.make_generator(-1)


def test_a_generator_is_made_on_the_cpu_whatever_the_default_device() -> None:
    with torch.device("meta"):
        assert runtime.make_generator(0).device.type == "cpu"


def test_a_worker_is_seeded_from_torch_s_own_seed() -> None:
    seeds: list[int] = []
    runtime.register("own", seeds.append)
    torch.manual_seed(2**40 + 2**31 + 9)
    runtime.seed_worker(0)
    assert draws()[:2] == (random.Random(2**31 + 9).random(), float(np.random.RandomState(2**31 + 9).random()))
    assert seeds == [9]


# Switches


def test_determinism_turns_every_switch() -> None:
    torch.backends.cudnn.benchmark = True
    runtime.enable_determinism()
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()
    assert torch.backends.cudnn.deterministic
    assert not torch.backends.cudnn.benchmark
    assert switches() == [False, True, True, True, 2]
    assert os.environ[CUBLAS] == ":4096:8"


def test_an_operation_without_a_deterministic_algorithm_raises_or_warns() -> None:
    target, index = torch.zeros(4), torch.tensor([1, 1])
    runtime.enable_determinism()
    with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
        target.put_(index, torch.ones(2), accumulate=False)
    runtime.enable_determinism(warn_only=True)
    with pytest.warns(UserWarning, match="does not have a deterministic implementation"):
        target.put_(index, torch.ones(2), accumulate=False)


@pytest.mark.parametrize(("value", "kept"), [(":16:8", ":16:8"), (":4096:2", ":4096:8"), ("", ":4096:8")])
def test_a_valid_workspace_of_the_user_is_kept(value: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CUBLAS, value)
    runtime.enable_determinism()
    assert os.environ[CUBLAS] == kept


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA is in use, under a torch that needs the workspace."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch, "__version__", TorchVersion("2.9.1+cu128"))


@pytest.mark.usefixtures("late")
def test_too_late_for_cublas_is_an_error_and_nothing_is_changed() -> None:
    before = switches()
    with pytest.raises(RuntimeError, match="too late for a deterministic cuBLAS"):
        runtime.enable_determinism()
    assert switches() == before
    assert CUBLAS not in os.environ


@pytest.mark.usefixtures("late")
def test_it_is_not_too_late_where_the_workspace_is_set_or_errors_are_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runtime.enable_determinism(warn_only=True)
    assert torch.get_deterministic_debug_mode() == 1
    monkeypatch.setenv(CUBLAS, ":16:8")
    runtime.enable_determinism()
    assert torch.get_deterministic_debug_mode() == 2


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("version", ["2.10.0+cu128", "2.13.0", "3.0.0"])
def test_a_torch_that_needs_no_workspace_is_never_too_late(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", TorchVersion(version))
    runtime.enable_determinism()
    assert torch.get_deterministic_debug_mode() == 2


@pytest.mark.usefixtures("late")
def test_rocm_has_no_cublas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    runtime.enable_determinism()
    assert torch.get_deterministic_debug_mode() == 2


# Scopes


def test_a_scope_is_deterministic_and_restores_the_switches_also_on_errors() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = True
    before = switches()
    with pytest.raises(KeyError), runtime.deterministic_scope():
        assert switches() == [False, True, True, True, 2]
        raise KeyError
    assert switches() == before


def test_a_scope_keeps_the_compiler_s_own_switch() -> None:
    import torch._inductor.config as inductor

    inductor.deterministic = True
    with runtime.deterministic_scope():
        pass
    assert inductor.deterministic
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_scope_with_a_seed_repeats_and_restores_the_streams() -> None:
    own = random.Random(0)
    runtime.register("own", own.seed, own.getstate, own.setstate)
    runtime.seed_everything(1)
    draws(), runtime.worker_rng().random(), own.random()
    state = runtime.rng_state(own)
    expected = draws(), runtime.worker_rng().random(), own.random()

    runtime.set_rng_state(state, own)
    inside = []
    for _ in range(2):
        with runtime.deterministic_scope(5):
            inside.append((draws(), runtime.worker_rng().random(), own.random()))
    assert inside[0] == inside[1]
    assert inside[0] != expected
    assert (draws(), runtime.worker_rng().random(), own.random()) == expected
    assert torch.initial_seed() == 1


def test_a_scope_without_a_seed_leaves_the_streams_alone() -> None:
    runtime.seed_everything(1)
    first, second = draws(), draws()
    runtime.seed_everything(1)
    with runtime.deterministic_scope():
        assert draws() == first
    assert draws() == second


def test_scopes_nest_and_decorate() -> None:
    @runtime.deterministic_scope(3)
    def inner() -> float:
        return torch.rand(()).item()

    with runtime.deterministic_scope(4):
        first = torch.rand(()).item()
        assert inner() == inner()
        assert torch.are_deterministic_algorithms_enabled()
        second = torch.rand(()).item()
    with runtime.deterministic_scope(4):
        assert [torch.rand(()).item() for _ in range(2)] == [first, second]


def test_a_bad_seed_of_a_scope_changes_nothing() -> None:
    before, state = switches(), torch.get_rng_state()
    with pytest.raises(ValueError, match="seed must be"), runtime.deterministic_scope(-1):
        pass
    assert switches() == before
    assert torch.equal(torch.get_rng_state(), state)

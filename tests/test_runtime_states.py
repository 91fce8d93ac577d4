"""The runtime: random states that survive a checkpoint, and runs that continue exactly."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from detlint import runtime

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runtime, "_sources", {})
    monkeypatch.setattr(runtime, "_seed", None)
    monkeypatch.setattr(runtime, "_rng", None)
    with torch.random.fork_rng(devices=[]):
        yield


def through_a_checkpoint(state: Any) -> Any:
    file = io.BytesIO()
    torch.save({"model": torch.zeros(1), "rng": state}, file)
    file.seek(0)
    return torch.load(file, weights_only=True)["rng"]


class OnAnotherDevice:
    """A state that `map_location` moved: of no use before it is back on the CPU."""

    def __init__(self, state: torch.Tensor) -> None:
        self.state = state

    def cpu(self) -> torch.Tensor:
        return self.state


# Generators, with their draws

GENERATORS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "random": (random.Random(3), lambda g: (g.random(), g.gauss(0, 1))),
    "torch": (torch.Generator().manual_seed(3), lambda g: torch.randn(5, generator=g).tolist()),
    "default": (np.random.default_rng(3), lambda g: (g.normal(), g.integers(9, dtype=np.uint32))),
    "legacy": (np.random.RandomState(3), lambda g: g.normal(size=3).tolist()),
    **{
        kind.__name__: (np.random.Generator(kind(3)), lambda g: (g.normal(), g.integers(9, dtype=np.uint32)))
        for kind in (np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM)
    },
}


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_continues_after_a_checkpoint(name: str) -> None:
    generator, draw = GENERATORS[name]
    draw(generator)
    state = through_a_checkpoint(runtime.rng_state(generator))
    expected = draw(generator)
    assert draw(generator) != expected
    runtime.set_rng_state(state, generator)
    assert draw(generator) == expected


def test_all_streams_of_the_process_continue_after_a_checkpoint() -> None:
    def draw() -> Any:
        return (
            random.gauss(0, 1),
            np.random.normal(),  # the second of a pair is kept in the state
            torch.randn(5).tolist(),
            runtime.worker_rng().normal(),
        )

    runtime.seed_everything(1)
    draw()
    state = through_a_checkpoint(runtime.rng_state())
    expected = draw()
    runtime.seed_everything(2)
    draw()
    runtime.set_rng_state(state)
    assert draw() == expected


def test_generators_that_the_runtime_made_continue_in_the_order_in_which_they_were_made() -> None:
    first, second = runtime.make_generator(1), runtime.make_generator(2)
    torch.rand(3, generator=first)
    state = runtime.rng_state()
    expected = torch.rand(2, generator=first), torch.rand(2, generator=second)
    del first, second
    first, second, third = (runtime.make_generator(seed) for seed in (1, 2, 3))
    fresh = third.get_state()
    runtime.set_rng_state(state)
    assert torch.equal(torch.rand(2, generator=first), expected[0])
    assert torch.equal(torch.rand(2, generator=second), expected[1])
    assert torch.equal(third.get_state(), fresh)


def test_a_generator_that_is_made_after_the_state_is_restored_is_warned_of() -> None:
    held = runtime.make_generator(1)
    state = runtime.rng_state()
    del held
    with pytest.warns(UserWarning, match=r"1 of make_generator\(\) then, 0 now"):
        runtime.set_rng_state(state)


def test_asking_for_the_state_changes_nothing() -> None:
    runtime.seed_everything(1)
    expected = random.random(), np.random.random(), torch.rand(()).item()
    runtime.seed_everything(1)
    runtime.rng_state()
    assert (random.random(), np.random.random(), torch.rand(()).item()) == expected


def test_a_worker_generator_made_after_saving_begins_again() -> None:
    runtime.seed_everything(1)
    state = runtime.rng_state()
    expected = runtime.worker_rng().random()
    runtime.set_rng_state(state)
    assert runtime.worker_rng().random() == expected


def test_a_saved_state_does_not_move_with_its_generator() -> None:
    generator = runtime.make_generator(1)
    state = runtime.rng_state(generator)
    expected = torch.rand(3, generator=generator)
    torch.rand(3)
    runtime.set_rng_state(state, generator)
    assert torch.equal(torch.rand(3, generator=generator), expected)


def test_states_that_map_location_moved_come_back_to_the_cpu() -> None:
    generator = runtime.make_generator(1)
    state = runtime.rng_state(generator)
    expected = torch.rand(3), torch.rand(3, generator=generator)
    state["torch"] = OnAnotherDevice(state["torch"])
    ((kind, own),) = state["generators"]
    state["generators"] = [(kind, OnAnotherDevice(own))]
    runtime.set_rng_state(state, generator)
    assert torch.equal(torch.rand(3), expected[0])
    assert torch.equal(torch.rand(3, generator=generator), expected[1])


def test_other_generators_than_were_saved_are_refused_and_nothing_is_changed() -> None:
    state = runtime.rng_state(random.Random(1), np.random.default_rng(1))
    random.seed(5)
    before = random.getstate()
    for generators in [(), (random.Random(1),), (np.random.default_rng(1), random.Random(1))]:
        with pytest.raises(ValueError, match="the state belongs to the generators"):
            runtime.set_rng_state(state, *generators)
    with pytest.raises(ValueError, match=r"numpy Generator of PCG64.*not to.*numpy Generator of Philox"):
        runtime.set_rng_state(state, random.Random(1), np.random.Generator(np.random.Philox(1)))
    assert random.getstate() == before


@pytest.mark.parametrize("state", [{}, {"format": 2}, None, torch.get_rng_state()])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(ValueError, match=r"pass what rng_state\(\) returned"):
        runtime.set_rng_state(state)


def test_what_is_no_generator_is_refused() -> None:
    with pytest.raises(TypeError, match="no generator of torch, NumPy or random: 5"):
        runtime.rng_state(5)  # type: ignore[arg-type]


# Registered generators


def test_a_registered_generator_continues_with_arrays_and_tuples_in_its_state() -> None:
    own, legacy = random.Random(1), np.random.RandomState(1)
    runtime.register("own", own.seed, own.getstate, own.setstate)
    runtime.register("legacy", legacy.seed, legacy.get_state, legacy.set_state)
    runtime.register("without state", lambda seed: None)
    state = through_a_checkpoint(runtime.rng_state())
    expected = own.random(), legacy.normal()
    runtime.seed_everything(9)
    runtime.set_rng_state(state)
    assert (own.random(), legacy.normal()) == expected


def test_a_state_that_its_owner_goes_on_changing_is_copied() -> None:
    count = torch.zeros(2)
    runtime.register("own", count.fill_, lambda: count, count.copy_)
    state = runtime.rng_state()
    count += 1
    runtime.set_rng_state(state)
    assert count.tolist() == [0, 0]


def test_a_saved_generator_that_is_not_registered_now_is_warned_of() -> None:
    runtime.register("own", random.seed, random.getstate, random.setstate)
    state = runtime.rng_state()
    runtime.register("own", random.seed)
    with pytest.warns(UserWarning, match="goes on differently: 'own' is not registered with a set_state"):
        runtime.set_rng_state(state)


def test_a_state_that_no_checkpoint_can_keep_is_refused_when_it_is_saved() -> None:
    runtime.register("own", random.seed, object, print)
    with pytest.raises(TypeError, match="object"):
        runtime.rng_state()


# Devices


class Accelerator:
    """A device module as PyTorch asks custom devices to have, of generators on the CPU.

    As in torch.cuda, what is called before the first use waits for it, and seeds come last.
    """

    def __init__(self, count: int) -> None:
        self.generators = [torch.Generator() for _ in range(count)]
        self.started = False
        self.calls: list[Callable[[], object]] = []
        self.seeds: list[Callable[[], object]] = []

    def start(self) -> None:
        if not self.started:
            self.started = True
            for call in self.calls + self.seeds:
                call()

    def is_initialized(self) -> bool:
        return self.started

    def device_count(self) -> int:
        return len(self.generators)

    def get_rng_state(self, device: int) -> torch.Tensor:
        self.start()
        return self.generators[device].get_state()

    def set_rng_state(self, state: torch.Tensor, device: int) -> None:
        self.calls.append(lambda: self.generators[device].set_state(state))
        if self.started:
            self.calls[-1]()

    def manual_seed_all(self, seed: int) -> None:
        self.seeds = [lambda: [generator.manual_seed(seed) for generator in self.generators]]
        if self.started:
            self.seeds[-1]()

    def _is_in_bad_fork(self) -> bool:
        return False

    def draw(self) -> list[float]:
        self.start()
        return [torch.rand((), generator=generator).item() for generator in self.generators]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Accelerator]:
    """Put a number of new devices into torch, as a new process would see them."""

    def install(count: int) -> Accelerator:
        devices = Accelerator(count)
        monkeypatch.setattr(torch, torch._C._get_privateuse1_backend_name(), devices, raising=False)
        return devices

    return install


Install = Callable[[int], Accelerator]


def test_every_device_is_seeded_and_continues(install: Install) -> None:
    devices = install(2)
    runtime.seed_everything(4)
    first = devices.draw()
    state = through_a_checkpoint(runtime.rng_state())
    expected = devices.draw()
    assert expected != first
    runtime.set_rng_state(state)
    assert devices.draw() == expected
    runtime.seed_everything(4)
    assert devices.draw() == first


def test_a_device_continues_in_a_program_that_seeds_and_restores_before_it_uses_it(install: Install) -> None:
    devices = install(2)
    runtime.seed_everything(4)
    devices.draw()
    state = runtime.rng_state()
    expected = devices.draw()
    devices = install(2)
    runtime.seed_everything(4)
    runtime.set_rng_state(state)
    assert devices.draw() == expected


@pytest.mark.parametrize("count", [1, 3])
def test_another_number_of_devices_is_warned_of_and_the_first_continue(count: int, install: Install) -> None:
    devices = install(2)
    devices.draw()
    state = runtime.rng_state()
    expected = devices.draw()
    devices = install(count)
    with pytest.warns(UserWarning, match=rf"goes on differently: 2 \w+ devices then, {count} now"):
        runtime.set_rng_state(state)
    common = min(count, 2)
    assert devices.draw()[:common] == expected[:common]


def test_a_kind_of_device_that_is_not_here_is_warned_of() -> None:
    state = runtime.rng_state()
    state["devices"] = {"none": [torch.get_rng_state()]}
    with pytest.warns(UserWarning, match="1 none devices then, 0 now"):
        runtime.set_rng_state(state)


def test_a_device_that_is_not_in_use_is_not_started(install: Install) -> None:
    devices = install(2)
    runtime.seed_everything(4)
    assert runtime.rng_state()["devices"] == {}
    assert not devices.started


def test_a_scope_restores_a_device_that_was_first_used_inside(install: Install) -> None:
    devices = install(2)
    runtime.seed_everything(4)
    expected = devices.draw()
    devices = install(2)
    runtime.seed_everything(4)
    with runtime.deterministic_scope(5):
        assert devices.draw() != expected
    assert devices.draw() == expected


# A run that is continued

TRAIN = """
import random, sys
import torch
from torch.utils.data import DataLoader, Dataset
from detlint.runtime import make_generator, rng_state, seed_everything, seed_worker, set_rng_state, worker_rng

class Noisy(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.full((4,), index + random.random() + worker_rng().random())

def main(how, path):
    seed_everything(5)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
    generator = make_generator(5)
    options = dict(batch_size=3, shuffle=True, generator=generator, worker_init_fn=seed_worker)
    loaders = [DataLoader(Noisy(), num_workers=workers, **options) for workers in (0, 2)]
    start = 0
    if how == "resume":
        torch.rand(17)  # a resumed program has drawn other numbers than the first one
        saved = torch.load(path, weights_only=True)
        model.load_state_dict(saved["model"])
        set_rng_state(saved["rng"], generator)
        start = 2
    for epoch in range(start, 4):
        for batch in (batch for loader in loaders for batch in loader):
            model.zero_grad()
            loss = model(batch).square().mean() * (1 + random.random())
            loss.backward()
            with torch.no_grad():
                for weights in model.parameters():
                    weights -= 1e-4 * weights.grad
        if epoch == 1:
            torch.save({"model": model.state_dict(), "rng": rng_state(generator)}, path)
    print(epoch, [weights.flatten().tolist() for weights in model.parameters()])

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


@pytest.mark.slow
def test_a_resumed_run_ends_bit_for_bit_where_the_uninterrupted_one_does(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAIN)

    def run(how: str) -> str:
        arguments = [sys.executable, str(script), how, str(tmp_path / "checkpoint.pt")]
        done = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert done.returncode == 0, done.stderr
        return done.stdout

    whole = run("whole")
    assert whole.startswith("3 [[")
    assert run("resume") == whole

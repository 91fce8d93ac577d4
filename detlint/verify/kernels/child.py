"""A process that runs the kernels of one file under Triton's interpreter and writes the results as JSON."""

from __future__ import annotations

import importlib
import itertools
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from detlint.verify import bits, modes
from detlint.verify.kernels import calls

_ORDERS = 6
_MOST = 16  # configurations
_LONGEST = 200  # characters of an error


@dataclass
class Launch:
    """One launch: the digests of its tensors before and after, the tensors after it, and its number of programs."""

    before: str
    after: str
    tensors: list[Any]
    programs: int


@dataclass
class Run:
    """How the launches of one call of the user's function are made, and their results by kernel."""

    order: int = 0
    configuration: int = 0
    configurations: dict[str, int] = field(default_factory=dict)
    launches: dict[str, list[Launch]] = field(default_factory=dict)

    def place(self, place: tuple[int, ...], grid: tuple[int, ...]) -> tuple[int, ...]:
        """Return the program that runs in place of this one: in the given, the reversed or a random order."""
        every = list(itertools.product(*map(range, grid)))
        if self.order == 1:
            every.reverse()
        elif self.order > 1:
            random.Random(self.order).shuffle(every)
        if self._kept != (self.order, grid):
            self._kept, self._turned = (self.order, grid), every
        flat = (place[0] * grid[1] + place[1]) * grid[2] + place[2]
        return self._turned[flat]

    _kept: tuple[int, tuple[int, ...]] = (-1, ())
    _turned: list[tuple[int, ...]] = field(default_factory=list)


def main() -> None:
    """Run the kernels. The arguments are a file, its kernels' names in JSON, and a file for the JSON answer."""
    path, kernels, answer = Path(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
    found: dict[str, Any]
    try:
        module = _imported(path)
        found = {kernel: _told(module, path.read_text(encoding="utf-8"), kernel) for kernel in kernels}
    except BaseException as error:  # the user's code may raise anything, even SystemExit
        found = {name: {"reason": f"{path.name} cannot be imported: {_words(error)}"} for name in kernels}
    answer.write_text(json.dumps(found))


def _imported(path: Path) -> Any:
    """Import a file as the module that it is in its package, and return the module."""
    root, name = path.parent, path.stem
    while (root / "__init__.py").exists():
        root, name = root.parent, f"{root.name}.{name}"
    sys.path.insert(0, str(root))
    return importlib.import_module(name)


def _told(module: Any, text: str, kernel: str) -> dict[str, Any]:
    """Return the answer for a kernel: only `reason` if it cannot be run."""
    if not hasattr(getattr(module, kernel, None), "run"):
        return {"reason": f"`{kernel}` is no kernel of Triton's"}
    tried = []
    for caller in calls.callers(text, kernel):
        try:
            found = _orders(getattr(module, caller), kernel)
        except BaseException as error:  # the user's code
            tried.append(f"`{caller}()`: {_words(error)}")
            continue
        if found:
            return {"kernel": kernel, "called": caller, **found}
        tried.append(f"`{caller}()` does not launch it")
    needing = ", ".join(f"`{name}`" for name in calls.needing(text, kernel))
    if not tried:
        tried = [f"{needing} needs arguments that the text does not tell" if needing else "nothing here launches it"]
    return {"reason": f"`{kernel}` cannot be called: {'; '.join(tried)}"}


def _orders(call: Callable[[], Any], kernel: str) -> dict[str, Any]:
    """Compare a kernel's results over orders of its programs and over configurations; empty if it is not launched."""
    base = _run(call, Run())
    if not base.launches.get(kernel):
        return {}
    runs = [base, *(_run(call, Run(order=order)) for order in range(1, _ORDERS))]
    found: dict[str, Any] = {"programs": max(one.programs for one in base.launches[kernel]), "orders": len(runs)}
    found |= _compared([run.launches.get(kernel, []) for run in runs])
    count = min(base.configurations.get(kernel, 1), _MOST)
    if count > 1:
        chosen = [base, *(_run(call, Run(configuration=number)) for number in range(1, count))]
        told = _compared([run.launches.get(kernel, []) for run in chosen])
        found["configurations"] = {"tried": count, **told}
    return found


def _compared(runs: list[list[Launch]]) -> dict[str, Any]:
    """Count the results of the first launch whose tensors are the same before it and differ after it."""
    import torch

    for launches in zip(*runs, strict=False):
        alike = [one for one in launches if one.before == launches[0].before]
        if len({one.after for one in alike}) > 1:
            apart = [bits.apart(alike[0].tensors, one.tensors) for one in alike[1:]]
            absolute = max((one for one, _ in apart if one is not None), default=None)
            ulp = max((one for _, one in apart if one is not None), default=None)
            finite = absolute is not None and torch.tensor(absolute).isfinite().item()
            return {
                "distinct": len({one.after for one in alike}),
                "absolute": absolute if finite else None,
                "ulp": ulp,
            }
    return {"distinct": 1}


def _run(call: Callable[[], Any], run: Run) -> Run:
    """Call a user's function with its launches controlled by `run` and all generators seeded alike."""
    import torch
    from torch.overrides import TorchFunctionMode

    autotuner = importlib.import_module("triton.runtime.autotuner")
    interpreter = importlib.import_module("triton.runtime.interpreter")

    class OnCpu(TorchFunctionMode):
        """A mode that puts tensors on the CPU wherever CUDA is requested: the interpreter copies them there anyway."""

        def __torch_function__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            if func is torch.Tensor.cuda:
                return args[0]
            if func == torch.Tensor.is_cuda.__get__:  # type: ignore[attr-defined]
                return True
            return func(*map(_here, args), **{name: _here(value) for name, value in (kwargs or {}).items()})

    builder, executor, tuner = interpreter.interpreter_builder, interpreter.GridExecutor, autotuner.Autotuner
    place, grid, launch, tune = builder.set_grid_idx, builder.set_grid_dim, executor.__call__, tuner.run
    size: list[tuple[int, ...]] = [(1, 1, 1)]

    def sized(*sizes: int) -> None:
        size[0] = sizes
        grid(*sizes)

    def launched(self: Any, *args: Any, **kwargs: Any) -> Any:
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
        before = bits.digest(tensors)
        launch(self, *args, **kwargs)
        held = [one.detach().clone() for one in tensors]
        programs = size[0][0] * size[0][1] * size[0][2]
        run.launches.setdefault(self.fn.__name__, []).append(Launch(before, bits.digest(held), held, programs))

    def tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        configurations = self.prune_configs(kwargs)
        run.configurations[self.base_fn.__name__] = len(configurations)
        chosen = configurations[run.configuration % len(configurations)]
        every = {**self.nargs, **kwargs, **chosen.all_kwargs()}
        self.pre_hook(every, reset_only=True)
        if chosen.pre_hook is not None:
            chosen.pre_hook(every)
        return self.fn.run(*args, **kwargs, **chosen.all_kwargs())

    builder.set_grid_idx = lambda *at: place(*run.place(at, size[0]))
    builder.set_grid_dim, executor.__call__, tuner.run = sized, launched, tuned
    modes.seed_all()
    try:
        with OnCpu(), _without_devices():
            call()
    finally:
        builder.set_grid_idx, builder.set_grid_dim, executor.__call__, tuner.run = place, grid, launch, tune
    return run


@contextmanager
def _without_devices() -> Iterator[None]:
    """Replace the other CUDA functions that launchers call, such as `current_device` and `synchronize`, by no-ops."""
    import torch

    instead: dict[str, Any] = dict.fromkeys(("device", "device_of"), nullcontext)
    instead |= {"current_device": lambda: 0, "synchronize": lambda device=None: None}
    before = {name: getattr(torch.cuda, name) for name in instead}
    for name, value in instead.items():
        setattr(torch.cuda, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(torch.cuda, name, value)


def _here(value: Any) -> Any:
    import torch

    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and value.partition(":")[0] == "cuda" else value


def _words(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:_LONGEST].removesuffix(": ")

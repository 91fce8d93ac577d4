"""Functions that let two runs of a PyTorch program give the same results.

Importing it imports neither torch nor NumPy and changes nothing: spawned processes may
do so again. Python 3.8, torch 2.0, or newer; without NumPy, worker_rng() is missing.
"""

from __future__ import annotations

import hashlib
import operator
import os
import random
import sys
import warnings
import weakref
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    import torch

    NumpyGenerator = Union[np.random.Generator, np.random.RandomState]
    AnyGenerator = Union[random.Random, NumpyGenerator, torch.Generator]

_CUBLAS = "CUBLAS_WORKSPACE_CONFIG"
_CUBLAS_VALUES = (":4096:8", ":16:8")  # PyTorch accepts no other

_sources: dict[str, tuple[Any, Any, Any]] = {}  # seed, get_state, set_state by name
_made: Any = weakref.WeakValueDictionary()  # what make_generator() made, in order
_seed: int | None = None  # of the last seed_everything() or seed_worker()
_rng: tuple[int, np.random.Generator] | None = None  # of worker_rng(), with its seed


def seed_everything(seed: int, *, strict: bool = False) -> int:
    """Seed `random`, NumPy and torch, on all devices; return the seed.

    It is an integer from 0 to 2**32 - 1. Devices that are not in use yet get it, too.

    Processes of a distributed run all get the same streams: see rank_seed(). Generators
    of other libraries are seeded, too, if register() was called for them.

    No call fixes hashes of strings, and so the order of sets: PYTHONHASHSEED does, read
    when Python starts. It is not set here, as only child processes would follow it.
    `strict` raises RuntimeError, before anything is seeded, if it was not set.
    """
    seed = _checked(seed)
    if strict and _hashes_vary():
        raise RuntimeError(
            "hashes of strings, and so the order of sets, differ from run to run: "
            "start the program with PYTHONHASHSEED=0 in its environment"
        )
    _seed_host(seed)
    with suppress(ImportError):
        import_module("torch").manual_seed(seed)
    return seed


def rank_seed(seed: int, rank: int | None = None) -> int:
    """Return a seed for this process of a distributed run, different on each rank.

    Build the model after `seed_everything(seed)`, alike on all ranks, then call
    `seed_everything(rank_seed(seed))`, so that dropout and augmentation differ. `rank`
    defaults to that of torch.distributed, else to the variable RANK that torchrun sets,
    or 0. Where ranks must draw alike (tensor parallelism), pass the data-parallel rank.
    Runs with neighbouring seeds share no stream, as they would under `seed + rank`.
    """
    seed = _checked(seed)
    if rank is None:
        rank = int(os.environ.get("RANK", "0"))
        distributed = sys.modules.get("torch.distributed")
        if distributed and distributed.is_available() and distributed.is_initialized():
            rank = distributed.get_rank()
    mixed = int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:4], "big")
    return (mixed + _checked(rank, what="rank")) % 2**32


def register(
    name: str,
    seed: Callable[[int], object],
    get_state: Callable[[], Any] | None = None,
    set_state: Callable[[Any], object] | None = None,
) -> None:
    """Register one more generator to be seeded: `register("cv2", cv2.setRNGSeed)`.

    `seed` gets an integer from 0 to 2**31 - 1, which every library accepts, from
    seed_everything() and seed_worker(), and at once if one of them ran before.
    `get_state` and `set_state`, both or neither, serve rng_state() and set_rng_state();
    deterministic_scope() needs both, too. Registering a name again replaces it. Spawned
    workers import everything anew: register in the module of the data set, not under
    `if __name__ == "__main__"`.
    """
    if (get_state is None) != (set_state is None):
        raise TypeError(f"{name}: give both get_state and set_state, or neither")
    _sources[name] = (seed, get_state, set_state)
    if _seed is not None:
        seed(_seed % 2**31)


def make_generator(seed: int, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a torch generator with a seed of its own, from 0 to 2**64 - 1."""
    import torch

    generator = torch.Generator(device=device)
    generator.manual_seed(_checked(seed, most=2**64 - 1))
    _made[id(generator)] = generator
    return generator


def seed_worker(worker_id: int) -> None:
    """Seed `random` and NumPy as torch is seeded in a worker: a `worker_init_fn`."""
    import torch

    _seed_host(torch.initial_seed() % 2**32)


def worker_rng() -> np.random.Generator:
    """Return this process's own NumPy generator: call it in `__getitem__`.

    It follows the seed of the worker, which no other worker or epoch has, or torch's
    seed outside of workers. It is the same object until one of these is seeded anew.
    """
    global _rng
    import numpy as np
    import torch
    from torch.utils.data import get_worker_info

    worker = get_worker_info()
    seed = torch.initial_seed() if worker is None else worker.seed
    if _rng is None or _rng[0] != seed:
        # a spawn_key, to be another stream than the program's own default_rng(seed)
        sequence = np.random.SeedSequence(seed, spawn_key=(0,))
        _rng = (seed, np.random.default_rng(sequence))
    return _rng[1]


def enable_determinism(warn_only: bool = False) -> None:
    """Let torch, cuDNN, cuBLAS and oneDNN use only algorithms that repeat bit for bit.

    Operations that have none raise, or with `warn_only` warn and still vary. Call it
    before CUDA is in use: cuBLAS reads CUBLAS_WORKSPACE_CONFIG once, which is set here
    to ":4096:8" unless it is valid. Where it is too late for that, torch before 2.10
    refuses matrix products (later ones do not need it: pytorch/pytorch#161749), so
    RuntimeError is raised, and nothing changed, if not `warn_only`.
    """
    import torch

    cuda: Any = torch.cuda
    if os.environ.get(_CUBLAS) not in _CUBLAS_VALUES:
        if not cuda.is_initialized():
            os.environ[_CUBLAS] = _CUBLAS_VALUES[0]
        # torch.__version__ compares as a version, not as a string
        elif torch.version.cuda and torch.__version__ < "2.10" and not warn_only:
            raise RuntimeError(
                "too late for a deterministic cuBLAS, since CUDA is in use already: "
                "call enable_determinism() before anything runs on the GPU, or start "
                f"the program with {_CUBLAS}={_CUBLAS_VALUES[0]} in its environment"
            )
    torch.use_deterministic_algorithms(True, warn_only=warn_only)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    onednn: Any = torch.backends.mkldnn
    if hasattr(onednn, "deterministic"):  # not in every torch
        onednn.deterministic = True


@contextmanager
def deterministic_scope(
    seed: int | None = None,
    warn_only: bool = False,
) -> Iterator[None]:
    """Run a block, or a decorated function, deterministically and then restore all.

    Inside, enable_determinism() holds and, given a `seed`, so does seed_everything().
    Afterwards, also on errors, the switches are as before and, given a `seed`, so are
    the random streams, except for CUBLAS_WORKSPACE_CONFIG, which is read just once.
    """
    import torch

    enabled = torch.are_deterministic_algorithms_enabled()
    warned = torch.is_deterministic_algorithms_warn_only_enabled()
    switches = _switches(torch)
    start = torch.initial_seed()
    state = None if seed is None else rng_state()
    try:
        enable_determinism(warn_only)
        if seed is not None:
            seed_everything(seed)
        yield
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=warned)
        for owner, name, value in switches:
            setattr(owner, name, value)
        if state is not None:
            torch.manual_seed(start)  # on devices that were not in use before
            set_rng_state(state)


def rng_state(*generators: AnyGenerator) -> dict[str, Any]:
    """Return the states of all random streams of this process, for a checkpoint.

    These are `random`, NumPy's global stream, torch's on the CPU and on all devices in
    use, generators made here or registered, and the given ones of torch, NumPy or
    `random`. The dict holds numbers, strings, tuples and CPU tensors, for
    `torch.load(..., weights_only=True)`.
    """
    np, torch = _module("numpy"), _module("torch")
    state = {
        "format": 1,
        "seed": _seed,
        "python": random.getstate(),
        "numpy": np and np.random.get_state(legacy=False),
        "torch": torch and torch.get_rng_state(),
        "devices": {} if torch is None else _device_states(torch),
        "worker_rng": _rng and (_rng[0], _rng[1].bit_generator.state),
        "registered": {k: get() for k, (_, get, _) in _sources.items() if get},
        "made": list(map(_read, _made.values())),
        "generators": [_read(generator) for generator in generators],
    }
    return {key: _plain(value) for key, value in state.items()}


def set_rng_state(state: Mapping[str, Any], *generators: AnyGenerator) -> None:
    """Continue the random streams that rng_state() saved, given generators alike.

    `map_location` may have moved `state` to another device. ValueError is raised, and
    nothing changed, if it is no such state or was saved with other generators. A
    warning says where the run cannot continue exactly: another number of devices (the
    first ones are restored), or a saved generator that is not registered or not made
    yet.
    """
    global _rng, _seed
    if not isinstance(state, dict) or state.get("format") != 1:
        raise ValueError("no random state: pass what rng_state() returned")
    state = _unplain(state)
    saved = [kind for kind, _ in state["generators"]]
    given = [_read(generator)[0] for generator in generators]
    if saved != given:
        raise ValueError(f"the state belongs to the generators {saved}, not to {given}")
    np, torch = _module("numpy"), _module("torch")
    _seed = state.get("seed")
    _rng = None
    _write(random, state["python"])
    if np and state["numpy"]:
        np.random.set_state(state["numpy"])
    if np and state.get("worker_rng"):
        rng = np.random.default_rng()
        _write(rng, state["worker_rng"][1])
        _rng = (state["worker_rng"][0], rng)
    lost = []
    if torch and state["torch"] is not None:
        torch.set_rng_state(state["torch"])
        for kind, states in state["devices"].items():
            module: Any = getattr(torch, kind, None)
            count = _device_count(torch, kind)
            if count != len(states):
                lost.append(f"{len(states)} {kind} devices then, {count} now")
            for index, one in enumerate(states[:count]):
                module.get_rng_state(index)  # starts it, or a waiting seed would win
                module.set_rng_state(one, index)
    registered = state.get("registered", {})
    for name, (_, _, write) in _sources.items():
        if write and name in registered:
            write(registered.pop(name))
    lost += [f"{name!r} is not registered with a set_state" for name in registered]
    made: list[Any] = state.get("made", [])
    living: list[Any] = []
    living += _made.values()
    if [kind for kind, _ in made] != [_read(one)[0] for one in living[: len(made)]]:
        lost.append(f"{len(made)} of make_generator() then, {len(living)} now")
        made = []
    restored = [*zip(living, made), *zip(generators, state["generators"])]
    for generator, (_, value) in restored:
        _write(generator, value)
    if lost:
        warnings.warn("the run goes on differently: " + "; ".join(lost), stacklevel=2)


def _checked(seed: int, most: int = 2**32 - 1, what: str = "seed") -> int:
    wanted = f"{what} must be an integer from 0 to {most}, not {seed!r}"
    if isinstance(seed, bool) or not hasattr(type(seed), "__index__"):
        raise TypeError(wanted)
    if not 0 <= operator.index(seed) <= most:
        raise ValueError(wanted)
    return operator.index(seed)


def _hashes_vary() -> bool:
    """Return whether Python started without a fixed PYTHONHASHSEED."""
    try:  # what Python saw; os.environ may have been changed since
        started = b"\0" + Path("/proc/self/environ").read_bytes()
        value = started.partition(b"\0PYTHONHASHSEED=")[2].partition(b"\0")[0].decode()
    except OSError:
        value = os.environ.get("PYTHONHASHSEED", "")
    fixed = value not in ("", "random") and not sys.flags.ignore_environment
    return bool(sys.flags.hash_randomization) and not fixed


def _seed_host(seed: int) -> None:
    global _rng, _seed
    _seed = seed
    _rng = None
    random.seed(seed)
    with suppress(ImportError):
        import_module("numpy").random.seed(seed)
    for source, _, _ in _sources.values():
        source(seed % 2**31)


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


def _switches(torch: Any) -> list[tuple[Any, str, Any]]:
    """Return owner, name and value of each switch that enable_determinism() changes."""
    cudnn, mkldnn = torch.backends.cudnn, torch.backends.mkldnn
    inductor = _module("torch._inductor.config")  # use_deterministic_algorithms sets it
    owners = [(cudnn, "benchmark")]
    owners += [(owner, "deterministic") for owner in (cudnn, mkldnn, inductor)]
    return [(o, name, getattr(o, name)) for o, name in owners if hasattr(o, name)]


def _device_states(torch: Any) -> dict[str, Any]:
    """Return the states of devices in use, by kind: asking others would start them."""
    custom = getattr(torch._C, "_get_privateuse1_backend_name", str)()
    states = {}
    for kind in ("cuda", "xpu", "mps", custom):
        module: Any = getattr(torch, kind, None)
        used = getattr(module, "is_initialized", lambda: True)
        if hasattr(module, "get_rng_state") and used():
            count = _device_count(torch, kind)
            states[kind] = list(map(module.get_rng_state, range(count)))
    return {kind: found for kind, found in states.items() if found}


def _device_count(torch: Any, kind: str) -> int:
    if kind == "mps":  # one device or none
        return int(torch.backends.mps.is_available())
    return int(getattr(torch, kind).device_count()) if hasattr(torch, kind) else 0


def _read(generator: Any) -> tuple[str, Any]:
    """Return the kind and the state of a generator."""
    np, torch = _module("numpy"), _module("torch")
    if isinstance(generator, random.Random):
        return "random.Random", generator.getstate()
    if torch and isinstance(generator, torch.Generator):
        return f"torch.Generator on {generator.device.type}", generator.get_state()
    if np and isinstance(generator, np.random.Generator):
        state = generator.bit_generator.state
    elif np and isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        raise TypeError(f"no generator of torch, NumPy or random: {generator!r}")
    return f"numpy {type(generator).__name__} of {state['bit_generator']}", state


def _write(generator: Any, state: Any) -> None:
    if hasattr(generator, "setstate"):  # of random
        generator.setstate(state)
    elif hasattr(generator, "set_state"):  # of torch, or a RandomState
        generator.set_state(state)
    else:
        generator.bit_generator.state = state


def _plain(value: Any) -> Any:
    """Return a state as numbers, strings, CPU tensors, and containers of them."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if hasattr(value, "detach"):  # of torch
        return value.detach().cpu().clone()
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # of NumPy
        plain = _plain(value.tolist())
        return {"dtype": str(value.dtype), "array": plain} if value.shape else plain
    raise TypeError(f"no checkpoint keeps a {type(value).__name__} of a random state")


def _unplain(value: Any) -> Any:
    """Undo _plain(), with all tensors on the CPU."""
    if isinstance(value, dict):
        if value.keys() == {"dtype", "array"} and _module("numpy"):
            return _module("numpy").asarray(value["array"], dtype=value["dtype"])
        return {key: _unplain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_unplain(item) for item in value)
    return value.cpu() if hasattr(value, "cpu") else value

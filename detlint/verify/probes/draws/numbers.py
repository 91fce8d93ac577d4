"""Probes of draws from NumPy's and Python's global generators, and of values and seeds from other sources."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run
from detlint.verify.probes.named import calling, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.verify.bench import Bench

_NUMPY: dict[str, tuple[Any, ...]] = {
    "beta": (0.5, 2.0, 16),
    "binomial": (100, 0.4, 16),
    "bytes": (16,),
    "chisquare": (2.0, 16),
    "choice": (1 << 30, 16),
    "dirichlet": ([0.5, 1.0, 2.0], 16),
    "exponential": (1.0, 16),
    "f": (3.0, 5.0, 16),
    "gamma": (2.0, 1.0, 16),
    "geometric": (0.01, 16),
    "gumbel": (0.0, 1.0, 16),
    "hypergeometric": (200, 300, 100, 16),
    "laplace": (0.0, 1.0, 16),
    "logistic": (0.0, 1.0, 16),
    "lognormal": (0.0, 1.0, 16),
    "logseries": (0.99, 64),
    "multinomial": (100, [0.2, 0.3, 0.5], 16),
    "multivariate_normal": ([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], 16),
    "negative_binomial": (20, 0.1, 16),
    "noncentral_chisquare": (2.0, 1.0, 16),
    "noncentral_f": (3.0, 5.0, 1.0, 16),
    "normal": (0.0, 1.0, 16),
    "pareto": (3.0, 16),
    "permutation": (64,),
    "poisson": (40.0, 16),
    "power": (3.0, 16),
    "rand": (16,),
    "randint": (1 << 30,),
    "randn": (16,),
    "random": (16,),
    "random_integers": (1 << 30,),
    "random_sample": (16,),
    "ranf": (16,),
    "rayleigh": (1.0, 16),
    "sample": (16,),
    "standard_cauchy": (16,),
    "standard_exponential": (16,),
    "standard_gamma": (2.0, 16),
    "standard_normal": (16,),
    "standard_t": (3.0, 16),
    "triangular": (0.0, 0.3, 1.0, 16),
    "uniform": (0.0, 1.0, 16),
    "vonmises": (0.0, 4.0, 16),
    "wald": (1.0, 1.0, 16),
    "weibull": (2.0, 16),
    "zipf": (1.5, 64),
}
_PYTHON: dict[str, tuple[Any, ...]] = {
    "betavariate": (0.5, 2.0),
    "binomialvariate": (1 << 20, 0.4),
    "choice": (range(1 << 30),),
    "choices": (range(1 << 30),),
    "expovariate": (1.0,),
    "gammavariate": (2.0, 1.0),
    "gauss": (0.0, 1.0),
    "getrandbits": (64,),
    "lognormvariate": (0.0, 1.0),
    "normalvariate": (0.0, 1.0),
    "paretovariate": (3.0,),
    "randbytes": (16,),
    "randint": (0, 1 << 30),
    "random": (),
    "randrange": (1 << 30,),
    "sample": (range(1 << 30), 8),
    "triangular": (0.0, 1.0, 0.3),
    "uniform": (0.0, 1.0),
    "vonmisesvariate": (0.0, 4.0),
    "weibullvariate": (1.0, 2.0),
}
_VALUES: dict[str, tuple[str, dict[str, tuple[Any, ...]]]] = {
    "time": (
        "time",
        {
            name + unit: ()
            for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time")
            for unit in ("", "_ns")
        },
    ),
    "operating-system": ("os", {"urandom": (16,), "getrandom": (16,)}),
    "process-id": ("os", {"getpid": ()}),
    "thread-id": ("threading", {"get_ident": (), "get_native_id": ()}),
    "secrets": (
        "secrets",
        {
            "randbits": (64,),
            "randbelow": (1 << 60,),
            "choice": (range(1 << 60),),
            "token_bytes": (16,),
            "token_hex": (16,),
            "token_urlsafe": (16,),
        },
    ),
}


def _shuffled(shuffle: Callable[[Any], None]) -> list[int]:
    numbers = list(range(64))
    shuffle(numbers)
    return numbers


def _numpy(bench: Bench) -> Run:
    draws = {name: calling(*given) for name, given in _NUMPY.items()}
    return named(bench, "numpy.random", {**draws, "shuffle": _shuffled})


def _python(bench: Bench) -> Run:
    draws = {name: calling(*given) for name, given in _PYTHON.items()}
    return named(bench, "random", {**draws, "shuffle": _shuffled})


def _values(bench: Bench, row: str) -> Run:
    package, calls = _VALUES[row]
    return named(bench, package, {name: calling(*given) for name, given in calls.items()})


def _datetime(bench: Bench) -> Run:
    names = ("now", "utcnow", "today")
    return named(bench, "datetime", {f"datetime.{name}": lambda value: value().isoformat() for name in names})


def _uuid(bench: Bench) -> Run:
    return named(bench, "uuid", {name: lambda made: made().hex for name in ("uuid1", "uuid4")})


def _system_random(bench: Bench) -> Run:
    return named(bench, "random", {"SystemRandom": lambda made: made().random()})


def _torch_seed(bench: Bench, names: tuple[str, ...], device: str) -> Run:
    import torch

    def reseed(seed: Callable[[], int]) -> Any:
        seed()
        return torch.rand(16, device=device)

    if device == "cuda":
        bench.needs_cuda()
    return named(bench, "torch", dict.fromkeys(names, reseed))


def _torch_generator_seed(bench: Bench) -> Run:
    import torch

    def reseed(seed: Callable[[Any], int]) -> Any:
        generator = torch.Generator(bench.device)
        seed(generator)
        return torch.rand(16, device=bench.device, generator=generator)

    return named(bench, "torch", {"Generator.seed": reseed})


def _numpy_seed(bench: Bench) -> Run:
    def reseed(seed: Callable[[], None]) -> Any:
        seed()
        return bench.package("numpy.random").random_sample(16)

    return named(bench, "numpy.random", {"seed": reseed})


def _numpy_state_seed(bench: Bench) -> Run:
    def reseed(made: Any) -> Any:
        state = made(0)
        state.seed()
        return state.random_sample(16)

    return named(bench, "numpy.random", {"RandomState": reseed})


def _python_seed(bench: Bench) -> Run:
    def reseed(seed: Callable[[], None]) -> float:
        seed()
        return random.random()

    return named(bench, "random", {"seed": reseed})


def _python_state_seed(bench: Bench) -> Run:
    def reseed(made: Any) -> Any:
        state = made(0)
        state.seed()
        return state.random()

    return named(bench, "random", {"Random": reseed})


def _numpy_generators(bench: Bench) -> Run:
    return named(bench, "numpy.random", {"default_rng": lambda made: made().random(16)})


def _numpy_states(bench: Bench) -> Run:
    return named(bench, "numpy.random", {"RandomState": lambda made: made().random_sample(16)})


def _numpy_sequences(bench: Bench) -> Run:
    return named(bench, "numpy.random", {"SeedSequence": lambda made: made().generate_state(4)})


def _numpy_bits(bench: Bench, names: tuple[str, ...]) -> Run:
    return named(bench, "numpy.random", dict.fromkeys(names, lambda made: made().random_raw(4)))


def _python_generators(bench: Bench) -> Run:
    return named(bench, "random", {"Random": lambda made: made().random()})


PROBES: dict[str, Probe] = {
    "numpy.legacy": Probe(_numpy, kind=Kind.DRAWS),
    "python.random": Probe(_python, kind=Kind.DRAWS),
    **{row: Probe(_values, {"row": row}, kind=Kind.DRAWS) for row in _VALUES},
    "datetime": Probe(_datetime, kind=Kind.DRAWS),
    "uuid": Probe(_uuid, kind=Kind.DRAWS),
    "system-random": Probe(_system_random, kind=Kind.DRAWS),
    "torch.seed": Probe(_torch_seed, {"names": ("seed",), "device": "cpu"}, kind=Kind.DRAWS),
    "torch.default-generator-seed": Probe(
        _torch_seed, {"names": ("default_generator.seed",), "device": "cpu"}, kind=Kind.DRAWS
    ),
    "torch.cuda-seed": Probe(
        _torch_seed, {"names": ("cuda.seed", "cuda.seed_all"), "device": "cuda"}, kind=Kind.DRAWS, devices=("cuda",)
    ),
    "torch.generator-seed": Probe(_torch_generator_seed, kind=Kind.DRAWS),
    "numpy.seed": Probe(_numpy_seed, kind=Kind.DRAWS),
    "numpy.random-state-seed": Probe(_numpy_state_seed, kind=Kind.DRAWS),
    "python.seed": Probe(_python_seed, kind=Kind.DRAWS),
    "python.random-seed": Probe(_python_state_seed, kind=Kind.DRAWS),
    "numpy.default-rng": Probe(_numpy_generators, kind=Kind.DRAWS),
    "numpy.random-state": Probe(_numpy_states, kind=Kind.DRAWS),
    "numpy.seed-sequence": Probe(_numpy_sequences, kind=Kind.DRAWS),
    "numpy.bit-generators": Probe(_numpy_bits, {"names": ("MT19937", "PCG64", "PCG64DXSM", "SFC64")}, kind=Kind.DRAWS),
    "numpy.philox": Probe(_numpy_bits, {"names": ("Philox",)}, kind=Kind.DRAWS),
    "python.random.generator": Probe(_python_generators, kind=Kind.DRAWS),
}

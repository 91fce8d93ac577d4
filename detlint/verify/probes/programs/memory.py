"""Probes of uninitialised memory: the bytes of new allocations, right after other memory was freed."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Kind, Probe, Run, UnavailableError
from detlint.verify.probes.named import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from detlint.verify.bench import Bench

_SHAPE = (64, 64)
_COUNT = math.prod(_SHAPE)
_TYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
}


def _content(tensor: Tensor) -> Tensor:
    """Return a copy of the bytes of a contiguous tensor."""
    import torch

    return tensor.detach().reshape(-1).view(torch.uint8).clone()


def _taken(bench: Bench, allocate: Callable[[], Tensor], dtype: Any = None) -> Tensor:
    bench.dirty(*_SHAPE, dtype=dtype)
    return _content(allocate())


def _empty(bench: Bench) -> Run:
    like = bench.zeros(*_SHAPE)
    at: dict[str, Any] = {"dtype": bench.dtype, "device": bench.device}
    return named(
        bench,
        "torch",
        {
            "empty": lambda make: _taken(bench, lambda: make(*_SHAPE, **at)),
            "empty_like": lambda make: _taken(bench, lambda: make(like)),
            "empty_strided": lambda make: _taken(bench, lambda: make(_SHAPE, (_SHAPE[1], 1), **at)),
            "empty_permuted": lambda make: _taken(bench, lambda: make(_SHAPE, (0, 1), **at)),
        },
    )


def _new_empty(bench: Bench) -> Run:
    like = bench.zeros(2)
    return named(
        bench,
        "torch",
        {
            "Tensor.new_empty": lambda make: _taken(bench, lambda: make(like, _SHAPE)),
            "Tensor.new_empty_strided": lambda make: _taken(bench, lambda: make(like, _SHAPE, (_SHAPE[1], 1))),
        },
    )


def _compiled_empty(bench: Bench) -> Run:
    import torch

    def make() -> Tensor:
        return torch.empty(_SHAPE, dtype=bench.dtype, device=bench.device)

    compiled = torch.compile(make)
    try:
        compiled()
    except Exception as error:
        raise UnavailableError(f"needs a compiler: {str(error).strip().partition(chr(10))[0]}") from None
    return lambda: _taken(bench, compiled)


def _legacy(bench: Bench) -> Run:
    import torch

    def typed(dtype: str) -> Callable[[Any], Tensor]:
        return lambda make: _taken(bench, lambda: make(*_SHAPE), getattr(torch, dtype))

    like, cuda = bench.zeros(2), "cuda." if bench.device.type == "cuda" else ""
    draws = {f"{cuda}{name}Tensor": typed(dtype) for name, dtype in _TYPES.items()}
    if not cuda:
        draws["Tensor"] = typed("float32")
    return named(bench, "torch", {**draws, "Tensor.new": lambda make: _taken(bench, lambda: make(like, *_SHAPE))})


def _resize(bench: Bench) -> Run:
    like = bench.zeros(*_SHAPE)
    return named(
        bench,
        "torch",
        {
            "Tensor.resize_": lambda grow: _taken(bench, lambda: grow(bench.zeros(2), *_SHAPE)),
            "Tensor.resize_as_": lambda grow: _taken(bench, lambda: grow(bench.zeros(2), like)),
        },
    )


def _storage(bench: Bench) -> Run:
    import torch

    def taken(width: int, **at: Any) -> Callable[[Any], Tensor]:
        def take(storage: Any) -> Tensor:
            bench.dirty(_COUNT * width, dtype=torch.uint8)
            made = storage(_COUNT, **at)
            raw = made if isinstance(made, torch.UntypedStorage) else made.untyped()
            return torch.tensor([], dtype=torch.uint8, device=raw.device).set_(raw).clone()

        return take

    draws = {"UntypedStorage": taken(1, device=bench.device)}
    if bench.device.type == "cpu":
        types = {**_TYPES, "ComplexFloat": "complex64", "ComplexDouble": "complex128"}
        draws.update({f"{name}Storage": taken(getattr(torch, dtype).itemsize) for name, dtype in types.items()})
    return named(bench, "torch", draws)


def _parameters(bench: Bench, layer: Callable[[], Any]) -> list[Tensor]:
    bench.dirty(*_SHAPE)
    return [_content(value) for value in layer().state_dict().values()]


def _skip_init(bench: Bench) -> Run:
    import torch

    at: dict[str, Any] = {"dtype": bench.dtype, "device": bench.device}
    return named(
        bench,
        "torch.nn.utils",
        {"skip_init": lambda skip: _parameters(bench, lambda: skip(torch.nn.Linear, *_SHAPE, bias=False, **at))},
    )


def _to_empty(bench: Bench) -> Run:
    import torch

    def layer(move: Any) -> Any:
        made = torch.nn.Linear(*_SHAPE, bias=False, dtype=bench.dtype, device="meta")
        return move(made, device=bench.device)

    return named(bench, "torch.nn", {"Module.to_empty": lambda move: _parameters(bench, lambda: layer(move))})


def _quantized(bench: Bench) -> Run:
    import torch

    at: dict[str, Any] = {"dtype": torch.quint8, "device": bench.device}
    one: dict[str, Any] = {"scale": 1.0, "zero_point": 0, **at}
    scales, zeros = bench.ones(_SHAPE[0]), bench.colliding(_SHAPE[0])
    rows: dict[str, Any] = {"scales": scales, "zero_points": zeros, "axis": 0, **at}

    def taken(allocate: Callable[[], Tensor]) -> Tensor:
        bench.dirty(*_SHAPE, dtype=torch.uint8)
        return _content(allocate().int_repr())

    return named(
        bench,
        "torch",
        {
            "_empty_affine_quantized": lambda make: taken(lambda: make(_SHAPE, **one)),
            "_empty_per_channel_affine_quantized": lambda make: taken(lambda: make(_SHAPE, **rows)),
            "empty_quantized": lambda make: taken(lambda: make(_SHAPE, torch._empty_affine_quantized(_SHAPE, **one))),
        },
    )


def _numpy(bench: Bench, names: tuple[str, ...], package: str = "numpy") -> Run:
    if package != "numpy":
        bench.needs_cuda()
    arrays = bench.package(package)
    like = arrays.zeros(_SHAPE, dtype="float32")

    def taken(of: Any) -> Callable[[Any], Any]:
        def take(make: Any) -> Any:
            arrays.full(like.nbytes, bench.pattern, dtype="uint8")
            found = make(of, dtype="float32").reshape(-1).view("uint8").copy()
            return found.get() if package == "cupy" else found

        return take

    return named(bench, package, {name: taken(like if name.endswith("like") else _SHAPE) for name in names})


def _masked(bench: Bench) -> Run:
    arrays = bench.package("numpy")
    ones, where = arrays.ones(_SHAPE, dtype="float32"), arrays.zeros(_SHAPE, dtype=bool)

    def taken(operands: tuple[Any, ...]) -> Callable[[Any], Any]:
        def take(compute: Any) -> Any:
            arrays.full(ones.nbytes, bench.pattern, dtype="uint8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy warns of just this
                return compute(*operands, where=where).reshape(-1).view("uint8").copy()

        return take

    two = {name: taken((ones, ones)) for name in ("divide", "floor_divide", "power", "float_power", "remainder", "mod")}
    one = {name: taken((ones,)) for name in ("reciprocal", "sqrt", "log", "log2", "log10", "log1p", "exp")}
    return named(bench, "numpy", {**two, "true_divide": two["divide"], **one})


_EMPTY = {"names": ("empty", "empty_like")}
_NDARRAY = {"names": ("ndarray",)}
_CUPY = {"package": "cupy"}

PROBES: dict[str, Probe] = {
    "torch.empty": Probe(_empty, kind=Kind.MEMORY),
    "torch.empty.compiled": Probe(_compiled_empty, kind=Kind.MEMORY),
    "torch.new-empty": Probe(_new_empty, kind=Kind.MEMORY),
    "torch.legacy": Probe(_legacy, kind=Kind.MEMORY),
    "torch.resize": Probe(_resize, kind=Kind.MEMORY),
    "torch.storage": Probe(_storage, kind=Kind.MEMORY),
    "torch.skip-init": Probe(_skip_init, kind=Kind.MEMORY),
    "torch.to-empty": Probe(_to_empty, kind=Kind.MEMORY),
    "torch.quantized": Probe(_quantized, kind=Kind.MEMORY),
    "numpy.empty": Probe(_numpy, _EMPTY, kind=Kind.MEMORY),
    "numpy.ndarray": Probe(_numpy, _NDARRAY, kind=Kind.MEMORY),
    "numpy.masked": Probe(_masked, kind=Kind.MEMORY),
    "cupy.empty": Probe(_numpy, {**_EMPTY, **_CUPY}, kind=Kind.MEMORY, devices=("cuda",)),
    "cupy.ndarray": Probe(_numpy, {**_NDARRAY, **_CUPY}, kind=Kind.MEMORY, devices=("cuda",)),
}

NOT_PROBED: dict[str, str] = {"torch.symmetric-memory": "needs a process group of several GPUs"}

"""The bench of a probe: inputs that expose a race, and the literal arguments of the call under test."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from detlint.verify.probe import Run, UnavailableError

if TYPE_CHECKING:
    from types import ModuleType

    import torch
    from torch import Tensor

_SPREAD = {"float16": 5}  # float16 ends at 65504: a million addends with a wider spread would overflow
_WIDE = 12


class Bench:
    """The bench on which one probe is built: a device, a dtype, a seeded source of inputs.

    `called` is the qualified name of the call under test, "" in a sweep, and `arguments` its literals by parameter. The
    bench records what a probe asks for: `taken` holds what came from the code, `assumed` what the probe chose.
    `pattern` is the byte that `dirty` writes, a different one in each run. Inputs are drawn from one seed, on the
    device itself if that is CUDA, else on the CPU, so that all processes of a device get the same ones.
    """

    def __init__(self, device: str, dtype: str, arguments: Mapping[str, Any], called: str = "") -> None:
        import torch

        self.device = torch.device(device)
        self.dtype: torch.dtype = getattr(torch, dtype)
        self.taken: dict[str, Any] = {}
        self.assumed: dict[str, Any] = {}
        self.called = called
        self.pattern = 0
        self._arguments = arguments
        self._drawn_on = self.device if self.device.type == "cuda" else torch.device("cpu")
        self._source = torch.Generator(self._drawn_on).manual_seed(20)

    def given(self, parameter: str, default: Any) -> Any:
        """Return the literal argument of the call under test, or the default if the code does not give it."""
        if parameter in self._arguments:
            value = self.taken[parameter] = self._arguments[parameter]
            return tuple(value) if isinstance(value, list) else value
        self.assumed[parameter] = default
        return default

    def literal(self, parameter: str) -> Any:
        """Return the literal argument of the call under test, or None, without recording it as taken."""
        return self._arguments.get(parameter)

    def package(self, name: str) -> ModuleType:
        """Import and return a package. Raises UnavailableError if it is not installed, or not for this torch."""
        try:
            return importlib.import_module(name)
        except Exception as error:  # a package built for another torch raises anything
            reason = str(error).partition("\n")[0]
            raise UnavailableError(f"needs the package {name.partition('.')[0]}: {reason}") from None

    def needs_cuda(self) -> None:
        """Raise UnavailableError on any other device."""
        if self.device.type != "cuda":
            raise UnavailableError("needs a CUDA device")

    def addends(self, *shape: int) -> Tensor:
        """Return numbers of both signs and widely spread magnitudes: sums of equal ones would hide a race."""
        import torch

        spread = _SPREAD.get(str(self.dtype).removeprefix("torch."), _WIDE)
        power = torch.randint(-spread, spread + 1, shape, generator=self._source, device=self._drawn_on)
        return self._here(torch.randn(shape, generator=self._source, device=self._drawn_on) * 2.0**power)

    def normal(self, *shape: int) -> Tensor:
        """Return standard normal numbers."""
        import torch

        return self._here(torch.randn(shape, generator=self._source, device=self._drawn_on))

    def uniform(self, *shape: int) -> Tensor:
        """Return numbers from 0 up to but excluding 1."""
        import torch

        return self._here(torch.rand(shape, generator=self._source, device=self._drawn_on))

    def factors(self, *shape: int) -> Tensor:
        """Return numbers near 1, for products of many."""
        import torch

        width = 1e-3 if self.dtype in (torch.float32, torch.float64) else 1e-2
        return self._here(1 + width * torch.randn(shape, generator=self._source, device=self._drawn_on))

    def integers(self, high: int, *shape: int, low: int = 0) -> Tensor:
        """Return integers from `low` to `high` - 1, as int64."""
        import torch

        return torch.randint(low, high, shape, generator=self._source, device=self._drawn_on).to(self.device)

    def colliding(self, *shape: int) -> Tensor:
        """Return an index whose elements are all 0."""
        import torch

        return torch.zeros(shape, dtype=torch.int64, device=self.device)

    def arange(self, count: int) -> Tensor:
        """Return 0, 1, 2, ... in the bench's dtype."""
        import torch

        return self._here(torch.arange(count))

    def zeros(self, *shape: int) -> Tensor:
        """Return zeros in the bench's dtype."""
        import torch

        return torch.zeros(shape, dtype=self.dtype, device=self.device)

    def ones(self, *shape: int) -> Tensor:
        """Return ones in the bench's dtype."""
        import torch

        return torch.ones(shape, dtype=self.dtype, device=self.device)

    def dirty(self, *shape: int, dtype: torch.dtype | None = None) -> None:
        """Fill memory of this size with the run's pattern and free it, for the allocator to hand out next."""
        import torch

        size = torch.empty((), dtype=dtype or self.dtype).element_size() * math.prod(shape)
        torch.full((size,), self.pattern, dtype=torch.uint8, device=self.device)

    def module(self, made: torch.nn.Module) -> torch.nn.Module:
        """Return a layer, moved to the bench's device and dtype, with parameters drawn from the bench's seed."""
        import torch

        with torch.no_grad():
            for parameter in made.parameters():
                parameter.copy_(0.1 * torch.randn(parameter.shape, generator=self._source, device=self._drawn_on))
        return made.to(self.device, self.dtype)

    def gradients(self, function: Callable[..., Any], *leaves: Tensor, upstream: str = "addends") -> Run:
        """Return a run of `function(*leaves)`, forward and backward, that returns only the leaves' gradients.

        The upstream gradient is drawn by the method named `upstream`. Parameters of layers that should be compared have
        to be leaves as well. Integer leaves are passed on without a gradient.
        """
        import torch

        above: list[Tensor] = []

        def run() -> Any:
            inputs = [leaf.detach().requires_grad_(leaf.is_floating_point() or leaf.is_complex()) for leaf in leaves]
            found = function(*inputs)
            outputs = [
                out
                for out in (found if isinstance(found, (tuple, list)) else (found,))
                if isinstance(out, torch.Tensor) and out.requires_grad
            ]
            if not above:
                above.extend(self._like(out, upstream) for out in outputs)
            wanted = [leaf for leaf in inputs if leaf.requires_grad]
            return torch.autograd.grad(outputs, wanted, above)

        return run

    def layer_gradients(self, layer: torch.nn.Module, *leaves: Tensor, upstream: str = "addends") -> Run:
        """Return a run as by `gradients` for a layer's call, with its parameters among the leaves."""
        import torch

        names = [name for name, _ in layer.named_parameters()]
        weights = [parameter for _, parameter in layer.named_parameters()]

        def call(*inputs: Tensor) -> Any:
            state = dict(zip(names, inputs[len(leaves) :], strict=True))
            return torch.func.functional_call(layer, state, inputs[: len(leaves)])

        return self.gradients(call, *leaves, *weights, upstream=upstream)

    def _like(self, output: Tensor, upstream: str) -> Tensor:
        drawn: Tensor = getattr(self, upstream)(*output.shape)
        return drawn.to(output.dtype)

    def _here(self, drawn: Tensor) -> Tensor:
        return drawn.to(self.device, self.dtype)

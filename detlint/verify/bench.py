"""What probes are built from: inputs that make a race show, and the literal arguments of the call under test."""

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

_SPREAD = {"float16": 5}  # float16 ends at 65504: a million addends of a wider spread would overflow
_WIDE = 12


class Bench:
    """The place where one probe is built: a device, a dtype, a seeded source of inputs.

    `called` is the qualified name that the call under test has in the code, "" in a sweep, and `arguments` its literals
    by parameter. What a probe asked for is noted: `taken` holds what came from the code, `assumed` what the probe
    chose. `pattern` is the byte, another one in each run, for `dirty`. Inputs are drawn from one seed, on the device
    itself where that is CUDA, else on the CPU: all processes of a device get the same ones.
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
        """The literal argument of the call under test, or the default where the code does not tell it."""
        if parameter in self._arguments:
            value = self.taken[parameter] = self._arguments[parameter]
            return tuple(value) if isinstance(value, list) else value
        self.assumed[parameter] = default
        return default

    def literal(self, parameter: str) -> Any:
        """The literal argument of the call under test, or None, without taking it."""
        return self._arguments.get(parameter)

    def package(self, name: str) -> ModuleType:
        """An imported package. Raises UnavailableError where it is not installed, or not for this torch."""
        try:
            return importlib.import_module(name)
        except Exception as error:  # one built for another torch raises anything
            reason = str(error).partition("\n")[0]
            raise UnavailableError(f"needs the package {name.partition('.')[0]}: {reason}") from None

    def needs_cuda(self) -> None:
        """Raise UnavailableError on another device."""
        if self.device.type != "cuda":
            raise UnavailableError("needs a CUDA device")

    def addends(self, *shape: int) -> Tensor:
        """Numbers of both signs whose magnitudes are spread widely: sums of equal ones would hide a race."""
        import torch

        spread = _SPREAD.get(str(self.dtype).removeprefix("torch."), _WIDE)
        power = torch.randint(-spread, spread + 1, shape, generator=self._source, device=self._drawn_on)
        return self._here(torch.randn(shape, generator=self._source, device=self._drawn_on) * 2.0**power)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers."""
        import torch

        return self._here(torch.randn(shape, generator=self._source, device=self._drawn_on))

    def uniform(self, *shape: int) -> Tensor:
        """Numbers from 0 up to 1."""
        import torch

        return self._here(torch.rand(shape, generator=self._source, device=self._drawn_on))

    def factors(self, *shape: int) -> Tensor:
        """Numbers near 1, for products of many."""
        import torch

        width = 1e-3 if self.dtype in (torch.float32, torch.float64) else 1e-2
        return self._here(1 + width * torch.randn(shape, generator=self._source, device=self._drawn_on))

    def integers(self, high: int, *shape: int, low: int = 0) -> Tensor:
        """Integers from `low` up to `high` - 1, as int64."""
        import torch

        return torch.randint(low, high, shape, generator=self._source, device=self._drawn_on).to(self.device)

    def colliding(self, *shape: int) -> Tensor:
        """An index whose elements are all 0."""
        import torch

        return torch.zeros(shape, dtype=torch.int64, device=self.device)

    def arange(self, count: int) -> Tensor:
        """0, 1, 2, ... in the bench's dtype."""
        import torch

        return self._here(torch.arange(count))

    def zeros(self, *shape: int) -> Tensor:
        """Zeros in the bench's dtype."""
        import torch

        return torch.zeros(shape, dtype=self.dtype, device=self.device)

    def ones(self, *shape: int) -> Tensor:
        """Ones in the bench's dtype."""
        import torch

        return torch.ones(shape, dtype=self.dtype, device=self.device)

    def dirty(self, *shape: int, dtype: torch.dtype | None = None) -> None:
        """Fill memory of this size with the run's pattern and free it, for the allocator to hand out next."""
        import torch

        size = torch.empty((), dtype=dtype or self.dtype).element_size() * math.prod(shape)
        torch.full((size,), self.pattern, dtype=torch.uint8, device=self.device)

    def module(self, made: torch.nn.Module) -> torch.nn.Module:
        """A layer with its parameters drawn from the bench's seed, moved to its device and dtype."""
        import torch

        with torch.no_grad():
            for parameter in made.parameters():
                parameter.copy_(0.1 * torch.randn(parameter.shape, generator=self._source, device=self._drawn_on))
        return made.to(self.device, self.dtype)

    def gradients(self, function: Callable[..., Any], *leaves: Tensor, upstream: str = "addends") -> Run:
        """Runs `function(*leaves)` forward and backward and returns the gradients of the leaves, and only these.

        The gradient that comes from above is drawn by the method named `upstream`. Parameters of layers to be compared
        are leaves as well. Integer leaves are passed on without a gradient.
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
        """As `gradients`, of a layer's call, with its parameters among the leaves."""
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

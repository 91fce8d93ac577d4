"""The parameters of optimizers: their names, the number of the step, and a digest of each."""

from __future__ import annotations

import gc
from typing import Any
from weakref import WeakKeyDictionary

import torch

from detlint.bisect.recorded import digests

_MOST = 512  # parameters that are recorded one by one


class Parameters:
    """The optimizers of a process, numbered in the order of their first step."""

    def __init__(self) -> None:
        self._steps: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()
        self._begun = 0

    def step(self, optimizer: Any) -> tuple[int, int]:
        """Count a step that an optimizer just took; return the numbers of the optimizer and the step, both from 0."""
        known = self._steps.get(optimizer)
        if known is None:
            known = self._steps[optimizer] = [self._begun, -1]
            self._begun += 1
        known[1] += 1
        return known[0], known[1]

    def names(self, optimizer: Any) -> list[str]:
        """Return the names that modules give the parameters, `parameterN` where no module holds one; 512 at most."""
        modules = [one for one in gc.get_objects() if issubclass(type(one), torch.nn.Module)]
        inner = {id(child) for one in modules for child in one.children()}
        wanted = {id(one) for one in _all(optimizer)}
        found: dict[int, str] = {}
        for module in modules:
            if id(module) not in inner:
                for name, parameter in module.named_parameters():
                    if id(parameter) in wanted and len(name) < len(found.get(id(parameter), name + ".")):
                        found[id(parameter)] = name
        return [found.get(id(one), f"parameter{i}").replace(" ", "_") for i, one in enumerate(_all(optimizer))][:_MOST]

    def digests(self, optimizer: Any) -> list[str]:
        """Return the digests of the parameters; if there are over 512, the last one stands for all the rest."""
        found = [digests.of_tensor(one.detach()) for one in _all(optimizer)]
        return found if len(found) <= _MOST else [*found[: _MOST - 1], digests.fold(found[_MOST - 1 :])]


def _all(optimizer: Any) -> list[torch.Tensor]:
    return [one for group in optimizer.param_groups for one in group["params"]]

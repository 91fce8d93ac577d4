"""The parameters of optimizers: their names, the number of the step, and a digest of each."""

from __future__ import annotations

import gc
from typing import Any
from weakref import WeakKeyDictionary

import torch

from detlint.bisect.recorded import digests

_MOST = 512  # parameters that are told one by one


class Parameters:
    """The optimizers of a process, numbered in the order of their first step."""

    def __init__(self) -> None:
        self._steps: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()
        self._begun = 0

    def step(self, optimizer: Any) -> tuple[int, int]:
        """The number of an optimizer, and that of its step, which has just been taken; both from 0."""
        known = self._steps.get(optimizer)
        if known is None:
            known = self._steps[optimizer] = [self._begun, -1]
            self._begun += 1
        known[1] += 1
        return known[0], known[1]

    def names(self, optimizer: Any) -> list[str]:
        """What the modules that hold the parameters call them; by place where none does."""
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
        """The digests of the parameters; the last one is of all that are left where there are very many."""
        found = [digests.of_tensor(one.detach()) for one in _all(optimizer)]
        return found if len(found) <= _MOST else [*found[: _MOST - 1], digests.fold(found[_MOST - 1 :])]


def _all(optimizer: Any) -> list[torch.Tensor]:
    return [one for group in optimizer.param_groups for one in group["params"]]

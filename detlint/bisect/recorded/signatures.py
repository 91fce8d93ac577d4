"""The texts of an operation's tensors (dtype, shape, strides, device) and of its other arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from detlint.bisect.recorded import digests

_LONGEST = 120
_texts: dict[Any, str] = {}


class Signature:
    """The tensors of one operation: those it is given and, after `turn`, those it makes."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[str] = []

    def add(self, tensor: torch.Tensor) -> None:
        """Add a tensor."""
        if tensor.is_nested:
            self._parts.append(f"{str(tensor.dtype).removeprefix('torch.')}[nested]")
            return
        if tensor.layout is torch.strided:
            key = (tensor.dtype, tensor.shape, tensor.stride(), tensor.device)
        else:
            key = (tensor.dtype, tensor.shape, (), tensor.device)
        text = _texts.get(key)
        if text is None:
            text = _texts[key] = _describe(tensor, *key)
        self._parts.append(text)

    def turn(self) -> None:
        """Mark that the operation made the tensors that are added from now on."""
        self._parts.append("->")

    def text(self) -> str:
        """Return the whole text; a long one is cut, and ends with a digest of the whole."""
        return _bounded(" ".join(self._parts), 10 * _LONGEST)


def _describe(tensor: torch.Tensor, dtype: torch.dtype, shape: Any, stride: Any, device: torch.device) -> str:
    text = f"{str(dtype).removeprefix('torch.')}[{','.join(map(str, shape))}"
    if tensor.layout is not torch.strided:
        text += f"|{str(tensor.layout).removeprefix('torch.')}"
    elif not tensor.is_contiguous():
        text += f"|{','.join(map(str, stride))}"
    return text + ("]" if device.type == "cpu" else f"]@{device}")


def arguments_text(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """Return all arguments but tensors, as one text."""
    parts = [text for value in args for text in _texts_of(value)]
    named = [(name, value) for name, value in kwargs.items() if value is not None and value is not False]
    parts += [f"{name}={text}" for name, value in named for text in _texts_of(value)]
    return _bounded(" ".join(parts), _LONGEST)


def _texts_of(value: Any) -> Iterator[str]:
    kind = type(value)
    if kind in (int, float, bool, str) or value is None:
        yield repr(value)
    elif isinstance(value, (torch.Tensor, torch.Generator)):
        return
    elif isinstance(value, (list, tuple)):
        parts = [text for one in value for text in _texts_of(one)]
        if parts:
            yield f"[{','.join(parts)}]"
    elif isinstance(value, (int, float, complex, torch.dtype, torch.device, torch.layout, torch.memory_format)):
        yield str(value).removeprefix("torch.")
    else:
        yield kind.__name__


def _bounded(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest // 2]}#{digests.of_bytes(text.encode())}"

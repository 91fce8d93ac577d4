"""Which record last wrote to a tensor's memory, and which memory may still hold what nobody wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

NONE = -1
_SWEEP = 128  # new storages after which those that are gone are forgotten: what is left of them splits free memory


@dataclass(slots=True)
class _Known:
    producer: int
    allocation: int = NONE  # the record that allocated it, while part of it may be unwritten
    opaque: bool = False  # what it holds is an operation's own affair
    start: int = 0  # the bytes that are known to have been written
    end: int = 0


class Storages:
    """The storages that one stream knows.

    A storage is known by the address of its description. A weak reference is held to each: it keeps the description,
    not the content, so that no other storage can take the address while it is known.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._until_sweep = _SWEEP

    def of(self, tensor: torch.Tensor) -> tuple[int, int, bool]:
        """The last record that wrote to a storage, the one that allocated it if it may hold garbage; if by design."""
        known = self._known.get(_address(tensor))
        return (NONE, NONE, False) if known is None else (known.producer, known.allocation, known.opaque)

    def wrote(self, tensor: torch.Tensor, number: int, fresh: bool = False) -> None:
        """Record `number` wrote a tensor; `fresh` if its storage is new and thereby wholly written."""
        known = self._entry(tensor)
        if known is None:
            return
        known.producer = number
        if known.allocation != NONE:
            if fresh:
                known.allocation, known.opaque = NONE, False
            else:
                _cover(known, tensor)

    def wrote_part(self, tensor: torch.Tensor, number: int) -> None:
        """Record `number` wrote some of a tensor, nobody knows which."""
        known = self._entry(tensor)
        if known is not None:
            known.producer = number

    def allocated(self, tensor: torch.Tensor, number: int, opaque: bool = False) -> None:
        """Record `number` allocated a tensor without content, or with one that only its backward operation knows."""
        known = self._entry(tensor)
        if known is not None:
            known.producer = known.allocation = number
            known.start = known.end = 0
            known.opaque = opaque

    def _entry(self, tensor: torch.Tensor) -> _Known | None:
        storage = _storage(tensor)
        if storage is None:
            return None
        address = storage._cdata
        known = self._known.get(address)
        if known is None:
            storage._weak_ref()
            known = self._known[address] = _Known(NONE)
            self._until_sweep -= 1
            if not self._until_sweep:
                self._sweep()
        return known

    def _sweep(self) -> None:
        import torch

        gone = [address for address in self._known if torch.UntypedStorage._expired(address)]
        for address in gone:
            del self._known[address]
            torch.UntypedStorage._free_weak_ref(address)  # type: ignore[no-untyped-call]
        self._until_sweep = max(_SWEEP, len(self._known) // 4)


def _address(tensor: torch.Tensor) -> int:
    storage = _storage(tensor)
    return 0 if storage is None else int(storage._cdata)


def _storage(tensor: torch.Tensor) -> Any:
    """The storage of a tensor, or of the values of a sparse one."""
    import torch

    try:
        if tensor.layout is not torch.strided:
            tensor = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def _cover(known: _Known, tensor: torch.Tensor) -> None:
    """Take note of the bytes that were written, where they join those known; all written: the mark goes."""
    if not tensor.is_contiguous():
        if tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes():
            known.allocation = NONE  # every element, in another order
        return
    start = int(tensor.storage_offset()) * tensor.element_size()
    end = start + tensor.numel() * tensor.element_size()
    if known.start == known.end:
        known.start, known.end = start, end
    elif start <= known.end and end >= known.start:
        known.start, known.end = min(start, known.start), max(end, known.end)
    if known.start == 0 and known.end >= tensor.untyped_storage().nbytes():
        known.allocation = NONE

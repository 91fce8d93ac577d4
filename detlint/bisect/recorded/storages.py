"""Which record last wrote to a tensor's memory, and which memory may still be partly unwritten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

NONE = -1
_SWEEP = 128  # new storages until freed ones are dropped: their remains split free memory


@dataclass(slots=True)
class _Known:
    producer: int
    allocation: int = NONE  # the record that allocated it, while part of it may be unwritten
    opaque: bool = False  # only an operation itself knows what it holds
    start: int = 0  # the bytes that are known to be written
    end: int = 0


class Storages:
    """The storages that one stream knows.

    A storage is known by the address of its description. A weak reference to each is held. It keeps the description,
    not the content, so that no other storage can take the address while it is known.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._until_sweep = _SWEEP

    def of(self, tensor: torch.Tensor) -> tuple[int, int, bool]:
        """Return the last record that wrote to a storage, that which allocated it if partly unwritten, and `opaque`."""
        known = self._known.get(_address(tensor))
        return (NONE, NONE, False) if known is None else (known.producer, known.allocation, known.opaque)

    def wrote(self, tensor: torch.Tensor, number: int, fresh: bool = False) -> None:
        """Note that record `number` wrote a tensor; `fresh` if its storage is new and thereby wholly written."""
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
        """Note that record `number` wrote an unknown part of a tensor."""
        known = self._entry(tensor)
        if known is not None:
            known.producer = number

    def allocated(self, tensor: torch.Tensor, number: int, opaque: bool = False) -> None:
        """Note that record `number` allocated a tensor without content, or with content only its backward reads."""
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
    """Return the storage of a tensor, or of the values of a sparse one; None if there is none."""
    import torch

    try:
        if tensor.layout is not torch.strided:
            tensor = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError):
        return None


def _cover(known: _Known, tensor: torch.Tensor) -> None:
    """Add the bytes written, if they adjoin those known; once all are written, clear the mark."""
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

"""Running sums and products in tiles, where each tile looks back for the result of those before it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from detlint.verify.orders.addends import UnlikeError

if TYPE_CHECKING:
    from torch import Tensor

_TILE = 128
_TILES = 24
_ORDERS = 8
_ROOM = 8


def results(
    values: Tensor, scan: Callable[[Tensor], Tensor], join: Callable[[Tensor, Tensor], Tensor]
) -> Iterator[Tensor]:
    """Yield the scan by tiles, with different ways for each tile to look back.

    A tile takes the finished result of the nearest tile that has one, and joins to it the totals of the tiles between.
    Which tile that is depends on the progress of the others.
    """
    import torch

    source = random.Random(0)
    tiles = [scan(tile) for tile in torch.split(values, _TILE)]
    for turn in range(_ORDERS):
        done = [tiles[0][-1]]
        out = [tiles[0]]
        for number in range(1, len(tiles)):
            nearest = number - 1 if turn == 0 else source.randrange(number)
            before = _folded([done[nearest], *(tile[-1] for tile in tiles[nearest + 1 : number])], join)
            out.append(join(before, tiles[number]))
            done.append(out[-1][-1])
        yield torch.cat(out)


def _folded(parts: list[Tensor], join: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Join neighbours pairwise, and the results again until one is left, as the threads of a warp do."""
    while len(parts) > 1:
        pairs = [join(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
        parts = pairs
    return parts[0]


def length() -> int:
    """Return how many elements are scanned."""
    return _TILE * _TILES


def check(result: Tensor, expected: Tensor, size: Tensor) -> None:
    """Raise UnlikeError if a result differs from torch's own by more than rounding of sums of this size can cause."""
    import torch

    allowed = _ROOM * result.numel() * torch.finfo(result.dtype).eps * size.double()
    over = ((result.double() - expected.double()).abs() > allowed).sum()
    if over:
        raise UnlikeError(f"{int(over)} of {result.numel()} elements are further than rounding from torch's own")

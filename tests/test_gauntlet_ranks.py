"""Programs of several ranks as people write them: draws that must be alike on all of them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from .support import report, snippets

SNIPPETS = snippets("ranks")


@pytest.mark.parametrize(
    ("name", "severity"), [("never seeded", "error"), ("the rank added to the seed", "warning"), ("deepspeed", "error")]
)
def test_it_is_an_error_where_no_two_runs_are_alike(name: str, severity: str) -> None:
    text = next(each.text for each in SNIPPETS if each.name == name)
    (found,) = report({"example.py": text}, ("DET702",)).findings
    assert found.severity.value == severity


def test_ranks_of_a_sampler_overlap_unless_their_seeds_are_alike(torch: ModuleType) -> None:
    from torch.utils.data.distributed import DistributedSampler

    def seen(*seeds: int) -> list[int]:
        data: Any = range(64)
        shares: Any = (DistributedSampler(data, num_replicas=2, rank=rank, seed=seeds[rank]) for rank in range(2))
        return sorted(int(index) for share in shares for index in share)

    assert seen(0, 0) == list(range(64))
    assert seen(0, 1) != list(range(64))

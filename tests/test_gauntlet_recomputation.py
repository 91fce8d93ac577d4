"""Activation checkpointing as people write it: what must be reported, and what must not."""

from __future__ import annotations

import pytest

from .support import report


@pytest.mark.parametrize(
    ("layer", "severity"),
    [
        ("nn.Dropout()", "warning"),
        ("nn.Sequential(nn.ReLU(), nn.Dropout(0.1))", "warning"),
        ("nn.Dropout(rate)", "note"),
        ("nn.Dropout(0.1) if rate else nn.Identity()", "note"),
    ],
)
def test_a_draw_that_an_argument_may_switch_off_is_a_note(layer: str, severity: str) -> None:
    text = f"""\
        from torch import nn
        from torch.utils.checkpoint import checkpoint


        def run(x, rate):
            layer = {layer}
            return checkpoint(layer, x, preserve_rng_state=False)
        """
    (found,) = report({"example.py": text}, ("DET703",)).findings
    assert found.severity.value == severity
    assert [related.place.line for related in found.finding.related] == [6]

"""`detlint entries`: functions that are run again after what their object holds has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import told

PROGRAM = """
    import random

    import torch


    class Source:
        def __init__(self):
            self.model = None


    class Loop:
        def __init__(self):
            self.source = Source()


    class Trainer:
        def __init__(self):
            self.model = None
            self.source = Source()
            self.loop = Loop()

        def fit(self, model):
            self.{path}model = model
            self.run()

        def run(self):
            self.{path}model.step()


    class Quiet:
        def step(self):
            return 0


    class Drawing:
        def step(self):
            return random.random()


    torch.backends.cudnn.deterministic = True
    trainer = Trainer()
    trainer.fit(Quiet())
    {then}
    """


@pytest.mark.parametrize("path", ["", "source.", "loop.source."])
@pytest.mark.parametrize(("then", "state"), [("trainer.fit(Drawing())", "unseeded"), ("trainer.run()", "unused")])
def test_a_method_is_run_again_once_what_it_finds_below_its_object_has_changed(
    tmp_path: Path, path: str, then: str, state: str
) -> None:
    program = PROGRAM.format(path=path, then=then)
    assert told(tmp_path, program)["generators"]["python"]["state"] == state

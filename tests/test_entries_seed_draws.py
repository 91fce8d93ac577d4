"""Draws that only make a seed: where a program tells of them, and what its table says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.project import told

PROGRAM = """
    import argparse
    import sys

    import torch
    from omegaconf import OmegaConf


    def set_seed(seed=None):
        if seed is None:
            seed = torch.randint(0, 2**31, (1,)).item()
        torch.manual_seed(seed)


    if __name__ == "__main__":
        cfg = OmegaConf.load(sys.argv[1])
        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=3)
        args = parser.parse_args()
        {}
        {}
        torch.save({{}}, "x.pt")
    """
LINE = 10  # of the draw that makes the seed
UNSURE, ENTROPY, OPTION = "set_seed(cfg.seed)", "set_seed()", "set_seed(args.seed)"
DRAW = "torch.nn.Linear(2, 2)"


@pytest.mark.parametrize(
    ("first", "second", "state", "line"),
    [
        (UNSURE, DRAW, "optional", LINE),
        (UNSURE, "pass", "optional", LINE),
        (ENTROPY, DRAW, "unseeded", LINE),
        (ENTROPY, "pass", "unseeded", LINE),
        (DRAW, ENTROPY, "unseeded", 19),
        (OPTION, DRAW, "seeded", 20),
        ("torch.manual_seed(0)", UNSURE, "seeded", None),
    ],
)
def test_a_draw_for_a_seed_is_the_first(tmp_path: Path, first: str, second: str, state: str, line: int | None) -> None:
    stream = told(tmp_path, PROGRAM.format(first, second))["generators"]["torch"]
    assert stream["state"] == state
    drawn = stream["first_draw"]
    assert (drawn and drawn["line"]) == line
    assert drawn is None or drawn["unseeded"] == (state != "seeded")


@pytest.mark.parametrize(
    ("first", "second", "story"),
    [
        (UNSURE, "pass", "drawn at train.py:10 by torch.randint for a seed, seeded on some paths only"),
        (
            UNSURE,
            DRAW,
            "drawn at train.py:10 by torch.randint for a seed on some paths, drawn at train.py:20 by torch.nn.Linear, "
            "seeded on some paths only",
        ),
    ],
)
def test_the_text_tells_of_a_draw_for_a_seed(tmp_path: Path, first: str, second: str, story: str) -> None:
    lines = PROGRAM.format(first, second).strip("\n").splitlines()
    (tmp_path / "train.py").write_text("\n".join(line[4:] for line in lines), encoding="utf-8")
    result = CliRunner().invoke(cli, ["entries", "--no-cache", str(tmp_path)], catch_exceptions=False)
    assert f"torch      {story}" in " ".join(result.stdout.split("\n")).replace(f"{tmp_path}/", ""), result.stdout


@pytest.mark.parametrize(
    ("after", "seeds", "state"),
    [("torch.set_rng_state(state)", [], "unseeded"), ("print(state)", [("torch.manual_seed", 6)], "seeded")],
)
def test_a_seed_is_the_programs_unless_a_context_manager_of_its_own_takes_it_back(
    tmp_path: Path, after: str, seeds: list[tuple[str, int]], state: str
) -> None:
    program = f"""
        import contextlib, torch
        @contextlib.contextmanager
        def seeded(number):
            state = torch.get_rng_state()
            print(number)
            torch.manual_seed(number)
            yield
            {after}
        with seeded(3):
            torch.rand(2)
        torch.rand(2)
        """
    found = told(tmp_path, program)["generators"]["torch"]
    assert ([(each["what"], each["line"]) for each in found["seeds"]], found["state"]) == (seeds, state)


def test_the_text_names_an_unknown_call_that_may_seed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nimport other\n\nother.seed_all(0)\ntorch.nn.Linear(2, 2)\n")
    result = CliRunner().invoke(cli, ["entries", "--all", "--no-cache", str(tmp_path)], catch_exceptions=False)
    told = result.stdout.replace(f"{tmp_path}/", "")
    assert "perhaps seeded at train.py:4 by other.seed_all, drawn at train.py:5 by torch.nn.Linear" in told

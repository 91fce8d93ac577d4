"""`detlint entries`: what a row says of loaders, options, switches and processes."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.project import entries, told
from tests.test_entries_mappings import after, findings

OPTION = """
    import argparse
    import random
    import torch
    from torch.utils.data import DataLoader

    parser = argparse.ArgumentParser()
    parser.add_argument("--other", action="store_true")
    parser.add_argument("--weights", default=None)
    args = parser.parse_args()
    """
HELPER = """
    import torch
    from torch.utils.data import DataLoader


    def make(data, generator=None, shuffle=True, init=None):
        return DataLoader(data, shuffle=shuffle, generator=generator, worker_init_fn=init)


    """


# Loaders


def test_a_loader_that_only_an_option_makes_is_not_counted(tmp_path: Path) -> None:
    body = """
        if args.other:
            loader = DataLoader([1], batch_size=2)
        else:
            loader = DataLoader([1], worker_init_fn=print)
        """
    loaders = told(tmp_path, after(OPTION, body))["loaders"]
    assert loaders == {"total": 1, "with_generator": 0, "with_worker_init": 1}


def test_no_loader_counts_where_an_option_makes_the_only_one(tmp_path: Path) -> None:
    body = "print(torch.rand(2))\nif args.other:\n    loader = DataLoader([1])\n"
    assert told(tmp_path, after(OPTION, body))["loaders"]["total"] == 0


@pytest.mark.parametrize(
    "calls",
    [
        "make([1], torch.Generator(), init=print)\nmake([1], init=print)\n",
        "make([1], init=print)\nmake([1], torch.Generator(), init=print)\n",
    ],
)
def test_a_call_that_makes_loaders_with_and_without_a_generator_is_not_seen_to_give_one(
    tmp_path: Path, calls: str
) -> None:
    loaders = told(tmp_path, after(HELPER, calls))["loaders"]
    assert loaders == {"total": 1, "with_generator": 0, "with_worker_init": 1}


@pytest.mark.parametrize(
    ("calls", "state", "line"),
    [
        ("a = make([1])\nb = make([1], torch.Generator())\n", "unseeded", 11),
        ("b = make([1], torch.Generator())\na = make([1])\n", "unseeded", 11),
        ("a = make([1])\nb = make([1], shuffle=False)\n", "unseeded", 11),
        ("a = make([1], torch.Generator())\nb = make([1], shuffle=False)\n", "unused", None),
    ],
)
def test_loaders_of_one_call_draw_each_by_its_own_arguments(
    tmp_path: Path, calls: str, state: str, line: int | None
) -> None:
    loops = "for batch in a:\n    print(batch)\nfor batch in b:\n    print(batch)\n"
    torch = told(tmp_path, after(HELPER, calls + loops))["generators"]["torch"]
    assert (torch["state"], torch["first_draw"] and torch["first_draw"]["line"]) == (state, line)


def test_layers_of_one_call_draw_each_by_its_own_arguments(tmp_path: Path) -> None:
    program = """
        import torch


        def make(p):
            return torch.nn.Dropout(p)


        kept, dropped = make(0.0), make(0.5)
        print(kept(torch.ones(2)))
        print(dropped(torch.ones(2)))
        """
    draw = told(tmp_path, program)["generators"]["torch"]["first_draw"]
    assert (draw["line"], draw["what"]) == (10, "torch.nn.Dropout")


# Options


def test_weights_that_only_an_option_loads_do_not_lower_a_finding(tmp_path: Path) -> None:
    loads = "model.load_state_dict(torch.load(args.weights or 'w.pt'))\n"
    head = after(OPTION, "model = torch.nn.Linear(2, 2)\n")
    tail = "print(model(torch.ones(1, 2)))\n"
    (found,) = findings(tmp_path, head + loads + tail)
    assert found[1:] == ("DET101", "note")
    (found,) = findings(tmp_path, f"{head}if args.weights:\n    {loads}{tail}")
    assert found[1:] == ("DET101", "error")


def test_weights_that_an_option_loads_lower_a_finding_where_the_program_would_fail_without(tmp_path: Path) -> None:
    body = """
        def pretrained(model):
            raise RuntimeError("nothing is known of these")

        model = torch.nn.Linear(2, 2)
        if args.weights:
            model.load_state_dict(torch.load(args.weights))
        else:
            pretrained(model)
        print(model(torch.ones(1, 2)))
        """
    (found,) = findings(tmp_path, after(OPTION, body))
    assert found[1:] == ("DET101", "note")


def test_the_first_draw_is_one_that_happens_by_default(tmp_path: Path) -> None:
    body = "random.seed(0)\nif args.other:\n    print(random.random())\nprint(random.gauss(0, 1))\n"
    python = told(tmp_path, after(OPTION, body))["generators"]["python"]
    assert (python["state"], python["first_draw"]["what"]) == ("seeded", "random.gauss")


def test_a_draw_that_only_an_option_brings_about_is_the_first_where_there_is_no_other(tmp_path: Path) -> None:
    body = "random.seed(0)\nif args.other:\n    print(random.random())\n"
    assert told(tmp_path, after(OPTION, body))["generators"]["python"]["first_draw"]["what"] == "random.random"


# Switches


def test_a_switch_that_is_set_by_default_too_does_not_hang_on_an_option(tmp_path: Path) -> None:
    body = """
        def start():
            torch.backends.cudnn.benchmark = len(input()) > 1
            if input():
                torch.backends.cudnn.benchmark = True
        if args.other:
            start()
        else:
            start()
        """
    benchmark = told(tmp_path, after(OPTION, body))["cudnn_benchmark"]
    assert (benchmark["state"], benchmark["at"]["option"]) == ("optional", None)


def test_the_workspace_is_set_where_the_call_stands(tmp_path: Path) -> None:
    program = """
        import os

        rate = 0.1


        def prepare(env):
            env.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")


        steps = 3
        prepare(os.environ)
        """
    workspace = told(tmp_path, program)["cublas_workspace"]
    assert (workspace["state"], workspace["at"]["line"]) == ("set", 7)


# Seeds that are not reached


SKIPS = """
    import os
    import torch


    def setup():
        if int(os.environ["WORLD_SIZE"]) == 1:
            return
        torch.manual_seed(0)


    setup()
    """


def test_a_seed_that_an_early_return_skips_is_optional(tmp_path: Path) -> None:
    program = after(SKIPS, '__import__("somewhere").build().fit()\n')
    assert told(tmp_path, program)["generators"]["torch"]["state"] == "optional"


# Processes


STARTED = """
    import torch
    import torch.multiprocessing as mp


    def worker(rank, model):
        print(torch.rand(2))


    def launch(model):
        mp.spawn(worker, args=(model,), nprocs=2)
    """
STARTS = """
    import torch
    from launch import launch

    class Net(torch.nn.Module):
        pass

    if __name__ == "__main__":
        launch(Net())
    """


def test_processes_name_the_program_that_starts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, program in (("launch.py", STARTED), ("a.py", STARTS), ("b.py", STARTS)):
        (tmp_path / name).write_text(textwrap.dedent(program).lstrip("\n"), encoding="utf-8")
    found = entries(Path())
    assert [entry["started_by"] for entry in found if entry["kind"] == "main"] == [None, None]
    started = [entry["started_by"] for entry in found if entry["kind"] == "process"]
    assert started == [{"path": path, "cell": None, "line": 1} for path in ("a.py", "b.py")]
    rows = CliRunner().invoke(cli, ["entries", "--no-cache"]).stdout.splitlines()
    named = [row.partition("  ")[0] for row in rows if "  process  " in row]
    assert named == ["launch.py: worker, from a.py", "launch.py: worker, from b.py"]


def test_a_script_that_only_raises_is_no_entry_point(tmp_path: Path) -> None:
    program = "def run():\n    raise SystemExit('use the command')\n\n\nrun()\n"
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    assert entries(tmp_path) == []

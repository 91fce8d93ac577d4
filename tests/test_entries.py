"""`detlint entries`: what is told of each program, as a table, in words and as JSON."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from packaging.version import Version

from detlint import __version__, engine
from detlint.cli import cli
from detlint.config import Config
from detlint.output import entries_text

ROOT = Path(__file__).parent.parent
FILES = {
    "late.py": """
        import torch
        from torch import nn
        model = nn.Linear(2, 2)
        torch.manual_seed(0)
        print(model)
        """,
    "optional.py": """
        import argparse
        import numpy as np
        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        args = parser.parse_args()
        if args.seed is not None:
            np.random.seed(args.seed)
        print(np.random.rand(3))
        """,
    "deep.py": """
        import random
        from helpers.a import prepare
        if __name__ == "__main__":
            prepare()
            random.shuffle([1, 2])
        """,
    "helpers/__init__.py": "",
    "helpers/a.py": "from helpers.b import prepare\n",
    "helpers/b.py": "from helpers.c import seed_all\ndef prepare():\n    seed_all(1)\n",
    "helpers/c.py": "import random\ndef seed_all(seed):\n    random.seed(seed)\n",
    "spawn.py": """
        import torch
        import torch.multiprocessing as mp
        def worker(rank):
            print(torch.rand(1))
        if __name__ == "__main__":
            torch.manual_seed(0)
            mp.spawn(worker, nprocs=2)
        """,
    "pyproject.toml": '[project]\nname = "tool"\n[project.scripts]\nfit = "tool.cli:main"\n',
    "tool/__init__.py": "",
    "tool/cli.py": "import torch\n\n\ndef main():\n    print(torch.randn(3))\n",
    "switches.py": """
        import os
        import torch
        from torch.utils.data import DataLoader
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = True
        generator = torch.Generator().manual_seed(0)
        train = DataLoader([1], shuffle=True, generator=generator, worker_init_fn=print)
        test = DataLoader([1])
        """,
    "nothing.py": "if __name__ == '__main__':\n    print('hello')\n",
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def write(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(FILES[name]).lstrip("\n"), encoding="utf-8")


def notebook(name: str, *cells: str) -> None:
    code: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": c} for c in cells
    ]
    title = {"cell_type": "markdown", "metadata": {}, "source": "# Title"}
    document = {"cells": [title, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path(name).write_text(json.dumps(document), encoding="utf-8")


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["entries", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def entries(*arguments: str) -> list[Any]:
    result = run("--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    found: list[Any] = json.loads(result.stdout)["entries"]
    return found


def rendered(width: int | None = None, color: bool = False) -> str:
    programs = engine.entries_of([Path()], Config(root=Path()), Version("2.13"), jobs=1)
    return entries_text.render(programs, color, width)


# Text


def test_a_seed_that_comes_too_late_is_told_with_both_places() -> None:
    write("late.py")
    assert run().stdout.splitlines() == [
        "entry point  kind    torch  numpy  python",
        "late.py      script  late   -      -",
        "",
        "late.py",
        "  torch      drawn at late.py:3 by torch.nn.Linear, seeded at late.py:4 after it",
        "",
        "At the default everywhere: deterministic algorithms, cudnn.benchmark, cudnn.deterministic and"
        " CUBLAS_WORKSPACE_CONFIG.",
        "1 entry point in 1 file.",
    ]


def test_an_optional_seed_is_told_with_its_option() -> None:
    write("optional.py")
    lines = run().stdout.splitlines()
    assert lines[1].split() == ["optional.py", "script", "-", "optional", "-"]
    assert lines[4] == (
        "  numpy      seeded at optional.py:7 only where --seed is changed from its default,"
        " drawn at optional.py:8 by numpy.random.rand"
    )


def test_what_is_in_order_has_a_row_and_no_story() -> None:
    write("deep.py", "helpers/__init__.py", "helpers/a.py", "helpers/b.py", "helpers/c.py")
    output = run().stdout
    assert output.splitlines()[1].split() == ["deep.py", "main", "-", "-", "seeded"]
    assert "helpers/c.py:3" not in output
    assert "  python     seeded at helpers/c.py:3, drawn at deep.py:5 by random.shuffle" in run("--all").stdout


def test_switches_and_loaders_have_columns_where_a_program_uses_them() -> None:
    write("switches.py")
    lines = run().stdout.splitlines()
    assert lines[0].split() == "entry point kind torch numpy python determ. benchmark cuBLAS loaders".split()
    assert lines[1].split()[-8:] == ["warn", "on", "set", "2:", "1", "gen,", "1", "init"]
    assert lines[4:] == [
        "  determ.    set to warn only at switches.py:5",
        "  benchmark  switched on at switches.py:6",
        "",
        "At the default everywhere: cudnn.deterministic.",
        "1 entry point in 1 file.",
    ]


def test_entry_points_without_random_numbers_are_only_counted() -> None:
    write("late.py", "nothing.py")
    assert run().stdout.splitlines()[-1] == "1 entry point in 2 files, and 1 entry point that uses no random numbers."
    assert "nothing.py" not in run().stdout
    assert [line.split() for line in run("--all").stdout.splitlines() if line.startswith("nothing.py")] == [
        ["nothing.py", "main", *"--------"],
    ]


def test_programs_with_one_story_are_told_together() -> None:
    write("tool/__init__.py", "tool/cli.py")
    for name in ("a.py", "b.py"):
        Path(name).write_text("from tool.cli import main\nmain()\n", encoding="utf-8")
    assert run().stdout.splitlines()[4:8] == [
        "a.py",
        "b.py",
        "  torch      drawn at tool/cli.py:5 by torch.randn, not seeded",
        "",
    ]


def test_a_place_in_a_notebook_names_its_cell_as_people_count() -> None:
    notebook("train.ipynb", "import torch\n", "model = torch.nn.Linear(1, 1)\n")
    lines = run().stdout.splitlines()
    assert lines[1].split() == ["train.ipynb", "notebook", "unseeded", "-", "-"]
    assert lines[4] == "  torch      drawn at train.ipynb:cell 3:1 by torch.nn.Linear, not seeded"


@pytest.mark.parametrize(
    ("name", "last"),
    [
        (None, "No entry points in 0 files."),
        ("helpers/c.py", "No entry points in 1 file."),
        ("nothing.py", "1 entry point in 1 file, using no random numbers."),
    ],
)
def test_a_project_with_nothing_to_show_is_one_line(name: str | None, last: str) -> None:
    if name is not None:
        write(name)
    assert run().stdout == last + "\n"


def test_long_names_stand_above_their_rows_on_a_narrow_terminal() -> None:
    write("late.py")
    long = "a_program_of_some_length.py"
    Path("late.py").rename(long)
    wide, narrow = rendered().splitlines(), rendered(width=50).splitlines()
    assert wide[1].split() == [long, "script", "late", "-", "-"]
    assert narrow[:4] == ["entry point", "  kind    torch  numpy  python", long, "  script  late   -      -"]
    assert narrow[6:9] == [
        f"  torch      drawn at {long}:3",
        "             by torch.nn.Linear, seeded at",
        f"             {long}:4 after it",
    ]


def test_only_a_terminal_gets_colours_and_a_pipe_is_never_cut() -> None:
    write("late.py")
    assert "\x1b[31mlate\x1b[0m" in rendered(color=True)
    assert run().stdout == rendered() == rendered(width=200)
    assert "\x1b" not in rendered()


def test_the_order_depends_on_neither_jobs_nor_arguments() -> None:
    names = [f"m{index}.py" for index in range(9)]
    for name in names:
        Path(name).write_text("import torch\nprint(torch.rand(1))\n", encoding="utf-8")
    runs = [(names, "1"), (names[::-1], "2"), (["."], "1")]
    texts = {run(*paths, "--jobs", jobs).stdout for paths, jobs in runs}
    assert len(texts) == 1
    assert [entry["path"] for entry in entries(*names[::-1])] == names


def test_the_output_in_the_documentation_is_real(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "entries.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```console\n\$ cd docs/examples && detlint entries\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(ROOT / "docs/examples")
    assert run().stdout == shown


# JSON


def test_json_is_the_contract() -> None:
    write("late.py")
    document = json.loads(run("--format", "json").stdout)
    assert list(document) == ["version", "tool", "entries", "errors", "summary"]
    assert document["version"] == 1
    assert document["tool"] == {"name": "detlint", "version": __version__}
    assert document["errors"] == []
    assert document["summary"].pop("seconds") >= 0
    assert document["summary"] == {"files": 1, "entry_points": 1}
    seed = {"path": "late.py", "cell": None, "line": 4, "column": 1, "what": "torch.manual_seed", "option": None}
    draw = {"path": "late.py", "cell": None, "line": 3, "column": 9, "what": "torch.nn.Linear", "unseeded": True}
    unused: dict[str, object] = {
        "state": "unused",
        "seeds": [],
        "first_draw": None,
        "seed_after_draw": None,
        "option": None,
    }
    torch = {"state": "late", "seeds": [seed], "first_draw": draw, "seed_after_draw": seed, "option": None}
    assert document["entries"] == [
        {
            "path": "late.py",
            "cell": None,
            "line": 1,
            "kind": "script",
            "function": None,
            "started_by": None,
            "generators": {"torch": torch, "numpy": unused, "python": unused},
            "deterministic_algorithms": {"state": "off", "at": None},
            "cudnn_benchmark": {"state": "default", "at": None},
            "cudnn_deterministic": {"state": "default", "at": None},
            "cublas_workspace": {"state": "unset", "at": None},
            "loaders": {"total": 0, "with_generator": 0, "with_worker_init": 0},
        }
    ]


def test_json_names_the_option_of_an_optional_seed() -> None:
    write("optional.py")
    (entry,) = entries()
    numpy = entry["generators"]["numpy"]
    assert (numpy["state"], numpy["option"]) == ("optional", "--seed")
    assert [(seed["line"], seed["option"]) for seed in numpy["seeds"]] == [(7, "--seed")]


def test_a_program_that_seeds_in_one_command_and_draws_in_another_is_optional() -> None:
    head = "import sys\nimport torch\n\n\ndef fit():\n    torch.manual_seed(0)\n    print(torch.rand(2))\n\n\n"
    head += "def show():\n    print(torch.rand(2))\n\n\n"
    Path("chosen.py").write_text(head + "{'fit': fit, 'show': show}[sys.argv[1]]()\n", encoding="utf-8")
    Path("tested.py").write_text(head + "if sys.argv[1] == 'fit':\n    fit()\nelse:\n    show()\n", encoding="utf-8")
    assert [entry["generators"]["torch"]["state"] for entry in entries()] == ["optional", "optional"]


def test_a_program_that_draws_before_it_may_seed_is_not_optional() -> None:
    Path("late.py").write_text(
        "import sys\nimport torch\nprint(torch.rand(1))\nif sys.argv[1:]:\n    torch.manual_seed(0)\n"
        "    print(torch.rand(1))\n",
        encoding="utf-8",
    )
    (entry,) = entries()
    assert entry["generators"]["torch"]["state"] == "late"


def test_what_is_seeded_and_not_drawn_is_seeded_though_the_program_may_end_before() -> None:
    Path("early.py").write_text(
        "import random\n\n\ndef main():\n    if input() != 'y':\n        return\n    random.seed(0)\n\n\nmain()\n",
        encoding="utf-8",
    )
    (entry,) = entries()
    assert entry["generators"]["python"]["state"] == "seeded"


def test_a_program_that_does_its_work_here_or_in_new_processes_goes_on_as_it_does_here() -> None:
    Path("main.py").write_text(
        "import torch\nimport torch.multiprocessing as mp\n\n\ndef work(rank):\n    torch.manual_seed(0)\n\n\n"
        "if __name__ == '__main__':\n    if torch.cuda.device_count() > 1:\n        mp.spawn(work, nprocs=2)\n"
        "    else:\n        work(0)\n    print(torch.rand(2))\n",
        encoding="utf-8",
    )
    main, process = entries()
    assert main["generators"]["torch"]["state"] == process["generators"]["torch"]["state"] == "seeded"


def test_methods_of_a_configuration_stay_what_they_are_whatever_files_set_in_it() -> None:
    Path("config.py").write_text(
        "from yacs.config import CfgNode\n\n_C = CfgNode()\n_C.SEED = 1\n_C.WORKERS = 4\n\n\n"
        "def get_cfg():\n    return _C.clone()\n",
        encoding="utf-8",
    )
    Path("main.py").write_text(
        "import random\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\nfrom config import get_cfg\n\n\n"
        "class Crops(Dataset):\n    def __getitem__(self, index):\n        return random.random()\n\n\n"
        "for path in ('base.yaml', 'large.yaml'):\n    cfg = get_cfg()\n    cfg.merge_from_file(path)\n"
        "    torch.manual_seed(cfg.SEED)\n    for batch in DataLoader(Crops(), num_workers=cfg.WORKERS):\n"
        "        print(batch)\n",
        encoding="utf-8",
    )
    (entry,) = entries()
    assert entry["generators"]["python"]["state"] == "seeded"


def test_a_seed_that_is_given_or_taken_from_the_time_is_optional() -> None:
    Path("timed.py").write_text(
        "import time\nimport torch\nfrom settings import read\n\n\ndef seed_all(seed):\n    if seed is None:\n"
        "        seed = 1 + int(time.time())\n    torch.manual_seed(seed)\n\n\n"
        "seed_all(read().seed)\nprint(torch.rand(1))\n",
        encoding="utf-8",
    )
    (entry,) = entries()
    assert entry["generators"]["torch"]["state"] == "optional"


def test_a_loop_that_tries_again_leaves_what_it_seeded() -> None:
    Path("again.py").write_text(
        "import random\n\n\ndef attempt():\n    while True:\n        try:\n            random.seed(0)\n"
        "            return 1\n        except RuntimeError:\n            pass\n\n\n"
        "attempt()\nprint(random.random())\n",
        encoding="utf-8",
    )
    (entry,) = entries()
    assert entry["generators"]["python"]["state"] == "seeded"


def test_an_option_that_makes_a_function_return_early_leaves_the_seed_of_all_others() -> None:
    Path("early.py").write_text(
        "import argparse, random\ndef prepare(args):\n    if args.lazy:\n        return\n    random.seed(1)\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--lazy', action='store_true')\n"
        "prepare(parser.parse_args())\nprint(random.random())\n"
    )
    assert entries()[0]["generators"]["python"]["state"] == "seeded"


def test_what_is_returned_where_an_option_is_set_is_not_what_others_get() -> None:
    Path("early.py").write_text(
        "import argparse, random\ndef draw(): print(random.random())\ndef choose(args):\n    if args.draw:\n"
        "        return draw\n    return print\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--draw', action='store_true')\nchoose(parser.parse_args())()\nrandom.seed(0)\n"
    )
    assert entries()[0]["generators"]["python"]["state"] == "seeded"


def test_a_configuration_from_a_file_has_the_defaults_of_all_its_base_classes() -> None:
    Path("config.py").write_text(
        "import json, random\nfrom dataclasses import dataclass\n@dataclass\nclass Seeds:\n    seed: int = 1\n"
        "    lazy: bool = False\nPARTS = [Seeds]\n@dataclass\nclass Config(*PARTS):\n    pass\n"
        "config = Config(**json.load(open('config.json')))\nif config.seed > 0 and not config.lazy:\n"
        "    random.seed(config.seed)\nprint(random.random())\n"
    )
    assert entries()[0]["generators"]["python"]["state"] == "seeded"


def test_what_is_computed_beside_an_option_is_taken_to_be_like_its_default() -> None:
    Path("rank.py").write_text(
        "import argparse, os, random\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--seed', type=int, default=1)\nargs = parser.parse_args()\nseed = args.seed\n"
        "if len(os.listdir()) > 1:\n    seed = seed + 100\nif seed > 0:\n    random.seed(seed)\nprint(random.random())\n"
    )
    assert entries()[0]["generators"]["python"]["state"] == "seeded"


def test_what_a_checkpoint_puts_back_is_no_seed_of_what_is_never_drawn() -> None:
    Path("resumed.py").write_text(
        "import argparse, random\nimport torch\nparser = argparse.ArgumentParser()\nparser.add_argument('--resume')\n"
        "args = parser.parse_args()\ntorch.manual_seed(0)\nif args.resume:\n"
        "    random.setstate(torch.load(args.resume)['python'])\nprint(torch.rand(1))\n"
    )
    Path("validated.py").write_text(
        "import random\nimport torch\n\n\ndef states():\n    return {'python': random.getstate()}\n\n\n"
        "def put_back(states):\n    version, state, gauss = states['python']\n"
        "    random.setstate((version, tuple(state), gauss))\n\n\n"
        "torch.manual_seed(0)\nbefore = states()\nprint(torch.rand(1))\nput_back(before)\n",
        encoding="utf-8",
    )
    assert [[e["generators"][g]["state"] for g in ("torch", "python")] for e in entries()] == [["seeded", "unused"]] * 2


def test_an_option_that_must_be_set_guards_nothing() -> None:
    Path("must.py").write_text(
        "import argparse\nimport numpy as np\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--seed', type=int)\nargs = parser.parse_args()\nif args.seed is None:\n"
        "    raise SystemExit('give --seed')\nnp.random.seed(args.seed)\nprint(np.random.rand(1))\n"
    )
    (entry,) = entries()
    assert [(seed["line"], seed["option"]) for seed in entry["generators"]["numpy"]["seeds"]] == [(8, None)]


def test_json_follows_a_seed_through_three_modules() -> None:
    write("deep.py", "helpers/__init__.py", "helpers/a.py", "helpers/b.py", "helpers/c.py")
    (entry,) = entries()
    python = entry["generators"]["python"]
    assert python["state"] == "seeded"
    assert [(seed["path"], seed["line"], seed["what"]) for seed in python["seeds"]] == [
        ("helpers/c.py", 3, "random.seed")
    ]
    assert python["first_draw"]["unseeded"] is False


def test_json_lists_what_a_new_process_and_a_console_script_start_with() -> None:
    write("spawn.py", "pyproject.toml", "tool/__init__.py", "tool/cli.py")
    found = [(e["path"], e["line"], e["kind"], e["function"], e["generators"]["torch"]["state"]) for e in entries()]
    assert found == [
        ("spawn.py", 1, "main", None, "seeded"),
        ("spawn.py", 3, "process", "worker", "unseeded"),
        ("tool/cli.py", 4, "command", "fit", "unseeded"),
    ]


def test_a_console_script_of_a_file_that_was_not_given_is_no_entry_point() -> None:
    write("pyproject.toml", "tool/__init__.py", "tool/cli.py")
    Path("tool/train.py").write_text("import torch\nif __name__ == '__main__':\n    torch.rand(1)\n")
    assert [entry["path"] for entry in entries("tool/train.py")] == ["tool/train.py"]


def test_commands_of_a_project_within_the_project_are_entry_points() -> None:
    text = "from setuptools import setup\nsetup(entry_points={'console_scripts': ['fit=pkg.cli:main']})\n"
    for folder, seed in ((Path(), 1), (Path("tools/inner"), 2)):
        (folder / "pkg").mkdir(parents=True)
        (folder / "setup.py").write_text(text, encoding="utf-8")
        (folder / "pkg/__init__.py").touch()
        (folder / "pkg/cli.py").write_text(
            f"import random\n\n\ndef main():\n    random.seed({seed})\n", encoding="utf-8"
        )
    assert [(entry["path"], entry["kind"], entry["function"]) for entry in entries()] == [
        ("pkg/cli.py", "command", "fit"),
        ("tools/inner/pkg/cli.py", "command", "fit"),
    ]


def test_a_process_that_two_scripts_start_alike_is_listed_once() -> None:
    write("helpers/__init__.py")
    Path("helpers/start.py").write_text(
        "import torch\nimport torch.multiprocessing as mp\ndef worker(rank, run):\n    run()\n"
        "def start(run):\n    mp.spawn(worker, args=(run,), nprocs=2)\n"
        "def draw():\n    torch.rand(1)\ndef idle():\n    pass\n"
    )
    for name, run in (("a.py", "draw"), ("b.py", "draw"), ("c.py", "idle")):
        Path(name).write_text(f"from helpers.start import {run}, start\nif __name__ == '__main__':\n    start({run})\n")
    found = [e["generators"]["torch"]["state"] for e in entries() if e["kind"] == "process"]
    assert found == ["unseeded", "unused"]


def test_json_says_where_switches_are_set_and_counts_loaders() -> None:
    write("switches.py")
    (entry,) = entries()
    keys = ("deterministic_algorithms", "cudnn_benchmark", "cudnn_deterministic", "cublas_workspace")
    states = [(entry[key]["state"], entry[key]["at"] and entry[key]["at"]["line"]) for key in keys]
    assert states == [("warn", 5), ("on", 6), ("default", None), ("set", 4)]
    assert entry["loaders"] == {"total": 2, "with_generator": 1, "with_worker_init": 1}


def test_json_names_the_option_that_a_switch_hangs_on() -> None:
    Path("fast.py").write_text(
        "import argparse\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--fast', action='store_true')\n"
        "if p.parse_args().fast:\n    torch.backends.cudnn.benchmark = True\n",
        encoding="utf-8",
    )
    (entry,) = entries()
    assert entry["cudnn_benchmark"] == {
        "state": "optional",
        "at": {"path": "fast.py", "cell": None, "line": 6, "column": 5, "option": "--fast"},
    }


def test_json_counts_the_cells_of_a_notebook_from_0() -> None:
    notebook("train.ipynb", "import torch\n", "\nmodel = torch.nn.Linear(1, 1)\n")
    (entry,) = entries()
    draw = entry["generators"]["torch"]["first_draw"]
    assert (entry["kind"], draw["cell"], draw["line"]) == ("notebook", 2, 2)


# Failures and options


def test_a_file_that_cannot_be_parsed_is_told_and_no_stop() -> None:
    write("late.py")
    Path("broken.py").write_text("x = (\n", encoding="utf-8")
    result = run()
    assert result.exit_code == 0
    assert "late.py  " in result.stdout
    assert result.stderr.startswith("detlint: broken.py:")
    (error,) = json.loads(run("--format", "json").stdout)["errors"]
    assert error.startswith("broken.py:") and "not analysed" in error


def test_an_empty_folder_is_told_on_stderr() -> None:
    assert run().stderr == "detlint: no Python files under .\n"


def test_output_goes_to_a_file() -> None:
    write("late.py")
    shown = run().stdout
    result = run("--output", "entries.txt")
    assert (result.stdout, Path("entries.txt").read_text(encoding="utf-8")) == ("", shown)


def test_excluded_files_are_left_out() -> None:
    write("late.py", "optional.py")
    assert [entry["path"] for entry in entries("--exclude", "optional.py")] == ["late.py"]


SAVED = (
    "import random\nimport numpy\nfrom contextlib import contextmanager\n\n\n@contextmanager\ndef kept():\n"
    "    version, state, gauss = random.getstate()\n    yield\n    random.setstate((version, tuple(state), gauss))\n\n\n"
)


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("with kept():\n    print(3)\nnumpy.random.rand()\n", "unused"),
        ("with kept():\n    print()\nrandom.seed(0)\nwith kept():\n    print()\nprint(random.random())\n", "seeded"),
        ("with kept():\n    random.seed(0)\nprint(random.random())\n", "unseeded"),
    ],
)
def test_a_state_that_is_put_back_is_the_one_that_was_saved(body: str, state: str) -> None:
    Path("program.py").write_text(f"{SAVED}{body}", encoding="utf-8")
    (entry,) = entries()
    assert entry["generators"]["python"]["state"] == state


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("print(torch.rand(2))", "torch.manual_seed(0)", "unseeded"),
        ("print(torch.rand(2))", "torch.manual_seed(0)\n    print(torch.rand(2))", "optional"),
        ("print(torch.rand(2))", "print()\ntorch.manual_seed(0)", "late"),
    ],
)
def test_a_seed_in_the_other_arm_of_a_test_is_not_late(first: str, second: str, state: str) -> None:
    head = "import torch\nif torch.cuda.is_available():\n"
    Path("program.py").write_text(f"{head}    {first}\nelse:\n    {second}\n", encoding="utf-8")
    (entry,) = entries()
    assert entry["generators"]["torch"]["state"] == state


def test_what_only_gives_an_example_of_a_shape_is_drawn_and_no_finding() -> None:
    Path("convert.py").write_text(
        "import torch\nfrom torchvision import models\n\nmodel = models.resnet18(weights='DEFAULT')\n"
        "example = torch.rand(1, 3, 224, 224)\nmodule = torch.jit.trace(model, example)\nmodule.save('model.pt')\n",
        encoding="utf-8",
    )
    lines = run().stdout.splitlines()
    assert lines[1].split() == ["convert.py", "script", "unseeded", "-", "-"]
    assert lines[4] == "  torch      drawn at convert.py:5 by torch.rand as an example of a shape, not seeded"
    assert not CliRunner().invoke(cli, ["check", "--select", "DET1"]).exit_code

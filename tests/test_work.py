"""How much work a run does, counted and not timed: each file is read once, and twice the code is twice the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from detlint import catalogue, engine
from detlint.analyse import Source, undisturbed
from detlint.config import Config
from tests.growing import HEAD, SHAPES, Files

ROOT = Path(__file__).parent.parent
GROUPS = 3  # of files
Counts = dict[str, int]

# One of each shape of file; a project has so many groups of them. {i} is the number of the group.
GROUP = {
    "p{i}/__init__.py": "from p{i}.net import Net\n",
    "p{i}/net.py": (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.empty(3))\n\n    def forward(self, x):\n"
        "        return nn.functional.interpolate(x, scale_factor=2, mode='bilinear') * self.w\n"
    ),
    "p{i}/data.py": (
        "import os\n\nimport numpy as np\nfrom torch.utils.data import DataLoader\n\n\ndef batches(folder):\n"
        "    names = os.listdir(folder)\n    return DataLoader([np.random.rand(3) for _ in names], shuffle=True, num_workers=2)\n"
    ),
    "p{i}/text.py": "import re\n\n\ndef words(text):\n    return sorted(set(re.split(r'[ ]', text)))\n",
    "train{i}.py": (
        "import torch\n\nfrom p{i} import Net\nfrom p{i}.data import batches\n\n\ndef main():\n    net = Net()\n"
        "    for x in batches('data'):\n        net(x).sum().backward()\n    torch.save(net.state_dict(), 'net.pt')\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    ),
    "test_net{i}.py": "import torch\n\nfrom p{i} import Net\n\n\ndef test_net():\n    assert Net()(torch.rand(1, 1, 3)).shape\n",
    "book{i}.ipynb": "import torch\nprint(torch.rand(3))\n",
    "broken{i}.py": "def f(:\n",
}


def write(folder: Path, groups: int) -> int:
    """A project; how many files it has."""
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    for i in range(groups):
        for pattern, body in GROUP.items():
            path = folder / pattern.format(i=i)
            text = f"# whole: {path.name.partition('.')[0]}\n" + body.replace("{i}", str(i))
            if path.suffix == ".ipynb":
                parts: dict[str, object] = {"metadata": {}, "outputs": [], "execution_count": None}
                cell = {"cell_type": "code", "source": text, **parts}
                text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return groups * len(GROUP)


# How often the text of a file is parsed where nothing is known of it. Each number above 1 is one to bring down: of a
# notebook its cells, then all of them as one text, and both again where a fix is made; of an entry point for its fix;
# of what is broken by Python, by the other parser, and by Python again, which says better what is wrong.
PARSED = {"__init__": 1, "net": 1, "data": 1, "text": 1, "test_net": 1, "train": 2, "book": 4, "broken": 3}
AGAIN = {"train": 1, "book": 2}  # the same where all but one file are known: what fixes need
# And how often a file is read then: for its fixes. To bring down to once for each file.
READ_AGAIN = {"data": 1, "train": 3, "book": 2}
# Calls of functions of detlint at most, for each file of the project.
CALLS = {"cold": 5_940, "changed": 1_770, "touched": 375, "warm": 410}

CHANGED = ["p0/net.py", "# whole: net\nimport torch\n\nNet = torch.nn.Linear\n"]
TOUCHED = ["p0/text.py", "# whole: text\n" + GROUP["p{i}/text.py"]]
ADDED = ["p0/net.py", "# whole: net\n" + GROUP["p{i}/net.py"] + "\nADDED = 1\n"]  # no program looks for it
LARGE = ["p0/text.py", "# whole: text\n" + "# a comment\n" * 10_000]  # enough to share work out for
QUIET = ["--statistics"]  # other formats read files to show their lines
PLAN = {
    "first": ["", "", ["--no-cache", "p0/text.py"]],  # imports and tables, which any run needs
    "cold": ["", "", [*QUIET, "--jobs", "1"]],
    "warm": ["", "", [*QUIET, "--jobs", "2"]],
    "touched": [*TOUCHED, [*QUIET, "--jobs", "2"]],
    "added": [*ADDED, [*QUIET, "--jobs", "2"]],
    "changed": [*CHANGED, [*QUIET, "--jobs", "2"]],
    "parallel": [*LARGE, [*QUIET, "--jobs", "2", "--no-cache"]],
}
FILES, TWICE = GROUPS * len(GROUP), 2 * GROUPS * len(GROUP)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Counts]]:
    """What the runs of the plan do in a project and in one of twice the size, by the number of files."""
    folder = tmp_path_factory.mktemp("work")
    running = {}
    for groups in (GROUPS, 2 * GROUPS):
        files = write(folder / str(groups), groups)
        plan = {name: step for name, step in PLAN.items() if name != "parallel" or groups == GROUPS}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.counting", str(folder / str(groups)), json.dumps(plan)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
            env={k: v for k, v in os.environ.items() if k != "DETLINT_NO_CACHE"},
        )  # fmt: skip
        running[files] = process
    found = {}
    for files, process in running.items():
        said, _ = process.communicate()
        assert process.returncode == 0
        found[files] = json.loads(said)
    return found


# Each file once


@pytest.mark.slow
def test_a_cold_run_reads_each_file_once_and_makes_facts_of_those_that_are_python(
    work: dict[int, dict[str, Counts]],
) -> None:
    cold = work[FILES]["cold"]
    assert cold["findings"] > 0
    assert cold["opened"] == FILES
    assert cold["collected"] == FILES - GROUPS  # not of those that are broken
    assert cold["linked"] == 1
    assert "processes" not in cold


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARSED)
def test_a_cold_run_parses_each_file_so_often_at_most(work: dict[int, dict[str, Counts]], kind: str) -> None:
    assert GROUPS <= work[FILES]["cold"][f"parsed {kind}"] <= PARSED[kind] * GROUPS


@pytest.mark.slow
def test_a_cold_run_asks_each_rule_once_about_each_file(work: dict[int, dict[str, Counts]]) -> None:
    codes = catalogue.load().rules.values()
    over_files, over_all = (
        sum(bool(rule.check) and rule.over == over for rule in codes) for over in ("file", "project")
    )
    assert 0 < work[FILES]["cold"]["rules run"] <= over_files * FILES + over_all


@pytest.mark.slow
def test_a_warm_run_reads_and_parses_nothing(work: dict[int, dict[str, Counts]]) -> None:
    warm = work[FILES]["warm"]
    assert warm["findings"] == work[FILES]["cold"]["findings"]
    assert not warm.keys() & {"opened", "parsed", "collected", "rules run", "linked", "processes"}, warm
    assert warm.get("decoded", 0) <= 1  # what was found in the project, in one piece


@pytest.mark.slow
def test_a_file_that_was_touched_is_read_and_found_to_be_the_same(work: dict[int, dict[str, Counts]]) -> None:
    touched = work[FILES]["touched"]
    assert touched["opened"] <= 2  # to bring down to 1
    assert not touched.keys() & {"parsed", "collected", "rules run", "linked", "processes"}, touched
    assert touched.get("decoded", 0) <= 1


@pytest.mark.slow
def test_a_change_that_no_program_comes_to_is_parsed_and_nothing_is_linked(work: dict[int, dict[str, Counts]]) -> None:
    added = work[FILES]["added"]
    assert added["findings"] == work[FILES]["cold"]["findings"]
    assert added["parsed net"] == added["parsed"] == added["collected"] == 1
    assert not added.keys() & {"linked", "processes"}, added
    assert added["decoded"] <= 2  # what was known of the file, and of the project as it was


@pytest.mark.slow
def test_a_file_that_changed_is_parsed_alone_and_all_are_linked_once(work: dict[int, dict[str, Counts]]) -> None:
    changed = work[FILES]["changed"]
    assert changed["findings"] != work[FILES]["cold"]["findings"]
    assert changed["parsed net"] == changed["collected"] == changed["linked"] == 1
    assert changed.get("decoded", 0) <= FILES + 2  # what is known of files, and of the project as it was
    assert changed["parsed"] <= 1 + sum(AGAIN.values()) * GROUPS
    for files, groups in ((FILES, GROUPS), (TWICE, 2 * GROUPS)):
        assert work[files]["changed"]["opened"] <= 1 + sum(READ_AGAIN.values()) * groups
    assert "processes" not in changed


@pytest.mark.slow
def test_no_more_processes_start_than_are_asked_for(work: dict[int, dict[str, Counts]]) -> None:
    assert 2 <= work[FILES]["parallel"]["processes"] <= 3  # one may look after what the others share


# In proportion


@pytest.mark.slow
@pytest.mark.parametrize("run", CALLS)
def test_a_run_makes_so_many_calls_for_a_file_at_most(work: dict[int, dict[str, Counts]], run: str) -> None:
    assert work[FILES][run]["calls"] <= CALLS[run] * FILES


@pytest.mark.slow
@pytest.mark.parametrize("run", CALLS)
def test_twice_the_project_is_twice_the_work(work: dict[int, dict[str, Counts]], run: str) -> None:
    one, two = work[FILES][run], work[TWICE][run]
    assert two["calls"] > one["calls"]
    for kind in one.keys() - {"findings", "opened"}:  # of the files that are opened there is a bound above
        assert two[kind] <= 2.05 * one[kind] + 2, kind  # of a file that changed, not of one that is like it


def steps(files: Files) -> int:
    """The lines that Python runs to check these texts: each turn of a loop is one, too."""
    torch = catalogue.load().newest_release()
    names = {path: path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in files}
    sources = [Source(path, names[path], text) for path, text in files.items()]
    count = 0

    def trace(frame: FrameType, event: str, given: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    with undisturbed():
        sys.settrace(trace)
        try:
            engine.check_sources(sources, Config(select=("ALL",)), torch)
        finally:
            sys.settrace(before)
    return count


@pytest.fixture(scope="module")
def least() -> int:
    """The steps for a file with nothing but imports, the second time: tables are read then."""
    steps({"a.py": HEAD})
    return steps({"a.py": HEAD})


# What grows faster than the text. Each is to be mended, and then taken from this list.
SUPERLINEAR = frozenset(
    (
        "arms of an if",
        "assignments of sets",
    )
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason="grows faster") if name in SUPERLINEAR else ())
        for name in SHAPES
    ],
)
def test_twice_as_many_are_twice_the_work(shape: str, least: int) -> None:
    make, number = SHAPES[shape]
    one, two = steps(make(number)) - least, steps(make(2 * number)) - least
    assert two <= 2.1 * one

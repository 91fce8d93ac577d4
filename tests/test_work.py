"""How much work a run does, counted and not timed: each file is read once, and twice the code is twice the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from detlint import catalogue, engine
from detlint.analyse import Source, undisturbed
from detlint.config import Config
from tests.growing import HEAD, SHAPES, Files

ROOT = Path(__file__).parent.parent
GROUPS = 5
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
                cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
                text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return groups * len(GROUP)


CHANGED = ["p0/net.py", "# whole: net\nimport torch\n\nNet = torch.nn.Linear\n"]
TOUCHED = ["p0/text.py", f"# whole: text\n{GROUP['p{i}/text.py']}"]
KEPT = ["--jobs", "2"]  # where all but a few files are known, no process is worth its start
PLAN = {
    "small": ["", "", ["--no-cache", "p0/text.py"]],  # what is imported and read for any run is done before it counts
    "cold": ["", "", ["--jobs", "1"]],
    "warm": ["", "", KEPT],
    "touched": [*TOUCHED, KEPT],
    "changed": [*CHANGED, KEPT],
    "again": ["", "", ["--jobs", "1", "--no-cache"]],
}


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, Counts]]:
    """What the runs of the plan do in a project and in one of twice the size, by the number of files and the run."""
    folder = tmp_path_factory.mktemp("work")
    running = {}
    for groups in (GROUPS, 2 * GROUPS):
        files = write(folder / str(groups), groups)
        running[files] = subprocess.Popen(
            [sys.executable, "-m", "tests.counting", str(folder / str(groups))],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={k: v for k, v in os.environ.items() if k != "DETLINT_NO_CACHE"},
        )  # fmt: skip
    found = {}
    for files, process in running.items():
        said, _ = process.communicate(json.dumps(list(PLAN.values())))
        assert process.returncode == 0
        found[files] = dict(zip(PLAN, json.loads(said), strict=True))
    print(json.dumps(found, indent=1))
    return found


def test_show(work: dict[int, dict[str, Counts]]) -> None:
    raise AssertionError

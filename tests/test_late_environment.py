"""DET505: what its fix moves, and which command line it names where nothing is to be moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from detlint.finding import Safety

from .support import report
from .test_rule_fixes import fixed

TOP = "os.environ['OMP_NUM_THREADS'] = '1'\n"
MOVED = [
    ("import os\nimport torch\n" + TOP.rstrip() + "  # one thread\n",
     "import os\n" + TOP.rstrip() + "  # one thread\nimport torch\n"),
    ("import os\nimport torch\n# one thread\n" + TOP, "import os\n# one thread\n" + TOP + "import torch\n"),
    ("import os\nimport torch\n" + TOP, "import os\n" + TOP + "import torch\n"),
    ("import torch\nimport os\n" + TOP, "import os\n" + TOP + "import torch\n"),
    ("import torch, sys\nfrom os import environ\nenviron['OMP_NUM_THREADS'] = '1'\n",
     "from os import environ\nenviron['OMP_NUM_THREADS'] = '1'\nimport torch, sys\n"),
    ("import os\n# the tensors\nimport torch\nimport torchvision\n\nos.environ.setdefault('MKL_NUM_THREADS', '2')\n\nx = 1\n",
     "import os\nos.environ.setdefault('MKL_NUM_THREADS', '2')\n# the tensors\nimport torch\nimport torchvision\n\nx = 1\n"),
    ("import os\n\ndef f(model):\n    model.cuda()\n    os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n    return model\n",
     "import os\n\ndef f(model):\n    os.environ['CUDA_LAUNCH_BLOCKING'] = '1'\n    model.cuda()\n    return model\n"),
]  # fmt: skip
LEFT = [
    ("import torch\nimport os, sys\n" + TOP, "OMP_NUM_THREADS=1"),
    ("import os\nimport torch\nn = '4'\nos.environ['OMP_NUM_THREADS'] = n\n", "OMP_NUM_THREADS=4"),
    ("import os\nimport torch\nos.environ['OMP_NUM_THREADS'] = str(torch.cuda.device_count())\n", "OMP_NUM_THREADS=..."),
    ("import os\nimport torch\nprint(1); " + TOP, "OMP_NUM_THREADS=1"),
    ("import os\nimport torch\n\ndef f():\n    " + TOP, "OMP_NUM_THREADS=1"),
    ("import os\ndef f(seed):\n    os.environ['PYTHONHASHSEED'] = str(seed)\n", "PYTHONHASHSEED=0"),
    ("import os\nos.environ['PYTHONHASHSEED'] = '3'\n", "PYTHONHASHSEED=3"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "after"), MOVED)
def test_constants_are_moved_ahead_of_what_reads_them(text: str, after: str) -> None:
    assert fixed(text, "DET505") == after
    assert fixed(text, "DET505", unsafe=False) == text
    assert report({"a.py": after}, ("DET505",)).findings == ()


@pytest.mark.parametrize(("text", "line"), LEFT)
def test_what_is_not_moved_is_shown_as_a_command_line(text: str, line: str) -> None:
    (judged,) = report({"a.py": text}, ("DET505",)).findings
    fix = judged.finding.fix
    assert fix is not None
    assert (fix.safety, fix.edits) == (Safety.DISPLAY, ())
    assert fix.title == f"Start the program with `{line} python ...`"


def test_the_command_line_is_told_for_the_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os\nimport torch\n\nos.environ['PYTHONHASHSEED'] = '0'\ntorch.manual_seed(0)\nprint(torch.rand(2))\n"
    )
    done = CliRunner().invoke(cli, ["--fix", "--no-cache", "--select", "DET505", "--severity", "note", str(tmp_path)])
    assert done.stderr.splitlines() == [
        f"detlint: {tmp_path}/train.py:4:1: DET505 not fixed: to be fixed by hand: Start the program with `PYTHONHASHSEED=0 python ...`",
        "detlint: fixed nothing; left 1: 1 to be fixed by hand",
    ]

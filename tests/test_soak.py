"""The soak of the language server, for some seconds: its answers, and what it says of answers that are others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tools.soak import Outcome, Sample, soak, table

pytest.importorskip("pygls")

pytestmark = pytest.mark.slow


def write(folder: Path) -> None:
    (folder / "pkg").mkdir()
    (folder / "pkg" / "__init__.py").touch()
    (folder / "pkg" / "seeds.py").write_text("import torch\n\n\ndef seed():\n    torch.manual_seed(0)\n")
    (folder / "data.py").write_text("import os\n\n\ndef names():\n    return [n for n in os.listdir()]\n")
    for number in range(4):
        text = f"import torch\nfrom pkg.seeds import seed\n\n\nif __name__ == '__main__':\n    seed()\n    print(torch.rand({number}))\n"
        (folder / f"train{number}.py").write_text(text)


@pytest.mark.skipif(sys.platform != "linux", reason="it samples what only Linux tells")
def test_after_random_edits_the_server_says_what_a_fresh_run_says(tmp_path: Path) -> None:
    write(tmp_path)
    outcome = soak(tmp_path, 600, seed=4, most=50)
    assert outcome.is_good(), table(outcome)
    assert outcome.compared == 2
    assert outcome.findings > 5


def test_what_grows_is_told() -> None:
    steady = [Sample(60.0 * n, n, 100_000 + 50 * n, 5, 8, 0) for n in range(40)]
    assert Outcome(steady, status=0).is_good()
    leaking = [Sample(60.0 * n, n, 100_000 + 4_000 * n, 5 + n // 5, 8 + n, 0) for n in range(40)]
    grown = Outcome(leaking, status=0)
    assert not grown.is_good()
    assert [each.partition(":")[0] for each in grown.growth()] == ["memory", "threads", "files"]
    assert not Outcome(steady, differences=["one"], status=0).is_good()
    assert not Outcome(steady, status=1).is_good()
    assert not Outcome(steady, status=0, log="an error").is_good()

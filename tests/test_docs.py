"""The documentation says what is: generated parts are fresh, shown output is real, examples have known causes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from detlint.cli import cli
from tests.tools import docs

ROOT = Path(__file__).parent.parent
EXAMPLES = {
    "language_model/text.py": ["DET601"],
    "language_model/train.py": ["DET701", "DET105", "DET201"],
    "processes/train.py": ["DET102", "DET201"],
    "segmentation/data.py": ["DET104", "DET208", "DET204", "DET201", "DET202", "DET402"],
    "segmentation/train.py": ["DET501", "DET302", "DET505", "DET106"],
}


@pytest.fixture(scope="module")
def shown() -> str:
    """What `detlint docs/examples` prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        result = CliRunner().invoke(cli, ["docs/examples"])
    assert result.exit_code == 1
    return result.stdout


def test_generated_files_are_fresh() -> None:
    assert docs.generate(write=False) == [], "run python -m tests.tools.docs"


def test_the_examples_have_their_causes_and_the_mended_one_has_none(shown: str) -> None:
    found = re.findall(r"^docs/examples/(\S+?):\d+:\d+: \w+ (DET\d+) ", shown, re.MULTILINE)
    assert found == [(path, code) for path, codes in EXAMPLES.items() for code in codes]


def test_the_output_in_the_readme_is_real(shown: str) -> None:
    (block,) = re.findall(r"^```text\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    for finding in block.strip().split("\n\n"):
        assert finding in shown


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "index.md", ROOT / "docs" / "rules.md"):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 150
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (path.parent / target).exists(), target

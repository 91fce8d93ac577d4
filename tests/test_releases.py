"""Rows that speak of some releases of a library alone: judged by what the project requires."""

from __future__ import annotations

from pathlib import Path

import pytest

from detlint import catalogue, config, engine
from detlint.releases import holds, required

COMPOSE = """import random
import albumentations as A

random.seed(0)
augment = A.Compose([A.RandomCrop(16, 16)])
if __name__ == "__main__":
    print(augment(image=None))
"""
UNSEEDED = COMPOSE.replace("random.seed(0)\n", "")
ENTROPY = "`A.Compose` is given no seed, and starts from the operating system's entropy, whatever the program seeds"
PYTHON = (
    "`A.Compose` is given no seed, and this program has not seeded Python's global generator, which it falls back on"
)


@pytest.mark.parametrize(
    ("text", "requirements", "messages"),
    [
        (COMPOSE, None, [ENTROPY]),
        (COMPOSE, "albumentations\n", [ENTROPY]),
        (COMPOSE, "albumentations>=1.3\ntorch\n", [ENTROPY]),
        (COMPOSE, "Albumentations [extra] ~= 2.0 ; python_version > '3.8'  # new\n", [ENTROPY]),
        (COMPOSE, "albumentations==1.3.1\n", []),
        (COMPOSE, "albumentations<1.4\n", []),
        (UNSEEDED, None, [ENTROPY]),
        (UNSEEDED, "albumentations==1.4.18\n", [PYTHON]),
        (UNSEEDED, "albumentationsx==1.4.18\n", [ENTROPY]),
        (UNSEEDED, "albumentations @ git+https://example.com/albumentations\n", [ENTROPY]),
    ],
)
def test_a_row_is_asked_where_the_newest_release_allowed_is_one_of_its_own(
    tmp_path: Path, text: str, requirements: str | None, messages: list[str]
) -> None:
    (tmp_path / "train.py").write_text(text)
    if requirements is not None:
        (tmp_path / "requirements.txt").write_text(requirements)
    settings = config.for_paths([tmp_path])
    for _ in range(2):  # the second time from the cache
        report = engine.check_paths([tmp_path], settings, catalogue.load().newest_release())
        assert [judged.finding.message for judged in report.findings if judged.finding.code == "DET107"] == messages


def test_another_requirement_is_another_answer_of_the_cache(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COMPOSE)
    found = []
    for line in ("albumentations==1.3.1", "albumentations==2.0.8", "albumentations==1.3.1"):
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "x"\nversion = "1"\ndependencies = ["{line}"]\n')
        report = engine.check_paths([tmp_path], config.for_paths([tmp_path]), catalogue.load().newest_release())
        found.append([judged.finding.code for judged in report.findings])
    assert found == [[], ["DET107"], []]


@pytest.mark.parametrize(
    ("release", "requirement", "held"),
    [
        ("a>=1.4.21", "", True),
        ("a<1.4.21", "", False),
        ("a>=1.4.21", "<=1.4.21", True),
        ("a>=1.4.21", "<1.4.21", False),
        ("a<1.4.21", "<1.4.21", True),
        ("a>=1.4.21", ">=1.5,<1.6", True),
        ("a>=1.4.21", "==1.4.*", True),
        ("a>=1.4.21", "==1.3.*", False),
        ("a>=1.4.21", "!=2.0", True),
        ("a>=1.4.21", "what", True),
    ],
)
def test_the_newest_release_that_is_allowed_decides(release: str, requirement: str, held: bool) -> None:
    assert holds(release, {"a": requirement}) is held


def test_the_first_requirement_of_a_library_counts() -> None:
    lines = ["a_b>=2", "c==1", "A-B==1", "-r other.txt", "# a-b==0", "a-b.c==3", ""]
    assert required(lines, ["a-b", "d"]) == {"a-b": ">=2"}

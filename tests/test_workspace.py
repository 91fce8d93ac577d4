"""A project that is asked again and again while its files change."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from detlint import engine
from detlint.analyse import Collected, Source, analyse
from detlint.link.runs import tidying
from detlint.project.project import Project
from detlint.report import Judged
from detlint.settling.settling import link
from detlint.support.interned import Interned
from detlint.workspace import HaltedError, Workspace

SEED = """
    import torch

    def seed():
        torch.manual_seed(0)
"""
TRAIN = """
    import torch
    from seeding import seed

    if __name__ == "__main__":
        {}
        torch.rand(3)
"""
LATER = 4 * 10**9  # nanoseconds


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET101', 'DET501']\n")
    write(tmp_path / "seeding.py", SEED)
    write(tmp_path / "train.py", TRAIN.format("seed()"))
    yield tmp_path


def write(path: Path, text: str) -> None:
    path.write_text(textwrap.dedent(text))


def shown(findings: tuple[Judged, ...]) -> list[tuple[str, int, str]]:
    return [(j.finding.place.path, j.finding.place.line, j.finding.code) for j in findings]


UNSEEDED = [("train.py", 7, "DET101")]


def test_an_edit_in_one_file_changes_what_is_found_in_another(root: Path) -> None:
    workspace = Workspace.of(root)
    assert shown(workspace.findings("train.py")) == []
    workspace.update("seeding.py", "def seed():\n    pass\n")
    assert shown(workspace.findings(root / "train.py")) == UNSEEDED
    workspace.update("seeding.py", None)
    assert shown(workspace.findings("train.py")) == []


def test_findings_are_those_of_a_run_over_the_same_texts(root: Path) -> None:
    workspace = Workspace.of(root)
    workspace.update("train.py", textwrap.dedent(TRAIN.format("pass")))
    edited = workspace.report()
    write(root / "train.py", TRAIN.format("pass"))
    run = engine.check_paths([Path()], workspace.config, workspace.torch, jobs=1)
    assert edited.findings == run.findings != ()


def test_files_that_come_change_and_go_on_the_disk_are_seen_when_asked_to_look(root: Path) -> None:
    workspace = Workspace.of(root)
    assert shown(workspace.report().findings) == []
    assert not workspace.refresh()
    write(root / "other.py", "import torch\ntorch.backends.cudnn.benchmark = True\n")
    write(root / "seeding.py", "def seed():\n    pass\n")
    assert workspace.refresh()
    assert shown(workspace.report().findings) == [("other.py", 2, "DET501"), *UNSEEDED]
    (root / "other.py").unlink()
    assert workspace.refresh()
    assert shown(workspace.report().findings) == UNSEEDED


def test_only_what_changed_is_analysed_and_the_project_linked_only_for_other_facts(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def noted(item: Source, codes: frozenset[str], torch: Version) -> Collected:
        done.append(item.path)
        return analyse(item, codes, torch)

    def linked(*given: Any) -> Project:
        done.append("link")
        return link(*given)

    monkeypatch.setattr("detlint.gathering.analyse", noted)
    monkeypatch.setattr("detlint.workspace.link", linked)
    workspace = Workspace.of(root)
    workspace.report()
    assert sorted(done) == ["link", "seeding.py", "train.py"]
    done.clear()
    workspace.report()
    assert done == []
    workspace.update("seeding.py", textwrap.dedent(SEED) + "# a comment\n")
    workspace.report()
    assert done == ["seeding.py"]
    workspace.update("seeding.py", "import torch\ntorch.manual_seed(1)\n")
    workspace.report()
    assert done == ["seeding.py", "seeding.py", "link"]


def test_a_second_workspace_finds_everything_in_the_cache(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Workspace.of(root)
    assert first.missing() == 2
    found = first.report()
    second = Workspace.of(root)
    assert second.missing() == 0
    monkeypatch.setattr("detlint.gathering.analyse", None)
    monkeypatch.setattr("detlint.workspace.link", None)
    assert second.report() == found


def test_a_text_that_was_open_and_then_saved_is_kept(root: Path) -> None:
    workspace = Workspace.of(root)
    text = textwrap.dedent(TRAIN.format("pass"))
    workspace.update("train.py", text)
    workspace.report()
    assert Workspace.of(root).missing() == 1  # what an editor has is not kept
    (root / "train.py").write_text(text)
    assert workspace.missing() == 0
    workspace.refresh()
    assert Workspace.of(root).missing() == 0


def test_a_file_outside_of_the_project_is_answered_for_alone(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "train.py"
    write(outside, TRAIN.format("torch.manual_seed(0)").replace("from seeding import seed", ""))
    workspace = Workspace.of(root)
    workspace.update(outside, textwrap.dedent(TRAIN.format("pass")).replace("from seeding import seed", ""))
    assert shown(workspace.findings(outside)) == [(outside.as_posix(), 7, "DET101")]
    workspace.update(outside, None)
    assert shown(workspace.findings(outside)) == []
    assert os.fspath(outside) not in workspace.paths


def test_a_file_alone_is_not_what_it_is_in_its_project(root: Path) -> None:
    workspace = Workspace.of(root)
    text = textwrap.dedent(TRAIN.format("seed()"))
    write(root / "seeding.py", "def seed():\n    pass\n")
    assert shown(workspace.findings("train.py")) == UNSEEDED
    assert shown(workspace.alone("train.py", text)) == []  # a call into a file that was not read may seed


@pytest.mark.parametrize("warm", [False, True])
def test_what_a_file_tells_the_others_stays_while_it_is_half_typed(root: Path, warm: bool) -> None:
    write(root / "seeding.py", "def seed():\n    pass\n")
    workspace = Workspace.of(root)
    assert shown(workspace.findings("train.py")) == UNSEEDED
    if warm:
        workspace = Workspace.of(root)
    workspace.update("seeding.py", "def seed(:\n    pass\n")
    assert shown(workspace.findings("seeding.py")) == [("seeding.py", 1, "DET000")]
    assert shown(workspace.findings("train.py")) == UNSEEDED
    workspace.update("seeding.py", textwrap.dedent(SEED))
    assert shown(workspace.findings("train.py")) == []


def test_what_was_half_typed_and_is_saved_so_is_answered_as_a_run_over_the_disk_answers(root: Path) -> None:
    workspace = Workspace.of(root)
    assert shown(workspace.findings("train.py")) == []
    workspace.update("seeding.py", "def seed(:\n")
    assert shown(workspace.findings("train.py")) == []
    write(root / "seeding.py", "def seed(:\n")
    workspace.refresh()
    report = engine.check_paths([Path()], workspace.config, workspace.torch, jobs=1)
    assert shown(workspace.report().findings) == shown(report.findings)
    assert shown(workspace.findings("train.py")) != []


DRAWS = """
    import torch
    import helping

    def draw(n):
        return torch.rand(n)

    def other(n):
        return helping.help(n)

    if __name__ == "__main__":
        print({})
"""


def test_what_stands_is_told_before_the_project_is_linked_again(root: Path) -> None:
    workspace = Workspace.of(root)
    write(root / "train.py", TRAIN.format("pass"))
    assert workspace.standing() is None  # nothing was ever found
    assert shown(workspace.report().findings) == UNSEEDED
    assert workspace.standing() is None
    text = textwrap.dedent(TRAIN.format("pass")).replace("import torch\n", "import torch\n\n# moved\n")
    workspace.update(
        "train.py", text.replace("torch.rand(3)", "seed(); torch.backends.cudnn.benchmark = True; torch.rand(3)")
    )
    standing = workspace.standing()
    assert standing is not None
    assert shown(standing.findings) == [("train.py", 9, "DET101")]
    assert shown(workspace.report().findings) == [("train.py", 9, "DET501")]


def test_what_a_program_may_pass_over_is_told_before_it_is_linked_again(root: Path) -> None:
    made = (
        "import numpy as np\n\ndef made(some):\n    if some:\n        return np.random.default_rng({})\n    return 0\n"
    )
    (root / "pyproject.toml").write_text("[tool.detlint]\nselect = ['DET104']\n")
    (root / "made.py").write_text(made.format("3"))
    workspace = Workspace.of(root)
    workspace.report()
    workspace.update("made.py", made.format(""))
    standing = workspace.standing()
    assert standing is not None
    assert ("made.py", 5, "DET104") in shown(standing.findings)


def test_a_link_that_nobody_waits_for_is_given_up(root: Path) -> None:
    workspace = Workspace.of(root)
    workspace.report()
    workspace.update("seeding.py", "def seed():\n    pass\n")
    workspace.halted.set()
    with pytest.raises(HaltedError):
        workspace.report()
    workspace.halted.clear()
    assert shown(workspace.report().findings) == UNSEEDED


def test_only_programs_that_come_to_what_changed_are_followed_again(root: Path) -> None:
    for name in ("one", "two", "three"):
        write(root / f"{name}.py", DRAWS.format("draw(2)" if name == "one" else "other(2)"))
    write(root / "helping.py", "# help\n\ndef help(n):\n    return n\n\n\ndef aid(n):\n    return n\n")
    write(root / "four.py", DRAWS.format("helping.aid(2)"))
    workspace = Workspace.of(root)
    workspace.load()
    assert workspace.followed == 5
    before = "import torch\n# a line more\n\ndef help(n):\n    return n\n\n\ndef aid(n):\n    return {}\n"
    workspace.update("helping.py", before.format("torch.rand(n)"))
    assert ("helping.py", 9, "DET101") in shown(workspace.report().findings)
    assert workspace.followed == 1
    workspace.update("helping.py", "# and one more\n" + before.format("torch.rand(n) + torch.rand(2)"))
    found = shown(workspace.report().findings)
    assert workspace.followed == 1
    fresh = Workspace.of(root)
    fresh.update("helping.py", "# and one more\n" + before.format("torch.rand(n) + torch.rand(2)"))
    assert shown(fresh.report().findings) == found
    assert ("helping.py", 10, "DET101") in found


def test_links_leave_nothing_of_texts_that_are_gone(root: Path) -> None:
    workspace = Workspace.of(root)
    counts = []
    for number in range(12):
        lines = "\n" * number
        workspace.update(
            "train.py", f"{lines}import torch\nprint(torch.rand({number}), torch.rand({number}))\n" * (number % 2 + 1)
        )
        workspace.report()
        kinds = {each for module in tidying._MODULES for each in vars(module).values() if isinstance(each, Interned)}
        counts.append(sum(len(kind._made) for kind in kinds))
    assert workspace.links == 12
    assert max(counts[6:]) <= max(counts[2:6]) + 3  # what is kept would grow with each of six links


def test_a_document_that_a_program_read_before_the_last_link_still_counts(root: Path) -> None:
    reads = """
        import torch
        import yaml

        if __name__ == "__main__":
            if yaml.safe_load(open("settings.yaml"))["seed"]:
                torch.manual_seed(1)
            torch.rand(3)
    """
    write(root / "settings.yaml", "seed: 1\n")
    write(root / "reads.py", reads)
    workspace = Workspace.of(root)
    assert shown(workspace.report().findings) == []
    write(root / "train.py", TRAIN.format("pass"))
    workspace.refresh()
    assert shown(workspace.report().findings) == UNSEEDED
    assert workspace.followed == 1
    write(root / "settings.yaml", "seed: 0\n")
    assert workspace.refresh()
    assert shown(workspace.report().findings) == [("reads.py", 8, "DET101"), *UNSEEDED]

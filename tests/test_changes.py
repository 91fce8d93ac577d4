"""`--changed-since`: what a change brought, in repositories that git makes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli

BENCHMARK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
OTHER = "import torch\n\ntorch.backends.cudnn.deterministic = False\n"
CLEAN = "def double(x):\n    return 2 * x\n"
HELPER = "import torch\n\n\ndef prepare():\n    torch.manual_seed(0)\n"
TRAIN = 'import torch\n\nfrom helper import prepare\n\nif __name__ == "__main__":\n    prepare()\n    print(torch.rand(2))\n'
LOADER = """\
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(
    TensorDataset(),
    shuffle=True,
    batch_size=8,
    drop_last=True,
)
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository that is the working directory; no settings but its own count."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "tester@example.org")
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git("init", "-q", "-b", "main")
    write("pyproject.toml", "")
    return folder


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def write(name: str, content: str | bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def commit(**files: str) -> None:
    """Commit all there is, with these modules."""
    for name, content in files.items():
        write(f"{name}.py", content)
    git("add", "-A")
    git("commit", "-qm", "a commit", "--allow-empty")


def detlint(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["--jobs", "1", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def shown(revision: str = "HEAD", *arguments: str) -> list[tuple[str, int, str]]:
    """Path, line and code of what is shown."""
    result = detlint("--changed-since", revision, "--format", "json", *(arguments or (".",)))
    assert result.exit_code in (0, 1), result.stderr
    found = json.loads(result.stdout)["findings"]
    assert result.exit_code == bool(found)
    return [(each["path"], each["line"], each["code"]) for each in found]


def notebook(*cells: str, outputs: str = "[]") -> str:
    rows = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": json.loads(outputs)} for cell in cells]
    return json.dumps({"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


# Lines


def test_what_was_there_is_not_shown_and_is_counted() -> None:
    commit(old=BENCHMARK)
    assert shown() == []
    write("old.py", f"# moved down\n{BENCHMARK}")
    result = detlint("--changed-since", "HEAD", ".")
    assert (result.exit_code, result.stderr) == (0, "detlint: 1 older finding is not shown\n")


def test_a_finding_on_a_touched_line_is_shown_though_it_was_there() -> None:
    commit(old=BENCHMARK)
    write("old.py", BENCHMARK.replace("True", "True  # fast"))
    assert shown() == [("old.py", 3, "DET501")]


def test_a_copy_of_a_line_is_shown_and_the_line_is_not() -> None:
    commit(old=BENCHMARK.replace("\n\n", "\n\nx = 1\n"))
    write("old.py", BENCHMARK.replace("\n\n", "\n\ntorch.backends.cudnn.benchmark = True\nx = 1\n"))
    assert shown() == [("old.py", 3, "DET501")]


@pytest.mark.parametrize(
    ("before", "after"), [("8,", "9,"), ("    drop_last=True,\n", ""), ("    batch", "    pin_memory=True,\n    batch")]
)
def test_a_finding_over_several_lines_is_touched_where_one_of_them_is(before: str, after: str) -> None:
    commit(old=LOADER)
    assert shown() == []
    write("old.py", LOADER.replace(before, after))
    assert shown("HEAD", "--select", "DET201", ".") == [("old.py", 3, "DET201")]


def test_a_line_that_went_away_beside_a_finding_does_not_touch_it() -> None:
    commit(old=f"{BENCHMARK}x = 1\n")
    write("old.py", BENCHMARK.replace("\n\n", "\n"))
    assert shown() == []


def test_other_ends_of_lines_are_no_change() -> None:
    commit(old=BENCHMARK)
    write("old.py", BENCHMARK.replace("\n", "\r\n"))
    assert shown() == []
    write("old.py", BENCHMARK.replace("\n", "\r\n") + OTHER)
    assert shown() == [("old.py", 6, "DET502")]


def test_cells_of_a_notebook_are_compared_not_its_json() -> None:
    write("a.ipynb", notebook("import torch", "torch.backends.cudnn.benchmark = True", "x = 1"))
    commit()
    output = '[{"output_type": "stream", "name": "stdout", "text": ["1"]}]'
    write("a.ipynb", notebook("import torch", "torch.backends.cudnn.benchmark = True", "x = 1", outputs=output))
    assert shown() == []
    added = ("y = 2\ntorch.backends.cudnn.deterministic = False", "torch.backends.cudnn.benchmark = True", "x = 2")
    write("a.ipynb", notebook("import torch", *added, outputs=output))
    assert shown() == [("a.ipynb", 2, "DET502")]


# Elsewhere


def test_a_seed_that_goes_away_is_told_where_the_program_draws() -> None:
    commit(helper=HELPER, train=TRAIN, old=BENCHMARK)
    assert shown() == []
    write("helper.py", HELPER.replace("torch.manual_seed(0)", "pass"))
    assert shown() == [("train.py", 7, "DET101")]
    Path("helper.py").unlink()
    write("train.py", TRAIN.replace("from helper import prepare", "prepare = print"))
    assert shown() == [("train.py", 7, "DET101")]


def test_a_seed_that_goes_away_with_its_file_is_told() -> None:
    write("package/__init__.py", "import torch\n\ntorch.manual_seed(0)\n")
    write("package/train.py", TRAIN.replace("from helper", "from package.helper").replace("    prepare()\n", ""))
    commit()
    assert shown() == []
    write("other/x.py", "")
    commit()
    Path("package/__init__.py").unlink()
    for arguments in (), ("package",), ("--context", "other", "package"):
        assert shown("HEAD", *arguments) == [("package/train.py", 6, "DET101")]


def test_what_was_unseeded_before_is_not_new_where_it_draws_later() -> None:
    draws = "import torch\n\nx = torch.rand(2)\ny = torch.rand(2)\nprint(y)\n"
    commit(train=draws, old=CLEAN)
    write("train.py", draws.replace("x = torch.rand(2)\n", ""))
    assert shown() == []


@pytest.mark.parametrize("ignored", ["", "*.yaml"])
def test_a_seed_that_goes_away_in_a_configuration_file_is_told(ignored: str) -> None:
    seeds = 'if config["seed"] is not None:\n    torch.manual_seed(config["seed"])\n'
    text = f'import torch, yaml\nconfig = yaml.safe_load(open("conf.yaml"))\n{seeds}print(torch.rand(1))\n'
    write(".gitignore", ignored)
    write("conf.yaml", "seed: 3")
    commit(train=text)
    assert shown() == []
    write("conf.yaml", "seed: null")
    assert shown() == ([] if ignored else [("train.py", 5, "DET101")])


def test_another_program_that_draws_unseeded_is_new_at_the_line_where_others_do() -> None:
    train = "from noise import noise\n\nprint(noise())\n"
    commit(noise="import torch\n\n\ndef noise():\n    return torch.rand(2)\n", train=train)
    write("more.py", train)
    assert shown() == [("noise.py", 5, "DET101")]


def test_a_call_path_over_touched_lines_does_not_make_a_finding_new() -> None:
    commit(
        noise="import torch\n\n\ndef noise():\n    return torch.rand(2)\n", train="from noise import noise\n\nnoise()\n"
    )
    write("train.py", "from noise import noise\n\nprint(noise())\n")
    assert shown() == []


def test_what_gets_graver_is_new() -> None:
    program = f"import torch\n\ntorch.manual_seed(0)\n{LOADER}"
    commit(train=program)
    write("train.py", program.replace("torch.manual_seed(0)", "x = 1"))
    assert ("train.py", 6, "DET201") in shown()


def test_a_suppression_that_goes_away_brings_its_findings() -> None:
    commit(old=f"{BENCHMARK}x = 1\n\n# detlint: noqa: DET501\n")
    assert shown() == []
    write("old.py", f"{BENCHMARK}x = 1\n")
    assert shown() == [("old.py", 3, "DET501")]


def test_a_new_package_file_does_not_make_all_in_the_folder_new() -> None:
    write("pkg/draw.py", "import torch\n\nprint(torch.rand(2))\n")
    write("pkg/use.py", BENCHMARK)
    commit()
    write("pkg/__init__.py", "")
    assert shown() == []


def test_a_command_that_a_project_gets_is_followed() -> None:
    commit(tool="import torch\n\n\ndef main():\n    print(torch.rand(2))\n")
    write("pyproject.toml", '[project.scripts]\ntool = "tool:main"\n')
    assert shown() == [("tool.py", 5, "DET101")]


# Files


def test_new_files_count_whole_and_ignored_ones_not() -> None:
    write(".gitignore", "made/\n")
    commit(old=CLEAN)
    write("new.py", BENCHMARK)
    write("made/by_machine.py", BENCHMARK)
    assert shown() == [("new.py", 3, "DET501")]


def test_a_renamed_file_is_followed_whether_it_is_staged_or_not() -> None:
    text = "".join(f"x{i} = {i}\n" for i in range(30))
    commit(old=BENCHMARK + text)
    Path("old.py").unlink()
    write("lib/new.py", f"# a head\n{BENCHMARK}{text}{OTHER}")
    assert shown() == [("lib/new.py", 37, "DET502")]
    git("add", "-A")
    assert shown() == [("lib/new.py", 37, "DET502")]


def test_code_moved_to_another_file_is_touched_there() -> None:
    commit(one=BENCHMARK, two="import torch\n" + "x = 1\n" * 9)
    write("one.py", "import torch\n")
    write("two.py", "import torch\n" + "x = 1\n" * 9 + "torch.backends.cudnn.benchmark = True\n")
    assert shown() == [("two.py", 11, "DET501")]


@pytest.mark.parametrize("name", ["a b.py", "ümlaut/'quoted'.py", 'double"quote.py', "tab\tand\nline.py"])
def test_odd_names_are_read_right(name: str) -> None:
    write(name, BENCHMARK)
    commit()
    assert shown() == []
    write(name, BENCHMARK + OTHER)
    assert shown() == [(name, 6, "DET502")]


def test_links_lead_to_what_they_led_to() -> None:
    write("real/code.py", BENCHMARK)
    Path("link.py").symlink_to("real/code.py")
    Path("lost.py").symlink_to("nowhere.py")
    commit()
    assert shown() == []
    write("real/code.py", BENCHMARK + OTHER)
    assert shown() == [("link.py", 6, "DET502"), ("real/code.py", 6, "DET502")]


def test_a_mode_and_bytes_that_are_no_text_do_no_harm() -> None:
    write("bad.py", b"\xff\xfe\0import torch\n")
    write("broken.py", "def f(:\n")
    commit(old=BENCHMARK)
    Path("old.py").chmod(0o755)
    assert shown() == []
    write("bad.py", b"\xff\xfe\0import torch  # more\n")
    write("broken.py", "def f(:\n\n\nx = 1\n")
    assert shown() == [("bad.py", 1, "DET000")]


def test_another_repository_within_is_no_part_of_the_change() -> None:
    commit(old=CLEAN)
    git("init", "-q", "vendored")
    write("vendored/code.py", BENCHMARK)
    assert shown() == []


def test_what_a_sparse_checkout_leaves_out_has_not_been_deleted() -> None:
    commit(helper=HELPER, train=TRAIN)
    git("sparse-checkout", "set", "--no-cone", "/*", "!/helper.py")
    assert not Path("helper.py").exists()
    write("other.py", CLEAN)
    assert shown() == []
    assert shown("HEAD", "train.py") == []


# Revisions


def test_a_branch_is_compared_from_where_it_left() -> None:
    commit(old=BENCHMARK + "x = 1\n" * 9)
    git("switch", "-qc", "topic")
    commit(mine=OTHER)
    git("switch", "-q", "main")
    commit(old=CLEAN)
    git("switch", "-q", "topic")
    assert shown("main") == [("mine.py", 3, "DET502")]
    assert shown("HEAD") == []


def test_a_folder_and_a_file_can_be_all_that_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    write("src/a.py", BENCHMARK)
    commit(b=BENCHMARK)
    write("src/a.py", BENCHMARK + OTHER)
    write("b.py", BENCHMARK + OTHER)
    assert shown("HEAD", "src") == [("src/a.py", 6, "DET502")]
    monkeypatch.chdir("src")
    assert shown("HEAD", ".") == [("a.py", 6, "DET502")]
    assert shown("HEAD", "../b.py") == [("../b.py", 6, "DET502")]
    assert shown("HEAD", str(Path.cwd())) == [(f"{Path.cwd().as_posix()}/a.py", 6, "DET502")]


def test_a_work_tree_beside_is_compared_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    commit(old=BENCHMARK)
    git("worktree", "add", "-q", "../beside")
    monkeypatch.chdir("../beside")
    write("old.py", BENCHMARK + OTHER)
    assert shown("main") == [("old.py", 6, "DET502")]


def test_variables_that_hooks_are_given_do_not_lead_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    commit(old=BENCHMARK)
    monkeypatch.setenv("GIT_DIR", "no/such/folder")
    monkeypatch.setenv("GIT_INDEX_FILE", "no/such/index")
    assert shown() == []


@pytest.mark.parametrize(
    ("revision", "complaint"),
    [
        ("nowhere", "git knows no revision 'nowhere' here; if it is elsewhere, `git fetch origin`"),
        ("", "git knows no revision ''"),
        ("HEAD..HEAD", "git knows no revision 'HEAD..HEAD'"),
        ("--output=marker", "'--output=marker' is no revision"),
    ],
)
def test_a_revision_that_is_none_is_one_line(revision: str, complaint: str) -> None:
    commit(old=BENCHMARK)
    result = detlint(f"--changed-since={revision}", ".")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert complaint in result.stderr
    assert not Path("marker").exists()


def test_a_shallow_clone_names_the_command_that_helps(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    commit(old=BENCHMARK)
    git("branch", "start")
    commit(old=CLEAN)
    git("clone", "-q", "--depth", "1", "--no-single-branch", repository.as_uri(), "../shallow")
    monkeypatch.chdir("../shallow")
    assert "`git fetch --unshallow origin`, this clone is shallow" in detlint("--changed-since", "HEAD~1", ".").stderr
    assert "run `git fetch --unshallow`" in detlint("--changed-since", "origin/start", ".").stderr


def test_a_partial_clone_names_the_command_that_helps_and_fetches_nothing(
    monkeypatch: pytest.MonkeyPatch, repository: Path
) -> None:
    commit(old=BENCHMARK)
    commit(old=CLEAN)
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "-q", "--filter=blob:none", repository.as_uri(), "../partial")
    monkeypatch.chdir("../partial")
    result = detlint("--changed-since", "HEAD~1", ".")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`git diff REV` fetches them" in result.stderr


def test_no_repository_and_no_git_are_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit(old=BENCHMARK)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = detlint("--changed-since", "HEAD", ".")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "git, which tells what changed, is not installed" in result.stderr
    monkeypatch.undo()
    result = detlint("--changed-since", "HEAD", str(tmp_path))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "not a git repository" in result.stderr


def test_nothing_that_the_repository_names_is_run_and_nothing_in_it_changes() -> None:
    marker = Path("marker").absolute()
    write(".gitattributes", "*.py filter=evil diff=evil\n")
    commit(old=BENCHMARK, gone=CLEAN)
    script = Path("evil.sh").absolute()
    script.write_text(f'#!/bin/sh\ntouch "{marker}"\ncat\n')
    script.chmod(0o755)
    hooks = Path(".git/hooks")
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).write_bytes(script.read_bytes())
        (hooks / name).chmod(0o755)
    for key in ("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"):
        git("config", key, str(script))
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "credential.helper"):
        git("config", key, str(script))
    Path("gone.py").unlink()
    write("new.py", BENCHMARK)
    os.utime("old.py", (1, 1))
    write("old.py", BENCHMARK + OTHER)
    before = {path: path.read_bytes() for path in sorted(Path(".git").rglob("*")) if path.is_file()}
    assert shown() == [("new.py", 3, "DET501"), ("old.py", 6, "DET502")]
    assert not marker.exists()
    assert {path: path.read_bytes() for path in sorted(Path(".git").rglob("*")) if path.is_file()} == before
    git("status")
    assert marker.exists(), "the trap does not work"


# Fixes


def test_only_what_is_shown_is_fixed() -> None:
    text = "import torch\n\nprint(torch.empty(2))\n"
    commit(old=text, new=CLEAN)
    write("new.py", text)
    result = detlint("--changed-since", "HEAD", "--fix", ".")
    assert result.exit_code == 0, result.stdout
    assert "zeros" in Path("new.py").read_text()
    assert Path("old.py").read_text() == text
    assert "detlint: 1 older finding is not shown" in result.stderr


def test_a_fix_in_an_old_file_does_not_bring_its_other_findings() -> None:
    train = "from helper import prepare\nfrom noise import noise\n\nprepare()\nprint(noise())\n"
    noise = "import torch\n\n\ndef noise():\n    return torch.rand(2) + torch.empty(2)\n"
    commit(helper=HELPER, train=train, noise=noise)
    write("helper.py", HELPER.replace("torch.manual_seed(0)", "pass"))
    assert shown() == [("noise.py", 5, "DET101")]
    detlint("--changed-since", "HEAD", "--fix", ".")
    assert "torch.manual_seed(0)" in Path("train.py").read_text()
    assert Path("noise.py").read_text() == noise

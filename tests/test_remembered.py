"""A run is said again where nothing has changed, and only there."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from detlint import catalogue, config
from detlint.cache import remembered
from detlint.cache.snapshot import Snapshot
from detlint.cli import cli
from detlint.rulebook import FOLDERS
from detlint.sources import source

BENCHMARK = "import torch\ntorch.backends.cudnn.benchmark = True\n"
QUIET = "import torch\ntorch.backends.cudnn.benchmark = None\n"
OPTIONS = ["--jobs", "1", "--select", "ALL", "--format", "json"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project in which no file is too new to be trusted."""
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.setattr("detlint.cache.snapshot._SETTLES", -(10**12))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    project = tmp_path / "around" / "project"
    for name, text in (("train.py", BENCHMARK), ("pkg/__init__.py", ""), ("pkg/model.py", BENCHMARK)):
        write(project / name, text)
    (project / "pyproject.toml").touch()
    write(project / ".git" / "config", "")
    write(project / "out" / "made.py", BENCHMARK)
    write(project / "made" / "by" / "other.py", BENCHMARK)
    write(project / "out" / ".gitignore", "")
    write(project / ".gitignore", "made*\n")
    write(project / "venv" / "other.py", BENCHMARK)
    (project / "link.py").symlink_to(project / "venv" / "other.py")
    monkeypatch.chdir(project)
    yield project


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(*arguments: str) -> Result:
    """A run of the command as it is typed."""
    given = [*OPTIONS, *arguments]
    result = CliRunner().invoke(cli, given, obj=tuple(given))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def again(*arguments: str) -> tuple[int, str, str] | None:
    """Status and streams of the same run said again; None where it cannot be."""
    with CliRunner().isolation() as (out, err, _):
        status = remembered.say_again([*OPTIONS, *arguments])
        return None if status is None else (status, out.getvalue().decode(), err.getvalue().decode())


def document(text: str) -> object:
    """A report without the time that it took."""
    content = json.loads(text)
    assert isinstance(content["summary"].pop("seconds"), float)
    return content


def is_known(*arguments: str) -> bool:
    return again(*arguments) is not None


# What is said


def test_the_same_is_said_again_with_the_same_status(root: Path) -> None:
    first, second = run(), again()
    assert second is not None
    assert (second[0], document(second[1]), second[2]) == (first.exit_code, document(first.stdout), first.stderr)
    assert first.exit_code == 1 and "DET501" in first.stdout


@pytest.mark.parametrize("format_", ["text", "sarif", "github", "gitlab", "rdjson"])
def test_each_format_is_said_to_the_letter(root: Path, format_: str) -> None:
    first = run("pkg", "--format", format_)
    assert again("pkg", "--format", format_) == (1, first.stdout, first.stderr)


def test_what_goes_to_the_person_is_said_again_too(root: Path) -> None:
    (root / "empty").mkdir()
    run()
    first = run("empty")
    assert first.stderr == "detlint: no Python files under empty\n"
    second = again("empty")
    assert second is not None and second[::2] == (0, first.stderr)


def test_a_link_to_itself_hides_no_change_beside_it(root: Path) -> None:
    (root / "pkg" / "ring").symlink_to("ring")
    run()
    assert is_known()
    write(root / "pkg" / "model.py", QUIET)
    assert not is_known()
    run()
    write(root / "pkg" / "new.py", BENCHMARK)
    assert not is_known()


@pytest.mark.parametrize("other", [["--exit-zero"], ["--ignore", "DET501"], ["train.py"], ["--no-cache"]])
def test_another_command_is_another_run(root: Path, other: list[str]) -> None:
    run()
    assert not is_known(*other)


@pytest.mark.parametrize(
    "arguments",
    [["--no-cache"], ["--diff"], ["--write-baseline", "--baseline", "b"], ["--output", "o"], ["--format", "junit"]],
)
def test_a_run_that_does_more_than_say_is_not_kept(root: Path, arguments: list[str]) -> None:
    run(*arguments)
    assert not is_known(*arguments)


def test_nothing_is_said_again_where_the_environment_forbids_a_cache(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.setenv("DETLINT_NO_CACHE", "1")
    assert not is_known()


def test_a_result_that_may_come_out_differently_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError("no memory now")

    monkeypatch.setattr("detlint.facts.collect.collect", exhausted)
    run()
    assert not is_known()


# What has changed


def rewrite(root: Path) -> None:
    """Another text of the same size and time."""
    path = root / "train.py"
    before = path.stat()
    path.write_text(QUIET)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def relink(root: Path) -> None:
    write(root / "venv" / "third.py", QUIET)
    (root / "link.py").unlink()
    (root / "link.py").symlink_to(root / "venv" / "third.py")


def replace(path: Path) -> None:
    """Another file with the same name, size and time."""
    before = path.stat()
    path.with_suffix(".new").write_text(QUIET)
    os.utime(path.with_suffix(".new"), ns=(before.st_atime_ns, before.st_mtime_ns))
    path.with_suffix(".new").replace(path)


@pytest.mark.parametrize(
    "change",
    [
        rewrite,
        relink,
        lambda root: replace(root / "train.py"),
        lambda root: write(root / "pkg" / "model.py", QUIET),
        lambda root: write(root / "venv" / "other.py", QUIET),  # what the link leads to
        lambda root: write(root / "new.py", ""),
        lambda root: write(root / "new.ipynb", "{}"),
        lambda root: write(root / "a" / "b" / "new.py", ""),
        lambda root: write(root / "__init__.py", ""),
        lambda root: write(root.parent / "__init__.py", ""),
        lambda root: write(root / "venv" / "torch.py", ""),  # which is not read, but an import finds it
        lambda root: (root / "train.py").unlink(),
        lambda root: (root / "link.py").unlink(),
        lambda root: (root / "pkg" / "model.py").rename(root / "pkg" / "other.py"),
        lambda root: (root / "pkg").rename(root / "package"),
        lambda root: write(root / "detlint.toml", "select = ['DET2']"),
        lambda root: write(root / "pyproject.toml", "[tool.detlint]\nselect = ['DET2']"),
        lambda root: write(root / "requirements.txt", "torch==2.0"),
        lambda root: write(root / "requirements" / "base.txt", "torch==2.0"),
        lambda root: write(root / "setup.cfg", "[options.entry_points]\nconsole_scripts = train = train:main"),
        lambda root: write(root / "setup.py", "setup()"),
        lambda root: write(root.parent / "pyproject.toml", ""),
        lambda root: (root.parent / ".git").mkdir(),
        lambda root: (root / ".git").rename(root / ".jj"),
        lambda root: write(root / ".gitignore", "train.py"),
        lambda root: write(root / "pkg" / ".gitignore", "model.py"),
        lambda root: write(root / "out" / ".gitignore", "!made.py"),
        lambda root: write(root.parent / ".gitignore", ""),
        lambda root: write(root / ".git" / "info" / "exclude", "pkg"),
        lambda root: write(root / "pkg" / ".git", "gitdir: nowhere"),
        lambda root: write(root / "out" / ".git" / "config", ""),
        lambda root: write(Path.home() / ".gitconfig", "[core]\nexcludesFile = ~/mine"),
        lambda root: write(Path.home() / ".config" / "git" / "ignore", "pkg"),
    ],
)
def test_what_changes_makes_a_new_run(root: Path, change: Callable[[Path], None]) -> None:
    run()
    assert is_known()
    change(root)
    assert not is_known()
    result = run()
    assert document(result.stdout) == document(run("--no-cache").stdout)
    assert is_known()


@pytest.mark.parametrize(
    "change",
    [
        lambda root: write(root / "log.txt", ""),
        lambda root: write(root / "README.md", ""),
        lambda root: write(root / "made" / "by" / "machine.py", BENCHMARK),
        lambda root: write(root / "pkg" / "__pycache__" / "model.cpython-311.pyc", ""),
        lambda root: write(root / ".git" / "index.lock", ""),
        lambda root: write(root / ".ruff_cache" / "content", ""),
        lambda root: write(root.parent / "elsewhere.py", ""),
    ],
)
def test_what_no_run_looks_at_may_change(root: Path, change: Callable[[Path], None]) -> None:
    run()
    change(root)
    assert is_known()


def test_a_change_in_the_tool_makes_a_new_run(root: Path) -> None:
    own, rules = Path(catalogue.__file__).parent, catalogue.folder()
    settings = config.of_run([Path()])
    assert settings.cache_dir is not None
    files = Snapshot([Path()], settings, settings.cache_dir, 0).files
    needed = [
        *own.rglob("*.py"),
        *rules.rglob("*.md"),
        *rules.rglob("*.toml"),
        rules,
        *(rules / name for name in FOLDERS),
    ]
    assert {str(path) for path in needed} <= files.keys()
    assert any(path.endswith("libcst/__init__.py") for path in files)


def test_folders_that_a_record_does_not_look_into_are_none_that_a_run_does() -> None:
    assert remembered.UNIMPORTABLE <= source.EXCLUDED
    assert not [name for name in remembered.UNIMPORTABLE - {"__pycache__"} if name.isidentifier()]


# Files that change while a run looks at them


def test_a_file_that_was_just_written_is_not_trusted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the granularity of its clock it may change again and keep its time."""
    monkeypatch.setattr("detlint.cache.snapshot._SETTLES", 10**15)
    run()
    assert not is_known()


def test_a_file_that_settles_during_the_run_is_trusted_if_its_content_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.of_run([Path()])
    assert settings.cache_dir is not None
    monkeypatch.setattr("detlint.cache.snapshot._SETTLES", 2 * 10**9)
    begun = max(path.stat().st_ctime_ns for path in (root, *root.rglob("*"))) + 10**9
    for text, known in ((BENCHMARK, True), (QUIET, False)):
        snapshot = Snapshot([Path()], settings, settings.cache_dir, begun)
        write(root / "train.py", text) if not known else None
        settings.cache_dir.mkdir(exist_ok=True)
        monkeypatch.setattr("detlint.cache.snapshot.time.time_ns", lambda: begun + 10**10)
        snapshot.keep(OPTIONS, remembered.Said("", "", 0), {})
        with CliRunner().isolation():
            assert (remembered.recall(OPTIONS) is not None) == known
        for path in remembered.records(str(settings.cache_dir)):
            Path(path).unlink()


@pytest.mark.parametrize("stage", ["detlint.engine.listed", "detlint.engine.choose"])
def test_a_file_that_is_edited_during_a_run_spoils_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    module, _, name = stage.rpartition(".")
    do = getattr(__import__(module, fromlist=[name]), name)

    def editing(*given: object) -> object:
        write(root / "train.py", QUIET)
        write(root / "new.py", BENCHMARK)
        return do(*given)

    with monkeypatch.context() as patch:
        patch.setattr(stage, editing)
        run()
    assert not is_known()


# Damage, and what others put there


def record(root: Path) -> Path:
    (path,) = remembered.records(str(root / ".detlint_cache"))
    return Path(path)


def signed(content: bytes) -> bytes:
    """A record that says it is whole."""
    return b"detlint run 1\n%08x\n" % zlib.crc32(content) + content


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content.replace(b"DET501", b"DET502"),
        lambda content: b"\0" * len(content),
        lambda content: signed(b""),
        lambda content: signed(b"1 2 3\nabcdef"),
        lambda content: signed(b"-1 -1 -1 -1 -1 -1 -1\n" + content),
        lambda content: signed(b"x y\n"),
        lambda content: signed(b"\xff" * 100),
    ],
)
def test_a_damaged_record_is_not_there_and_is_replaced(root: Path, damage: Callable[[bytes], bytes]) -> None:
    run()
    path = record(root)
    path.write_bytes(damage(path.read_bytes()))
    assert not is_known()
    run()
    assert is_known()


def test_a_record_that_came_with_a_copy_of_the_project_does_not_fit(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    moved = root.parent / "moved"
    root.rename(moved)
    root.mkdir()
    (moved / "link.py").unlink()
    for path in sorted(moved.rglob("*")):
        copy = root / path.relative_to(moved)
        copy.mkdir() if path.is_dir() else copy.write_bytes(path.read_bytes())
        os.utime(copy, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    monkeypatch.chdir(root)
    assert record(root).is_file()
    assert not is_known()


@pytest.mark.parametrize(
    "plant",
    [
        lambda path: path.mkdir(),
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to(path.parent / "cache.db"),
    ],
)
def test_what_is_no_plain_file_is_not_read(root: Path, plant: Callable[[Path], None]) -> None:
    run()
    path = record(root)
    path.unlink()
    plant(path)
    assert not is_known()
    run()


def test_what_cannot_be_written_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("detlint.cache.remembered.os.replace", full)
    assert run().exit_code == 1
    assert not remembered.records(str(root / ".detlint_cache"))


def test_there_are_only_so_many_records_and_they_go_with_the_cache(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detlint.cache.remembered._MOST", 2)
    for folder in ("a", "b", "c"):
        (root / folder).mkdir()
        run(folder)
    assert len(remembered.records(str(root / ".detlint_cache"))) == 2
    assert is_known("c")
    assert CliRunner().invoke(cli, ["cache", "clean"]).output.startswith("removed ")
    assert not (root / ".detlint_cache").exists()


def test_names_that_a_record_cannot_hold_are_no_failure(root: Path) -> None:
    write(root / "a\tb\nc.py", BENCHMARK)
    assert run().exit_code == 1
    assert not is_known()

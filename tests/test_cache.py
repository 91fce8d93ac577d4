"""The cache: it changes no answer, is found again only where it fits, and nothing in it can do harm."""

from __future__ import annotations

import json
import os
import pkgutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from packaging.version import Version

from detlint import catalogue, config, engine
from detlint.analyse import Collected, Source, analyse
from detlint.cache.cache import Cache, small
from detlint.cache.store import Store
from detlint.cli import cli
from detlint.config import Config
from detlint.finding import Finding
from detlint.output import json as json_format
from detlint.workspace import Workspace
from tests.examples import python
from tests.support import projects

TORCH = catalogue.load().newest_release()
CODES = frozenset(catalogue.load().rules)
LONG_AGO = 1_000_000_000  # seconds since 1970
BENCHMARK = "import torch\ntorch.backends.cudnn.benchmark = True\n"
QUIET = "import torch\ntorch.backends.cudnn.benchmark = None\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("DETLINT_NO_CACHE")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    write(tmp_path / "train.py", BENCHMARK)
    yield tmp_path


def write(path: Path, text: str, seconds: int = LONG_AGO) -> None:
    path.write_text(text)
    os.utime(path, (seconds, seconds))


def settings(root: Path, **changes: object) -> Config:
    return replace(config.for_paths([root]), **changes)  # type: ignore[arg-type]


def found(root: Path, torch: Version = TORCH, **changes: object) -> list[str]:
    report = engine.check_paths([Path()], settings(root, **changes), torch, jobs=1)
    return [judged.finding.code for judged in report.findings]


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that are analysed."""
    done: list[str] = []

    def noted(item: Source, codes: frozenset[str], torch: Version) -> Collected:
        done.append(item.path)
        return analyse(item, codes, torch)

    monkeypatch.setattr("detlint.gathering.analyse", noted)
    return done


# The same answers


def shown(paths: list[Path], settings: Config) -> str:
    report = replace(engine.check_paths(paths, settings, TORCH, jobs=1), seconds=0.0)
    return json_format.render(report, lambda path: Path(path).read_text())


@pytest.mark.slow
def test_a_run_with_a_cache_says_what_one_without_says(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, project in enumerate(projects()[::8]):
        for path, text in project.files.items():
            file = root / f"p{number}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    for page in catalogue.load().rules.values():
        (root / f"{page.code}.py").write_text("".join(fence.text for fence in python(page.page)[:1]))
    on = settings(root, select=("ALL",))
    bare = shown([Path()], replace(on, cache_dir=None))
    assert len(json.loads(bare)["findings"]) > 50
    assert shown([Path()], on) == bare  # what was put in
    assert shown([Path()], on) == bare  # the whole project
    monkeypatch.setattr(Cache, "answered", lambda *_: None)
    assert shown([Path()], on) == bare  # the files, linked again
    few = replace(on, select=("DET5", "DET101"), ignore=("DET501",))
    assert shown([Path()], few) == shown([Path()], replace(few, cache_dir=None))


def test_what_was_kept_of_a_file_is_that_of_another_of_its_name_and_content(root: Path, analysed: list[str]) -> None:
    (root / "a").mkdir()
    write(root / "a" / "train.py", BENCHMARK)
    report = engine.check_paths([Path("a")], settings(root), TORCH, jobs=1)
    report = engine.check_paths([Path()], settings(root), TORCH, jobs=1)
    assert analysed == ["a/train.py"]
    assert [judged.finding.place.path for judged in report.findings] == ["a/train.py", "train.py"]
    assert [edit.place.path for j in report.findings if j.finding.fix for edit in j.finding.fix.edits] == [
        "a/train.py", "train.py"
    ]  # fmt: skip


# When it is found again


def test_an_unchanged_project_is_neither_read_nor_analysed_again(root: Path, analysed: list[str]) -> None:
    assert found(root) == ["DET501"]
    (root / "train.py").chmod(0)  # a change of its status is one of the file: it would be read, if it could be
    assert found(root, select=("ALL",)) == ["DET501"] if os.geteuid() == 0 else ["DET000"]
    assert analysed == ["train.py"]


@pytest.mark.parametrize(
    "change",
    [
        lambda root: write(root / "train.py", QUIET),
        lambda root: write(root / "train.py", QUIET, LONG_AGO + 1),
        lambda root: (root / "train.py").rename(root / "test_train.py"),
        lambda root: (root / "__init__.py").touch(),
    ],
    ids=["content", "content and time", "name", "module"],
)
def test_what_changes_is_analysed_again(root: Path, analysed: list[str], change: Callable[[Path], None]) -> None:
    found(root)
    analysed.clear()
    change(root)
    found(root)
    assert analysed and "train.py" in analysed[-1]


def test_another_version_of_pytorch_is_another_analysis(root: Path, analysed: list[str]) -> None:
    found(root)
    found(root, Version("2.0"))
    assert analysed == ["train.py", "train.py"]


def test_another_detlint_is_another_analysis(root: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found(root)
    monkeypatch.setattr("detlint.cache.cache.tool", lambda: "another")
    found(root)
    assert analysed == ["train.py", "train.py"]


def test_a_file_that_was_just_written_is_read_again_whatever_its_time(root: Path) -> None:
    path = root / "train.py"
    path.write_text(BENCHMARK)
    before = path.stat()
    assert found(root) == ["DET501"]
    path.write_text(QUIET)
    os.utime(path, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found(root) == []


def test_a_file_with_an_unchanged_time_is_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detlint.cache.cache._SETTLES", -(10**12))  # nothing is too new to be trusted
    assert found(root) == ["DET501"]
    read = Path.read_bytes

    def others(path: Path) -> bytes:
        assert path.name != "train.py"
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", others)
    assert found(root) == ["DET501"]


def test_a_result_that_may_come_out_differently_is_not_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch, analysed: list[str]
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError("no memory now")

    with monkeypatch.context() as patch:
        patch.setattr("detlint.facts.collect.collect", exhausted)
        assert found(root) == ["DET000"]
    assert found(root) == ["DET501"]
    assert analysed == ["train.py", "train.py"]


@pytest.mark.parametrize(
    "stage", ["detlint.cache.cache.Cache.find", "detlint.gathering.analyse", "detlint.settling.answering.answer"]
)
def test_a_file_that_is_edited_during_a_run_spoils_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    """The second run knows the file by its time, and has to analyse it anew for another version."""
    monkeypatch.setattr("detlint.cache.cache._SETTLES", -(10**12))
    text, edited = "import torch\n\nprint(torch.rand(2))\n", "import os\nimport torch\n\ntorch.rand(2)\n"
    write(root / "train.py", text)
    old = Version("2.4")

    def said(**changes: object) -> list[Finding]:
        report = engine.check_paths([Path()], settings(root, **changes), old, jobs=1)
        return [judged.finding for judged in report.findings]

    assert found(root) == ["DET101"]
    module, _, name = stage.rpartition(".")
    do = getattr(pkgutil.resolve_name(module), name)

    def editing(*given: object, **named: object) -> object:
        (root / "train.py").write_text(edited)
        return do(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(stage, editing)
        said()
    assert said() == said(cache_dir=None)
    (root / "train.py").write_text(text)
    assert said() == said(cache_dir=None)


# Settings


def test_the_cache_lies_in_the_project_marked_as_one_and_is_removed_without_what_is_not_its_own(root: Path) -> None:
    assert CliRunner().invoke(cli, ["--jobs", "1"]).exit_code == 1
    folder = root / ".detlint_cache"
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    (folder / "notes.txt").touch()
    assert CliRunner().invoke(cli, ["cache", "clean"]).output.startswith("removed ")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert CliRunner().invoke(cli, ["cache", "clean"]).output == "there is no cache\n"


def test_a_folder_with_marks_of_its_own_keeps_them(root: Path) -> None:
    (root / "detlint.toml").write_text("cache-dir = '.'\n")
    (root / ".gitignore").write_text("*.pyc\n")
    assert CliRunner().invoke(cli, ["--jobs", "1"]).exit_code == 1
    assert CliRunner().invoke(cli, ["cache", "clean"]).output.startswith("removed ")
    assert (root / ".gitignore").read_text() == "*.pyc\n"
    assert not (root / "cache.db").exists()


@pytest.mark.parametrize("arguments", [["--no-cache"], ["entries", "--no-cache"]])
def test_a_run_without_a_cache_makes_none(root: Path, arguments: list[str]) -> None:
    assert CliRunner().invoke(cli, [*arguments, "--jobs", "1"]).exit_code in (0, 1)
    assert not (root / ".detlint_cache").exists()


def test_a_folder_that_no_project_marks_gets_no_cache(root: Path) -> None:
    (root / "pyproject.toml").unlink()
    assert config.for_paths([root / "train.py"]).cache_dir is None


def test_the_folder_may_be_set(root: Path) -> None:
    (root / "detlint.toml").write_text("cache-dir = 'build/caches'\n")
    assert found(root) == ["DET501"]
    assert (root / "build" / "caches" / "cache.db").is_file()


# Damage, and what others put there


def database(root: Path) -> Path:
    return root / ".detlint_cache" / "cache.db"


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"garbage" * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:5000]),
        lambda path: path.write_bytes(path.read_bytes()[:200] + b"\xff" * 8000 + path.read_bytes()[8200:]),
    ],
    ids=["empty", "garbage", "cut off", "overwritten"],
)
def test_a_damaged_cache_is_replaced(root: Path, analysed: list[str], damage: Callable[[Path], None]) -> None:
    found(root)
    damage(database(root))
    for _ in range(3):
        assert found(root) == ["DET501"]
    analysed.clear()
    assert found(root) == ["DET501"]
    assert analysed == []


def test_a_locked_cache_is_done_without(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(root)
    monkeypatch.setattr("detlint.cache.store._PATIENCE", 0.01)
    with sqlite3.connect(database(root)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert found(root) == ["DET501"]
    other.close()


def test_a_folder_that_cannot_be_written_is_done_without(root: Path) -> None:
    (root / ".detlint_cache").write_text("a file")
    assert found(root) == ["DET501"]


def test_a_link_and_the_database_of_another_program_are_left_alone(root: Path) -> None:
    other = root / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE results (key, day, value)")
    connection.close()
    content = other.read_bytes()
    (root / ".detlint_cache").mkdir()
    database(root).symlink_to(other)
    assert found(root) == ["DET501"]
    database(root).unlink()
    other.rename(database(root))
    assert found(root) == ["DET501"]
    assert database(root).read_bytes() == content


Document = list[Any]  # the texts, and the record


def planted(root: Path, change: Callable[[Document], object], statements: bool = False) -> None:
    """Change the documents in the cache, as somebody may who knows how they are written.

    Or else the `statements` of files' top levels, while nothing is known of the project, so that these are read.
    """
    with sqlite3.connect(database(root)) as connection:
        for key, value in connection.execute("SELECT key, value FROM results").fetchall():
            line, mark, body = zlib.decompress(value)[len(key) :].partition(b"\n")
            if statements and body:
                table, top, *rest = zlib.decompress(body).split(b"\n")
                new = change([json.loads(table), json.loads(top)])
                parts = new if isinstance(new, list) and len(new) == 2 else (new, None)
                body = zlib.compress(b"\n".join([*(json.dumps(part).encode() for part in parts), *rest]))
            elif line and not statements:
                line = json.dumps(change(json.loads(line))).encode()
            elif statements:
                connection.execute("DELETE FROM results WHERE key = ?", (key,))
            changed = zlib.compress(key + line + mark + body)
            connection.execute("UPDATE results SET value = ? WHERE key = ?", (changed, key))
    connection.close()


def misplaced(value: object) -> Callable[[Document], object]:
    """Each field is another value."""
    return lambda document: [document[0], [document[1][0], *[value] * (len(document[1]) - 1)]]


@pytest.mark.parametrize("statements", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        *map(misplaced, (None, 0, 10**30, -1, True, 1.5, "../../etc", [], [[[]]], {"a": 1}, ["a", "b"])),
        lambda document: [],
        lambda document: {},
        lambda document: None,
        lambda document: [0],
        lambda document: [[]],
        lambda document: document[:1],
        lambda document: [*document, 0],
        lambda document: [[], document[1]],
        lambda document: [[0] * len(document[0]), document[1]],
        lambda document: ["x" * len(document[0]), document[1]],
        lambda document: [document[0], ["detlint.cache.store.Store", "x"]],
        lambda document: [document[0], [99, *document[1][1:]]],
        lambda document: [document[0], [-1, *document[1][1:]]],
        lambda document: [document[0], document[1][:-1]],
        lambda document: [document[0], [*document[1], 0]],
        lambda document: [document[0], document[1][::-1]],
        lambda document: document[::-1],
    ],
)
def test_what_does_not_fit_is_not_there(
    root: Path, analysed: list[str], change: Callable[[Document], object], statements: bool
) -> None:
    write(root / "train.py", f"{BENCHMARK}torch.manual_seed(0)\n")
    found(root)
    planted(root, change, statements)
    analysed.clear()
    assert found(root) == ["DET501"]
    assert analysed == ["train.py"]


def nonsense(value: object) -> object:
    """A value of the same type that says something else."""
    if isinstance(value, list):
        return [nonsense(each) for each in value]
    if isinstance(value, str):
        return "nonsense"
    return value - 10**6 if type(value) is int else value


def lists(value: object) -> Iterator[list[object]]:
    """The lists within a document."""
    if isinstance(value, list):
        yield value
        for each in value:
            yield from lists(each)


@pytest.mark.slow
@pytest.mark.parametrize("statements", [False, True])
@pytest.mark.parametrize(
    "change",
    [nonsense, lambda value: [] if isinstance(value, list) else value, lambda value: 0 if value == 1 else value],
    ids=["", "empty", "zero"],
)
def test_nonsense_of_the_right_types_breaks_nothing(
    root: Path, change: Callable[[object], object], statements: bool
) -> None:
    write(root / "seeding.py", "def seed(f):\n    f()\n")
    write(root / "train.py", "import torch\nimport seeding\n\nseeding.seed(lambda: 0)\ntorch.rand(3)\n" + BENCHMARK)
    runs = [["--format", "json"], [], ["--diff"], ["entries"]]
    first = [CliRunner().invoke(cli, [*arguments, "--jobs", "1"]) for arguments in runs]
    kept = database(root).read_bytes()
    for row in range(0, 40, 5):

        def one(document: Document, number: int = row) -> object:
            for each in list(lists(document))[number : number + 1]:
                each[1:] = map(change, each[1:])
            return document

        planted(root, one, statements)
        for arguments in runs:
            result = CliRunner().invoke(cli, [*arguments, "--jobs", "1"])
            assert result.exit_code in (0, 1), result.exception
        database(root).write_bytes(kept)
    assert [result.exit_code for result in first] == [1, 1, 1, 0]


def test_functions_that_are_missing_from_the_cache_are_no_matter(root: Path) -> None:
    write(root / "train.py", "import torch\n\ndef seed():\n    torch.manual_seed(0)\n\nseed()\ntorch.rand(3)\n")
    cache = Cache(settings(root).cache_dir, TORCH)
    contents = cache.read([Source("train.py", "train")])
    collected = analyse(contents[0].item, CODES, TORCH)
    assert collected.facts is not None and collected.facts.functions
    cache.keep(contents[0], small(replace(collected, facts=replace(collected.facts, functions={}))))
    cache.flush()
    assert found(root) == []
    assert Workspace.of(root).report().findings == ()


def test_a_fix_in_the_cache_of_a_file_of_another_project_is_not_there(root: Path, analysed: list[str]) -> None:
    assert found(root) == ["DET501"]
    outside = root.parent / "outside.py"

    def change(document: Document) -> object:
        table, record = document
        for each in lists(record):
            each[:] = [len(table) if value is None else value for value in each]
        return [[*table, str(outside)], record]

    planted(root, change)
    analysed.clear()
    assert found(root) == ["DET501"]
    assert analysed == ["train.py"]


def test_nested_and_swollen_documents_are_not_there(
    root: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found(root)
    with sqlite3.connect(database(root)) as connection:
        rows = connection.execute("SELECT key, value FROM results").fetchall()
        swollen = {key: zlib.compress(zlib.decompress(value) + b" " * 100_000) for key, value in rows}
        connection.executemany("UPDATE results SET value = ? WHERE key = ?", ((v, k) for k, v in swollen.items()))
    connection.close()
    analysed.clear()
    assert found(root) == ["DET501"]
    assert analysed == []
    monkeypatch.setattr("detlint.cache.store._LONGEST", 50_000)
    assert found(root) == ["DET501"]
    assert analysed == ["train.py"]
    for value in (b"[" * 40_000, zlib.compress(b"[" * 40_000)):
        with sqlite3.connect(database(root)) as connection:
            connection.execute("UPDATE results SET value = ?", (value,))
        connection.close()
        analysed.clear()
        assert found(root) == ["DET501"]
        assert analysed == ["train.py"]


# Size


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "cache", limit=400_000)
    for day in range(12):
        monkeypatch.setattr("detlint.cache.store._today", lambda day=day: day)
        store.put({bytes([day]): os.urandom(60_000)})
        assert store.get([b"\0"]), "what is used stays"
        assert store.path.stat().st_size < 600_000
    assert set(store.get(bytes([day]) for day in range(12))) >= {b"\0", b"\x0b", b"\x0a"}
    assert not store.has([b"\1", b"\2"])

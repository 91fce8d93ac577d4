"""Inputs that nobody wishes for: each costs itself at most, with one clear line, wherever detlint runs."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint import catalogue, config, engine
from detlint.analyse import Source, undisturbed
from detlint.applying.writing import Files
from detlint.cli import cli
from detlint.config import Config
from detlint.finding import Finding
from detlint.output import formats
from detlint.workspace import Workspace

BENCHMARK = "import torch\ntorch.backends.cudnn.benchmark = True\n"
FIXED = BENCHMARK.replace("True", "False")
RELEASE = catalogue.load().newest_release()
TERMS = "+".join(["a"] * 10_000)
OLD = "print 'a'\n"  # Python 2, which only the slower parser is asked about


def on_one_line(text: str) -> bytes:
    return f"import torch; {text}; torch.backends.cudnn.benchmark = True\n".encode()


def notebook(*sources: object, **more: object) -> bytes:
    cells = [{"cell_type": "code", "metadata": {}, "source": each, "outputs": []} for each in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


READ = {  # what is read, with the one finding that is in it
    "a BOM": b"\xef\xbb\xbf" + BENCHMARK.encode(),
    "a BOM and a cookie": b"\xef\xbb\xbf# coding: utf-8\n" + BENCHMARK.encode(),
    "another encoding": "# coding: cp1252\nx = '€'\n".encode("cp1252") + BENCHMARK.encode(),
    "a cookie on the second line": b"#!/usr/bin/env python\n# coding: latin-1\nx = '\xe9'\n" + BENCHMARK.encode(),
    "CRLF": BENCHMARK.replace("\n", "\r\n").encode(),
    "lone CR": BENCHMARK.replace("\n", "\r").encode(),
    "all ends of lines": b"x = 1\r\ny = 2\rz = 3\n" + BENCHMARK.encode(),
    "form feeds": b"\f\nx = 1\n\f\n" + BENCHMARK.encode() + b"\f",
    "other ends of lines": "# a\u2028b\x0bc\x85d\n".encode() + BENCHMARK.encode(),
    "no newline": BENCHMARK.encode().rstrip(),
    "10 MB on one line": on_one_line(f"x = '{'a' * 10_000_000}'"),
    "a long line of other letters": on_one_line(f"x = [{chr(233)!r}{f', {chr(233)!r}' * 20_000}]"),
    "a comment of 1 MB": b"# " + b"noqa " * 200_000 + b"\n" + BENCHMARK.encode(),
    "100,000 blank lines": b"\n" * 100_000 + BENCHMARK.encode(),
    "1,000 comments that suppress": BENCHMARK.encode() + b"x = 1  # noqa: E501\n" * 1000,
    "1,000 classes in a row": BENCHMARK.encode() + b"".join(b"class A%d(A%d): pass\n" % (i + 1, i) for i in range(1000)),
    "1,000 alternatives": BENCHMARK.encode() + b"if x: pass\n" + b"elif x: pass\n" * 1000,
    "names of another form": "\ufb01 = \u210c = 1\n".encode() + BENCHMARK.encode(),
}  # fmt: skip
REFUSED = {  # what is not read, and why
    "Python 2": (OLD.encode(), "Missing parentheses in call to 'print'"),
    "Python 2 in another place": (b"x = 1\nif x <> 2: pass\n", "invalid syntax"),
    "no text": (bytes(range(128, 256)), "its encoding is broken"),
    "UTF-16": (BENCHMARK.encode("utf-16"), "its encoding is broken"),
    "UTF-16 with ASCII alone": (BENCHMARK.encode("utf-16-le"), "it contains NUL bytes"),
    "a cookie that lies": (b"# coding: utf-8\nx = '\xe9'\n", "its encoding is broken"),
    "a cookie of nothing": (b"# coding: nonsense\n", "its encoding is broken: unknown encoding"),
    "a cookie of no text": (b"# coding: rot13\n", "its encoding is broken"),
    "a BOM and another cookie": (b"\xef\xbb\xbf# coding: latin-1\n", "its encoding is broken"),
    "a NUL byte": (b"x = 1\0\n", "it contains NUL bytes"),
    "nothing but NUL bytes": (b"\0" * 1000, "it contains NUL bytes"),
    "10,000 terms": (f"x = {TERMS}\n".encode(), "it is nested too deeply"),
    "10,000 terms in Python 2": (f"{OLD}x = {TERMS}\n".encode(), "it is nested too deeply"),
    "10,000 terms in a string": (f"{OLD}x = f'{{{TERMS}}}'\n".encode(), "it is nested too deeply"),
    "2,000 brackets": (b"x = " + b"(" * 2000 + b")" * 2000, "it is nested too deeply"),
    "10,000 brackets in Python 2": (OLD.encode() + b"x = " + b"[" * 10_000 + b"]" * 10_000, "it is nested too deeply"),
    "10,000 lambdas in Python 2": (OLD.encode() + b"lambda: " * 10_000, "it is nested too deeply"),
    "10,000 calls in Python 2": (OLD.encode() + b"f" + b"()" * 10_000, "it is nested too deeply"),
    "10,000 alternatives in Python 2": (OLD.encode() + b"if x: pass\n" + b"elif x: pass\n" * 10_000, "it is nested too deeply"),
    "300 blocks": ("".join(f"{' ' * i}if x:\n" for i in range(300)).encode(), "indentation"),
    "6,000 contexts": (b"with " + b"a, " * 6000 + b"a: pass\n", "it is nested too deeply"),
    "brackets that close nothing": (b")" * 10_000, "unmatched ')'"),
    "a conflict of git": (b"<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> b\n", "invalid syntax"),
}  # fmt: skip
NOTEBOOKS = {  # what is in them is not read, and why
    "nothing": (b"", "it is not a notebook, its JSON is broken: Expecting value"),
    "half of one": (notebook(BENCHMARK)[:-20], "it is not a notebook, its JSON is broken"),
    "broken on its second line": (b'{"cells": [\n{]}', "it is not a notebook, its JSON is broken: Expecting property name"),
    "a conflict of git": (b"<<<<<<< HEAD\n{}", "it is not a notebook, its JSON is broken"),
    "JSON of another shape": (b'[{"cells": []}]', "it is not a notebook, its JSON is not an object"),
    "no cells": (b'{"nbformat": 4}', "it is not a notebook, it has no list of cells"),
    "cells that are none": (b'{"cells": {}}', "it is not a notebook, it has no list of cells"),
    "sheets that are none": (b'{"worksheets": [1, {"cells": 3}]}', "it is not a notebook, it has no list of cells"),
    "a cell that is none": (b'{"cells": [1]}', "the cell has no source"),
    "a source that is none": (notebook({"a": 1}), "the cell has no source"),
    "deep JSON": (b'{"cells": ' + b"[" * 100_000, "it is not a notebook, its JSON cannot be read"),
    "no JSON, though Python takes it": (b'{"cells": [NaN, ' + b"9" * 5000 + b"]}", "it is not a notebook, its JSON cannot be read"),
    "10,000 terms": (notebook(f"x = {TERMS}"), "it is nested too deeply"),
    "Python 2": (notebook(OLD), "Missing parentheses"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one good file, which has a finding that a fix takes away."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "z_train.py").write_text(BENCHMARK)
    return tmp_path


def detlint(*arguments: str) -> Result:
    with undisturbed():
        result = CliRunner().invoke(cli, [*arguments, "--jobs", "1"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(*arguments: str) -> list[tuple[str, str, str]]:
    """Path, code and message of each finding."""
    result = detlint(*arguments, "--format", "json")
    assert (result.exit_code, result.stderr) == (1, "")
    document = json.loads(result.stdout)
    assert document["errors"] == []
    return [(each["path"], each["code"], each["message"]) for each in document["findings"]]


GOOD = ("z_train.py", "DET501")


@pytest.mark.slow
@pytest.mark.parametrize("content", READ.values(), ids=READ)
def test_what_python_reads_is_read(content: bytes) -> None:
    Path("a.py").write_bytes(content)
    assert [each[:2] for each in found("--select", "DET0,DET5", ".")] == [("a.py", "DET501"), GOOD]
    lines = detlint("--select", "DET5", ".").stdout.splitlines()
    assert max(map(len, lines)) < 200, "a line is shown in part"
    assert detlint("--select", "DET501", "--fix", "--unsafe-fixes", ".").exit_code == 0
    benchmark = b".benchmark = "
    assert Path("a.py").read_bytes() == content.replace(benchmark + b"True", benchmark + b"False")


@pytest.mark.parametrize(("content", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_python_refuses_costs_its_file(content: bytes, reason: str) -> None:
    _costs_its_file("a.py", content, reason)


@pytest.mark.parametrize(("content", "reason"), NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_what_is_no_notebook_costs_its_file(content: bytes, reason: str) -> None:
    finding = _costs_its_file("a.ipynb", content, reason)
    if reason.startswith("it is not a notebook"):
        assert (finding.place.cell, finding.place.line) == (None, 2 if "property name" in reason else 1)


def _costs_its_file(name: str, content: bytes, reason: str) -> Finding:
    """A file has one finding that says why, where files are checked, fixed, and looked at by editors and flake8."""
    Path(name).write_bytes(content)
    broken, good = found(".")
    assert broken[:2] == (name, "DET000")
    assert reason in broken[2]
    assert good[:2] == GOOD
    assert "\n" not in broken[2]
    assert len(broken[2]) < 250
    result = detlint("--fix", "--unsafe-fixes", ".")
    assert result.exit_code == 1
    assert Path(name).read_bytes() == content
    assert Path("z_train.py").read_text() == FIXED
    assert [line for line in result.stderr.splitlines() if "fixed 1" not in line and GOOD[0] not in line] == []
    (judged,) = Workspace(Config(root=Path.cwd()), RELEASE).alone(name)
    assert judged.finding.code == "DET000"
    return judged.finding


@pytest.mark.parametrize("text", ["x = '\ud800'\n", "\0", f"{OLD}{TERMS}", "", "\ufeff" + BENCHMARK])
def test_what_an_editor_holds_is_read_or_refused(text: str) -> None:
    workspace = Workspace(Config(root=Path.cwd()), RELEASE)
    codes = [judged.finding.code for judged in workspace.alone("a.py", text)]
    assert codes == ([] if not text else ["DET501"] if "torch" in text else ["DET000"])


@pytest.mark.slow
def test_a_huge_notebook_is_read() -> None:
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["é" * 100 + "\n"] * 200_000}]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": outputs, "source": ["import torch\n", "x = 1"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": BENCHMARK},
    ]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, ensure_ascii=False)
    content = text.encode()
    assert len(content) > 20_000_000
    Path("a.ipynb").write_bytes(content)
    assert [each[:2] for each in found(".")] == [("a.ipynb", "DET501"), GOOD]
    assert detlint("--fix", "--unsafe-fixes", ".").exit_code == 0
    assert Path("a.ipynb").read_bytes() == content.replace(b"benchmark = True", b"benchmark = False")


def test_syntax_of_a_newer_python_is_read() -> None:
    """By the one parser or the other, whatever Python this is."""
    newer = "type X[T] = list[T]\nx = f'{a['b']}'\ntry: x\nexcept* A: y\ndef f[*T](*a: *T): pass\n"
    Path("a.py").write_text(newer + BENCHMARK)
    assert [each[:2] for each in found(".")] == [("a.py", "DET501"), GOOD]


def test_empty_files_have_nothing() -> None:
    for name, content in (
        ("a.py", b""),
        ("b.py", b"\n"),
        ("c.py", b"\xef\xbb\xbf"),
        ("d.py", b" \t\f"),
        ("e.py", b"#"),
    ):
        Path(name).write_bytes(content)
    assert [each[:2] for each in found(".")] == [GOOD]


# What is no file


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


ODD: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe": (_pipe, "it is no regular file"),
    "a socket": (_socket, "it is no regular file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is no regular file"),
    "a terminal": (lambda path: path.symlink_to("/dev/tty"), "it is no regular file"),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize(("make", "reason"), ODD.values(), ids=ODD)
def test_what_may_never_end_is_passed_over_and_refused_where_it_is_named(
    make: Callable[[Path], None], reason: str
) -> None:
    make(Path("a.py"))
    assert [each[:2] for each in found(".")] == [GOOD]
    (broken,) = found("a.py")
    assert broken == ("a.py", "DET000", f"not analysed: {reason}")
    assert detlint("--fix", "a.py").exit_code == 1


def test_folders_that_are_called_like_files_are_folders() -> None:
    Path("x.py").mkdir()
    Path("x.py/inner.py").write_text(BENCHMARK)
    Path("y.ipynb").mkdir()
    assert [each[:2] for each in found("x.py", "y.ipynb")] == [("x.py/inner.py", "DET501")]
    assert [each[:2] for each in found(".")] == [("x.py/inner.py", "DET501"), GOOD]


def test_links_in_circles_are_passed_over() -> None:
    Path("a.py").symlink_to("b.py")
    Path("b.py").symlink_to("a.py")
    Path("here").symlink_to(".")
    Path("ring").symlink_to("ring")
    assert [each[:2] for each in found(".")] == [GOOD]
    result = detlint("a.py")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


def test_links_to_folders_elsewhere_are_named_and_not_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "code.py").write_text(BENCHMARK)
    (elsewhere / "data").mkdir()
    Path("src").mkdir()
    Path("src/lib").symlink_to(elsewhere)
    Path("src/data").symlink_to(elsewhere / "data")
    Path("again").symlink_to("src")
    for options in ([], ["--format", "json"], ["--fix"]):
        result = detlint(*options, ".")
        assert "detlint: linked folders are not read unless they are named: src/lib\n" in result.stderr
        assert "lib/code.py" not in result.stdout
    assert detlint("src/lib").exit_code == 1


def test_a_folder_that_cannot_be_listed_is_an_error_and_no_stop(project: Path) -> None:
    """One whose path is longer than the system takes, which not even root can list."""
    here = os.getcwd()  # noqa: PTH109
    try:
        for _ in range(20):
            os.mkdir("d" * 250)  # noqa: PTH102
            os.chdir("d" * 250)
    except OSError:
        pytest.skip("this system makes no such folders")
    finally:
        os.chdir(here)
    result = detlint("--format", "json", ".")
    document = json.loads(result.stdout)
    (error,) = document["errors"]
    assert error.endswith(": not read: File name too long")
    assert result.stderr == f"detlint: {error}\n"
    assert [each["path"] for each in document["findings"]] == ["z_train.py"]
    assert result.exit_code == 1
    assert error in detlint("--fix", ".").stderr
    assert error in detlint("entries", ".").stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only some file systems take any bytes as a name")
@pytest.mark.parametrize("format_", formats.NAMES)
def test_names_that_are_no_text_are_shown_in_every_format(format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DETLINT_NO_CACHE")
    for name, text in ((b"caf\xe9.py", BENCHMARK), (b"bad\xff.py", "x = ("), (b"book\xe9.ipynb", "")):
        Path(os.fsdecode(name)).write_text(text)
    texts = set()
    for _ in range(2):
        result = detlint("--format", format_, ".")
        assert (result.exit_code, result.stderr) == (1, "")
        assert "caf\\udce9.py" in result.stdout or "caf%E9.py" in result.stdout
        texts.add("".join(line for line in result.stdout.splitlines() if "seconds" not in line and "time=" not in line))
    assert len(texts) == 1, "what the cache has is the same"
    if format_ in ("json", "sarif", "gitlab"):
        json.loads(result.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only some file systems take any bytes as a name")
def test_names_that_are_no_text_are_printed_and_fixed() -> None:
    Path(os.fsdecode(b"caf\xe9.py")).write_text(BENCHMARK)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-m", "detlint", "--fix", "--unsafe-fixes", "."]
    done = subprocess.run(command, capture_output=True, env=environment)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, b"Nothing found in 2 files (0 entry points).")
    assert b"detlint: caf\\udce9.py:2:1: DET501 fixed: Set it to False\n" in done.stderr
    assert Path(os.fsdecode(b"caf\xe9.py")).read_text() == FIXED


# What changes meanwhile


@pytest.mark.parametrize("format_", formats.NAMES)
@pytest.mark.parametrize("after", [None, b"", b"\xff", b"x", BENCHMARK.encode() * 2])
def test_files_that_change_or_vanish_after_they_were_read_are_shown(after: bytes | None, format_: str) -> None:
    Path("b.ipynb").write_bytes(notebook("import torch", "x = torch.empty(2) + 1"))
    report = engine.check_paths([Path()], Config(select=("ALL",)), RELEASE, jobs=1)
    assert [judged.finding.place.path for judged in report.findings] == ["b.ipynb", "z_train.py"]
    for path in (Path("b.ipynb"), Path("z_train.py")):
        path.unlink() if after is None else path.write_bytes(after)
    text = formats.render(format_, report, config.for_paths([Path()]))
    assert "z_train.py" in text
    assert "b.ipynb" in text


@pytest.mark.parametrize("after", [None, b"", BENCHMARK.encode() * 2])
def test_a_file_that_changes_while_it_is_fixed_is_left(after: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Files.write
    path = Path("z_train.py")

    def late(files: Files, changes: Any) -> dict[str, str]:
        path.unlink() if after is None else path.write_bytes(after)
        return write(files, changes)

    monkeypatch.setattr(Files, "write", late)
    result = detlint("--fix", "--unsafe-fixes", ".")
    assert result.exit_code == 2
    assert "z_train.py: not fixed" in result.stderr
    assert (path.read_bytes() if path.exists() else None) == after


def test_a_file_that_vanishes_before_it_is_read_is_a_finding() -> None:
    found = engine.check_sources([Source("gone.py", "gone")], Config(), RELEASE).findings
    assert [judged.finding.message for judged in found] == ["not analysed: No such file or directory"]

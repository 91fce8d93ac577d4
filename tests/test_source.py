"""Text in: which files are read, how their bytes decode, what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from detlint.sources import source


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def found(root: Path, *exclude: str) -> list[str]:
    return [path.relative_to(root).as_posix() for path in source.discover([root], exclude)]


def test_python_files_are_found_sorted_and_other_files_are_not(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a.txt", "c.pyc", "d.pyi", "py")
    assert found(tmp_path) == ["a/b/c.py", "a/z.py", "b.py"]


def test_a_named_file_is_read_whatever_its_name(tmp_path: Path) -> None:
    make(tmp_path, "tool", ".venv/x.py")
    assert list(source.discover([tmp_path / "tool", tmp_path / ".venv" / "x.py"])) == [
        tmp_path / "tool",
        tmp_path / ".venv" / "x.py",
    ]


def test_folders_of_tools_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "keep/a.py", *(f"{folder}/a.py" for folder in source.EXCLUDED - {"dist"}))
    assert found(tmp_path) == ["keep/a.py"]


def test_a_folder_of_what_is_built_is_left_out_and_a_package_of_its_name_is_not(tmp_path: Path) -> None:
    make(tmp_path, "dist/tool-1.0/setup.py", "tool/dist/__init__.py", "tool/dist/ranks/a.py")
    assert found(tmp_path) == ["tool/dist/__init__.py", "tool/dist/ranks/a.py"]
    assert source.is_discovered(tmp_path / "tool/dist/ranks/b.py", tmp_path)
    assert not source.is_discovered(tmp_path / "dist/tool-1.0/a.py", tmp_path)


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("tests", ["src/a.py", "src/gen/b.py"]),
        ("tests/*", ["src/a.py", "src/gen/b.py"]),
        ("src/gen", ["src/a.py", "tests/c.py"]),
        ("*/gen/*", ["src/a.py", "tests/c.py"]),
        ("b.py", ["src/a.py", "tests/c.py"]),
        ("nothing", ["src/a.py", "src/gen/b.py", "tests/c.py"]),
    ],
)
def test_patterns_exclude_by_name_and_by_path(tmp_path: Path, pattern: str, left: list[str]) -> None:
    make(tmp_path, "src/a.py", "src/gen/b.py", "tests/c.py")
    assert found(tmp_path, pattern) == left


def test_links_to_nowhere_and_in_circles_are_no_trouble(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert found(tmp_path) == ["a.py"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("é\n".encode(), "é\n"),
        ("é\r\n".encode("utf-8-sig"), "é\r\n"),
        ("# -*- coding: latin-1 -*-\n# é\n".encode("latin-1"), "# -*- coding: latin-1 -*-\n# é\n"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n# €\n".encode("cp1252"), None),
        (b"", ""),
    ],
)
def test_bytes_decode_as_python_reads_them(content: bytes, text: str | None) -> None:
    assert source.decode(content) == (content.decode("cp1252") if text is None else text)


def test_a_folder_or_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone.py"):
        with pytest.raises(source.UnreadableError):
            source.read(path)


def test_module_names_follow_the_packages(tmp_path: Path) -> None:
    make(tmp_path, "lib/pkg/__init__.py", "lib/pkg/sub/__init__.py", "lib/pkg/sub/m.py", "lib/script.py")
    names = {
        "lib/pkg/sub/m.py": "pkg.sub.m",
        "lib/pkg/sub/__init__.py": "pkg.sub",
        "lib/pkg/__init__.py": "pkg",
        "lib/script.py": "script",
    }
    for path, name in names.items():
        assert source.module_name(tmp_path / path) == name


def test_neighbours_are_what_an_import_finds(tmp_path: Path) -> None:
    make(tmp_path, "train.py", "utils/seed.py", "pkg/__init__.py", "pkg/model.py")
    (tmp_path / "ring").symlink_to("ring")

    def near(path: str) -> set[str]:
        return {Path(found).relative_to(tmp_path).as_posix() for found in source.neighbours([tmp_path / path])}

    assert near("train.py") == {"train.py", "utils/seed.py", "pkg/__init__.py", "pkg/model.py"}
    assert near("pkg/model.py") == {"train.py", "utils/seed.py", "pkg/__init__.py", "pkg/model.py"}

"""Fixed files on disk: their bytes, modes and links; what is not written, and what is said of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from detlint.applying import fixer
from detlint.applying.fixer import Change
from detlint.applying.writing import Files
from detlint.finding import Edit, Finding, Fix, Import, Place, Safety
from detlint.sources.source import UnreadableError

BYTES = {
    "LF": b"f(a)\ng(b)\n",
    "CRLF": b"f(a)\r\ng(b)\r\n",
    "CR": b"f(a)\rg(b)\r",
    "mixed": b"f(a)\r\ng(b)\n\rh(c)",
    "UTF-8": "f(a) # é 😀 \u2028 \x0b\x1c\x85\n".encode(),
    "a BOM": b"\xef\xbb\xbff(a) # \xc3\xa9\r\n",
    "a BOM and its encoding": b"\xef\xbb\xbf# coding: utf-8\nf(a)\n",
    "Latin-1": b"# coding: latin-1\nf(a) # \xe9\xff\n",
    "a Windows code page": b"#!x\n# -*- coding: cp1252 -*-\r\nf(a) # \x80\r\n",
    "GBK": "# coding: gbk\nf(a) # 你好\n".encode("gbk"),
    "tabs and form feeds": b"\x0c\tf(a)\t\n",
    "nothing at the end": b"f(a)",
}


@pytest.mark.parametrize("content", BYTES.values(), ids=BYTES)
def test_all_other_bytes_are_kept(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(content)
    files = Files()
    text = files.read(str(path))
    assert files.write([Change(str(path), text, text.replace("f(a)", "f(x)"))]) == {}
    assert path.read_bytes() == content.replace(b"f(a)", b"f(x)")
    assert [child.name for child in tmp_path.iterdir()] == ["a.py"]


def test_a_fix_with_its_import_keeps_the_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"#!x\r\n# coding: latin-1\r\nf(a) # \xe9\r\n")
    files = Files()
    edit = Edit(Place(str(path), 3, 3, 3, 4), "x")
    fix = Fix("Mend it", Safety.SAFE, (edit,), (Import(str(path), "rt", "x"),))
    text = files.read(str(path))
    texts = fixer.apply([Finding("DET900", edit.place, "wrong", fix=fix)], files.read).texts
    assert files.write([Change(str(path), text, texts[str(path)])]) == {}
    assert path.read_bytes() == b"#!x\r\n# coding: latin-1\r\nfrom rt import x\r\n\r\nf(x) # \xe9\r\n"


def written(path: Path, new: str = "f(b)\n") -> list[str]:
    files = Files()
    return list(files.write([Change(str(path), files.read(str(path)), new)]).values())


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_the_mode_is_kept(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("f(a)\n")
    path.chmod(mode)
    assert written(path) == []
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "src" / "a.py", tmp_path / "a.py"
    target.parent.mkdir()
    target.write_text("f(a)\n")
    link.symlink_to(Path("src") / "a.py")
    assert written(link) == []
    assert link.is_symlink() and target.read_text() == "f(b)\n"


def test_a_file_that_changed_meanwhile_is_not_written_and_the_others_are(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for path in paths:
        path.write_text("f(a)\n")
    files = Files()
    changes = [Change(str(path), files.read(str(path)), "f(b)\n") for path in paths]
    paths[0].write_text("f(c)\n")
    paths[1].unlink()
    errors = files.write(changes)
    assert list(errors.values()) == [
        f"{paths[0]}: not fixed, it changed while detlint ran; run it again",
        f"{paths[1]}: not fixed, it cannot be written: No such file or directory",
    ]
    assert (paths[0].read_text(), paths[2].read_text()) == ("f(c)\n", "f(b)\n")
    assert sorted(child.name for child in tmp_path.iterdir()) == ["a.py", "c.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_what_is_read_only_is_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    inside, beside = folder / "a.py", tmp_path / "a.py"
    for path in (inside, beside):
        path.write_text("f(a)\n")
    folder.chmod(0o500)
    beside.chmod(0o400)
    try:
        assert written(inside) == [f"{inside}: not fixed, it cannot be written: Permission denied"]
        assert written(beside) == [f"{beside}: not fixed, it is read-only"]
    finally:
        folder.chmod(0o700)


def test_a_new_file_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "rt.py"
    assert Files().write([Change(str(path), None, "# é\n")]) == {}
    assert path.read_bytes() == "# é\n".encode()
    assert path.stat().st_mode & 0o444
    assert list(Files().write([Change(str(path), None, "")]).values()) == [
        f"{path}: not made, there is such a file already; move it away"
    ]
    (error,) = Files().write([Change(str(tmp_path / "no" / "rt.py"), None, "")]).values()
    assert error.endswith("not made, it cannot be written: No such file or directory")


def test_what_its_encoding_cannot_hold_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: latin-1\nf(a)\n")
    assert written(path, "# coding: latin-1\nf('\u20ac')\n") == [
        f"{path}: not fixed, its encoding cannot hold the fixed text"
    ]
    assert written(path, "# coding: utf-8\nf('\u00e9')\n") == [
        f"{path}: not fixed, its encoding cannot hold the fixed text"
    ]
    assert path.read_bytes() == b"# coding: latin-1\nf(a)\n"


def test_what_would_not_be_written_as_it_is_read_is_not_fixed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: utf-7\nx = '+AGE-'\n")
    with pytest.raises(UnreadableError, match="several ways"):
        Files().read(str(path))
    with pytest.raises(UnreadableError, match="No such file"):
        Files().read(str(tmp_path / "b.py"))

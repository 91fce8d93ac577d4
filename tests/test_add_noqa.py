"""`--add-noqa`: comments put at what is found, and nothing else changed."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from detlint.cli import cli

SWITCH = "torch.backends.cudnn.benchmark = True"
WHERE = {  # a text, and what it becomes
    "no-comment": (f"import torch\n{SWITCH}\n", f"import torch\n{SWITCH}  # noqa: DET501\n"),
    "no-newline": (f"import torch\n{SWITCH}", f"import torch\n{SWITCH}  # noqa: DET501"),
    "spaces": (f"import torch\n{SWITCH}  \t\n", f"import torch\n{SWITCH}  # noqa: DET501\n"),
    "crlf": (f"import torch\r\n{SWITCH}\r\nx = 1\r\n", f"import torch\r\n{SWITCH}  # noqa: DET501\r\nx = 1\r\n"),
    "cr": (f"import torch\r{SWITCH}\rx = 1\r", f"import torch\r{SWITCH}  # noqa: DET501\rx = 1\r"),
    "comment": (f"import torch\n{SWITCH}  # fast\n", f"import torch\n{SWITCH}  # fast  # noqa: DET501\n"),
    "type": (f"import torch\n{SWITCH} # type: ignore\n", f"import torch\n{SWITCH} # type: ignore  # noqa: DET501\n"),
    "codes": (f"import torch\n{SWITCH}  # noqa: E501\n", f"import torch\n{SWITCH}  # noqa: E501, DET501\n"),
    "reason": (
        f"import torch\n{SWITCH}  # noqa:E501,F401 - long (as it is)\n",
        f"import torch\n{SWITCH}  # noqa:E501,F401, DET501 - long (as it is)\n",
    ),
    "string": (
        'import os\nprint(os.urandom(4).hex(),\n """\n# no comment\n""")\nimport random\nrandom.seed(os.urandom(4) + b"""\n""")\n',
        'import os\nprint(os.urandom(4).hex(),\n """\n# no comment\n""")\nimport random\nrandom.seed(os.urandom(4) + b"""\n""")  # noqa: DET105\n',
    ),
    "backslash": (
        "import torch\nx = \\\n  torch.empty(3) \\\n  + 1\nprint(x)\n",
        "import torch\nx = \\\n  torch.empty(3) \\\n  + 1  # noqa: DET401\nprint(x)\n",
    ),
    "several-lines": (
        "import torch\nx = f(\n    torch.empty(\n        3,\n    ) + 1,\n)\n",
        "import torch\nx = f(\n    torch.empty(  # noqa: DET401\n        3,\n    ) + 1,\n)\n",
    ),
    "two-rules": (
        "import torch\ntorch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = False\n"
        "torch.backends.cudnn.benchmark = True; torch.backends.cudnn.deterministic = False\n",
        "import torch\ntorch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = False  # noqa: DET502\n"
        "torch.backends.cudnn.benchmark = True; torch.backends.cudnn.deterministic = False  # noqa: DET501, DET502\n",
    ),
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that is the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def detlint(*arguments: str, text: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(cli, list(arguments), input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize("name", WHERE)
def test_a_comment_is_put_where_it_suppresses(name: str) -> None:
    before, after = WHERE[name]
    path = Path("a.py")
    path.write_bytes(before.encode())
    found = len(json.loads(detlint("--format", "json").stdout)["findings"])
    result = detlint("--add-noqa")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == f"detlint: suppressed {found} finding{'s' * (found > 1)} in 1 file\n"
    assert path.read_bytes().decode() == after
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))
    assert json.loads(detlint("--format", "json").stdout)["findings"] == []
    again = detlint("--add-noqa")
    assert (again.exit_code, again.stderr) == (0, "detlint: suppressed 0 findings in 0 files\n")
    assert path.read_bytes().decode() == after


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_an_encoding_stays(encoding: str) -> None:
    before = f"# coding: {encoding.removesuffix('-sig')}\nimport torch\nx = 'é'; {SWITCH}\n"
    path = Path("a.py")
    path.write_bytes(before.encode(encoding))
    assert detlint("--add-noqa").exit_code == 0
    assert path.read_bytes().decode(encoding) == f"{before[:-1]}  # noqa: DET501\n"
    assert path.read_bytes().startswith(before.encode(encoding)[:-1])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no comment can stand in an f-string before")
def test_no_comment_is_put_into_an_f_string() -> None:
    Path("a.py").write_text('import torch\nprint(f"""{\n  torch.empty(3)\n}""")\n')
    assert detlint("--add-noqa").exit_code == 0
    assert Path("a.py").read_text() == 'import torch\nprint(f"""{\n  torch.empty(3)\n}""")  # noqa: DET401\n'


def test_a_cell_of_a_notebook_and_what_follows_a_magic() -> None:
    sources = ["import torch\n", f"x = 1\n{SWITCH}", "%time print(torch.empty(3))\n", "!ls\n"]
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
        for text in sources
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = Path("n.ipynb")
    path.write_text(json.dumps(notebook, indent=1))
    assert detlint("--add-noqa", "--select", "DET501,DET401").exit_code == 0
    now = json.loads(path.read_text())
    assert [each["source"] for each in now["cells"]] == [
        sources[0],
        f"x = 1\n{SWITCH}  # noqa: DET501",
        "%time print(torch.empty(3))  # noqa: DET401\n",
        sources[3],
    ]
    assert json.loads(detlint("--format", "json", "--select", "DET501,DET401").stdout)["findings"] == []


def test_only_what_is_shown_gets_comments() -> None:
    text = f"import torch\n{SWITCH}\ntorch.backends.cudnn.deterministic = False\n"
    Path("a.py").write_text(text)
    Path("b.py").write_text(text)
    assert detlint("--add-noqa", "--severity", "warning", "--context", ".", "a.py").exit_code == 0
    assert Path("a.py").read_text() == text.replace(SWITCH, f"{SWITCH}  # noqa: DET501")
    assert Path("b.py").read_text() == text


def test_what_cannot_be_suppressed_is_told() -> None:
    Path("broken.py").write_text("x = (\n")
    Path("unused.py").write_text("x = 1  # noqa: DET501\n")
    result = detlint("--add-noqa")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "detlint: broken.py:1:5: DET000 not suppressed: a file that is not read cannot say so",
        "detlint: unused.py:1:16: DET001 not suppressed: `detlint --fix` takes the comment out",
        "detlint: suppressed 0 findings in 0 files",
    ]
    assert Path("broken.py").read_text() == "x = (\n"
    assert Path("unused.py").read_text() == "x = 1  # noqa: DET501\n"


def test_a_file_that_cannot_be_written_is_told() -> None:
    Path("a.py").write_text(f"import torch\n{SWITCH}\n")
    Path("b.py").hardlink_to("a.py")
    result = detlint("--add-noqa", "-q")
    assert result.exit_code == 2
    assert "a.py: not fixed, it has another name" in result.stderr
    assert Path("a.py").read_text() == f"import torch\n{SWITCH}\n"


def test_a_text_from_standard_input_gets_its_comments_on_standard_output() -> None:
    text = f"import torch\r\n{SWITCH}\r\n".encode()
    result = detlint("-", "--add-noqa", "--stdin-filename", "a.py", text=text)
    assert (result.exit_code, result.stdout_bytes) == (0, text[:-2] + b"  # noqa: DET501\r\n")
    assert not Path("a.py").exists()
    assert detlint("-", "--add-noqa", text="x = 1\n").stdout == "x = 1\n"

"""IPython's additions are masked, Python is left as it is, and every line stays a line."""

from __future__ import annotations

import pytest

from detlint.reading.cst_tree import parse
from detlint.sources.magics import LINES, mask


def masked(cell: str) -> str | None:
    """The cell as Python, which parses and has a line for each line of the cell."""
    lines = mask(cell)
    if lines is None:
        return None
    text = "".join(line.text for line in lines)
    parse(text + "\n")
    assert len(lines) == len(LINES.findall(cell))
    assert len(LINES.findall(text if not lines or lines[-1].text else text + "\n")) == len(lines)
    return text


@pytest.mark.parametrize(
    "line",
    [
        "%matplotlib inline", "%load_ext autoreload", "%cd 'it", "%pip install 'x[y'", "%time", "%timeit -n", "%env",
        "%env X", "%run", "%run -m package", "%run 1-intro.ipynb", "%run $script.py", "!ls", "! ls -l | grep '(' ", "!!ls", "!{sys.executable} -m pip",
        "?print", "??print", "print?", "print??", "torch.nn.Linear?  ", "torch.*rand*?", "x[0].f?", "%timeit?", "%%time?",
        ",f a b", ";f a b", "/f 1 2",
    ],
)  # fmt: skip
def test_a_line_that_is_no_python_becomes_pass(line: str) -> None:
    assert masked(f"x = 1\n{line}\ny = 2\n") == "x = 1\npass\ny = 2\n"
    assert masked(f"x = 1\r\n{line}") == "x = 1\r\npass"
    assert masked(f"if x:\n    {line}\nelse:\n\t{line}\n") == "if x:\n    pass\nelse:\n\tpass\n"


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("x = !ls", "x = get_ipython()"),
        ("x=!ls '", "x=get_ipython()"),
        ("x = %who_ls", "x = get_ipython()"),
        ("a, *b = !ls", "a, *b = get_ipython()"),
        ("x.y['=!'] = !ls", "x.y['=!'] = get_ipython()"),
        ("x: list = !ls", "x: list = get_ipython()"),
        ("%env A=1", "import os; os.environ['A'] = '1'"),
        ("%env A 1 2", "import os; os.environ['A'] = '1 2'"),
        ("%set_env A = 'b'", "import os; os.environ['A'] = \"'b'\""),
        ("%env A=$HOME", "import os; os.environ['A'] = get_ipython()"),
        ("%run seeds.py", "from seeds import *"),
        ("%run -i ./tools/seeds.py --seed 1", "from tools.seeds import *"),
        ("%run '../setup.ipynb'", "from setup import *"),
        ('get_ipython().run_line_magic("matplotlib", " inline")', "pass"),
        ('get_ipython().run_line_magic("run", " seeds.py")', "from seeds import *"),
        ("get_ipython().run_line_magic('env', 'A=1 \\\\ \\'2\\'')", "import os; os.environ['A'] = \"1 \\\\ '2'\""),
        ('get_ipython().run_line_magic("time", " seed_all(0)")', "seed_all(0)"),
    ],
)
def test_a_magic_that_means_something_stays(line: str, python: str) -> None:
    assert masked(f"{line}\ny = 2\n") == f"{python}\ny = 2\n"
    assert masked(f"for i in x:\n  {line}\ny = 2\n") == f"for i in x:\n  {python}\ny = 2\n"


@pytest.mark.parametrize(
    ("magic", "statement"),
    [
        ("%time ", "x = f(a)"),
        ("%timeit ", "f(a)"),
        ("%timeit -n 10 -r3 -o ", "f(a)"),
        ("%prun -q ", "f(a)"),
        ("%memit\t", "f(a)"),
        ("%time ", "x = (1,\n 2)"),
    ],
)
def test_a_statement_behind_a_magic_is_kept_with_its_columns(magic: str, statement: str) -> None:
    lines = mask(f"if y:\n    {magic}{statement}\nz\n")
    assert lines is not None
    assert "".join(line.text for line in lines) == f"if y:\n    {statement}\nz\n"
    assert [line.shift for line in lines] == [0, len(magic), *[0] * (len(lines) - 2)]


@pytest.mark.parametrize(
    "text",
    [
        "x = '''\n!ls\n%cd x\ny?\n'''\n",
        'x = """ \\""" \n!ls"""\n',
        "f(\n    a\n    % b,\n    {'(': ')'},\n    x\n    %y\n)\n",
        "x = a \\\n  % b\n",
        "x = 'a\\\n!b'\n",
        "# is it?\nx = y  # y?\n",
        "x = 'why?'\n",
        'x = "a=%d" % 3\n',
        'get_ipython().run_line_magic("time", "f()"); g("x")\n',
        'x = get_ipython().run_line_magic("who_ls", "")\n',
        "x %= 3\nx != 3\n",
        "x = y % z; print(f'{x=!r}')\n",
        "x = '#' ; y = (\n  2)  # ((\nz = [\n]\n",
        "async with a: pass\nawait f()\nasync for i in j: await i\n",
        "x\n;\n"[:2],
        "plt.plot(x);\nx;",
        "@d\ndef f(): return 'é€𝄞'\n\f\nx\n",
        "",
        "\n\n",
        "# only a comment",
    ],
)
def test_python_is_left_as_it_is(text: str) -> None:
    assert masked(text) == text
    assert masked(text.replace("\n", "\r\n")) == text.replace("\n", "\r\n")


def test_the_lines_that_continue_a_magic_go_with_it() -> None:
    assert masked("!pip install \\\n  'a \\\n  b\nx = 1\n") == "pass\n\n\nx = 1\n"
    assert masked("x = !cat \\\n y\n") == "x = get_ipython()\n\n"
    assert masked("!pip install \\\n  a") == "pass\n"


def test_what_a_magic_leaves_unbalanced_does_not_hide_what_follows() -> None:
    assert masked("!echo '''(\n%cd [\nx = 1\n!ls\n") == "pass\npass\nx = 1\npass\n"


@pytest.mark.parametrize("name", ["time", "timeit -n 3 x = 1", "capture out --no-stderr", "prun", "time\n%%capture"])
def test_a_cell_magic_whose_body_is_python_goes_alone(name: str) -> None:
    assert masked(f"\n%%{name}\nx = 1\n!ls\n") == "\n" * (2 + name.count("\n")) + "x = 1\npass\n"


@pytest.mark.parametrize(
    "name", ["%%bash", "%%html", "%%writefile train.py", "%%python2", "%%!", "%sh", "%md", "%%", "%sql "]
)
def test_a_cell_in_another_language_is_left_out(name: str) -> None:
    assert mask(f"{name}\nimport torch\n") is None
    assert mask(f"\n  {name}\nimport torch") is None


def test_a_line_magic_of_that_name_is_no_other_language() -> None:
    assert masked("%sql select 1\nx = 1\n") == "pass\nx = 1\n"
    assert masked("x = 1\n%sql\n") == "x = 1\npass\n"


@pytest.mark.parametrize("command", ["pip install torch", "cd /content", "ls -la *.png\n", "\nconda install -y x"])
def test_a_command_alone_in_its_cell_needs_no_percent_sign(command: str) -> None:
    assert (masked(command) or "").strip() == ""


@pytest.mark.parametrize("text", ["ls", "pip = 3", "rm(x)", "cp [0]", "cd = 1\nls = 2\n"])
def test_a_name_of_a_command_may_be_a_variable(text: str) -> None:
    assert masked(text) == text


def test_a_cell_may_be_indented_as_a_whole() -> None:
    lines = mask("\n  if x:\n      y\n\n z = '''\n  a'''\n")
    assert lines is not None
    assert [(line.text, line.shift) for line in lines][:4] == [("\n", 0), ("if x:\n", 2), ("    y\n", 2), ("\n", 0)]
    assert masked("    x = 1\n    %cd y\n    %time z\n") == "x = 1\npass\nz\n"
    shifts = mask("    x = 1\n    %time z\n")
    assert shifts is not None and [line.shift for line in shifts] == [4, 10]


@pytest.mark.parametrize("text", ["  x\n  ", "\tx = 1\r\n\t!ls\r\n\t", "!ls \\\r  a\n", "  x\r  \n  y", "\r!ls"])
def test_no_line_is_lost(text: str) -> None:
    masked(text)


def test_unfinished_strings_and_brackets_end_with_the_cell() -> None:
    for text in ("x = '''\n!ls\n", "x = (\n!ls\n", "x = 'a\n!ls\n", "x = )\n!ls\n", "\\", "x = 1 \\\n"):
        lines = mask(text)
        assert lines is not None and len(lines) == len(LINES.findall(text))


@pytest.mark.slow
def test_a_long_cell_is_masked_in_no_time() -> None:
    lines = mask("x = {'a': (1, 2)}  # b\n!ls\n" * 20_000)
    assert lines is not None
    assert [line.text for line in lines[-2:]] == ["x = {'a': (1, 2)}  # b\n", "pass\n"]

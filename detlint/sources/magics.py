"""Masking of IPython's additions to Python: each line of a cell stays one line, and Python code stays unchanged.

The replacement of a magic has to parse and to have the right meaning: `pass` for a statement, and `get_ipython()`, an
unknown value, for the value that `x = !command` assigns. Magics that set environment variables or run another file
become equivalent Python, and magics whose argument is Python lose only their name. A call of `run_line_magic` counts as
the magic: IPython writes magics so, and so do editors that send a notebook as Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple


class Masked(NamedTuple):
    """A line with its newline, and what to add to a column in it to get the column in the cell."""

    text: str
    shift: int = 0


LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_INDENT = re.compile(r"[ \t\f]*")
_PYTHON_CELLS = frozenset(
    "capture debug ipytest memit prun pyinstrument scalene snakeviz time timeit wandb".split()
)  # cell magics whose body is Python that runs in the notebook
_FOREIGN = frozenset("fs md md-sandbox r scala sh sql".split())  # Databricks writes these with one %, alone on a line
_AUTOMAGICS = "cd|conda|cp|ls|mamba|micromamba|mkdir|mv|pip|rm|uv"
_COMMAND = re.compile(rf"\s*(?:{_AUTOMAGICS}) +(?![=(\[.,:])[^\r\n]+\s*")
_STATEMENT = re.compile(r"%(?:memit|prun|time|timeit)[ \t]+(?:-[nrp][ \t]*\d+[ \t]+|-[coqtv][ \t]+)*(?=[^\s\-#])")
_QUOTED = r"""[^#"'\r\n]|"[^"\r\n]*"|'[^'\r\n]*'"""
_ASSIGNMENT = re.compile(rf"(?:{_QUOTED})*?=[ \t]*(?=[!%])")
_HELP = re.compile(r"[^#\"'\r\n]*\?[ \t]*(?=[\r\n]|\Z)")
_ENVIRONMENT = re.compile(r"%(?:set_)?env[ \t]+(\w+)(?:[ \t]*=[ \t]*|[ \t]+)([^\r\n]*)")
_RUN = re.compile(r"%run[ \t]+(?:-[a-zA-Z]+[ \t]+)*[\"']?([\w./-]+)")
_CALL = re.compile(r"""get_ipython\(\)\.run_line_magic\((["'])(\w+)\1, *(["'])((?:\\.|(?!\3)[^\\])*)\3\)[ \t]*""")
_TOKEN = re.compile(
    r"""
    (?P<string>\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
        |\"(?:\\(?:\r\n|.)|[^\"\\\r\n])*\"?|'(?:\\(?:\r\n|.)|[^'\\\r\n])*'?)
    |(?P<comment>\#[^\r\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\(?:\r\n|\r|\n))|(?P<newline>\r\n|\r|\n)
    """,
    re.VERBOSE | re.DOTALL,
)


def mask(text: str) -> list[Masked] | None:
    """Return the lines of a cell as Python; None if the cell holds another language."""
    lines = LINES.findall(re.sub(r"\r(?!\n)", "\n", text))  # a \r must not join the next line's \n
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    indent = lines[first][: _indented(lines[first])] if lines[first:] else ""
    shifts = [len(indent) if line.startswith(indent) else 0 for line in lines]
    lines = [line[shift:] for line, shift in zip(lines, shifts, strict=True)]
    while lines[first:] and (not lines[first].strip() or lines[first].startswith("%")):
        name = re.match(r"%%?([\w-]*)", lines[first])
        if lines[first].startswith("%%"):
            if name is None or name[1] not in _PYTHON_CELLS:
                return None
            lines[first] = _newline(lines[first])
        elif lines[first].strip()[1:] in _FOREIGN:
            return None
        elif lines[first].strip():
            break
        first += 1
    text = "".join(lines)
    if _COMMAND.fullmatch(text):  # IPython accepts these names without % in cells of one line
        return [Masked(_newline(line)) for line in lines]
    masked = list(_statements(text))
    masked += [Masked("")] * (len(lines) - len(masked))  # a last line of nothing but indentation
    return [Masked(m.text, m.shift + shift) for m, shift in zip(masked, shifts, strict=True)]


def _newline(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _indented(text: str, place: int = 0) -> int:
    """Return where the indentation that begins at `place` ends."""
    match = _INDENT.match(text, place)
    return place if match is None else match.end()


def _statements(text: str) -> Iterator[Masked]:
    """Yield the lines of a text, with magics masked where a logical line begins with one."""
    place = 0
    while place < len(text):
        start = _indented(text, place)
        python = _STATEMENT.match(text, start)
        stand_in = None if python else _stand_in(text, start)
        if python is not None:
            end = _statement_end(text, python.end())
            first, *rest = LINES.findall(text[place:start] + text[python.end() : end])
            yield Masked(first, python.end() - start)
        elif stand_in is not None:
            end = _command_end(text, start)
            whole, *others = LINES.findall(text[place:end])
            code, shift = stand_in
            yield Masked(text[place:start] + code + _newline(whole), shift)
            rest = [_newline(line) for line in others]
        else:
            end = _statement_end(text, start)
            rest = LINES.findall(text[place:end])
        yield from map(Masked, rest)
        place = end


def _statement_end(text: str, place: int) -> int:
    """Return where the logical line of Python that contains `place` ends, after its newline."""
    depth = 0
    for token in _TOKEN.finditer(text, place):
        if token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(depth - 1, 0)
        elif token["newline"] and not depth:
            return token.end()
    return len(text)


def _command_end(text: str, place: int) -> int:
    """Return where the line of a magic ends, including the lines that continue it after a backslash."""
    for line in LINES.finditer(text, place):
        if not line[0].rstrip("\r\n").endswith("\\"):
            return line.end()
    return len(text)


def _stand_in(text: str, start: int) -> tuple[str, int] | None:
    """Return the replacement of the magic that begins at `start` and its column shift; None if none begins there."""
    line = text[start : _command_end(text, start)].rstrip("\r\n")
    if line[:1] in ("%", "!", "?", ",", ";", "/"):
        return _python(line)
    call = _CALL.fullmatch(line)
    if call is not None:
        return _called(f"%{call[2]} " + re.sub(r"\\(.)", r"\1", call[4]).strip())
    assignment = _ASSIGNMENT.match(line)
    if assignment is not None:
        return f"{assignment[0]}get_ipython()", 0
    return ("pass", 0) if _HELP.match(line) else None


def _called(line: str) -> tuple[str, int]:
    """Return the Python for a magic that is written as a call, and its column shift."""
    statement = _STATEMENT.match(line)
    return _python(line) if statement is None else (line[statement.end() :], 0)


def _python(line: str) -> tuple[str, int]:
    """Return the Python for a line that begins with an escape character, and its column shift."""
    environment = _ENVIRONMENT.fullmatch(line)
    if environment is not None:
        value = environment[2].strip()
        written = "get_ipython()" if re.search(r"[{$]", value) else repr(value)
        return f"import os; os.environ[{environment[1]!r}] = {written}", -len("import os; ")
    run = _RUN.match(line)
    if run is not None:
        path = PurePosixPath(run[1])
        parts = [part for part in path.with_suffix("").parts if part not in (".", "..", "/")]
        if parts and path.suffix in (".py", ".ipynb") and all(part.isidentifier() for part in parts):
            return f"from {'.'.join(parts)} import *", 0
    return "pass", 0

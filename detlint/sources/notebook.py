"""Notebooks: the code cells as one Python text, and the origin of each of its lines.

The format is plain JSON, and only the type and the source of the cells matter here, so the standard library reads it.
`nbformat` would add a schema validator and Jupyter's message types, and would refuse notebooks that can be read. The
cells are assumed to run once each, from first to last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from detlint.sources.magics import LINES, mask
from detlint.sources.source import UnreadableError
from detlint.support.records import record
from detlint.tree.positions import Origin

_OTHER_KERNELS = frozenset("bash ir javascript julia rust scala".split())  # some notebooks name only their kernel
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can hold lone surrogates, a Python file cannot


class NotebookError(UnreadableError):
    """A file that is not a notebook. `line` and `column`, from 1, are positions in the file's own text."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@record(frozen=True)
class BrokenCell:
    """A code cell that is left out because it is not Python; lines and columns count from 1 within the cell."""

    cell: int
    reason: str
    line: int = 1
    column: int = 1


@record(frozen=True)
class Document:
    """A file in the form in which it is analysed.

    `text` is Python. `origins` gives the position in the notebook for each line of `text` and is empty for other files.
    `texts` maps the number of each code cell, from 0, to the cell's text; for other files it maps None to the whole
    text.
    """

    text: str
    texts: Mapping[int | None, str]
    origins: tuple[Origin, ...] = ()
    broken: tuple[BrokenCell, ...] = ()


def is_notebook(path: str) -> bool:
    """Return whether a file is a notebook, judged by its name."""
    return path.endswith(".ipynb")


def read(path: str, text: str) -> Document:
    """Return the file at `path` as Python; empty for a notebook in another language. Raises NotebookError."""
    if not is_notebook(path):
        return Document(text, {None: text})
    found = dict(_cells(text))
    joined: list[str] = []
    origins: list[Origin] = []
    broken: list[BrokenCell] = []
    for number, source in found.items():
        lines = mask(source) if source is not None else None
        if source is None:
            broken.append(BrokenCell(number, "the cell has no source that is text or a list of lines"))
        elif lines:
            code = "".join(line.text for line in lines)
            code += "" if lines[-1].text.endswith(("\r", "\n")) else "\n"
            lengths = [len(line.rstrip("\r\n")) for line in LINES.findall(source)]
            here = [
                Origin(number, i, line.shift, length)
                for i, (line, length) in enumerate(zip(lines, lengths, strict=True), 1)
            ]
            problem = _problem(code, here)
            if problem is not None:
                broken.append(problem)
            else:
                joined.append(code)
                origins += here
    return Document("".join(joined), _texts(found.items()), tuple(origins), tuple(broken))


def texts(path: str, text: str) -> Mapping[int | None, str]:
    """Return only the `Document.texts` of a file. Raises NotebookError."""
    return _texts(_cells(text)) if is_notebook(path) else {None: text}


def _texts(cells: Iterable[tuple[int, str | None]]) -> Mapping[int | None, str]:
    return {number: source or "" for number, source in cells}


def _problem(code: str, origins: list[Origin]) -> BrokenCell | None:
    """Return the syntax error in a masked cell as a BrokenCell, or None if the cell parses."""
    from detlint import reading  # it imports parsers, which are not needed to show the text of a cell

    try:
        reading.check(code)
    except reading.NotPythonError as error:
        origin = origins[min(error.line, len(origins)) - 1]
        column = error.column if error.line <= len(origins) else origin.length + 1
        return BrokenCell(origin.cell, str(error), origin.line, origin.column(column))
    return None


def _cells(text: str) -> Iterator[tuple[int, str | None]]:
    """Yield the number and the source of each Python code cell; the source is None if it is malformed."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"it is not a notebook, its JSON is broken: {error.msg}"
        raise NotebookError(reason, error.lineno, error.colno) from None
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"it is not a notebook, its JSON cannot be read: {error}") from None
    cells = _list_of_cells(content)
    if not _is_python(_table(content, "metadata")):
        return
    for number, cell in enumerate(cells):
        if not isinstance(cell, dict):
            yield number, None
        elif cell.get("cell_type") == "code" and _is_python_cell(cell):
            yield number, _source(cell.get("source", cell.get("input")))  # `input` before format 4


def _list_of_cells(content: object) -> list[Any]:
    if not isinstance(content, dict):
        raise NotebookError("it is not a notebook, its JSON is not an object")
    cells = content.get("cells")
    sheets = content.get("worksheets")
    if cells is None and isinstance(sheets, list):  # before format 4
        lists = [sheet.get("cells") or [] for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for each in lists for cell in each] if all(isinstance(each, list) for each in lists) else None
    if not isinstance(cells, list):
        raise NotebookError("it is not a notebook, it has no list of cells")
    return cells


def _table(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key)
    return found if isinstance(found, dict) else {}


def _is_python(metadata: Mapping[str, Any]) -> bool:
    """Return whether the kernel runs Python, or the notebook does not name a language."""
    kernel = _table(metadata, "kernelspec")
    language = kernel.get("language") or _table(metadata, "language_info").get("name")
    if language is None:
        return str(kernel.get("name")).partition("-")[0] not in _OTHER_KERNELS
    return re.fullmatch(r"i?python[\d.]*", str(language), re.IGNORECASE) is not None


def _is_python_cell(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell is Python, the notebook's own language: editors let each cell have its own."""
    editor = _table(_table(cell, "metadata"), "vscode").get("languageId", "python")
    return bool(editor == "python" and cell.get("language", "python") == "python")


def _source(source: object) -> str | None:
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return _SURROGATE.sub("\ufffd", source) if isinstance(source, str) else None

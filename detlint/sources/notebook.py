"""Notebooks: the code cells as one text of Python, and where its lines come from.

The format is plain JSON, of which only the cells' kind and source matter here, so the standard library reads it;
`nbformat` would bring in a schema validator and the message types of Jupyter, to refuse notebooks that can be read.
The cells are taken to run once each, from the first to the last.
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
_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can hold lone ones, which no file of Python can


class NotebookError(UnreadableError):
    """A file that is no notebook. `line` and `column`, from 1, are those of the file's own text."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@record(frozen=True)
class BrokenCell:
    """A code cell that is left out since it is not Python; lines and columns count from 1 within it."""

    cell: int
    reason: str
    line: int = 1
    column: int = 1


@record(frozen=True)
class Document:
    """A file as it is analysed.

    `text` is Python; `origins` say for each line of it where it stands in a notebook, and are empty for other files.
    `texts` has the text of each code cell by the cell's number, from 0; for other files the whole text under None.
    """

    text: str
    texts: Mapping[int | None, str]
    origins: tuple[Origin, ...] = ()
    broken: tuple[BrokenCell, ...] = ()


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return path.endswith(".ipynb")


def read(path: str, text: str) -> Document:
    """The text of the file at `path` as Python. A notebook in another language is empty. Raises NotebookError."""
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
    """`Document.texts` of a file alone. Raises NotebookError."""
    return _texts(_cells(text)) if is_notebook(path) else {None: text}


def _texts(cells: Iterable[tuple[int, str | None]]) -> Mapping[int | None, str]:
    return {number: source or "" for number, source in cells}


def _problem(code: str, origins: list[Origin]) -> BrokenCell | None:
    """What keeps a masked cell from being parsed."""
    from detlint import reading  # it imports parsers, which showing the text of a cell does not need

    try:
        reading.check(code)
    except reading.NotPythonError as error:
        origin = origins[min(error.line, len(origins)) - 1]
        column = error.column if error.line <= len(origins) else origin.length + 1
        return BrokenCell(origin.cell, str(error), origin.line, origin.column(column))
    return None


def _cells(text: str) -> Iterator[tuple[int, str | None]]:
    """Number and source of each code cell that is Python; None where the source cannot be had."""
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
    """Whether the kernel runs Python, or the notebook does not say what it runs."""
    kernel = _table(metadata, "kernelspec")
    language = kernel.get("language") or _table(metadata, "language_info").get("name")
    if language is None:
        return str(kernel.get("name")).partition("-")[0] not in _OTHER_KERNELS
    return re.fullmatch(r"i?python[\d.]*", str(language), re.IGNORECASE) is not None


def _is_python_cell(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is in the notebook's own language, Python: editors let each have one of its own."""
    editor = _table(_table(cell, "metadata"), "vscode").get("languageId", "python")
    return bool(editor == "python" and cell.get("language", "python") == "python")


def _source(source: object) -> str | None:
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return _SURROGATE.sub("\ufffd", source) if isinstance(source, str) else None

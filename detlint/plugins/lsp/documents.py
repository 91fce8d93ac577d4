"""The client's open documents, as the files that an analysis reads: the cells of a notebook are one file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from detlint.sources.magics import LINES
from detlint.sources.notebook import is_notebook
from detlint.workspace import shown

PYTHON = "python"
_SCHEME = re.compile(r"[a-zA-Z][\w+.-]+:")  # of two letters or more: C: is a drive


@dataclass(frozen=True)
class Part:
    """A document of the client: a file, or a cell of a notebook."""

    uri: str
    version: int | None
    text: str


@dataclass(frozen=True)
class Opened:
    """An open file. `text` is what the analysis reads, JSON for a notebook; `parts` are its Python, by cell."""

    path: str
    text: str
    parts: Mapping[int | None, Part]


class _Buffer(TextDocument):
    """A document whose lines end where the protocol and Python end them, and not at form feeds too."""

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(LINES.findall(self.source))


class Buffers(Workspace):
    """The documents of a client, kept by pygls."""

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return _Buffer(
            doc_uri, source, version, language_id, sync_kind=self._sync_kind, position_codec=self.position_codec
        )

    def update_notebook_document(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Take a change of a notebook. A cell that is closed and opened again is open; pygls would close it last."""
        structure = params.change.cells and params.change.cells.structure
        if structure:
            again = {each.uri for each in structure.did_open or ()}
            structure.did_close = [each for each in structure.did_close or () if each.uri not in again]
        super().update_notebook_document(params)

    def opened(self) -> dict[str, Opened]:
        """Return all open Python files and notebooks, by path."""
        cells = {cell.document for notebook in self.notebook_documents.values() for cell in notebook.cells}
        files = [self._file(each) for each in self.text_documents.values() if each.uri not in cells]
        books = [self._notebook(each) for each in self.notebook_documents.values()]
        return {each.path: each for each in (*files, *books) if each is not None}

    def _file(self, document: TextDocument) -> Opened | None:
        path = path_of(document.uri)
        part = Part(document.uri, document.version, document.source)
        if document.language_id == PYTHON and is_notebook(path):  # all its cells, joined by the client
            return Opened(path, _joined([part.text]), {0: part})
        if document.language_id == PYTHON or path.endswith(".py"):
            return Opened(path, part.text, {None: part})
        return None

    def _notebook(self, notebook: types.NotebookDocument) -> Opened:
        path = path_of(notebook.uri)
        known = {each.uri: each for each in self.text_documents.values()}
        parts: dict[int | None, Part] = {}
        cells: list[str | None] = []
        for number, cell in enumerate(notebook.cells):
            document = known.get(cell.document)
            if document is None or document.language_id != PYTHON or cell.kind is not types.NotebookCellKind.Code:
                cells.append(None)
                continue
            parts[number] = Part(document.uri, document.version, document.source)
            cells.append(document.source)
        return Opened(path if is_notebook(path) else f"{path}.ipynb", _joined(cells), parts)


def _joined(cells: Iterable[str | None]) -> str:
    """Return a notebook of these code cells, as JSON; None stands for a cell of another kind."""
    kinds = [{"cell_type": "markdown"} if cell is None else {"cell_type": "code", "source": cell} for cell in cells]
    return json.dumps({"cells": kinds})


def path_of(uri: str) -> str:
    """Return the path of a file as the analysis names it; for what is not a file, the URI written as a path."""
    path = to_fs_path(uri)
    return shown(uri if path is None else path)


def is_file(path: str) -> bool:
    """Return whether it is a path, and not the URI of a document that was never saved."""
    return _SCHEME.match(path) is None


def uri_of(path: str) -> str:
    """Return the URI of a file that is not open."""
    return str(from_fs_path(os.path.abspath(path))) if is_file(path) else path  # noqa: PTH100 - as `shown` has it


def cells_of(opened: Opened) -> Iterator[tuple[int | None, Part]]:
    """Return an iterator over the parts from the first to the last."""
    return iter(sorted(opened.parts.items(), key=lambda item: -1 if item[0] is None else item[0]))

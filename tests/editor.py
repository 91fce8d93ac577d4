"""An editor for tests: a client of `detlint server` in a process of its own, and the buffers that it has open."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).parent.parent
WAIT = 20.0  # seconds, ample
_T = TypeVar("_T")
ABLE = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(
            document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
        ),
        configuration=True,
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    window=types.WindowClientCapabilities(work_done_progress=True),
    notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
)


class Editor:
    """A client, with its own idea of what its documents hold."""

    def __init__(
        self,
        folders: Sequence[Path],
        able: types.ClientCapabilities = ABLE,
        options: Any = None,
        wait: float = WAIT,
        environment: Mapping[str, str] = os.environ,
        folder: Path = ROOT,
    ) -> None:
        """`wait` is how many seconds an answer may take; `environment` and `folder` are what the server runs in."""
        self._wait, self._environment, self._folder = wait, environment, folder
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("editor", "1")
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.history: list[types.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.registered: list[str] = []
        self.progress: list[str] = []  # the kinds of what was said of it
        self.log = b""
        self.settings: Any = None
        self.books: dict[str, list[str]] = {}  # the cells of open notebooks
        self._news = asyncio.Event()
        self._listen()
        self.do(self._start())
        named = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
        params = types.InitializeParams(able, os.getpid(), workspace_folders=named, initialization_options=options)
        self.able_to = self.do(self.client.initialize_async(params)).capabilities
        self.client.initialized(types.InitializedParams())

    async def _start(self) -> None:
        environment = {**self._environment, "PYTHONPATH": str(ROOT)}
        await self.client.start_io(sys.executable, "-m", "detlint", "server", env=environment, cwd=self._folder)
        self._logging = asyncio.ensure_future(self._read_log())

    async def _read_log(self) -> None:
        """Keep what the server writes to stderr; it would wait if nobody read it."""
        process = self.client._server
        assert process is not None and process.stderr is not None
        self.log = await process.stderr.read()

    def _listen(self) -> None:
        """What the server may send."""

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = params
            self.history.append(params)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @self.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)  # type: ignore[untyped-decorator]
        def bar(params: types.WorkDoneProgressCreateParams) -> None:
            self.progress.append("create")

        @self.client.feature(types.PROGRESS)  # type: ignore[untyped-decorator]
        def progress(params: types.ProgressParams) -> None:
            self.progress.append(dict(params.value or {})["kind"])

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def register(params: types.RegistrationParams) -> None:
            self.registered += [each.method for each in params.registrations]

        @self.client.feature(types.WORKSPACE_CONFIGURATION)  # type: ignore[untyped-decorator]
        def configuration(params: types.ConfigurationParams) -> list[Any]:
            return [self.settings for _ in params.items]

    def do(self, task: Awaitable[_T]) -> _T:
        return self.loop.run_until_complete(asyncio.wait_for(task, self._wait))

    def quit(self, ask: bool = True, tell: bool = True) -> int | None:
        """Leave the server; the status that its process ends with. Without `tell`, as an editor that crashes."""
        process = self.client._server
        assert process is not None
        assert process.stdin is not None
        if ask:
            self.do(self.client.shutdown_async(None))
        if tell:
            self.client.exit(None)
        else:
            process.stdin.close()
        self.do(process.wait())
        self.do(self._logging)
        self.do(self.client.stop())  # type: ignore[no-untyped-call]
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()
        return process.returncode

    # Documents

    def open(self, path: Path, text: str) -> str:
        """Open a document that holds `text`, whatever is on disk; its URI."""
        return self.open_as(path.as_uri(), text)

    def create(self, path: Path, text: str) -> str:
        """Write a file and open it; its URI."""
        path.write_text(text, encoding="utf-8", newline="")
        return self.open(path, text)

    def open_as(self, uri: str, text: str) -> str:
        item = self._item(uri, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def _item(self, uri: str, text: str) -> types.TextDocumentItem:
        self.texts[uri], self.versions[uri] = text, 1
        return types.TextDocumentItem(uri, "python", 1, text)

    def close_all(self) -> None:
        """Close all that is open, and forget what was made."""
        for uri in list(self.books):
            self.close_notebook(uri)
        for uri in list(self.versions):
            self.close(uri)
        for mine in (self.texts, self.versions, self.books, self.messages, self.published, self.progress):
            mine.clear()

    def save(self, uri: str, path: Path) -> None:
        """Write what a document holds to its file."""
        path.write_text(self.texts[uri], encoding="utf-8", newline="")
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        del self.texts[uri], self.versions[uri]

    def close_notebook(self, uri: str) -> None:
        cells = self.books.pop(uri)
        known = [types.TextDocumentIdentifier(cell) for cell in cells]
        document = types.NotebookDocumentIdentifier(uri)
        self.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(document, known))
        for cell in cells:
            del self.texts[cell], self.versions[cell]

    def open_notebook(self, path: Path, texts: Sequence[str], markup: Collection[int] = ()) -> list[str]:
        """Open a notebook of these cells; their URIs."""
        uris = [f"vscode-notebook-cell{path.as_uri()[4:]}#W{number}sZmlsZQ%3D%3D" for number in range(len(texts))]
        kinds = [
            types.NotebookCellKind.Markup if n in markup else types.NotebookCellKind.Code for n in range(len(texts))
        ]
        cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)]
        items = [self._item(uri, text) for uri, text in zip(uris, texts, strict=True)]
        book = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
        self.books[book.uri] = uris
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(book, items))
        return uris

    def change_kind(self, path: Path, number: int, kind: types.NotebookCellKind, language: str) -> None:
        """Make a cell of a notebook one of another kind: it is closed and opened again in one change."""
        uri = self.books[path.as_uri()][number]
        cells = types.NotebookCellArrayChange(number, 1, [types.NotebookCell(kind, uri)])
        self.versions[uri] += 1
        opened = types.TextDocumentItem(uri, language, self.versions[uri], self.texts[uri])
        structure = types.NotebookDocumentCellChangeStructure(cells, [opened], [types.TextDocumentIdentifier(uri)])
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure))
        book = types.VersionedNotebookDocumentIdentifier(self.versions[uri], path.as_uri())
        self.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(book, event))

    def type_in_cell(self, path: Path, uri: str, old: str, new: str) -> None:
        """As `type`, in a cell of a notebook."""
        start = self.texts[uri].index(old)
        self.replace_in_cell(path, uri, start, start + len(old), new)

    def replace_in_cell(self, path: Path, uri: str, start: int, end: int, new: str) -> None:
        """As `replace`, in a cell of a notebook."""
        document, change = self._changed(uri, start, end, new)
        content = types.NotebookDocumentCellContentChanges(document, [change])
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content]))
        book = types.VersionedNotebookDocumentIdentifier(self.versions[uri], path.as_uri())
        self.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(book, event))

    def type(self, uri: str, old: str, new: str) -> None:
        """Replace the first `old` of a document by `new`, as an incremental change."""
        start = self.texts[uri].index(old)
        self.replace(uri, start, start + len(old), new)

    def replace(self, uri: str, start: int, end: int, new: str) -> None:
        """Replace what stands between two offsets of a document, as an incremental change."""
        document, change = self._changed(uri, start, end, new)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def _changed(
        self, uri: str, start: int, end: int, new: str
    ) -> tuple[types.VersionedTextDocumentIdentifier, types.TextDocumentContentChangePartial]:
        text = self.texts[uri]
        change = types.TextDocumentContentChangePartial(range_of(text, start, end), new)
        self.texts[uri] = text[:start] + new + text[end:]
        self.versions[uri] += 1
        return types.VersionedTextDocumentIdentifier(self.versions[uri], uri), change

    def changed(self, path: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
        """Tell that a file changed on disk."""
        events = [types.FileEvent(path.as_uri(), kind)]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    def configure(self, settings: Any) -> None:
        """Change the settings of the editor."""
        self.settings = settings
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"detlint": settings}))

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Make an edit in the documents, and write the files that it creates."""
        assert edit is not None
        for operation in edit.document_changes or ():
            if isinstance(operation, types.CreateFile):
                assert operation.uri not in self.texts
                self.texts[operation.uri] = ""
            else:
                assert isinstance(operation, types.TextDocumentEdit)
                uri = operation.text_document.uri
                assert operation.text_document.version == self.versions.get(uri)
                self._edit(uri, operation.edits)
        for uri, edits in (edit.changes or {}).items():
            self._edit(uri, edits)

    def _edit(self, uri: str, edits: Sequence[Any]) -> None:
        text = self.texts[uri]
        for each in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
            text = text[: offset(text, each.range.start)] + each.new_text + text[offset(text, each.range.end) :]
        self.texts[uri] = text

    # Answers

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Those of the document as it is now."""
        self.until(lambda: uri in self.published and self.published[uri].version == self.versions[uri])
        return list(self.published[uri].diagnostics)

    def expect(self, uri: str, wanted: list[tuple[int, str]]) -> None:
        """Wait until the document as it is now has diagnostics on these lines, from 1, of these codes."""

        def holds() -> bool:
            found = self.published.get(uri)
            return (
                found is not None
                and found.version == self.versions[uri]
                and [(each.range.start.line + 1, each.code) for each in found.diagnostics] == wanted
            )

        self.until(holds)

    def until(self, holds: Any) -> None:
        async def wait() -> None:
            while not holds():
                self._news.clear()
                await self._news.wait()

        self.do(wait())

    def pause(self, seconds: float) -> None:
        self.loop.run_until_complete(asyncio.sleep(seconds))

    def actions(
        self, uri: str, found: types.Range, *only: str, kind: types.CodeActionTriggerKind | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], list(only) or None, kind)
        document = types.TextDocumentIdentifier(uri)
        answer = self.do(self.client.text_document_code_action_async(types.CodeActionParams(document, found, context)))
        return [each for each in answer or () if isinstance(each, types.CodeAction)]

    def hover(self, uri: str, position: types.Position) -> str:
        document = types.TextDocumentIdentifier(uri)
        answer = self.do(self.client.text_document_hover_async(types.HoverParams(document, position)))
        if answer is None:
            return ""
        assert isinstance(answer.contents, types.MarkupContent)
        return answer.contents.value


def units(text: str) -> int:
    """The length of a text in UTF-16, as the protocol counts where nothing else is agreed on."""
    return len(text.encode("utf-16-le")) // 2


def position(text: str, place: int) -> types.Position:
    before = text[:place].replace("\r\n", "\n").split("\n")
    return types.Position(len(before) - 1, units(before[-1]))


def range_of(text: str, start: int, end: int) -> types.Range:
    return types.Range(position(text, start), position(text, end))


def offset(text: str, found: types.Position) -> int:
    """The offset of a position: lines end at \\n here, and a \\r before it is the last character of its line."""
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: found.line])
    taken = lines[found.line].encode("utf-16-le")[: 2 * found.character].decode("utf-16-le")
    return before + len(taken)


def codes(found: list[types.Diagnostic]) -> list[tuple[int, object]]:
    """Line, from 1, and code of each."""
    return [(each.range.start.line + 1, each.code) for each in found]


def marked(text: str, found: types.Range) -> str:
    return text[offset(text, found.start) : offset(text, found.end)]

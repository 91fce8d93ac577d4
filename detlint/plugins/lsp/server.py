"""The features of the server, registered with pygls, and the process around them: stdin, stdout, its end."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from typing import Any, NoReturn

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer

from detlint import __version__
from detlint.plugins.lsp.actions import FIX_ALL
from detlint.plugins.lsp.documents import Buffers
from detlint.plugins.lsp.session import DELAY, Session

_NOTEBOOKS = types.NotebookDocumentFilterWithNotebook(types.NotebookDocumentFilterNotebookType("jupyter-notebook"))
_WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/detlint.toml", "**/.gitignore")
_SECTION = "detlint"
_log = logging.getLogger(__name__)


class Server(LanguageServer):
    """A server whose defects go to its log, not to the user's screen on each key press."""

    asked_to_end = False

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log what a handler raised."""
        _log.error("a request failed", exc_info=error)


def serve() -> NoReturn:
    """Serve one client on stdin and stdout until it leaves: exit with 0 if it asked to shut down, else with 1."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="detlint: %(levelname)s %(name)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.ERROR)
    own = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # stdout belongs to the protocol: nothing else may write to it
    server = Server(
        "detlint", __version__, notebook_document_sync=types.NotebookDocumentSyncOptions([_NOTEBOOKS], save=True)
    )
    session = Session(server)
    _register_documents(server, session)
    _register_features(server, session)
    server.start_io(sys.stdin.buffer, own)
    _leave(0 if server.asked_to_end else 1)


def _leave(status: int) -> NoReturn:
    """End the process at once, even in the middle of an analysis, together with the processes that take part in it."""
    for child in multiprocessing.active_children():
        child.kill()
    logging.shutdown()
    os._exit(status)


def _register_documents(server: Server, session: Session) -> None:
    """Register the handlers for documents, files and settings."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        known = server.workspace
        folders = list(known.folders.values())
        if not folders and known.root_uri is not None:
            folders = [types.WorkspaceFolder(known.root_uri, "")]
        buffers = Buffers(known.root_uri, types.TextDocumentSyncKind.Incremental, folders, known.position_encoding)
        server.protocol._workspace = buffers  # pygls offers no way to choose its class
        session.begin(buffers, params)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        wanted = []
        if get_capability(server.client_capabilities, "workspace.did_change_watched_files.dynamic_registration"):
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            wanted.append(types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
        if get_capability(server.client_capabilities, "workspace.did_change_configuration.dynamic_registration"):
            section = types.DidChangeConfigurationRegistrationOptions(_SECTION)
            wanted.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
        if wanted:
            await server.client_register_capability_async(types.RegistrationParams(wanted))
        if _answers():  # a client that does not may have sent its settings by now
            await _configure(None)
        session.soon()

    def _answers() -> bool:
        """Return whether the client can be asked for the settings."""
        return bool(get_capability(server.client_capabilities, "workspace.configuration"))

    async def _configure(told: object) -> None:
        """Ask the client for the settings if it supports that; else use what it has sent."""
        given = None
        if _answers():
            items = [types.ConfigurationItem(section=_SECTION)]
            answer = await server.workspace_configuration_async(types.ConfigurationParams(items))
            given = answer[0] if answer else None
        session.use(told if given is None else given)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration(params: types.DidChangeConfigurationParams) -> None:
        await _configure(params.settings.get(_SECTION) if isinstance(params.settings, dict) else None)
        session.soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        session.forget(params.text_document.uri)
        session.soon()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def at_once(_: Any) -> None:
        session.soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def typed(_: Any) -> None:
        session.soon(DELAY)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def on_disk(_: Any) -> None:
        session.look()


def _register_features(server: Server, session: Session) -> None:
    """Register the handlers for what the client asks for."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True),
    )
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await session.code_actions(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await session.resolve(action)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await session.hover(params)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.asked_to_end = True

"""One client: its open documents are analysed a moment after their last change, and the findings are published."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from detlint import catalogue
from detlint.catalogue import CatalogueError
from detlint.config import ConfigError
from detlint.finding import Place
from detlint.plugins.lsp.actions import FIX_ALL, Offers, is_asked
from detlint.plugins.lsp.diagnostics import Locations, diagnostics
from detlint.plugins.lsp.documents import Buffers, Opened, Part, path_of
from detlint.plugins.lsp.editing import Client
from detlint.plugins.lsp.hover import named, page
from detlint.plugins.lsp.options import Options
from detlint.plugins.lsp.progress import Bar
from detlint.plugins.lsp.projects import Projects
from detlint.plugins.lsp.ranges import Text
from detlint.plugins.lsp.worker import Worker
from detlint.report import Judged
from detlint.workspace import HaltedError

DELAY = 0.15  # seconds without a key press before what was typed is analysed
_SOON = 0.05  # seconds that a project may take to link again before the findings known so far are shown
_GATHER = 0.1  # seconds within which one change on disk follows another
_MANY = 50  # files that take long enough to read to show progress
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Analysed:
    """The open documents at an analysis, the state of settings, folders and disk then, and what was found."""

    state: int = 0
    opened: Mapping[str, Opened] = field(default_factory=dict)
    found: Mapping[str, Sequence[Judged]] = field(default_factory=dict)
    diagnostics: Mapping[str, Sequence[types.Diagnostic]] = field(default_factory=dict)


class Session:
    """The state between a client and the analysis. Its methods run in the event loop; the analysis is in the worker."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._worker = Worker()
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._running: set[asyncio.Task[bool]] = set()  # the loop itself holds tasks weakly
        self._projects = Projects()
        self._initial: object = None  # the settings that the client began with
        self._wrong = ""  # what is wrong with those that it sent last
        self._state = 1  # counts changes other than those of documents
        self._analysed = _Analysed()
        self._aim: tuple[int, Mapping[str, Opened]] | None = None  # the state and the documents that are being analysed
        self._published: dict[str, tuple[int | None, Sequence[types.Diagnostic]]] = {}
        self._told: tuple[str, ...] = ()
        self.buffers = Buffers(None)
        self.client = Client(self.buffers.position_codec)

    # What the client sends

    def begin(self, buffers: Buffers, params: types.InitializeParams) -> None:
        """Take the client's capabilities, folders and options."""
        self.buffers = buffers
        self.client = Client.of(buffers.position_codec, params.capabilities)
        self._initial = params.initialization_options
        self.use(None)

    def use(self, given: object) -> None:
        """Take the settings of the editor; None stands for those that it began with.

        If they are wrong, the error is shown once, and the settings before stay.
        """
        try:
            options = Options.of(self._initial if given is None else given, catalogue.load())
        except (ConfigError, CatalogueError) as error:
            if str(error) != self._wrong:
                self._show(str(error))
            self._wrong = str(error)
            return
        self._wrong = ""
        if options != self._projects.options:
            self._projects.options = options
            self._state += 1

    def soon(self, delay: float = 0.0) -> None:
        """Analyse `delay` seconds after the last call of this method."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(delay, self._start)

    def forget(self, uri: str) -> None:
        """Withdraw the diagnostics of a closed document: a client drops them, and may open the same document again."""
        if self._published.pop(uri, None) is not None:
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def look(self) -> None:
        """Look for changes on disk, and for other folders."""
        self._state += 1
        self.soon(_GATHER)

    # What it is sent

    async def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the actions at a range. A menu that opens by itself does not wait for an analysis."""
        only = params.context.only
        uri = params.text_document.uri
        if not any(is_asked(kind, only) for kind in (types.CodeActionKind.QuickFix, FIX_ALL)):
            return []
        if params.context.trigger_kind is types.CodeActionTriggerKind.Automatic and not self._is_current():
            return []
        await self._refreshed()
        actions: list[types.CodeAction] = []
        async with self._lock:  # keeps the texts as they were analysed
            part = self._part(uri)
            if part is None:
                return actions
            path, cell, document = part
            place = Text(document.text, self.client.codec).place(path, params.range, cell)
            found = self._at(place)
            if found and is_asked(types.CodeActionKind.QuickFix, only):
                actions += await self._worker.do(partial(self._quick_fixes, path, found))
            if is_asked(FIX_ALL, only) and (only or self.client.resolves):
                action = types.CodeAction("detlint: fix all", FIX_ALL, data=uri)
                action.edit = None if self.client.resolves else await self._fixed(uri)
                actions += [action] if action.edit is not None or self.client.resolves else []
        return actions

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Return an action with its edit."""
        await self._refreshed()
        async with self._lock:
            action.edit = await self._fixed(str(action.data))
        return action

    async def _fixed(self, uri: str) -> types.WorkspaceEdit | None:
        """Return the edit that fixes all of a document, or None. Needs the lock."""
        part = self._part(uri)
        if part is None or part[0] not in self._analysed.found:
            return None
        return await self._worker.do(partial(self._fix_all, part[0]))

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return the pages of rules whose findings, or whose codes in a `# noqa` comment, are at a position."""
        await self._refreshed()
        part = self._part(params.text_document.uri)
        if part is None:
            return None
        path, cell, document = part
        point = types.Range(params.position, params.position)
        place = Text(document.text, self.client.codec).place(path, point, cell)
        pages = {judged.rule.code: page(judged.rule, judged) for judged in self._at(place)}
        pages = pages or {rule.code: page(rule) for rule in named(document.text, place)}
        text = "\n\n---\n\n".join(pages.values())
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    # The analysis

    def _start(self) -> None:
        self._timer = None
        self._begin()

    def _begin(self) -> asyncio.Task[bool]:
        """Start to update the findings; the task returns whether they are current, or something changed meanwhile."""
        running = asyncio.ensure_future(self._refresh())
        self._running.add(running)
        running.add_done_callback(self._end)
        return running

    def _end(self, done: asyncio.Task[bool]) -> None:
        self._running.discard(done)
        error = None if done.cancelled() else done.exception()
        if error is not None:
            _log.error("the analysis failed", exc_info=error)

    async def _refreshed(self) -> None:
        """Wait until findings are current; if the request is cancelled, the analysis goes on."""
        while not await asyncio.shield(self._begin()):
            pass

    def _is_current(self) -> bool:
        return self._state == self._analysed.state and self.buffers.opened() == self._analysed.opened

    async def _refresh(self) -> bool:
        """Update the findings, and publish those of texts that have not changed since they were analysed.

        An analysis of other texts that is running is halted. Return False if that happened to this one.
        """
        if self._aim not in (None, (self._state, self.buffers.opened())):
            self._projects.halted.set()
        async with self._lock:
            self._projects.halted.clear()
            if self._is_current():
                self._publish(self._analysed)  # for what was closed and is open again
                return True
            state, opened = self._state, self.buffers.opened()
            self._projects.folders = [Path(path_of(folder.uri)).absolute() for folder in self.buffers.folders.values()]
            if state != self._analysed.state:
                await self._worker.do(self._projects.refresh)
            missing = await self._worker.do(partial(self._projects.take, opened))
            if missing >= _MANY:
                await self._load(missing)
            self._aim = state, opened
            try:
                analysed = await self._analysed_soon(state, opened)
            finally:
                self._aim = None
            if analysed is None:
                return False
            self._analysed = analysed
            self._publish(analysed)
            self._tell(self._projects.problems)
            return True

    async def _analysed_soon(self, state: int, opened: Mapping[str, Opened]) -> _Analysed | None:
        """Return what is found, or None if halted; if that takes long, publish what is known so far first."""
        standing = await self._worker.do(partial(self._standing, state, opened))
        whole = asyncio.ensure_future(self._worker.do(partial(self._analyse, state, opened)))
        if standing.found:
            done, _ = await asyncio.wait([whole], timeout=_SOON)
            if not done:
                self._publish(standing)
        return await whole

    async def _load(self, missing: int) -> None:
        """Analyse many files, and show the progress."""
        loop = asyncio.get_running_loop()
        bar = await Bar.begin(self._server, f"reading {missing} files")

        def progress(done: int, total: int) -> None:
            loop.call_soon_threadsafe(bar.advance, done, total)

        try:
            await self._worker.do(partial(self._projects.load, progress))
        except Exception:
            bar.end()
            raise
        bar.end()

    def _standing(self, state: int, opened: Mapping[str, Opened]) -> _Analysed:
        found = self._projects.standing()
        return self._shown(state, {path: each for path, each in opened.items() if path in found}, found)

    def _analyse(self, state: int, opened: Mapping[str, Opened]) -> _Analysed | None:
        try:
            return self._shown(state, opened, self._projects.found())
        except HaltedError:
            return None

    def _shown(self, state: int, opened: Mapping[str, Opened], found: Mapping[str, Sequence[Judged]]) -> _Analysed:
        locations = Locations(opened, self._projects.read, self.client.codec)
        by_uri: dict[str, Sequence[types.Diagnostic]] = {}
        for path, each in opened.items():
            for cell, told in diagnostics(each, found.get(path, ()), locations).items():
                by_uri[each.parts[cell].uri] = told
        return _Analysed(state, opened, found, by_uri)

    def _publish(self, analysed: _Analysed) -> None:
        current = self.buffers.opened()
        parts = [
            part for path, each in analysed.opened.items() if current.get(path) == each for part in each.parts.values()
        ]
        for part in parts:
            told = part.version, analysed.diagnostics[part.uri]
            if self._published.get(part.uri) != told:
                self._published[part.uri] = told
                self._server.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(part.uri, told[1], told[0])
                )
        open_now = {part.uri for each in current.values() for part in each.parts.values()}
        for uri in self._published.keys() - open_now:
            del self._published[uri]
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def _quick_fixes(self, path: str, found: Sequence[Judged]) -> list[types.CodeAction]:
        opened = self._analysed.opened
        with self._projects.bench(path) as bench:
            locations = Locations(opened, self._projects.read, self.client.codec)
            return list(Offers(opened, bench, self.client).quick_fixes(found, locations))

    def _fix_all(self, path: str) -> types.WorkspaceEdit | None:
        with self._projects.bench(path) as bench:
            return Offers(self._analysed.opened, bench, self.client).fix_all(path)

    def _part(self, uri: str) -> tuple[str, int | None, Part] | None:
        """Return the path, the cell and the document of a URI, as it was analysed, or None."""
        for path, each in self._analysed.opened.items():
            for cell, part in each.parts.items():
                if part.uri == uri:
                    return path, cell, part
        return None

    def _at(self, place: Place) -> list[Judged]:
        """Return the findings that touch a place."""
        found = self._analysed.found.get(place.path, ())
        return [each for each in found if each.finding.place.cell == place.cell and _touch(each.finding.place, place)]

    # Messages

    def _tell(self, problems: tuple[str, ...]) -> None:
        """Show what is wrong with settings, once for as long as it is wrong."""
        for problem in problems:
            if problem not in self._told:
                self._show(problem)
        self._told = problems

    def _show(self, message: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"detlint: {message}"))


def _touch(one: Place, other: Place) -> bool:
    first, last = (one.line, one.column), (one.end_line, one.end_column)
    return first <= (other.end_line, other.end_column) and (other.line, other.column) <= last

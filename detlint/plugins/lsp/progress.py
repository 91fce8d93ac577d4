"""The progress of a long analysis, for editors that show it."""

from __future__ import annotations

from uuid import uuid4

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer


class Bar:
    """A progress bar of the client; it does nothing if the client has none."""

    def __init__(self, server: LanguageServer | None) -> None:
        self._server = server
        self._token = str(uuid4())
        self._shown = 0

    @classmethod
    async def begin(cls, server: LanguageServer, message: str) -> Bar:
        """Show a bar, if the client can."""
        if not get_capability(server.client_capabilities, "window.work_done_progress"):
            return cls(None)
        bar = cls(server)
        try:
            await server.work_done_progress.create_async(bar._token)
        except JsonRpcException:
            return cls(None)
        server.work_done_progress.begin(
            bar._token, types.WorkDoneProgressBegin("detlint", message=message, percentage=0)
        )
        return bar

    def advance(self, done: int, total: int) -> None:
        """Show that `done` of `total` files were read."""
        percent = 100 * done // max(total, 1)
        if self._server is not None and percent > self._shown:
            self._shown = percent
            report = types.WorkDoneProgressReport(message=f"{done} of {total} files", percentage=percent)
            self._server.work_done_progress.report(self._token, report)

    def end(self) -> None:
        """Remove the bar."""
        if self._server is not None:
            self._server.work_done_progress.end(self._token, types.WorkDoneProgressEnd())

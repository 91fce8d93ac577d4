"""Findings as diagnostics of the client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lsprotocol import types
from pygls.workspace import PositionCodec

from detlint.finding import Place, Severity
from detlint.plugins.lsp.documents import Opened, cells_of, uri_of
from detlint.plugins.lsp.ranges import Text
from detlint.report import Judged
from detlint.sources import notebook
from detlint.sources.source import UnreadableError

SOURCE = "detlint"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_UNNECESSARY = "DET001"
_NOWHERE = types.Range(types.Position(0, 0), types.Position(0, 0))


class Locations:
    """The locations of places for the client, in the texts that were analysed."""

    def __init__(self, opened: Mapping[str, Opened], read: Callable[[str], str], codec: PositionCodec) -> None:
        """Create the locations. `read` returns the text of a file that is not open, or raises UnreadableError."""
        self._opened = opened
        self._read = read
        self._codec = codec
        self._texts: dict[tuple[str, int | None], Text | None] = {}

    def __call__(self, place: Place) -> types.Location:
        """Return the document and the range of a place."""
        text = self._text(place)
        return types.Location(self._uri(place), _NOWHERE if text is None else text.range(place))

    def _uri(self, place: Place) -> str:
        opened = self._opened.get(place.path)
        if opened is not None:
            part = opened.parts.get(place.cell) or next((part for _, part in cells_of(opened)), None)
            if part is not None:
                return part.uri
        return uri_of(place.path)

    def _text(self, place: Place) -> Text | None:
        key = (place.path, place.cell)
        if key not in self._texts:
            opened = self._opened.get(place.path)
            part = None if opened is None else opened.parts.get(place.cell)
            text = part.text if part is not None else None if opened is not None else self._closed(place)
            self._texts[key] = None if text is None else Text(text, self._codec)
        return self._texts[key]

    def _closed(self, place: Place) -> str | None:
        """Return the text of a file that is not open; None for a notebook, whose cells have no documents then."""
        if notebook.is_notebook(place.path):
            return None
        try:
            return self._read(place.path)
        except UnreadableError:
            return None


def diagnostics(
    opened: Opened, found: Sequence[Judged], locations: Locations
) -> dict[int | None, list[types.Diagnostic]]:
    """Return the diagnostics of each part of an open file; a part without findings has an empty list."""
    by_part: dict[int | None, list[types.Diagnostic]] = {cell: [] for cell in opened.parts}
    first = next((cell for cell, _ in cells_of(opened)), None)
    for judged in found:
        cell = judged.finding.place.cell
        if by_part:
            by_part[cell if cell in by_part else first].append(diagnostic(judged, locations))
    return by_part


def diagnostic(judged: Judged, locations: Locations) -> types.Diagnostic:
    """Return a finding as a diagnostic: with the command line's message, and the places that explain it."""
    finding = judged.finding
    related = [types.DiagnosticRelatedInformation(locations(each.place), each.message) for each in finding.related]
    return types.Diagnostic(
        range=locations(finding.place).range,
        message=finding.message,
        severity=_SEVERITIES[judged.severity],
        code=finding.code,
        source=SOURCE,
        related_information=related or None,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code == _UNNECESSARY else None,
    )

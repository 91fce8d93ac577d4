"""Changed texts as edits of the client's documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.workspace import PositionCodec

from detlint.applying.fixer import Change
from detlint.plugins.lsp.documents import Opened, Part, is_file, uri_of
from detlint.plugins.lsp.ranges import edits_between
from detlint.sources import notebook


@dataclass(frozen=True)
class Client:
    """The client's capabilities: document versions, creating files, and asking for an edit once an action is chosen."""

    codec: PositionCodec
    versions: bool = False
    creates: bool = False
    resolves: bool = False

    @classmethod
    def of(cls, codec: PositionCodec, capabilities: types.ClientCapabilities) -> Client:
        """Return a client with the given capabilities."""
        versions = bool(get_capability(capabilities, "workspace.workspace_edit.document_changes"))
        operations = get_capability(capabilities, "workspace.workspace_edit.resource_operations") or ()
        resolve = get_capability(capabilities, "text_document.code_action.resolve_support")
        data = get_capability(capabilities, "text_document.code_action.data_support")
        return cls(
            codec,
            versions,
            versions and types.ResourceOperationKind.Create in operations,
            resolve is not None and "edit" in resolve.properties and bool(data),
        )


def workspace_edit(
    changes: Sequence[Change], opened: Mapping[str, Opened], client: Client
) -> types.WorkspaceEdit | None:
    """Return the edit that makes the changes, or None if the client cannot make it."""
    operations: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    plain: dict[str, list[types.TextEdit]] = {}
    for change in changes:
        if change.old is None:
            if not client.creates or not all(is_file(each.path) for each in changes):
                return None
            operations.append(types.CreateFile(uri_of(change.path)))
        parts = list(_parts(change, opened))
        if not parts:
            return None
        for part, new in parts:
            edits = edits_between(part.text, new, client.codec)
            if edits:
                plain[part.uri] = edits
                document = types.OptionalVersionedTextDocumentIdentifier(part.uri, part.version)
                operations.append(types.TextDocumentEdit(document, edits))
    return types.WorkspaceEdit(document_changes=operations) if client.versions else types.WorkspaceEdit(plain)


def _parts(change: Change, opened: Mapping[str, Opened]) -> Iterator[tuple[Part, str]]:
    """Yield the documents that a change is in, with their new texts; none for a notebook that is not open."""
    known = opened.get(change.path)
    if known is not None and notebook.is_notebook(change.path):
        new = notebook.texts(change.path, change.new)
        yield from ((part, new[cell]) for cell, part in known.parts.items())
    elif known is not None:
        yield known.parts[None], change.new
    elif not notebook.is_notebook(change.path):
        yield Part(uri_of(change.path), None, change.old or ""), change.new

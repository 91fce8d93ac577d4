"""The actions that an editor offers at a place: fixes, comments that suppress, and all safe fixes of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types

from detlint.applying.fixer import Change, Check, Companions, Read, Settings, apply, fix_project
from detlint.applying.suppressing import suppress
from detlint.finding import Finding, Fix, Import, Safety
from detlint.plugins.lsp.diagnostics import Locations, diagnostic
from detlint.plugins.lsp.documents import Opened
from detlint.plugins.lsp.editing import Client, workspace_edit
from detlint.report import Judged
from detlint.sources.source import UnreadableError

FIX_ALL = "source.fixAll.detlint"


@dataclass(frozen=True)
class Bench:
    """The tools with which a project's fixes are made, as `fixer.fix_project` takes them."""

    check: Check
    read: Read
    companions: Companions
    settings: Settings


class Offers:
    """The actions for open files, in the texts that were analysed."""

    def __init__(self, opened: Mapping[str, Opened], bench: Bench, client: Client) -> None:
        self._opened = opened
        self._bench = bench
        self._client = client

    def quick_fixes(self, found: Sequence[Judged], locations: Locations) -> Iterator[types.CodeAction]:
        """Yield the fixes of these findings, one for all that share it, then for each a comment that suppresses it."""
        shared: dict[Fix, list[Judged]] = defaultdict(list)
        for judged in found:
            if judged.finding.fix is not None:
                shared[judged.finding.fix].append(judged)
        for fix, among in sorted(shared.items(), key=lambda item: item[0].safety is not Safety.SAFE):
            edit = self._fixed([judged.finding for judged in among])
            if edit is not None:
                safe = fix.safety is Safety.SAFE
                title = f"detlint: {fix.title}" + ("" if safe else " (unsafe)")
                yield _quick(title, edit, among, locations, safe or None)
        for judged in found:
            edit = self._suppressed(judged.finding)
            if edit is not None:
                title = f"detlint: suppress {judged.finding.code} with # noqa"
                yield _quick(title, edit, [judged], locations)

    def fix_all(self, path: str) -> types.WorkspaceEdit | None:
        """Return the edit of all fixes within one file, applied until nothing changes; None if there are none."""

        def check(texts: Mapping[str, str]) -> Iterable[Finding]:
            return [finding for finding in self._bench.check(texts) if _is_within(finding, path)]

        outcome = fix_project(check, self._bench.read, self._bench.settings, self._bench.companions)
        if not outcome.converged or not outcome.changes:
            return None
        return workspace_edit(outcome.changes, self._opened, self._client)

    def _fixed(self, findings: Sequence[Finding]) -> types.WorkspaceEdit | None:
        settings = Settings(True, self._bench.settings.first_party, self._bench.settings.width)
        applied = apply(findings, self._bench.read, settings)
        if not applied.texts:
            return None
        changes = [Change(path, self._bench.read(path), text) for path, text in applied.texts.items()]
        changes += self._companions(applied.imports)
        return workspace_edit(changes, self._opened, self._client)

    def _companions(self, imports: Iterable[Import]) -> Iterator[Change]:
        """Yield the copies of the runtime that are new or updated."""
        for path, text in self._bench.companions(imports).items():
            try:
                old: str | None = self._bench.read(path)
            except UnreadableError:
                old = None
            if old != text:
                yield Change(path, old, text)

    def _suppressed(self, finding: Finding) -> types.WorkspaceEdit | None:
        changes = suppress([finding], self._bench.read).changes
        return workspace_edit(changes, self._opened, self._client) if changes else None


def _quick(
    title: str, edit: types.WorkspaceEdit, found: Iterable[Judged], locations: Locations, preferred: bool | None = None
) -> types.CodeAction:
    told = [diagnostic(judged, locations) for judged in found]
    return types.CodeAction(title, types.CodeActionKind.QuickFix, told, preferred, edit=edit)


def _is_within(finding: Finding, path: str) -> bool:
    """Return whether a finding and the edits of its fix are in one file."""
    fix = finding.fix
    return finding.place.path == path and fix is not None and {edit.place.path for edit in fix.edits} <= {path}


def is_asked(kind: str, only: Sequence[str] | None) -> bool:
    """Return whether a client wants actions of a kind; asking for a kind includes those below it."""
    return not only or any(kind == each or kind.startswith(f"{each}.") for each in only)

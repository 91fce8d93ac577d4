"""Where the paths lead by which programs name their documents."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from posixpath import join, normpath

from detlint.documents.documents import SUFFIXES
from detlint.domain.documents import Documents

PROJECT = "/<project>/"
"""Begins the paths of files of the project that are seen from a file of it."""


def document_at(documents: Documents, text: str, scripts: Iterable[str]) -> list[str]:
    """The documents that a path leads to in some `scripts`; none where it is not known to which.

    What is relative to the working folder, which is not known, is looked for in that of the script and those above it.
    """
    if not text.endswith(SUFFIXES):
        return []
    if text.startswith("/"):
        path = text.removeprefix(PROJECT) if text.startswith(PROJECT) else text
        return [path] if documents.has(path) else []
    found: dict[str, None] = {}
    for script in scripts:
        paths = (normpath(parent / text) for parent in PurePosixPath(script).parents)
        there = [path for path in paths if documents.has(path)]
        if len(there) > 1:
            return []
        found.update(dict.fromkeys(there))
    return list(found)


def of_file(path: str) -> str:
    """The path of a file of the project as the file itself sees it."""
    return path if path.startswith("/") else f"{PROJECT}{path}"


def folder_at(text: str, base: str) -> str | None:
    """The folder that a path leads to, which is relative to `base`; None for one that is in no project."""
    if "://" in text:
        return None
    return normpath(text.removeprefix(PROJECT) if text.startswith(PROJECT) else join(base, text))

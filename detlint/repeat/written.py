"""The changes made in the copy: as a diff, and written to the user's own files."""

from __future__ import annotations

from detlint.applying import patch
from detlint.applying.fixer import Change
from detlint.applying.writing import Files
from detlint.repeat.tree import Tree, TreeError
from detlint.sources import source
from detlint.sources.source import UnreadableError


def diff(tree: Tree) -> bytes:
    """Return a patch of all changes, with new files last."""
    paths = sorted(tree.texts, key=lambda path: (path not in tree.before, path))
    return b"".join(patch.diff(str(tree.root / path), tree.before.get(path), tree.texts[path]) for path in paths)


def write(tree: Tree) -> None:
    """Write the changes to the user's own files, all of them or none.

    Raises TreeError if a file is not what the runs began with, or cannot be written.
    """
    files = Files([tree.root])
    changes = [_change(tree, files, path) for path in tree.texts]
    problems = files.write(changes)
    if problems:
        raise TreeError("; ".join(problems.values()))


def _change(tree: Tree, files: Files, path: str) -> Change:
    whole = tree.root / path
    old = None
    try:
        if path in tree.before:
            old = files.read(str(whole))
    except UnreadableError as error:
        raise TreeError(f"{whole}: nothing was written, it cannot be read any more: {error}") from error
    now = whole.read_bytes() if whole.exists() else None
    if now != tree.before.get(path):
        done = "it changed" if now is not None else "it was removed"
        raise TreeError(f"{whole}: nothing was written, {done} while the program ran; run this again")
    return Change(str(whole), old, source.decode(tree.texts[path]))

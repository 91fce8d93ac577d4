"""Git's ignore patterns: those of `.gitignore` files, of a repository's own excludes and of the user's settings.

As in git (https://git-scm.com/docs/gitignore), patterns apply only inside a repository, and those of a nearer file take
precedence. Unlike in git, tracked files that match a pattern are left out too, because git itself is not run.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from detlint.support.records import record

Patterns = tuple[tuple[re.Pattern[str], bool], ...]  # a file's patterns, the last first, and whether each ignores
NAME = ".gitignore"
GIT = ".git"
_CONTENTS = re.compile(r"/\*\*(/?)\s*$")  # the contents of a folder without the folder itself: pathspec matches both
_EXCLUDES_FILE = re.compile(r'(?im)^[ \t]*excludesfile[ \t]*=[ \t]*"?([^"\n]+)')


@record(frozen=True)
class Ignored:
    """The patterns that apply in a folder.

    `patterns` are grouped by file, the nearest file first, each with the folder that the patterns are relative to: an
    absolute path with a trailing separator. `inside` is true if the folder is in a repository.
    """

    patterns: tuple[tuple[str, Patterns], ...] = ()
    inside: bool = False

    def below(self, folder: str, names: Iterable[str]) -> Ignored:
        """Return what applies in `folder`, a subfolder or a repository's root, which contains the entries `names`."""
        found = {GIT, NAME}.intersection(names)
        begins = GIT in found
        if not begins and not (NAME in found and self.inside):
            return self
        files = of_repository(folder) if begins else ()
        own = (os.path.join(folder, NAME),) if NAME in found else ()
        base = os.path.join(os.path.abspath(folder), "")
        read = ((base, _read(file)) for file in (*own, *files))
        known = tuple((base, patterns) for base, patterns in read if patterns)
        return Ignored(known if begins else (*known, *self.patterns), True)

    def has(self, path: str, folder: bool) -> bool:
        """Return whether a file (or a folder, with `folder` true) directly in this folder is ignored."""
        if not self.patterns:
            return False
        whole = os.path.abspath(path) + ("/" if folder else "")
        for base, patterns in self.patterns:
            found = _include(patterns, whole[len(base) :].replace(os.sep, "/"))
            if found is not None:
                return found
        return False


NOTHING = Ignored()


def around(folder: str) -> Ignored:
    """Return what applies in a folder that was given by name: all patterns from the root of its repository down.

    If those patterns ignore the folder itself, only the patterns within the folder apply.
    """
    found = NOTHING
    for each in _way_to(folder):
        if found.has(each, True):
            return Ignored((), True).below(folder, _names(folder))
        found = found.below(each, _names(each))
    return found


def is_ignored(path: str, root: str) -> bool:
    """Return whether a file below the given folder `root`, or a folder between the two, is ignored."""
    found, folder = around(root), root
    *parts, name = os.path.relpath(path, root).split(os.sep)
    for part in parts:
        folder = os.path.join(folder, part)
        if found.has(folder, True):
            return True
        found = found.below(folder, _names(folder))
    return found.has(os.path.join(folder, name), False)


def of_repository(folder: str) -> Sequence[str]:
    """Return the files whose patterns apply to the whole repository rooted at `folder`, the nearest first."""
    return _own(folder), _of_user()


def settings_of_user() -> tuple[str, str]:
    """Return the paths of the git settings that may name the user's global ignore file."""
    return os.path.expanduser("~/.gitconfig"), os.path.join(_settings(), "git", "config")


def _way_to(folder: str) -> Sequence[str]:
    """Return the folders from the root of the repository down to `folder`; empty outside of a repository."""
    found = [os.path.abspath(folder)]
    while not os.path.lexists(os.path.join(found[-1], GIT)):
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            return ()
        found.append(above)
    return found[::-1]


def _names(folder: str) -> Iterator[str]:
    """Yield which of `.git` and `.gitignore` exist in a folder: the names that change the patterns."""
    return (name for name in (GIT, NAME) if os.path.lexists(os.path.join(folder, name)))


def _own(folder: str) -> str:
    """Return the path of a repository's uncommitted excludes; for a work tree, those of its main repository."""
    git = os.path.join(folder, GIT)
    if os.path.isfile(git):
        git = os.path.join(folder, _content(git).partition("gitdir:")[2].strip())
        git = os.path.join(git, _content(os.path.join(git, "commondir")).strip())
    return os.path.join(git, "info", "exclude")


def _of_user() -> str:
    """Return the path of the user's ignore file: `core.excludesFile` of git's settings, else git's default path."""
    found = (_EXCLUDES_FILE.search(_content(file)) for file in settings_of_user())
    named = next((match[1] for match in found if match is not None), None)
    return os.path.join(_settings(), "git", "ignore") if named is None else os.path.expanduser(named.strip())


def _settings() -> str:
    return os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")


def _content(path: str) -> str:
    """Return the text of a file; "" if it is no file or cannot be read."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _read(path: str) -> Patterns:
    text = _content(path)
    return _parsed(text) if text.strip() else ()


@lru_cache(maxsize=64)
def _parsed(text: str) -> Patterns:
    """Return the patterns in a text, the last first; skip lines that are no valid pattern."""
    from pathspec import GitIgnoreSpec  # imported here: it is needed only if there are patterns

    found: list[tuple[re.Pattern[str], bool]] = []
    for line in text.split("\n"):
        with warnings.catch_warnings(), suppress(ValueError, re.error):
            warnings.simplefilter("ignore")  # about nested brackets
            patterns = GitIgnoreSpec.from_lines([_CONTENTS.sub(r"/**/*\1", line)]).patterns
            found += [(each.regex, each.include) for each in patterns if each.regex and each.include is not None]
    return tuple(found[::-1])


def _include(patterns: Patterns, path: str) -> bool | None:
    """Return whether patterns ignore a path (True), re-include it (False) or do not match it (None).

    `patterns` come last first, so the first match decides. A pathspec pattern also matches everything inside a folder.
    Such a match is skipped: the contents of an ignored folder are never asked for, and a re-included folder decides
    nothing about its contents. The group of a pattern is the separator after the folder.
    """
    for pattern, include in patterns:
        for match in pattern.finditer(path):
            if match.lastindex is None or match.end(match.lastindex) == len(path):
                return include
    return None

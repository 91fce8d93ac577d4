"""What git leaves out: the patterns of `.gitignore` files, of a repository's own excludes and of the user's.

As git has it (https://git-scm.com/docs/gitignore), patterns count in a repository alone, and those of a nearer file go
first. Files that git tracks nevertheless are left out, too: git is not asked.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from detlint.support.records import record

Patterns = tuple[tuple[re.Pattern[str], bool], ...]  # those of a file, the last first, with whether they leave out
NAME = ".gitignore"
GIT = ".git"
_CONTENTS = re.compile(r"/\*\*(/?)\s*$")  # what is in a folder, without the folder: pathspec takes both
_EXCLUDES_FILE = re.compile(r'(?im)^[ \t]*excludesfile[ \t]*=[ \t]*"?([^"\n]+)')


@record(frozen=True)
class Ignored:
    """The patterns that count in a folder.

    `patterns` are those of files, the nearest first, each with the folder that they are seen from: absolute, with a
    separator at its end. `inside` says whether the folder is in a repository.
    """

    patterns: tuple[tuple[str, Patterns], ...] = ()
    inside: bool = False

    def below(self, folder: str, names: Iterable[str]) -> Ignored:
        """What counts in a folder below, or in the one where a repository begins, which has files of these names."""
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
        """Whether a file or folder that stands in the folder is left out."""
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
    """What counts in a folder that is named: all from its repository down.

    Where that leaves the folder out, only the patterns within the folder count.
    """
    found = NOTHING
    for each in _way_to(folder):
        if found.has(each, True):
            return Ignored((), True).below(folder, _names(folder))
        found = found.below(each, _names(each))
    return found


def is_ignored(path: str, root: str) -> bool:
    """Whether a file below the folder `root`, which is named, is left out, or a folder that it is in."""
    found, folder = around(root), root
    *parts, name = os.path.relpath(path, root).split(os.sep)
    for part in parts:
        folder = os.path.join(folder, part)
        if found.has(folder, True):
            return True
        found = found.below(folder, _names(folder))
    return found.has(os.path.join(folder, name), False)


def of_repository(folder: str) -> Sequence[str]:
    """The files whose patterns count in all of the repository that begins in a folder, the nearest first."""
    return _own(folder), _of_user()


def settings_of_user() -> tuple[str, str]:
    """The files that may tell which patterns a user has for all repositories."""
    return os.path.expanduser("~/.gitconfig"), os.path.join(_settings(), "git", "config")


def _way_to(folder: str) -> Sequence[str]:
    """The folders from the beginning of a repository down to one in it; none outside of a repository."""
    found = [os.path.abspath(folder)]
    while not os.path.lexists(os.path.join(found[-1], GIT)):
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            return ()
        found.append(above)
    return found[::-1]


def _names(folder: str) -> Iterator[str]:
    """The names of those files in a folder by which patterns change."""
    return (name for name in (GIT, NAME) if os.path.lexists(os.path.join(folder, name)))


def _own(folder: str) -> str:
    """The patterns of a repository that are not committed; those of a work tree are where its repository is."""
    git = os.path.join(folder, GIT)
    if os.path.isfile(git):
        git = os.path.join(folder, _content(git).partition("gitdir:")[2].strip())
        git = os.path.join(git, _content(os.path.join(git, "commondir")).strip())
    return os.path.join(git, "info", "exclude")


def _of_user() -> str:
    """The patterns of the user: `core.excludesFile` in git's settings, or where git looks without it."""
    found = (_EXCLUDES_FILE.search(_content(file)) for file in settings_of_user())
    named = next((match[1] for match in found if match is not None), None)
    return os.path.join(_settings(), "git", "ignore") if named is None else os.path.expanduser(named.strip())


def _settings() -> str:
    return os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")


def _content(path: str) -> str:
    """The text of a file; none where it cannot be read."""
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
    """The patterns in a text, without what is none."""
    from pathspec import GitIgnoreSpec  # which is not needed where nobody has patterns

    found: list[tuple[re.Pattern[str], bool]] = []
    for line in text.split("\n"):
        with warnings.catch_warnings(), suppress(ValueError, re.error):
            warnings.simplefilter("ignore")  # at brackets in brackets
            patterns = GitIgnoreSpec.from_lines([_CONTENTS.sub(r"/**/*\1", line)]).patterns
            found += [(each.regex, each.include) for each in patterns if each.regex and each.include is not None]
    return tuple(found[::-1])


def _include(patterns: Patterns, path: str) -> bool | None:
    """Whether patterns leave a path out (True), let it in, or say nothing of it (None): the last that fits says it.

    One of pathspec's patterns fits all that is in a folder, too. What is in one that is left out is never asked for,
    and of another one this says nothing. Its group is the separator behind the folder.
    """
    for pattern, include in patterns:
        for match in pattern.finditer(path):
            if match.lastindex is None or match.end(match.lastindex) == len(path):
                return include
    return None

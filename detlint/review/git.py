"""Reading a git repository: which files it had at a commit, and their contents.

Only its object database, its index and its ignore rules are read. Commands that compare with the work tree (`git diff`,
`git status`) would run the filters, converters and monitors that the settings of the repository name, and the
repository may be a stranger's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from detlint.config import ConfigError
from detlint.support.records import record

_KEPT = ("GIT_CONFIG", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_SAFE = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_PARTIAL = "git lacks old files that changed, as a partial clone does; `git diff REV` fetches them"
_LINK, _LINKS = "120000", 8  # the mode of a symbolic link, and how many in a row are followed


@record(frozen=True)
class Blob:
    """A file of a commit: its mode as git writes it, and the id of its content."""

    mode: str
    id: str


class Repository:
    """The repository that a folder belongs to, with its work tree at `root`."""

    def __init__(self, folder: Path) -> None:
        """Find the repository. Raises ConfigError if there is none, or no git."""
        self.root = folder
        self.root = Path(os.fsdecode(self._ask("rev-parse", "--show-toplevel").removesuffix(b"\n")))
        self._places: dict[Path, PurePosixPath | None] = {}

    def base(self, revision: str) -> str:
        """Return the commit where HEAD left the history of `revision`. Raises ConfigError if there is none here."""
        if revision.startswith("-"):
            raise ConfigError(f"{revision!r} is no revision")
        shallow = self._ask("rev-parse", "--is-shallow-repository").strip() == b"true"
        try:
            wanted = self._commit(revision)
        except ConfigError:
            how = "--unshallow origin`, this clone is shallow" if shallow else "origin`"
            raise ConfigError(
                f"git knows no revision {revision!r} here; if it is elsewhere, `git fetch {how}"
            ) from None
        try:
            return os.fsdecode(self._ask("merge-base", wanted, self._commit("HEAD")).split()[0])
        except ConfigError:
            how = "run `git fetch --unshallow`, this clone is shallow" if shallow else "name a revision of its history"
            raise ConfigError(f"{revision!r} and HEAD have no commit in common here; {how}") from None

    def _commit(self, revision: str) -> str:
        return os.fsdecode(self._ask("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip())

    def tree(self, commit: str) -> dict[PurePosixPath, Blob]:
        """Return the files of a commit by path from the root; links have the content of their targets, if any."""
        found: dict[PurePosixPath, Blob] = {}
        for row in self._ask("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]:
            head, _, path = row.partition(b"\t")
            mode, kind, name = head.decode().split()
            if kind == "blob":
                found[PurePosixPath(os.fsdecode(path))] = Blob(mode, name)
        links = {path: blob for path, blob in found.items() if blob.mode == _LINK}
        targets = dict(zip(links, self.contents([blob.id for blob in links.values()]), strict=True))
        for link in links:
            end: PurePosixPath = link
            for _ in range(_LINKS):
                if end not in targets:
                    break
                end = PurePosixPath(os.path.normpath(end.parent / os.fsdecode(targets[end])))
            del found[link]
            if end in found:
                links[link] = found[end]
        return found | {link: blob for link, blob in links.items() if blob.mode != _LINK}

    def contents(self, ids: Sequence[str]) -> list[bytes]:
        """Return the contents of blobs. Raises ConfigError if one is not here, as in a partial clone."""
        if not ids:
            return []
        answer = self._ask("cat-file", "--batch", given="".join(f"{each}\n" for each in ids).encode())
        found, start = [], 0
        for _ in ids:
            end = answer.index(b"\n", start)
            head = answer[start:end].split()
            if head[-1] == b"missing":
                raise ConfigError(_PARTIAL)
            found.append(answer[end + 1 : end + 1 + int(head[2])])
            start = end + int(head[2]) + 2
        return found

    def ignored(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """Return the paths among `paths` that git ignores and does not track."""
        given = b"".join(os.fsencode(path) + b"\0" for path in paths)
        answer = self._ask("check-ignore", "-z", "--stdin", given=given, fails=1) if given else b""
        return {PurePosixPath(os.fsdecode(path)) for path in answer.split(b"\0")[:-1]}

    def left_out(self) -> set[PurePosixPath]:
        """Return the files that a sparse checkout does not write to the work tree."""
        rows = self._ask("ls-files", "-z", "-t").split(b"\0")
        found = {PurePosixPath(os.fsdecode(row[2:])) for row in rows if row.startswith(b"S ")}
        return {place for place in found if not (self.root / place).exists()}

    def file(self, path: Path) -> PurePosixPath | None:
        """Return the path of a file from the root, links not followed; None if it is not in this repository."""
        folder = self.folder(path.parent)
        return None if folder is None else folder / path.name

    def folder(self, path: Path) -> PurePosixPath | None:
        """Return the path of a folder from the root, as `file` does."""
        path = path.absolute()
        if path not in self._places:
            real, root = Path(os.path.realpath(path)), Path(os.path.realpath(self.root))
            inside = real.is_relative_to(root)
            nested = inside and any(
                (each / ".git").exists() for each in (real, *real.parents) if each != root and each.is_relative_to(root)
            )
            self._places[path] = PurePosixPath(real.relative_to(root).as_posix()) if inside and not nested else None
        return self._places[path]

    def _ask(self, *arguments: str, given: bytes = b"", fails: int = 0) -> bytes:
        """Return git's output. `fails` is another exit status that is no failure. Raises ConfigError."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key.startswith(_KEPT)}
        # missing objects are not fetched: the repository's settings would choose the command and the source
        environment = {**kept, "LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
        command = [program(), "-C", str(self.root), *_SAFE, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, env=environment)
        if done.returncode not in (0, fails):
            if b"promisor remote" in done.stderr:
                raise ConfigError(_PARTIAL)
            told = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise ConfigError(f"git cannot tell what changed: {told[0].removeprefix('fatal: ')}")
        return done.stdout


def program() -> str:
    """Return the path of git in an absolute folder, as the working folder may hold a stranger's. Raises ConfigError."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which(str(Path(folder, "git"))) if Path(folder).is_absolute() else None
        if found is not None:
            return found
    raise ConfigError("git, which tells what changed, is not installed or not on the PATH")


def blob_id(content: bytes, like: str) -> str:
    """Return the id that git has for a content, by the hash that the id `like` was made with."""
    made = hashlib.sha256() if len(like) == 64 else hashlib.sha1(usedforsecurity=False)
    made.update(b"blob %d\0" % len(content))
    made.update(content)
    return made.hexdigest()

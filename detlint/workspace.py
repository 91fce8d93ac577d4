"""A project that is queried repeatedly while its files change: for editors, language servers and plugins.

    workspace = Workspace.of(path)    # the project that a file or folder belongs to; nothing is read yet
    workspace.update(path, text)      # the text of a file that is open in an editor; None once that is closed
    workspace.refresh()               # files on the disk may have changed, come or gone: True if any has
    workspace.findings(path)          # the findings in a file, in the context of the whole project
    workspace.report()                # those of all files, as `detlint` shows them for the project's root
    workspace.alone(path, text)       # the findings in a file by itself, as `detlint PATH` shows them

`update` and `refresh` record what changed. `report` and `findings` analyse the files that changed since the last call.
They link the project again if more than the places of a file's code changed, and else reuse the last answers. The first
call needs all files and analyses those that the project's cache does not know. `missing` returns how many these are,
and `load` analyses them with many processes and reports progress. `alone` needs only the file. `findings` uses it for
files outside of the project, such as one that was never saved or is excluded.

Paths may have any form. Findings name files as a run of detlint in the working folder does: relative if it contains the
project's root, else absolute. All methods may be called from any thread; calls wait for each other, so a server should
call those that analyse in a separate thread. `of` raises ConfigError and CatalogueError if the settings are wrong.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from packaging.version import Version

from detlint import catalogue
from detlint.analyse import Collected, Models, Source, undisturbed
from detlint.cache.cache import Cache, Content, uncached_where_it_fails
from detlint.config import Config, for_paths, target_torch
from detlint.documents.documents import have_changed
from detlint.gathering import Progress, collect
from detlint.listing import Around, listed
from detlint.registered import registered
from detlint.report import Answered, Judged, Report
from detlint.review.filtering import filtered, filters
from detlint.review.run import Run
from detlint.settling.answering import answered
from detlint.settling.confirming import renewed, unmoved
from detlint.settling.meanwhile import meanwhile, move
from detlint.settling.settling import answer, choose, link
from detlint.sources import source

if TYPE_CHECKING:
    from detlint.link.runs.kept import Kept
    from detlint.project.project import Project

T = TypeVar("T")
_LINKING = threading.Lock()  # one project at a time, so that it is known which objects are unused


class HaltedError(BaseException):
    """The end of a link whose result nobody waits for any more; a BaseException, so that nothing recovers from it."""


class Workspace:
    """A project: its settings, its files with the texts that editors have of them, and the results of analysis."""

    def __init__(self, config: Config, torch: Version) -> None:
        """Set up the project in the root of `config`."""
        self.config = config
        self.torch = torch
        self._lock = threading.RLock()
        self._cache = Cache(config.cache_dir, torch)
        self._codes = frozenset(catalogue.load().rules)
        self._texts: dict[str, str] = {}  # of open files
        self._around: Around | None = None  # None until the files have been listed
        self._items: dict[str, Source] = {}
        self._contents: dict[str, Content] = {}
        self._collected: dict[str, tuple[Content, Collected]] = {}
        self._models = Models(self._items, torch)
        self._modelled: tuple[frozenset[str], Around] | None = None
        self.halted = threading.Event()  # while it is set, linking the project raises HaltedError
        self.links = 0  # how often the project was linked
        self._kept: Kept | None = None
        self._old: dict[str, str] = {}  # the texts behind the last answers, of files that have changed since
        self._project: Project | None = None
        self._answered: Answered | None = None
        self._before: tuple[Answered, Mapping[str, Collected]] | None = None  # the last answers and their sources
        self._report: Report | None = None

    @classmethod
    def of(cls, path: Path, torch_version: str = "") -> Workspace:
        """Return the project of a file or folder, with the settings found there."""
        config = for_paths([path])
        torch = target_torch(torch_version or config.torch_version, config.root, catalogue.load())
        return cls(config, torch)

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Hold the lock, with what the settings register in force."""
        with self._lock, registered(self.config.registered):
            yield

    # Changes

    def update(self, path: str | Path, text: str | None) -> None:
        """Set the text of a file to `text`, or with None to what is on the disk."""
        with self._entered():
            name = shown(path)
            self._remember(name)
            if text is None:
                self._texts.pop(name, None)
            else:
                self._texts[name] = text
            if name in self._items:
                self._read([self._items[name]])

    def _remember(self, path: str) -> None:
        """Keep the text of a file that is about to change, for as long as the answers are those for it."""
        item = self._items.get(path)
        if item is not None and path not in self._old:
            with suppress(source.UnreadableError):
                self._old[path] = item.read()

    def refresh(self) -> bool:
        """Look for changes on the disk; return whether anything has changed."""
        with self._entered():
            sources, around = listed([Path(shown(self.config.root))], self.config)
            gone = self._items.keys() - {item.path for item in sources}
            for path in gone:
                self._models.forget(path)
                for known in (self._items, self._contents, self._collected):
                    known.pop(path, None)
            different = bool(gone) or around != self._around or self._documents_changed(around)
            if different:
                self._around = around
                self._project = self._answered = self._report = self._before = None
                self._kept = None
            return self._read(sources) or different

    def _documents_changed(self, around: Around) -> bool:
        """Return whether a configuration file differs from the one that the answers are based on."""
        known = (self._answered, None if self._before is None else self._before[0])
        return any(have_changed(each.documents, around.documents) for each in known if each is not None)

    def _read(self, items: Sequence[Source]) -> bool:
        """Read the files; return whether any has changed."""
        different = False
        for content in self._cache.read([replace(item, text=None) for item in items]):
            path = content.item.path
            if path in self._texts:
                (opened,) = self._cache.read([replace(content.item, text=self._texts[path])])
                content = content if content.digest == opened.digest else opened
            before = self._contents.get(path)
            self._contents[path], self._items[path] = content, content.item
            if before is None or (before.digest, before.item.name) != (content.digest, content.item.name):
                different = True
                self._models.forget(path)
                self._answered = self._report = None
            elif path in self._collected and self._is_current(path) and self._is_saved(path):
                made = self._collected[path][1]
                self._cache.keep(content, made)  # while it was the editor's text it was not kept
                self._collected[path] = content, made
                if not made.lasting:  # incomplete, with earlier facts: the saved text has to be analysed
                    del self._collected[path]
                    self._answered = self._report = None
                    different = True
        self._cache.flush()
        return different

    def _is_saved(self, path: str) -> bool:
        """Return whether the editor's text of a file was written to the disk since it was analysed."""
        analysed, now = self._collected[path][0].item.text, self._contents[path].item.text
        return isinstance(analysed, str) and not isinstance(now, str)

    def _is_current(self, path: str) -> bool:
        """Return whether what was collected from a file is from its current text."""
        content, (known, _) = self._contents[path], self._collected.get(path, (None, None))
        return known is not None and (known.digest, known.item.name) == (content.digest, content.item.name)

    # Queries

    @property
    def paths(self) -> frozenset[str]:
        """The files of the project, as findings name them."""
        with self._entered():
            self._look()
            return frozenset(self._items)

    def excludes(self, path: str | Path) -> bool:
        """Return whether the settings exclude a file of the project."""
        return source.is_excluded(Path(path).absolute(), self.config.root.absolute(), self.config.exclude)

    def missing(self) -> int:
        """Return how many files have to be analysed before the project can answer."""
        with self._entered():
            return 0 if self._known() is not None else self._cache.missing(self._changed())

    def is_whole(self) -> bool:
        """Return whether the cache knows the project as a whole, even if as it was some edits ago."""
        with self._entered():
            return self._cache.is_whole()

    @property
    def followed(self) -> int:
        """The number of programs that were followed when the project was last linked."""
        return 0 if self._kept is None else self._kept.followed

    def load(self, jobs: int = 1, progress: Progress | None = None) -> None:
        """Prepare the answers, with `jobs` processes (0: one per core)."""
        with self._entered():
            self._answer(jobs, progress)

    def report(self) -> Report:
        """Return the findings of the whole project that its settings show."""
        with self._entered():
            if self._report is None:
                found = self._answer()
                assert self._around is not None
                self._report = self._chosen(found, Run(list(self._items.values()), {}, self._around))
            return self._report

    def standing(self) -> Report | None:
        """Return what remains valid of the last report while a slow new one for the current texts is missing.

        Findings in changed files are those of the new texts that ask nothing of the project or were there before; the
        others are moved to where their lines are now. None have fixes. Return None if the report is there or never was.
        """
        with self._entered():
            self._look()
            if self._before is None or self._known() is not None:
                return None
            return self._with_or_without_cache(self._stands)

    def _stands(self) -> Report | None:
        if self._before is None or self._around is None:
            return None
        self._collect(1, None)
        answered, before = self._before
        made = self._made()
        if answered.basis is None or before.keys() != made.keys():
            return None
        changed = {path: (before[path], each) for path, each in made.items() if each is not before[path]}
        texts = {path: self._items[path].text for path in changed.keys() & self._old.keys()}
        moves = {path: move(path, self._old[path], text) for path, text in texts.items() if isinstance(text, str)}
        found = meanwhile(answered, changed, moves)
        return self._chosen(found, Run(list(self._items.values()), {}, self._around))

    def _made(self) -> dict[str, Collected]:
        """Return what was collected from each file, by path."""
        return {path: self._collected[path][1] for path in sorted(self._items)}

    def _chosen(self, found: Answered, run: Run) -> Report:
        """Return the report of those findings that the settings show."""
        settings = replace(self.config, context=())
        return filtered(choose(found, settings), run, filters([], settings, self.torch, 1))

    def findings(self, path: str | Path) -> tuple[Judged, ...]:
        """Return the findings in a file that the settings show, by the whole project if it is a member of it."""
        with self._entered():
            name = shown(path)
            if name not in self.paths:
                return self.alone(path, self._texts.get(name))
            return tuple(judged for judged in self.report().findings if judged.finding.place.path == name)

    def alone(self, path: str | Path, text: str | None = None) -> tuple[Judged, ...]:
        """Return the findings that `detlint PATH` shows in a file, with this text if one is given."""

        def run() -> tuple[Judged, ...]:
            sources, around = listed([Path(shown(path))], replace(self.config, context=()))
            contents = self._cache.read([replace(item, text=text) for item in sources])
            found, _ = answered(contents, around, self._codes, self.torch, self._cache, jobs=1)
            return self._chosen(found, Run([each.item for each in contents], {}, around)).findings

        with self._entered(), undisturbed():
            return self._with_or_without_cache(run)

    # Answers

    def _look(self) -> None:
        """List the files of the project if that has not been done yet."""
        if self._around is None:
            self.refresh()

    def _changed(self) -> list[Content]:
        """Return the files that have not been analysed since they changed."""
        return [content for path, content in self._contents.items() if not self._is_current(path)]

    def _known(self) -> Answered | None:
        """Return the answer of the project if it is known for exactly these files, else None."""
        self._look()
        assert self._around is not None
        if self._answered is None:
            contents = list(self._contents.values())
            self._answered = self._cache.answered(
                self._cache.answer_key(contents, self._around), contents, self._around
            )
        return self._answered

    def _answer(self, jobs: int = 1, progress: Progress | None = None) -> Answered:
        """Return the answer of the project."""
        return self._with_or_without_cache(lambda: self._ask(jobs, progress))

    def _with_or_without_cache(self, run: Callable[[], T]) -> T:
        """Return the result of `run`; if it fails with a cache, run it again without one."""

        def run_with(config: Config) -> T:
            if config.cache_dir is None and self._cache:
                self._cache, self._project, self._before = Cache(None, self.torch), None, None
                self._collected.clear()
            return run()

        return uncached_where_it_fails(run_with, self.config)

    def _ask(self, jobs: int, progress: Progress | None) -> Answered:
        known = self._known()
        if known is not None:
            return known
        assert self._around is not None
        self._collect(jobs, progress)
        with undisturbed():
            made = self._made()
            collected = list(made.values())
            answered = self._renewed(made) or self._linked(collected, self._around)
            self._before = answered, made
            self._old.clear()
        if all(each.lasting for each in collected):
            contents = list(self._contents.values())
            key = self._cache.answer_key(contents, self._around)
            self._cache.keep_answered(key, contents, self._around, answered)
        self._answered = answered
        return answered

    def _renewed(self, made: Mapping[str, Collected]) -> Answered | None:
        """Return the last answers with new places if nothing but places has changed since, else None."""
        answered, before = self._before or (None, {})
        if answered is None or before.keys() != made.keys() or self._around is None:
            return None
        different = [(before[path], each) for path, each in made.items() if each is not before[path]]
        changed = [pair for old, new in different if (pair := unmoved(old, new, answered)) is not None]
        if len(changed) < len(different):
            return None
        return renewed(answered, changed, self._models, self._around)

    def _linked(self, collected: Sequence[Collected], around: Around) -> Answered:
        """Return the answer of the project, linked again if facts have changed."""
        if self._modelled != (frozenset(self._items), around):  # what fixes depend on besides texts
            self._modelled = frozenset(self._items), around
            self._models = Models(self._items, self.torch)
        if self._project is None:
            from detlint.cache.courses import recalled  # it imports everything that links
            from detlint.link.runs.tidying import tidy

            contents = [*self._contents.values()]
            self._kept = self._kept or recalled(self._cache, contents, around, collected, self._models)
            self.links += 1
            with _LINKING:
                tidy()
                self._project = link(collected, self.torch, around, 1, self._kept, self._go_on)
        return answer(collected, self._codes, self.torch, self._models, around, self._project)

    def _go_on(self) -> None:
        """Raise HaltedError if nobody waits for an answer any more."""
        if self.halted.is_set():
            raise HaltedError

    def _saved(self, content: Content) -> Collected:
        """Return what is collected from a file as it is on the disk."""
        (collected,) = collect(
            self._cache.read([replace(content.item, text=None)]), self._codes, self.torch, self._cache, jobs=1
        )
        return collected

    def _collect(self, jobs: int, progress: Progress | None) -> None:
        """Analyse what changed. Mark the project to be linked again if facts have changed.

        An editor's text that cannot be parsed keeps the facts before it, since the other files still rely on them.
        """
        changed = self._changed()
        for content, new in zip(
            changed, collect(changed, self._codes, self.torch, self._cache, jobs, progress), strict=True
        ):
            _, old = self._collected.get(new.path, (None, None))
            if new.facts is None and isinstance(content.item.text, str):
                new = replace(new, facts=(old or self._saved(content)).facts, lasting=False)  # incomplete
            if old is None or old.facts != new.facts:
                self._project = None
            self._collected[new.path] = content, new
        for path, content in self._contents.items():  # the bytes that were read need not be kept
            if isinstance(content.item.text, bytes):
                self._items[path] = replace(content.item, text=None)
                self._contents[path] = replace(content, item=self._items[path])


def shown(path: str | Path) -> str:
    """Return a path as a run in the working folder shows it."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - pathlib does not remove `..`
    here = os.getcwd()  # noqa: PTH109
    if absolute == here:
        return "."
    inside = absolute.startswith(here.rstrip(os.sep) + os.sep)
    return Path(os.path.relpath(absolute, here) if inside else absolute).as_posix()

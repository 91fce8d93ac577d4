"""The files of a run, analysed in processes, and what is around them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint import source
from detlint.analyse import Collected, Source, analyse, failed, undisturbed
from detlint.config import Config, requirements
from detlint.console_scripts import console_scripts
from detlint.placement import is_vendored

_SAFE_PATH = "PYTHONSAFEPATH"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Around:
    """What is known of a project beside the files of a run: its console scripts, files that were not analysed, and
    whether fixes give it a copy of the runtime.
    """

    commands: tuple[tuple[str, str], ...] = ()
    unread: frozenset[str] = frozenset()
    vendored: bool = True


ALONE = Around()


def collect_paths(
    paths: Sequence[Path],
    config: Config,
    codes: frozenset[str],
    torch: Version,
    jobs: int = 0,
    progress: Progress | None = None,
) -> tuple[list[Collected], Around]:
    """Collect the Python files under `paths`, and what is around them."""
    files = list(source.discover(paths, config.exclude))
    sources = [Source(path.as_posix(), source.module_name(path)) for path in files]
    collected = list(collect_sources(sources, codes, torch, jobs, progress))
    folders = {path.parent: path for path in files}
    unread = {near.as_posix() for path in folders.values() for near in source.neighbours(path)}
    vendored = is_vendored(config.runtime, requirements(config.root))
    beyond = frozenset(unread.difference(item.path for item in sources))
    around = Around(tuple(console_scripts(config.root)), beyond, vendored)
    return sorted(collected, key=lambda c: c.path), around


def sources_of(collected: Iterable[Collected]) -> list[Source]:
    """The files on disk that were collected."""
    return [Source(each.path, source.module_name(Path(each.path))) for each in collected]


def collect_sources(
    sources: Sequence[Source], codes: frozenset[str], torch: Version, jobs: int = 0, progress: Progress | None = None
) -> Iterator[Collected]:
    """Collect texts and files on disk, in any order."""
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1 or len(sources) < 8:
        for done, item in enumerate(sources, 1):
            yield _analyse_alone(item, codes, torch)
            if progress is not None:
                progress(done, len(sources))
        return
    waiting = deque(sorted(sources, key=lambda item: -_size(item.path)))
    while waiting:
        with _without_own_folder(), ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
            for future in [pool.submit(_analyse_alone, item, codes, torch) for item in waiting]:
                try:
                    collected = future.result()
                except BrokenProcessPool:
                    if jobs > 1:
                        jobs = 1  # one process at a time tells which file ended it
                        break
                    yield failed(waiting.popleft(), catalogues.load(), "its analysis ended the process")
                    break
                waiting.popleft()
                yield collected
                if progress is not None:
                    progress(len(sources) - len(waiting), len(sources))


@contextmanager
def _without_own_folder() -> Iterator[None]:
    """Keep the folder in which detlint runs off the path of new processes: a file there may be called enum.py.

    Python 3.10 has no such variable.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _analyse_alone(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    with undisturbed():
        return analyse(item, codes, torch)

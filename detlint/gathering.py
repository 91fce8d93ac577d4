"""The files of a run, analysed in processes, and what is around them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import Collected, Source, analyse, failed, undisturbed
from detlint.cache import Cache, Content

_SAFE_PATH = "PYTHONSAFEPATH"
Progress = Callable[[int, int], None]


def collect(
    contents: Sequence[Content],
    codes: frozenset[str],
    torch: Version,
    cache: Cache,
    jobs: int = 0,
    progress: Progress | None = None,
) -> list[Collected]:
    """Collect files, in their order: those that the cache does not know are analysed with `jobs` processes."""
    found = cache.find(contents)
    missing = {each.item.path: each for each in contents if each.item.path not in found}
    chosen = frozenset(catalogues.load().rules) if cache else codes
    items = [each.item for each in missing.values()]
    for collected in _collect(items, chosen, torch, jobs, progress):
        found[collected.path] = collected
        cache.keep(missing[collected.path], collected)
    cache.flush()
    return [restricted(found[each.item.path], codes) for each in contents]


def restricted(collected: Collected, codes: frozenset[str]) -> Collected:
    """What the chosen rules made of a file, of what all rules made of it."""
    findings = tuple(finding for finding in collected.findings if finding.code in codes)
    return collected if len(findings) == len(collected.findings) else replace(collected, findings=findings)


def _collect(
    sources: Sequence[Source], codes: frozenset[str], torch: Version, jobs: int, progress: Progress | None
) -> Iterator[Collected]:
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1 or len(sources) < 8:
        for done, item in enumerate(sources, 1):
            yield _analyse_alone(item, codes, torch)
            if progress is not None:
                progress(done, len(sources))
        return
    waiting = deque(sorted(sources, key=_size, reverse=True))
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


def _size(item: Source) -> int:
    try:
        return Path(item.path).stat().st_size if item.text is None else len(item.text)
    except OSError:
        return 0


def _analyse_alone(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    with undisturbed():
        return analyse(item, codes, torch)

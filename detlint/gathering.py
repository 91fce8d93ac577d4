"""The files of a run, analysed in processes, and what is around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import Collected, Source, analyse, failed, undisturbed
from detlint.cache import Cache, Content, encoded
from detlint.packing import pack, unpack
from detlint.processes import forks, spread, usable_cores

_BATCH = 65_536  # bytes of source: a tenth of a second of work
_SPAWNS = 1_000_000  # bytes of source for which it pays to start an interpreter
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
    missing = {each.item.path: cache.loaded(each) for each in contents if each.item.path not in found}
    chosen = frozenset(catalogues.load().rules) if cache else codes
    items = [each.item for each in missing.values()]
    for collected, document in _collect(items, chosen, torch, bool(cache), jobs, progress):
        found[collected.path] = collected
        cache.keep(missing[collected.path], collected, document)
    cache.flush()
    for each in contents:
        path = each.item.path
        if path in missing and missing[path].digest != each.digest:
            found[path] = replace(found[path], lasting=False)  # it is of a newer text than the run is about
    return [restricted(found[each.item.path], codes) for each in contents]


def restricted(collected: Collected, codes: frozenset[str]) -> Collected:
    """What the chosen rules made of a file, of what all rules made of it."""
    findings = tuple(finding for finding in collected.findings if finding.code in codes)
    return collected if len(findings) == len(collected.findings) else replace(collected, findings=findings)


def _collect(
    sources: Sequence[Source], codes: frozenset[str], torch: Version, kept: bool, jobs: int, progress: Progress | None
) -> Iterator[tuple[Collected, bytes | None]]:
    """What comes of each file, and the bytes of it that a cache keeps, where that is asked for and not yet to be made.

    Files are worth a process where their analysis takes longer than to start one.
    """
    batches = list(_batches(sources)) if jobs != 1 and len(sources) > 1 else []
    enough = len(batches) > 1 and (forks() or sum(map(_size, sources)) >= _SPAWNS)
    work = partial(_packed, codes=codes, torch=torch, kept=kept)
    found = spread(work, batches, min(jobs or usable_cores(), len(batches))) if enough else zip(sources, repeat(None))
    for done, (item, packed) in enumerate(found, 1):
        if not enough:
            yield _analyse_alone(item, codes, torch), None
        elif packed is None:
            yield failed(item, catalogues.load(), "its analysis ended the process"), None
        else:
            yield unpack(packed)
        if progress is not None:
            progress(done, len(sources))


def _batches(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Files in batches of some size, the largest first, so that processes end at about the same time."""
    batch: list[Source] = []
    size = 0
    for item in sorted(sources, key=_size, reverse=True):
        batch.append(item)
        size += _size(item)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size(item: Source) -> int:
    try:
        return os.stat(item.path).st_size if item.text is None else len(item.text)  # noqa: PTH116
    except OSError:
        return 0


def _analyse_alone(item: Source, codes: frozenset[str], torch: Version) -> Collected:
    with undisturbed():
        return analyse(item, codes, torch)


def _packed(item: Source, codes: frozenset[str], torch: Version, kept: bool) -> bytes:
    with undisturbed():
        collected = analyse(item, codes, torch)
        try:
            return pack((collected, encoded(collected) if kept else None))
        except RecursionError:
            return pack((failed(item, catalogues.load(), "it is nested too deeply"), None))

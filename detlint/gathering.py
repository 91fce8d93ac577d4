"""The files of a run, analysed in processes, and what is around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import Collected, Source, analyse, failed, undisturbed
from detlint.cache import Cache, Content, encoded
from detlint.packing import pack, unpack

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
    with undisturbed():
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
    """What comes of each file; with what a cache keeps of it where that is asked for and another process made it."""
    batches = list(_batches(sources)) if jobs != 1 and len(sources) > 1 else []
    found = _shared_out(batches, codes, torch, kept, jobs) if len(batches) > 1 else None
    if found is None:
        found = ((_analyse_alone(item, codes, torch), None) for item in sources)
    for done, each in enumerate(found, 1):
        yield each
        if progress is not None:
            progress(done, len(sources))


def _shared_out(
    batches: Sequence[Sequence[Source]], codes: frozenset[str], torch: Version, kept: bool, jobs: int
) -> Iterator[tuple[Collected, bytes | None]] | None:
    """What comes of files in processes, as they are done; None where it takes longer to start them."""
    from detlint import processes  # the modules for processes take longer to import than a small run

    if not processes.forks() and sum(_size(item) for batch in batches for item in batch) < _SPAWNS:
        return None
    work = partial(_packed, codes=codes, torch=torch, kept=kept)
    found = processes.spread(work, batches, min(jobs or processes.usable_cores(), len(batches)))
    return (_unpacked(item, packed) for item, packed in found)


def _unpacked(item: Source, packed: bytes | None) -> tuple[Collected, bytes | None]:
    if packed is None:
        return failed(item, catalogues.load(), "its analysis ended the process"), None
    with undisturbed():
        found: tuple[Collected, bytes | None] = unpack(packed)
    return found


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

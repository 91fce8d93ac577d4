"""The analysis of the files of a run, in processes, with the results that a cache has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import Collected, Source, analyse, failed, undisturbed
from detlint.cache.cache import Cache, Content, encoded, loaded, small
from detlint.registered import in_force, registered
from detlint.support.packing import pack, unpack

_BATCH = 65_536  # bytes of source: a tenth of a second of work
_SPAWNS = 1_000_000  # bytes of source from which it pays to start an interpreter
Progress = Callable[[int, int], None]


class Made(NamedTuple):
    """The result for a file, the digest of its text, and what a cache stores of it if that is asked for."""

    collected: Collected
    digest: bytes | None
    document: bytes | None = None


def collect(
    contents: Sequence[Content],
    codes: frozenset[str],
    torch: Version,
    cache: Cache,
    jobs: int = 0,
    progress: Progress | None = None,
) -> list[Collected]:
    """Collect the results of files, in order; files that the cache does not know are analysed with `jobs` processes."""
    with undisturbed():
        found = cache.find(contents)
    missing = {each.item.path: each for each in contents if each.item.path not in found}
    chosen = frozenset(catalogues.load().rules) if cache else codes
    items = [each.item for each in missing.values()]
    for made in _collect(items, chosen, torch, bool(cache), jobs, progress):
        path, known = made.collected.path, missing[made.collected.path]
        cache.keep(replace(known, digest=made.digest), made.collected, made.document)
        current = made.digest == known.digest  # otherwise the text is newer than the one of this run
        found[path] = made.collected if current else replace(made.collected, lasting=False)
    cache.flush()
    return [restricted(found[each.item.path], codes) for each in contents]


def restricted(collected: Collected, codes: frozenset[str]) -> Collected:
    """Return the result for a file with only the findings of the chosen rules."""
    findings = tuple(finding for finding in collected.findings if finding.code in codes)
    return collected if len(findings) == len(collected.findings) else replace(collected, findings=findings)


def _collect(
    sources: Sequence[Source], codes: frozenset[str], torch: Version, kept: bool, jobs: int, progress: Progress | None
) -> Iterator[Made]:
    """Yield the result for each file, and report the progress."""
    batches = list(_batches(sources)) if jobs != 1 and len(sources) > 1 else []
    found = _shared_out(batches, codes, torch, kept, jobs) if len(batches) > 1 else None
    if found is None:
        found = (_made(item, codes, torch, kept) for item in sources)
    for done, each in enumerate(found, 1):
        yield each
        if progress is not None:
            progress(done, len(sources))


def _shared_out(
    batches: Sequence[Sequence[Source]], codes: frozenset[str], torch: Version, kept: bool, jobs: int
) -> Iterator[Made] | None:
    """Return an iterator over results from processes, as they are done; None if starting these would take longer."""
    from detlint.support import processes  # importing it takes longer than a small run

    if not processes.forks() and sum(_size(item) for batch in batches for item in batch) < _SPAWNS:
        return None
    work = partial(_packed, codes=codes, torch=torch, kept=kept, rows=in_force())
    found = processes.spread(work, batches, min(jobs or processes.usable_cores(), len(batches)))
    return (_unpacked(item, packed) for item, packed in found)


def _unpacked(item: Source, content: bytes | None) -> Made:
    if content is None:
        return Made(failed(item, catalogues.load(), "its analysis ended the process"), None)
    with undisturbed():
        made: Made = unpack(content)
    return made


def _batches(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Yield batches of files of some size, the largest files first, so that processes end at about the same time."""
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


def _packed(item: Source, codes: frozenset[str], torch: Version, kept: bool, rows: str) -> bytes:
    with registered(rows):
        made = _made(item, codes, torch, kept)
    with undisturbed():
        return pack(made)


def _made(item: Source, codes: frozenset[str], torch: Version, kept: bool) -> Made:
    """Return the result for a file, with its facts in compact form."""
    with undisturbed():
        content = loaded(item)
        try:
            collected = small(analyse(content.item, codes, torch))
        except RecursionError:
            return Made(failed(item, catalogues.load(), "it is nested too deeply"), None)
        return Made(collected, content.digest, encoded(collected) if kept else None)

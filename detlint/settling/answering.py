"""The answers of a project: from the cache, or from its files analysed and linked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source, undisturbed
from detlint.cache.cache import Cache, Content, uncached_where_it_fails
from detlint.config import Config
from detlint.gathering import Progress, collect
from detlint.listing import Around
from detlint.report import Answered
from detlint.settling.confirming import renewed, unmoved
from detlint.settling.settling import answer, may_say_anything

_FEW = 100  # the most changed files that are compared one by one to avoid linking the project again
_NOTHING: Mapping[str, Collected] = {}


def answers(
    sources: Sequence[Source],
    around: Around,
    config: Config,
    torch: Version,
    jobs: int = 0,
    progress: Progress | None = None,
    known: Mapping[str, Collected] = _NOTHING,
) -> tuple[Answered, Mapping[str, Collected]]:
    """Return the answers of the project of these files, and the results of each file by path.

    The results are empty if the cache has the answers. Files are analysed in `jobs` processes (0: one per core).
    `known` has results of some files under these settings, which saves work in a run without a cache.
    """

    def run(config: Config) -> tuple[Answered, Mapping[str, Collected]]:
        cache = Cache(config.cache_dir, torch)
        rules = catalogues.load()
        codes = frozenset(rules.rules) if cache else rules.choose(config.select, config.ignore) | {UNPARSED}
        given = _NOTHING if cache else known
        return answered(cache.read(sources), around, codes, torch, cache, jobs, progress, given)

    return uncached_where_it_fails(run, config)


def answered(
    contents: Sequence[Content],
    around: Around,
    codes: frozenset[str],
    torch: Version,
    cache: Cache,
    jobs: int = 0,
    progress: Progress | None = None,
    known: Mapping[str, Collected] = _NOTHING,
) -> tuple[Answered, Mapping[str, Collected]]:
    """Return what `answers` does, for these rules: all rules, where there is a cache."""
    key = cache.answer_key(contents, around)
    kept = cache.answered(key, contents, around)
    if kept is not None:
        return kept, {}
    models = Models({each.item.path: each.item for each in contents}, torch)
    again = _renewed(contents, around, codes, torch, cache, models) if key is not None else None
    if again is not None:
        cache.keep_answered(key, contents, around, again[0])
        return again
    found = dict(known)
    unknown = [each for each in contents if each.item.path not in found]
    found |= {each.path: each for each in collect(unknown, codes, torch, cache, jobs, progress)}
    collected = [found[each.item.path] for each in contents]
    if key is None or not may_say_anything(collected, around):
        said = answer(collected, codes, torch, models, around, jobs=jobs)
    else:
        linked = partial(answer, collected, codes, torch, models, around, jobs=jobs)
        said = _followed(contents, around, cache, collected, models, linked)
    if all(each.lasting for each in collected):
        cache.keep_answered(key, contents, around, said)
    return said, found


def _followed(
    contents: Sequence[Content],
    around: Around,
    cache: Cache,
    collected: Sequence[Collected],
    models: Models,
    linked: Callable[..., Answered],
) -> Answered:
    """Return the answers of the project once `linked`, without following programs that come out as in the last run."""
    from detlint.cache import courses  # it imports all linking code, which a run with answers does not need

    kept = courses.recalled(cache, contents, around, collected, models)
    said = linked(kept=kept)
    if all(each.lasting for each in collected):
        courses.remember(cache, contents, around, kept, models)
    return said


def _renewed(
    contents: Sequence[Content], around: Around, codes: frozenset[str], torch: Version, cache: Cache, models: Models
) -> tuple[Answered, Mapping[str, Collected]] | None:
    """Return the last answers, renewed, and the results of changed files; None if the project must be linked again."""
    answered, before = cache.before(contents, around) or (None, [])
    if answered is None or len(before) > _FEW:
        return None
    paths = {each.item.path for each in before}
    old = cache.find(before)
    new = collect([each for each in contents if each.item.path in paths], codes, torch, cache, jobs=1)
    pairs = [unmoved(old[each.path], each, answered) if each.lasting and each.path in old else None for each in new]
    changed = [pair for pair in pairs if pair is not None]
    if len(changed) < len(new):
        return None
    with undisturbed():
        return renewed(answered, changed, models, around), {each.path: each for each in new}

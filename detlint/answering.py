"""What a project has: from the cache, or from its files analysed and linked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packaging.version import Version

from detlint import catalogue as catalogues
from detlint.analyse import UNPARSED, Collected, Models, Source
from detlint.cache import Cache, Content, uncached_where_it_fails
from detlint.config import Config
from detlint.gathering import Progress, collect
from detlint.listing import Around
from detlint.report import Answered
from detlint.settling import answer

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
    """What the project of these files has, and what came of each file by path, none where the cache has the answer.

    Files are analysed with `jobs` processes (0: one a core). `known` is what came of some of them by these settings,
    which spares a run without a cache.
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
    """What `answers` says, by these rules: all of them, where there is a cache."""
    key = cache.answer_key(contents, around)
    kept = cache.answered(key, contents)
    if kept is not None:
        return kept, {}
    found = dict(known)
    unknown = [each for each in contents if each.item.path not in found]
    found |= {each.path: each for each in collect(unknown, codes, torch, cache, jobs, progress)}
    collected = [found[each.item.path] for each in contents]
    models = Models({each.item.path: each.item for each in contents}, torch)
    said = answer(collected, codes, torch, models, around)
    if all(each.lasting for each in collected):
        cache.keep_answered(key, said)
    return said, found

"""The sample: every site of every repository, and the mutants that are drawn from them with a fixed seed."""

from __future__ import annotations

import hashlib
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.tools.mutants.classes import CLASSES
from tests.tools.mutants.edits import Edit, Site
from tests.tools.mutants.units import File

SKIPPED_FOLDERS = {".git", "node_modules", "__pycache__", ".venv", "venv"}
_TESTS = re.compile(r"(^|/)(tests?|testing|unittests?)/|(^|/)(test_[^/]*|[^/]*_test|conftest|setup)\.py$")
_TORCH = re.compile(
    rb"torch|lightning|monai|transformers|diffusers|fastai|segmentation_models|stable_baselines|ultralytics|super_gradients"
)
_OTHER_FRAMEWORK = re.compile(rb"\b(jax|tensorflow|keras|paddle\w*|mxnet|catboost|xgboost)\b")


@dataclass(frozen=True)
class Mutant:
    """One undone place: its class, where it is (`repository` is the name of a folder), and the edits that undo it."""

    id: str
    code: str
    repository: str
    path: str
    cell: int | None
    line: int
    what: str
    tags: tuple[str, ...]
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Limits:
    """How many mutants are drawn at most: of a class, of a class in a repository, and of a repository that is big.

    A repository is big from `big` bytes of code; one that is four times as big gets half as many.
    """

    seed: int = 1
    per_class: int = 34
    per_repository: int = 5
    big: int = 1_400_000
    per_big: int = 8

    def of_repository(self, size: int) -> int | None:
        """How many mutants a repository with so many bytes gets, None where it is not limited."""
        if size <= self.big:
            return None
        return self.per_big if size < 4 * self.big else self.per_big // 2


@dataclass
class Plan:
    """The mutants to run, the number of sites by class, and the bytes of code by repository."""

    mutants: list[Mutant] = field(default_factory=list)
    sites: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


def planned(folder: Path, limits: Limits, jobs: int = 1) -> Plan:
    """The sample of a folder that holds one repository a subfolder."""
    roots = sorted(path for path in folder.iterdir() if path.is_dir())
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            found = list(pool.map(all_mutants, roots))
    else:
        found = [all_mutants(root) for root in roots]
    by_class: dict[str, dict[str, list[Mutant]]] = {}
    for root, (mutants, _) in zip(roots, found, strict=True):
        for code, some in mutants.items():
            by_class.setdefault(code, {})[root.name] = some
    sites = {code: sum(len(some) for some in by_class[code].values()) for code in CLASSES if code in by_class}
    sizes = {root.name: size for root, (_, size) in zip(roots, found, strict=True)}
    return Plan(_drawn(by_class, sites, sizes, limits), sites, sizes)


def all_mutants(root: Path) -> tuple[dict[str, list[Mutant]], int]:
    """All mutants of a repository, by class, and the bytes of its code; tests and other frameworks have none."""
    found: dict[str, list[Mutant]] = {}
    size = 0
    for path in _code_files(root):
        if _TESTS.search(path.relative_to(root).as_posix()):
            continue
        try:
            file = File(root, path)
        except (OSError, ValueError, KeyError):
            continue
        size += sum(len(unit.data) for unit in file.units)
        text = file.text()
        if not _TORCH.search(text) and (file.notebook or _OTHER_FRAMEWORK.search(text)):
            continue
        for code, each in CLASSES.items():
            try:
                sites = list(each.finder(file))
            except RecursionError:
                continue
            if sites:
                found.setdefault(code, []).extend(_mutant(code, root.name, file.path, site) for site in sites)
    return found, size


def _code_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith((".py", ".ipynb")) and not path.is_symlink():
                yield path


def _mutant(code: str, repository: str, path: str, site: Site) -> Mutant:
    place = (code, repository, path, site.unit.cell, site.node.lineno, site.node.col_offset, site.what)
    digest = hashlib.sha1("|".join(map(str, place)).encode()).hexdigest()
    what = re.sub(r"\s+", " ", site.what)[:200]
    return Mutant(
        f"{code}-{digest[:8]}", code, repository, path, site.unit.cell, site.node.lineno, what, site.tags, site.edits
    )


def _drawn(
    by_class: Mapping[str, Mapping[str, Sequence[Mutant]]],
    sites: Mapping[str, int],
    sizes: Mapping[str, int],
    limits: Limits,
) -> list[Mutant]:
    """Rare classes come first, so that big repositories spend their few runs on these."""
    taken: Counter[str] = Counter()
    chosen = []
    for code in sorted(by_class, key=lambda code: (sites[code], code)):
        dice = random.Random(f"{limits.seed}:{code}")
        piles = {}
        for repository, mutants in sorted(by_class[code].items()):
            piles[repository] = _pile(mutants, dice)[: limits.per_repository]
        order = sorted(piles)
        dice.shuffle(order)
        left = min(limits.per_class, CLASSES[code].cap or limits.per_class)
        for turn in range(limits.per_repository):
            for repository in order:
                most = limits.of_repository(sizes[repository])
                if left and turn < len(piles[repository]) and (most is None or taken[repository] < most):
                    chosen.append(piles[repository][turn])
                    taken[repository] += 1
                    left -= 1
    return sorted(
        chosen, key=lambda each: (each.repository, int(each.code[1:]), each.path, each.cell or 0, each.line, each.id)
    )


def _pile(mutants: Sequence[Mutant], dice: random.Random) -> list[Mutant]:
    """The mutants of a class in a repository, shuffled, one a file first: copies of a line in a file say little.

    Zeros that are added to come before those of which parts are written.
    """
    pile = list(mutants)
    dice.shuffle(pile)
    seen: Counter[str] = Counter()
    rank = {}
    for mutant in pile:
        rank[mutant.id] = seen[mutant.path]
        seen[mutant.path] += 1
    return sorted(pile, key=lambda each: (each.code == "M9" and not _is_added_to(each), rank[each.id]))


def _is_added_to(mutant: Mutant) -> bool:
    return any(tag.startswith("added") for tag in mutant.tags)

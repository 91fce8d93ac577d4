"""Small texts: sentences of words that no language has."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def sentences(count: int, words: int = 60, seed: int = 0) -> str:
    """As many lines as asked for, of words from a vocabulary of so many."""
    random = np.random.default_rng(seed)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    vocabulary = ["".join(random.choice(letters, random.integers(2, 8))) for _ in range(words)]
    lines = (" ".join(random.choice(vocabulary, random.integers(4, 12))) for _ in range(count))
    return "".join(f"{line.capitalize()}.\n" for line in lines)


def corpus(root: Path, folder: str, train: int = 200, other: int = 30) -> None:
    """Write `train.txt`, `valid.txt` and `test.txt`, with so many lines."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    for seed, (name, count) in enumerate((("train", train), ("valid", other), ("test", other))):
        (root / folder / f"{name}.txt").write_text(sentences(count, seed=seed), encoding="utf-8")


def word_language_model(root: Path) -> None:
    """A corpus beside the one that the example of pytorch has."""
    corpus(root, "word_language_model/data/small")

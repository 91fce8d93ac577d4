"""What the programs of tests/repeat read: small sets of files, the same each time they are made."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Mapping

import numpy as np


def digits() -> dict[str, bytes]:
    """Small grey images of ten classes in one archive of numpy's."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 96)
    prototypes = rng.integers(0, 256, (10, 8, 8))
    images = (prototypes[labels] * 0.8 + rng.integers(0, 50, (96, 8, 8))).astype(np.uint8)
    file = io.BytesIO()
    np.savez(file, images=images, labels=labels)
    return {"digits.npz": file.getvalue()}


def folders() -> dict[str, bytes]:
    """A folder for each of four classes, with eight images in each."""
    rng = np.random.default_rng(1)
    found = {}
    for name in ("cat", "dog", "horse", "zebra"):
        for number in range(8):
            file = io.BytesIO()
            np.save(file, rng.integers(0, 256, (8, 8), dtype=np.uint8))
            found[f"data/{name}/{name}_{number:03}.npy"] = file.getvalue()
    return found


def names() -> dict[str, bytes]:
    """A file of names for each of eight languages."""
    rng = random.Random(2)
    languages = ("Arabic", "Czech", "Dutch", "English", "French", "German", "Greek", "Irish")
    return {
        f"data/names/{language}.txt": "\n".join(word(rng).capitalize() for _ in range(20)).encode()
        for language in languages
    }


def speakers() -> dict[str, bytes]:
    """Recordings of forty speakers: who, features, label."""
    rng = random.Random(3)
    records = [
        {"speaker": word(rng), "features": [rng.gauss(0, 1) for _ in range(6)], "label": rng.randrange(2)}
        for _ in range(40)
    ]
    return {"speakers.json": json.dumps(records).encode()}


def table() -> dict[str, bytes]:
    """Five columns of numbers with a header; the last one depends on the others."""
    rng = random.Random(4)
    lines = ["a,b,c,d,target"]
    for _ in range(60):
        row = [rng.gauss(0, 1) for _ in range(4)]
        lines.append(",".join(f"{value:.4f}" for value in [*row, sum(row) + rng.gauss(0, 0.1)]))
    return {"table.csv": "\n".join(lines).encode()}


def text() -> dict[str, bytes]:
    """A few hundred words of no language, the first ones of the vocabulary the most frequent."""
    rng = random.Random(5)
    vocabulary = [word(rng) for _ in range(80)]
    chosen = (vocabulary[min(int(rng.expovariate(0.05)), 79)] for _ in range(600))
    return {"input.txt": " ".join(chosen).encode()}


def word(rng: random.Random) -> str:
    """A word of two to four syllables."""
    return "".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))


DATA: Mapping[str, Callable[[], dict[str, bytes]]] = {
    "digits": digits,
    "folders": folders,
    "names": names,
    "speakers": speakers,
    "table": table,
    "text": text,
}

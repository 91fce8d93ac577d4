"""What libraries do with what programs give them, as the interpreter of values tells it."""

from __future__ import annotations

from tests.solved import solved

WORDS = ("seeded", "unseeded", "reseeded", "unsure")


def test_a_folder_of_scripts_has_what_the_library_of_its_name_has() -> None:
    script = "import numpy as np\nfrom numpy import random\n\nnp.random.rand()\nrandom.rand()\nnp.beside.draw()\n"
    beside = "import random\n\n\ndef draw():\n    return random.random()\n"
    found = solved({"runs/numpy/train.py": script, "runs/numpy/beside.py": beside}, started={"runs/numpy/train.py"})
    draws = [(stream, line) for stream, _, line, _, _ in found.draws("runs/numpy/train.py", *WORDS)]
    assert draws == [("numpy", 4), ("numpy", 5), ("python", 5)]
